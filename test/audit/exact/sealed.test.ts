import { describe, expect, it } from 'vitest';
import { checkSealedCase, sealedCases } from '../../../src/audit/exact/sealed-cases.js';
import {
  checkSealed, largerSealedPairs, sealedPairs, type SealedResult,
} from '../../../src/audit/exact/sealed-release.js';
import { privacyTarget } from '../../../src/privacy/accounting/target.js';
import type { SealedMechanisms } from '../../../src/privacy/mechanisms/sealed-noise.js';
import type { SealedProgram } from '../../../src/sealed/programs/contract.js';
import { sealedHistogram } from '../../../src/sealed/programs/counts.js';
import { sealedMean } from '../../../src/sealed/programs/mean.js';
import { columnGrid } from '../../../src/sealed/shares/column-grid.js';
import type { StudyFacts } from '../../../src/estimators/contract/estimator.js';

const facts: StudyFacts = {
  dimension: 1, cohort: 400, participation: 'secret',
  target: privacyTarget({ epsilon: 8, delta: 1e-4 }),
};
const histogram = sealedHistogram(facts, { column: 0, edges: [0, 1, 2] });
const mean = sealedMean(facts, { grid: columnGrid([[0, 64]], [1], 12) });
const choices = [[0], [1], [3]];

/** Compares a few pairs; the crowd is of 40 people, each of whom stands for ten. */
function compared(program: SealedProgram, lists: readonly number[][], count: number):
Promise<SealedResult> {
  const all = sealedPairs(lists);
  const pairs = all.filter((_, i) => i % Math.ceil(all.length / count) === 0);
  const crowd = Array.from({ length: 40 }, (_, i) => Uint32Array.from(lists[i % lists.length]!));
  return checkSealed({ program, pairs, crowd, standsFor: 10, prefixes: 3 });
}

/** The program, with another way to open. */
function opening(
  program: SealedProgram, open: (inner: SealedMechanisms) => SealedMechanisms['open'],
): SealedProgram {
  return {
    ...program,
    run: ({ mechanisms, ...run }) => program.run({
      ...run, mechanisms: { prepare: () => 0, open: open(mechanisms) },
    }),
  };
}

/** `npm run check:exact` has every program, and more pairs. */
describe('sealed programs, opening by opening', { tags: ['long'] }, () => {
  it('open neighbours within the charge', async () => {
    const found = await compared(histogram, choices, 12);
    expect(found.faults).toEqual([]);
    expect([found.answered, found.openings]).toEqual([3 * found.pairs, 3 * found.pairs]);
    const larger = await checkSealed({
      program: histogram, pairs: largerSealedPairs(histogram.form, choices, 4),
      crowd: [Uint32Array.of(1)], standsFor: 1, prefixes: 1,
    });
    expect(larger).toMatchObject({ pairs: 4, answered: 4, faults: [] });
  });

  it('come to an answer and to a refusal after what a crowd opens', async () => {
    const found = await compared(mean, [[2048], [2112], [4095]], 3);
    expect(found.faults).toEqual([]);
    expect(found.answered).toBeGreaterThan(0);
    expect(found.refused).toBeGreaterThan(0);
  });

  it('show a sensitivity that is 2 % too small, with the pair', async () => {
    const events = histogram.events.map((event) =>
      ({ ...event, sensitivity: 0.98 * event.sensitivity }));
    const { faults } = await compared({ ...histogram, events }, choices, 4);
    expect(faults[0]).toMatch(/^\[\d\] or \[\d\], beside .*: bins: the sums cost rho/);
  });

  it('show sums that are twice as large as was charged', async () => {
    const program = opening(histogram, (inner) => (event, sums, unit) =>
      inner.open(event, sums, 2 * unit));
    expect((await compared(program, choices, 2)).faults[0]).toMatch(/bins: the sums cost rho/);
  });

  it('show a program that opens twice, and servers that open different events', async () => {
    const twice = opening(histogram, (inner) => async (event, sums, unit) => {
      await inner.open(event, sums, unit);
      return inner.open(event, sums, unit);
    });
    expect((await compared(twice, choices, 1)).faults[0]).toMatch(/was opened before/);
    let calls = 0;
    const other = opening(mean, (inner) => (event, sums, unit) =>
      inner.open(event === 'mean/count' && calls++ % 3 === 2 ? 'mean/sum' : event, sums, unit));
    expect((await compared(other, [[2048], [2112]], 1)).faults[0]).toMatch(/different events/);
  });
});

describe('the noise of two of three servers', { tags: ['slow'] }, () => {
  it('is shown to be too small where less was drawn', () => {
    const [plain] = sealedCases;
    const wrong = checkSealedCase({
      ...plain!, contents: [0, 16], event: { ...plain!.event, sensitivity: 15.7 },
    });
    expect(wrong.faults[0]).toMatch(/^0 and 16: the divergence of order 1\.0078125 is /);
  });
});
