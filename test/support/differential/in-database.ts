import type { PostgresServer } from '../../../cli/demo/cluster/private-postgres.js';
import type { Clock } from '../../../server/base/clock.js';
import type { Store } from '../../../server/store/contract.js';
import { openPostgresStore } from '../../../server/store/postgres/open.js';
import { migrateSchema } from '../../../server/store/postgres/schema.js';
import { differenceText } from './compare.js';
import { dealtSeeds, firstDifference, type OpenOther } from './lanes.js';
import { encryptionKeys } from '../postgres/encryption-keys.js';

/** Lists of sequences that run at once: while one waits for the database, another computes. */
const lanes = 3;

/** A store in a database of its own. Its times are the test's, and its timers are real. */
export const inDatabase = (server: PostgresServer, change = (store: Store): Store => store) =>
  async (): Promise<OpenOther> => {
    const url = await server.createDatabase();
    await migrateSchema({ url });
    return async (clock: Clock) =>
      change(await openPostgresStore({ encryptionKeys, url, nowMs: () => clock.nowMs() }));
  };

/**
 * Runs sequences on SQLite and on PostgreSQL.
 * @param first the first seed, from 1.
 * @returns the first difference of each lane, in words; none when all answers are the same.
 */
export async function differences(
  count: number, server: PostgresServer, first = 1,
): Promise<readonly string[]> {
  const found = await Promise.all(dealtSeeds(count, lanes).map((seeds) =>
    firstDifference(seeds.map((seed) => seed + first - 1), inDatabase(server))));
  return found.filter((difference) => difference !== null).map(differenceText);
}
