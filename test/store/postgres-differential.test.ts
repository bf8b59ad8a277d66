import { expect, it } from 'vitest';
import type { Clock } from '../../server/base/clock.js';
import type { Store } from '../../server/store/contract.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { migrateSchema } from '../../server/store/postgres/schema.js';
import { differenceText } from '../support/differential/compare.js';
import { dealtSeeds, firstDifference, type OpenOther } from '../support/differential/lanes.js';
import { plantedMistakes, withMistake } from '../support/differential/planted.js';
import { describePostgres, type PostgresServer } from '../support/postgres.js';

/** Lists of sequences that run at once: while one waits for the database, another computes. */
const lanes = 3;

/** A store in a database of its own. Its times are the test's, and its timers are real. */
const inDatabase = (server: PostgresServer, change = (store: Store): Store => store) =>
  async (): Promise<OpenOther> => {
    const url = await server.createDatabase();
    await migrateSchema({ url });
    return async (clock: Clock) =>
      change(await openPostgresStore({ url, nowMs: () => clock.nowMs() }));
  };

async function differences(count: number, server: PostgresServer): Promise<readonly string[]> {
  const found = await Promise.all(dealtSeeds(count, lanes)
    .map((seeds) => firstDifference(seeds, inDatabase(server))));
  return found.filter((difference) => difference !== null).map(differenceText);
}

describePostgres('random calls on SQLite and PostgreSQL', (server) => {
  it('have the same answers', { tags: ['long'] }, async () => {
    expect((await differences(40, server())).join('\n')).toBe('');
  });

  it('have the same answers, 2,000 times', { tags: ['slow'], timeout: 3_000_000 }, async () => {
    expect((await differences(2_000, server())).join('\n')).toBe('');
  });

  it.each(Object.keys(plantedMistakes))('find a PostgreSQL store that %s', { tags: ['slow'] },
    async (name) => {
      const other = inDatabase(server(), (store) => withMistake(store, plantedMistakes[name]!));
      expect(await firstDifference(dealtSeeds(200, 1)[0]!, other)).not.toBeNull();
    });
});
