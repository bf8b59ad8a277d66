// @module-tag slow
import { expect, it } from 'vitest';
import { differences, inDatabase } from '../support/differential/in-database.js';
import { dealtSeeds, firstDifference } from '../support/differential/lanes.js';
import { plantedMistakes, withMistake } from '../support/differential/planted.js';
import { describePostgres } from '../support/postgres.js';

describePostgres('random calls on SQLite and PostgreSQL', (server) => {
  it('have the same answers', async () => {
    expect((await differences(40, server())).join('\n')).toBe('');
  });

  // The seeds are the same in every run, and each planted mistake is found within 41 sequences:
  // many more than 500 find what these do. `npm run differential` makes 10,000.
  it('have the same answers in 460 more', { timeout: 1_500_000 }, async () => {
    expect((await differences(460, server(), 41)).join('\n')).toBe('');
  });

  it.each(Object.keys(plantedMistakes))('find a PostgreSQL store that %s', async (name) => {
    const other = inDatabase(server(), (store) => withMistake(store, plantedMistakes[name]!));
    expect(await firstDifference(dealtSeeds(200, 1)[0]!, other, false)).not.toBeNull();
  });
});
