import { expect, it } from 'vitest';
import {
  liveThroughRollbacks, rollbackFaults, rollbackPlants, type RollbackFault,
} from '../support/durability/rollback-world.js';

it('spends no budget twice and releases no epoch twice, however the database is set '
  + 'back', { tags: ['slow'], timeout: 300_000 }, async () => {
  const refused = new Map<RollbackFault, number>();
  for (let seed = 1; seed <= 25; seed++) {
    const report = await liveThroughRollbacks(seed);
    expect(report.failure, `seed ${seed}`).toBeNull();
    for (const fault of report.refused) refused.set(fault, (refused.get(fault) ?? 0) + 1);
  }
  expect([...refused.keys()].sort())
    .toEqual(rollbackFaults.filter((fault) => fault !== 'none').sort());
});

it.each(rollbackPlants)('finds the planted fault %s', async (plant) => {
  let failure: string | null = null;
  for (let seed = 1; failure === null && seed <= 40;
      seed++) ({ failure } = await liveThroughRollbacks(seed, plant));
  const says = {
    'mark-set-back': /was not refused/, 'nothing-charged': /was spent|the ledger says/,
    'same-epochs': /two different releases|was drawn|two releases/,
  };
  expect(failure).toMatch(says[plant]);
}, 300_000);
