import { utf8 } from '../../../base/bytes.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { NamedPart } from '../../../base/parts.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { seededRandom } from '../../../random/work.js';
import type { FinishedSummaries, PooledRows } from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { finiteValue } from '../../contract/outcomes.js';
import { spaceScores } from '../candidates/contests.js';
import { countGaps, usedFrom, windowsOf, type Window } from '../candidates/gaps.js';
import { spaceContestants, spaceDistribution } from '../candidates/space.js';
import { boxesOf, countBoxes, inOrder, windowsPerColumn, type Box } from './boxes.js';
import { averaged, candidates, shares, type MixtureDesign } from './design.js';
import { averageOf, covarianceOf, type Normal } from './normals.js';
import { nextNormals, roundSums } from './rounds.js';
import { fitBoxes, sortsOf, type Start } from './starts.js';

const startsPerNumber = 12;
const boxesMaximum = 500;
/** A climb starts from wider components than were fitted. Too wide ones shrink within a step. */
const widened = 1.5;

type Mixture = readonly Normal[];

/** The parts of every answer: weights, means, covariances. */
export function partsOf(components: number, dimension: number): readonly NamedPart[] {
  return [
    { name: 'weights', shape: [components] },
    { name: 'means', shape: [components, dimension] },
    { name: 'covariances', shape: [components, dimension, dimension] },
  ];
}

/** Asks the four questions, each of its own contributors; see the claim of the estimator. */
export function releaseMixture(
  design: MixtureDesign, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, gaps, boxes, pick, rules } = design;
  const { dimension } = facts;
  const rows = (name: keyof typeof shares): Sensitive<RowBlock> =>
    poolOf(summaries, name).map((pool) => dithered(pool, design.choice.resolution));
  const contributors = Math.ceil(facts.cohort * shares.gaps);
  const empty = Array.from({ length: gaps.coordinates - dimension }, () =>
    new Map<number, number>());
  const found = mechanisms.histogram(gaps.name, rows('gaps').map((block) => [
    ...Array.from({ length: dimension }, (_, j) => countGaps(columnOf(block, j), contributors)),
    ...empty,
  ]));
  const windows = found.value.slice(0, dimension).map((kept) =>
    inOrder(windowsOf(kept, usedFrom(gaps), contributors, windowsPerColumn)));
  if (windows.some((list) => list.length === 0)) {
    return found.map(() => notFound(design, 'no column shows gaps often enough'));
  }
  const kept = mechanisms.histogram(boxes.name, rows('boxes').map((block) =>
    countBoxes(block, windows)));
  const starts = startsFrom(
    boxesOf(kept.value, windows, boxes.sigma, boxesMaximum), windows, design,
  );
  if (starts.length === 0) return kept.map(() => notFound(design, 'no box held enough rows'));
  const climbed = climbsFrom(starts, rows('steps'), design, mechanisms);
  const fits = candidatesFrom(climbed.map(({ value }) => value), starts);
  const distributions = fits.map((normals) => spaceDistribution({
    kind: 'mixture',
    weights: normals.map(({ weight }) => weight),
    parts: normals.map((normal) => ({
      kind: 'normal' as const, mean: [...normal.mean],
      covariance: rowsOf(covarianceOf(normal), dimension),
    })),
  }, 'fit'));
  const contestants = spaceContestants(distributions, dimension);
  const index = mechanisms.exponential(pick.name, rows('choice').map((block) =>
    spaceScores(contestants, block, rules)));
  return Released.all([found, kept, ...climbed, index] as const).map((all) =>
    outcomeOf(fits[all.at(-1) as number]!, design));
}

/** Moves each entry within its rounding step by a function of the row's tag. */
function dithered(rows: PooledRows, resolution: Float64Array | null): RowBlock {
  const { count, dimension, values, tags } = rows;
  if (resolution === null) return rows;
  const moved = new Float64Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const work = seededTag(tags[row]!);
    for (let j = 0; j < dimension; j++) {
      moved[row * dimension + j] = values[row * dimension + j]! + resolution[j]! * (work(j) - 0.5);
    }
  }
  return { count, dimension, values: moved };
}

/**
 * Numbers in [0, 1) from a tag, one per column: the tag times odd multiples of the golden ratio,
 * the upper half.
 */
function seededTag(tag: bigint): (column: number) => number {
  return (column) => {
    const mixed = BigInt.asUintN(
      64, (tag ^ (tag >> 29n)) * (0x9e3779b97f4a7c15n * BigInt(2 * column + 1)),
    );
    return Number(BigInt.asUintN(32, (mixed ^ (mixed >> 32n)) * 0x2c1b3c6dn)) / 2 ** 32;
  };
}

