import { describe, expect, it } from 'vitest';
import { type Released, Sensitive } from '../../../../src/base/brands.js';
import { openSensitive, releasedByMechanism } from '../../../../src/base/wrappers.js';
import {
  clippedRows, countScores, momentsOf,
} from '../../../../src/estimators/pooled/clipped-rows.js';
import { designOf, type FilterRound } from '../../../../src/estimators/mean/filters/design.js';
import { heavyDesign } from '../../../../src/estimators/mean/prime-heavy/design.js';
import { boxedRows } from '../../../../src/estimators/mean/filters-reference/box.js';
import {
  referenceDesign, type ReferenceDesign,
} from '../../../../src/estimators/mean/filters-reference/design.js';
import {
  queriesOn, type Queries,
} from '../../../../src/estimators/mean/filters-reference/queries.js';
import { markedSurvivors } from '../../../../src/estimators/mean/filters/survivors.js';
import { inlineCompute } from '../../../../src/estimators/run.js';
import type { ClipBall } from '../../../../src/privacy/stages/clip.js';
import type { GaussianEvent } from '../../../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../../../src/privacy/mechanisms/contract.js';
import { factsOf } from '../../../support/offline.js';

/**
 * Every query of the filters on its worst neighbours: they differ by what is charged, no more, and
 * hardly less.
 */
const compute = inlineCompute();
const spread = (dimension: number): Float64Array => new Float64Array(dimension).fill(1);
const apart = (left: ArrayLike<number>, right: ArrayLike<number>): number =>
  Math.hypot(...Array.from(left, (entry, i) => entry - right[i]!));

function expectTight(
  distance: number, event: { readonly name: string; readonly sensitivity: number }, share = 0.999,
): void {
  expect(distance, event.name).toBeLessThanOrEqual(event.sensitivity * (1 + 1e-12));
  expect(distance, event.name).toBeGreaterThan(share * event.sensitivity);
}

function poolOf(rows: readonly (readonly number[])[], dimension: number) {
  return {
    count: rows.length, dimension, values: Float64Array.from(rows.flat()),
    tags: BigUint64Array.from(rows, (_, i) => BigInt(i)),
  };
}

describe.each([1, 2, 5])('the queries as printed, in %d columns', (dimension) => {
  const facts = factsOf(dimension, 24, 4);
  const asked = { facts, corruption: 0.1, rounds: 2, centrePart: 0.2, finalPart: 0.4 };
  const one = referenceDesign({ ...asked, kind: 'one-direction' });

  /** What a query would release about these rows but for its noise. */
  async function asksOf(
    { box, rowsMax, leastCount, traits: { ownWidth } }: ReferenceDesign,
    rows: readonly (readonly number[])[], query: (queries: Queries) => Promise<unknown>,
  ): Promise<Float64Array> {
    let asked: Float64Array | null = null;
    const keep = (_: string, value: Sensitive<Float64Array>): Released<Float64Array> => {
      asked = openSensitive(value);
      return releasedByMechanism(asked);
    };
    const mechanisms = {
      gaussian: keep, laplace: keep, symmetricGaussian: keep,
    } as unknown as Mechanisms;
    const boxed = await boxedRows(
      compute, poolOf(rows, dimension), new Float64Array(dimension), spread(dimension), box,
      rowsMax,
    );
    const survivors = markedSurvivors(compute, Sensitive.of(boxed));
    await query(queriesOn({ mechanisms, compute, survivors, box, leastCount, ownWidth }));
    return asked!;
  }

  async function expectQuery(
    design: ReferenceDesign, event: { readonly name: string; readonly sensitivity: number },
    pair: readonly [readonly (readonly number[])[], readonly (readonly number[])[]],
    query: (queries: Queries) => Promise<unknown>, share?: number,
  ): Promise<void> {
    const [left, right] = [
      await asksOf(design, pair[0], query), await asksOf(design, pair[1], query),
    ];
    expectTight(apart(left, right), event, share);
  }

  const corner = (sign: number): number[] => new Array<number>(dimension).fill(sign * 1e9);
  /**
   * One row at one corner of the box or at the opposite one; as many others as an average divides
   * by, at the latter.
   */
  const pairFor = ({ leastCount }: ReferenceDesign) => {
    const others = Array.from({ length: leastCount - 1 }, () => corner(-1));
    return [[corner(1), ...others], [corner(-1), ...others]] as const;
  };
  const centreOf = ({ box }: ReferenceDesign): Float64Array =>
    new Float64Array(dimension).fill(-box.half);
  /** Along the diagonal. */
  const weights = new Float64Array(dimension ** 2).fill(1 / dimension);

  it('differ on opposite corners by what is charged: one direction', async () => {
    const [pair, centre] = [pairFor(one), centreOf(one)];
    const step = one.steps[0]!;
    await expectQuery(one, step.size, [pair[0], pair[0].slice(1)], (queries) =>
      queries.size(step.size));
    await expectQuery(one, step.mean, pair, (queries) => queries.mean(step.mean));
    await expectQuery(one, one.final, pair, (queries) => queries.mean(one.final));
    await expectQuery(one, step.square, pair, (queries) => queries.square(step.square, centre));
    // The identity is taken off: the norm of nothing is 1.
    await expectQuery(one, step.norm, pair, (queries) => queries.norm(step.norm, centre), 0.9);
  });

  it.each([
    'multiplicative', 'heavy-tailed',
  ] as const)('differ on opposite corners by what is charged: %s', async (kind) => {
    const many = referenceDesign({
      ...asked, kind, centrePart: kind === 'heavy-tailed' ? 0 : asked.centrePart,
    });
    const [pair, centre] = [pairFor(many), centreOf(many)];
    const epoch = many.epochs[0]!;
    const step = epoch.inner[0]!;
    await expectQuery(many, epoch.size, [pair[0], pair[0].slice(1)], (queries) =>
      queries.size(epoch.size));
    await expectQuery(many, epoch.mean, pair, (queries) => queries.mean(epoch.mean));
    await expectQuery(many, epoch.norm, pair, (queries) => queries.norm(epoch.norm, centre), 0.9);
    await expectQuery(many, step.mean, pair, (queries) => queries.mean(step.mean));
    await expectQuery(many, step.norm, pair, (queries) => queries.norm(step.norm, centre), 0.9);
    await expectQuery(many, step.square, pair, (queries) => queries.square(step.square, centre));
    await expectQuery(many, step.along, pair, (queries) =>
      queries.along(step.along, centre, weights));
    await expectQuery(many, step.total, pair, (queries) =>
      queries.total(step.total, centre, weights));
    const half = corner(1).map((entry) => (entry / 1e9) * many.box.half * many.box.grid * -0.5);
    await expectQuery(
      many, step.scores, [pair[0], [half, ...pair[0].slice(1)]],
      (queries) => queries.scores(step.scores, centre, weights, many.edges),
    );
  });
});

