import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { recordLines } from '../../scripts/record-lines.js';
import type { Outcome } from '../../src/base/outcome.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import {
  sealedCount, sealedCounts, sealedHistogram, sealedQuantile,
} from '../../src/sealed/programs/counts.js';
import { sealedMean } from '../../src/sealed/programs/mean.js';
import { sealedRobustMean } from '../../src/sealed/programs/robust-mean.js';
import { columnGrid } from '../../src/sealed/shares/column-grid.js';
import { signedAt } from '../../src/sealed/steps/words.js';
import { dataSource } from '../support/data.js';
import { rowShares, sealedFacts } from '../support/sealed-rows.js';
import { openedSum, runThree } from '../support/sealed-run.js';

type Row = readonly number[] | null;

const people = 700;
const data = dataSource('sealed releases');
const normals = Array.from({ length: people }, () => Array.from(data.normals(3)));
const honest: readonly Row[] =
  normals.map(([a, b, c]) => [30 + 5 * a!, 100 + 8 * b!, 2 * c!]);
const liars: readonly Row[] = honest.map((row, i) =>
  [[45, 120, 0], [row![0]!, row![1]!, 9]][i % 10] ?? row);
const some: readonly Row[] = honest.map((row, i) => (i % 3 === 0 ? null : row));
const gridOf = (bits: number) => columnGrid([[0, 128], [0, 200], [-64, 64]], [5, 8, 2], bits);
const facts = sealedFacts(3, people, 100);
const robust = (bits: number, isPartial = false): SealedProgram =>
  sealedRobustMean(facts, { grid: gridOf(bits), corruption: 0.2, isPartial });

const cases: Readonly<Record<string, readonly [SealedProgram, readonly Row[]]>> = {
  'count': [sealedCount(facts, (row) => row[0]! > 30), honest],
  'histogram': [sealedHistogram(facts, { column: 0, edges: [20, 25, 30, 35] }), honest],
  'counts by key': [
    sealedCounts(facts, 5, (row) => Math.abs(Math.floor(row[0]!)) % 5), some,
  ],
  'quantile': [sealedQuantile(facts, {
    column: 1, low: 0, high: 200, cells: 256, probabilities: [0.25, 0.5],
  }), honest],
  'mean of 8 bits': [sealedMean(sealedFacts(1, people, 100), {
    grid: columnGrid([[0, 120]], [16], 8), radius: 1.5,
  }), honest.map((row) => [row![0]!])],
  'mean of 16 bits': [sealedMean(facts, { grid: gridOf(16) }), honest],
  'partial mean of 20 bits': [sealedMean(facts, { grid: gridOf(20), isPartial: true }), some],
  'robust-mean of 16 bits': [robust(16), honest],
  'robust-mean with liars': [robust(16), liars],
  'partial robust-mean of 14 bits with liars':
    [robust(14, true), liars.map((row, i) => (i % 7 === 0 ? null : row))],
};

/** The outcome, and a digest of what each event opened: its name and signed whole numbers. */
async function releaseOf(program: SealedProgram, rows: readonly Row[]) {
  const shares = rowShares(rows.map((row) => program.valuesOf(row)), program.form, 'releases');
  const opened: string[] = [];
  const answers = await runThree(async (party) => {
    const mechanisms = createSealedMechanisms(
      program.events, seededNoise(`release ${party.server}`), async (noised) => {
        const sum = await openedSum(party, noised);
        const list = Array.from({ length: sum.length / 2 }, (_, i) => signedAt(sum, i));
        if (party.server === 0) opened.push(list.join(' '));
        return sum;
      },
    );
    return (await program.run({ party, mechanisms, rows: shares[party.server]! })).value;
  });
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  const texts = JSON.stringify(answers[0], (_, value: unknown) =>
    (value === Infinity || value === -Infinity ? String(value) : value));
  return {
    openings: opened.length,
    opened: createHash('sha256').update(opened.join('\n')).digest('hex'),
    outcome: JSON.parse(texts) as Outcome,
  };
}

describe('vectors of sealed releases', () => {
  it('fix what each program opens and releases for fixed rows and fixed noise', {
    tags: ['long'],
  }, async () => {
    const file: Record<string, Awaited<ReturnType<typeof releaseOf>>> = {};
    for (const [name, [program, rows]] of Object.entries(cases)) {
      file[name] = await releaseOf(program, rows);
    }
    await expect(recordLines(file)).toMatchFileSnapshot('sealed-releases.json');
  });
});