function columnOf({ count, dimension, values }: RowBlock, column: number): Float64Array {
  return Float64Array.from({ length: count }, (_, row) => values[row * dimension + column]!);
}

/** Fits of the boxes, the best first; several for every number of components. */
function startsFrom(
  boxes: readonly Box[], windows: readonly (readonly Window[])[], { choice }: MixtureDesign,
): readonly Start[] {
  if (boxes.length === 0) return [];
  const work = seededRandom(utf8('starts of mixtures'));
  const smallest = Float64Array.from(windows, ([finest]) => finest!.width);
  const sorts = sortsOf(boxes);
  return Array.from({ length: choice.components }, (_, k) =>
    Array.from(
      { length: k === 0 ? 1 : startsPerNumber }, () => fitBoxes(sorts, smallest, k + 1, work),
    ))
    .flat().filter((start) => start !== null).sort((one, two) => one.misfit - two.misfit);
}

/** Steps on rows from the best start, and from the best one with another number of components. */
function climbsFrom(
  starts: readonly Start[], rows: Sensitive<RowBlock>, { steps, round }: MixtureDesign,
  mechanisms: Mechanisms,
): readonly Released<readonly Mixture[]>[] {
  const [first] = starts;
  const second = starts.find(({ normals }) =>
    normals.length !== first!.normals.length) ?? starts[1];
  return [first, second].slice(0, steps.length).flatMap((start, climb) => {
    if (start === undefined) return [];
    let normals: Mixture = start.normals.map((normal) =>
      ({ ...normal, root: normal.root.map((entry) => entry * Math.sqrt(widened)) }));
    const passed: Mixture[] = [];
    const noise: Released<Float64Array>[] = [];
    for (const event of steps[climb]!) {
      const noisy = mechanisms.gaussian(event.name, rows.map((block) =>
        roundSums(normals, block, round)));
      normals = nextNormals(normals, noisy.value, event.sigma, round);
      passed.push(normals);
      noise.push(noisy);
    }
    return [Released.all(noise).map(() => passed)];
  });
}

/**
 * The candidates: ends of climbs, then the best fit of each number of components, then other fits.
 */
function candidatesFrom(
  climbs: readonly (readonly Mixture[])[], starts: readonly Start[],
): readonly Mixture[] {
  const ends = climbs.flatMap((passed) => [averageOf(passed.slice(-averaged)), passed.at(-1)!]);
  const firsts = starts.filter(({ normals }, at) =>
    starts.findIndex((other) => other.normals.length === normals.length) === at);
  const others = starts.filter((start) => !firsts.includes(start));
  const list = [...ends, ...[...firsts, ...others].map(({ normals }) =>
    normals)].slice(0, candidates);
  while (list.length < candidates) list.push(list[0]!);
  return list;
}

function rowsOf(matrix: Float64Array, dimension: number): readonly (readonly number[])[] {
  return Array.from({ length: dimension }, (_, i) =>
    Array.from(matrix.subarray(i * dimension, (i + 1) * dimension)));
}

/** In the order of the first column's means. Components that were not needed have weight 0. */
function outcomeOf(
  normals: Mixture, { facts: { dimension }, choice: { components } }: MixtureDesign,
): Outcome {
  const sorted = [...normals].sort((one, two) => one.mean[0]! - two.mean[0]!);
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0);
  const missing = new Float64Array((components - sorted.length));
  const estimate = [
    ...sorted.map(({ weight }) => weight / total), ...missing,
    ...sorted.flatMap(({ mean }) => [...mean]), ...new Float64Array(missing.length * dimension),
    ...sorted.flatMap((normal) => [...covarianceOf(normal)]), ...new Float64Array(
      missing.length * dimension ** 2,
    ),
  ];
  const parts = partsOf(components, dimension);
  return finiteValue(
    { estimate, shape: [estimate.length], parts, uncertainty: { kind: 'none' } },
    'the chosen fit is', 'change units',
  );
}

function notFound({ facts }: MixtureDesign, what: string): Outcome {
  return {
    kind: 'refused',
    reason: 'spread-not-found',
    text: `${what}. Planned for ${facts.cohort} contributors: check that they come, give `
      + 'resolution when values are '
      + 'rounded, leave out columns that hold few different values, or raise epsilon',
  };
}