describe.each([2, 5])('the fused queries in %d columns', (dimension) => {
  const facts = factsOf(dimension, 5_000, 2);
  const plain = designOf({
    facts, corruption: 0.05, radius: 5, rounds: 2, centrePart: 0.2, finalPart: 0.4,
  });
  const heavy = heavyDesign({
    facts, corruption: 0.05, groups: 1, centrePart: 0.2, rounds: 2, finalPart: 0.5,
    moment: { order: 3, bound: 1 }, nearRadius: 5, radius: 20,
  });
  if ('kind' in heavy) throw new Error('the cohort is large enough');

  it.each<[
    string, ClipBall, readonly FilterRound[], GaussianEvent, GaussianEvent, readonly number[],
  ]>([
    ['prime', plain.ball, plain.rounds, plain.sum, plain.count, plain.edges],
    ['prime-heavy', heavy.near, heavy.rounds, heavy.sum, heavy.count, heavy.edges],
  ])('%s: differ on the edge of the ball by what is charged', async (
    _, ball, rounds, sum, count, edges,
  ) => {
    const axis = (j: number, length: number): number[] =>
      Array.from({ length: dimension }, (__, i) => (i === j ? length : 0));
    const others = [axis(0, 0.5), axis(1, -1)];
    const momentsFor = async (rows: readonly (readonly number[])[]) => {
      const centre = new Float64Array(dimension);
      return momentsOf(compute, await clippedRows(
        compute, poolOf(rows, dimension), centre, spread(dimension), ball, 100,
      ));
    };
    const [right, left, up, absent] = await Promise.all(
      [[axis(0, 1e9), ...others], [axis(0, -1e9), ...others], [axis(1, 1e9), ...others], others]
        .map(momentsFor),
    );
    const counted = (score: number): Float64Array => countScores(
      { count: 1, alive: Uint8Array.of(1) } as unknown as Parameters<typeof countScores>[0],
      Float64Array.of(score), edges,
    );
    for (const round of rounds) {
      expectTight(right!.count - absent!.count, round.count);
      expectTight(apart(right!.sums, left!.sums) * ball.grid, round.sum);
      expectTight(apart(right!.products, up!.products) * ball.grid ** 2, round.square);
      expectTight(apart(counted(edges[0]!), counted(edges.at(-1)!)), round.scores);
    }
    expectTight(right!.count - absent!.count, count);
    expectTight(apart(right!.sums, left!.sums) * ball.grid, sum);
  });
});
