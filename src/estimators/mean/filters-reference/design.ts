import {
  countGrid, gaussianEvent, laplaceEvent, symmetricGaussianEvent,
} from '../../../privacy/accounting/calibration.js';
import type {
  GaussianEvent, LaplaceEvent, MechanismEvent, SymmetricGaussianEvent,
} from '../../../privacy/accounting/events.js';
import { ln, log2, pow } from '../../../base/elementary.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { ExpectedError, StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import { openRange, rowsForRange, type Range } from '../heavy-tails/range.js';
import { rowsCohort, surplus } from '../../pooled/pool.js';
import { boxOf, type Box } from './box.js';

/** Which printed filter. */
export type ReferenceKind = 'one-direction' | 'multiplicative' | 'heavy-tailed';

/** How the printed filters differ, besides the order of their queries. */
export interface ReferenceTraits {
  /** Assumed variance of honest rows in every direction: anything above it is excess. */
  readonly ownWidth: 0 | 1;
  /** A round of steps ends when the norm has fallen to this part of what it began with. */
  readonly roundEnds: number;
  /** True if at most twice the corruption is removed in a step. */
  readonly isCapped: boolean;
}

/**
 * For rows with heavy tails only a bound on the variance is known, so nothing is subtracted, and
 * removals are not capped.
 */
function traitsOf(kind: ReferenceKind): ReferenceTraits {
  return kind === 'heavy-tailed'
    ? { ownWidth: 0, roundEnds: 2 / 3, isCapped: false }
    : { ownWidth: 1, roundEnds: 1 / 2, isCapped: true };
}

export interface ReferenceOptions {
  readonly kind: ReferenceKind;
  readonly facts: StudyFacts;
  readonly corruption: number;
  /** Filter rounds, which the paper calls steps, in all. */
  readonly rounds: number;
  /** Part of rho for the range; 0 where others than these rows find the centre. */
  readonly centrePart: number;
  readonly finalPart: number;
}

/** The queries of one step of the filter of one direction. */
export interface StepEvents {
  readonly size: LaplaceEvent;
  readonly mean: GaussianEvent;
  readonly norm: LaplaceEvent;
  readonly square: SymmetricGaussianEvent;
}

/**
 * The queries of one step in many directions: a norm, a matrix, and when rows are to go a centre
 * and a threshold.
 */
export interface InnerEvents {
  readonly mean: GaussianEvent;
  readonly norm: LaplaceEvent;
  readonly square: SymmetricGaussianEvent;
  readonly along: LaplaceEvent;
  readonly total: LaplaceEvent;
  readonly scores: GaussianEvent;
}

/** A round of steps in many directions, which begins with three queries of its own. */
export interface EpochEvents {
  readonly size: LaplaceEvent;
  readonly mean: GaussianEvent;
  readonly norm: LaplaceEvent;
  readonly inner: readonly InnerEvents[];
}

/** Levels of the norm. */
export interface Levels {
  /** The filter ends when the noisy norm is at most this. */
  readonly stop: number;
  /** Norm below which rows may stay unseen. */
  readonly seen: number;
}

/** The noise of a printed filter, from public numbers; sensitivities are proved in queries. */
export interface ReferenceDesign extends Pick<ReferenceOptions, 'facts' | 'corruption'>, Levels {
  readonly traits: ReferenceTraits;
  /** Null where others than these rows find the centre. */
  readonly range: Extract<Range, { kind: 'open' }> | null;
  readonly box: Box;
  readonly rowsMax: number;
  readonly leastCount: number;
  /** The steps of the filter of one direction. */
  readonly steps: readonly StepEvents[];
  /** The epochs of a filter of many directions. */
  readonly epochs: readonly EpochEvents[];
  /** The mean that is released when no step has ended the filter. */
  readonly final: GaussianEvent;
  readonly finalSize: LaplaceEvent;
  readonly edges: readonly number[];
  readonly events: readonly MechanismEvent[];
}

/** Probability with which an honest row is outside the box. */
const outside = 0.01;
/** Most steps in a round of the filter in many directions. */
const epochSteps = 4;
const roundedUp = 1 + 2 ** -40;
/** Room for entries, and for the errors of computing them: averages are below 64 D^2 by far. */
const magnitude = 64;

/**
 * Variance in spreads at which the filter for heavy tails ends: the printed constant, which is not
 * worked out there.
 */
const heavyNorm = 4;
/**
 * Half the side of its box is this many times 1 / sqrt(corruption), where the share counts as
 * at least a hundredth.
 */
const heavyReach = 3;
const heavyShareLeast = 0.01;

/**
 * Half the side of the paper's box in spreads. An honest sample of normal rows lies inside it
 * nearly surely. Of honest rows with heavy tails at most a ninth of the corruption lies outside
 * in a column (Chebyshev); the printed 25 in place of 3 would make noise 70 times as large.
 */
function halfSide({ kind, facts: { dimension, cohort }, corruption }: ReferenceOptions): number {
  return kind === 'heavy-tailed'
    ? heavyReach / Math.sqrt(Math.max(corruption, heavyShareLeast))
    : 4 * Math.sqrt(ln((dimension * cohort) / outside));
}

/** The cost of each query: means share `finalPart`, all others share the rest equally. */
function costsOf({ kind, facts, rounds, centrePart, finalPart }: ReferenceOptions): {
  readonly mean: number; readonly other: number; readonly epochs: number; readonly inner: number;
} {
  const rest = 1 - centrePart - finalPart;
  if (kind === 'one-direction') {
    return {
      mean: shareOf(facts.target.rho, finalPart / (rounds + 1)),
      other: shareOf(facts.target.rho, rest / (3 * rounds + 1)),
      epochs: 0, inner: 0,
    };
  }
  const epochs = Math.ceil(rounds / epochSteps);
  const inner = Math.ceil(rounds / epochs);
  return {
    mean: shareOf(facts.target.rho, finalPart / (epochs + epochs * inner + 1)),
    other: shareOf(facts.target.rho, rest / (2 * epochs + 5 * epochs * inner + 1)), epochs, inner,
  };
}

/** Events of every query that the filter may ask. */
export function referenceDesign(options: ReferenceOptions): ReferenceDesign {
  const { facts, corruption, rounds } = options;
  const { dimension } = facts;
  const rowsMax = surplus * facts.cohort;
  const leastCount = Math.ceil(facts.cohort / 2);
  const box = boxOf(halfSide(options), dimension, rowsMax);
  const costs = costsOf(options);
  const make = eventsFor(options, box, leastCount, costs);
  const range = rangeOf(options);
  const edges = scoreEdges(box.diagonal ** 2);
  const steps = options.kind === 'one-direction'
    ? Array.from({ length: rounds }, (_, t) => make.step(`step-${t + 1}`)) : [];
  const epochs = Array.from({ length: costs.epochs }, (_, s) =>
    make.epoch(`epoch-${s + 1}`, costs.inner, edges.length));
  const [final, finalSize] = [make.mean('final/mean'), make.size('final/size')];
  return {
    facts, corruption, traits: traitsOf(options.kind), range, box, rowsMax, leastCount, steps,
    epochs, final, finalSize, edges, ...levels(options, costs.other),
    events: [
      ...(range === null ? [] : [range.event]),
      ...steps.flatMap(({ size, mean, norm, square }) => [size, mean, norm, square]),
      ...epochs.flatMap(({ size, mean, norm, inner }) => [
        size, mean, norm, ...inner.flatMap((all) =>
          [all.mean, all.norm, all.square, all.along, all.total, all.scores]),
      ]),
      final, finalSize,
    ],
  };
}

function rangeOf(
  { facts: { dimension, target }, centrePart }: ReferenceOptions,
): ReferenceDesign['range'] {
  if (centrePart === 0) return null;
  return openRange({
    name: 'range', cohort: rowsCohort, dimension, bound: 0.5,
    rho: shareOf(target.rho, centrePart), delta: target.delta,
  }) as Extract<Range, { kind: 'open' }>;
}

type Costs = ReturnType<typeof costsOf>;

function eventsFor(
  { facts: { dimension } }: ReferenceOptions, { diagonal }: Box, least: number, costs: Costs,
) {
  const square = diagonal ** 2 * roundedUp;
  const pure = Math.sqrt(2 * costs.other) * (1 - 2 ** -40);
  const place = (name: string) => ({ name, cohort: rowsCohort });
  const scalar = (name: string): LaplaceEvent => laplaceEvent({
    ...place(name), dimension: 1, sensitivity: (square / least) * roundedUp, epsilon: pure,
    magnitude: magnitude * square,
  });
  const size = (name: string): LaplaceEvent =>
    laplaceEvent({
      ...place(name), dimension: 1, sensitivity: 1, epsilon: pure, grid: countGrid(1 / pure),
    });
  const mean = (name: string): GaussianEvent => gaussianEvent({
    ...place(name), dimension, sensitivity: diagonal / least, rho: costs.mean, magnitude: diagonal,
  });
  const matrix = (name: string): SymmetricGaussianEvent => symmetricGaussianEvent({
    ...place(name), dimension, sensitivity: square / least, rho: costs.other,
    magnitude: magnitude * square,
  });
  const counts = (name: string, bins: number): GaussianEvent => gaussianEvent({
    ...place(name), dimension: bins, sensitivity: Math.SQRT2 * (1 + 2 ** -50), rho: costs.other,
    grid: countGrid(1 / Math.sqrt(costs.other)),
  });
  const step = (name: string): StepEvents => ({
    size: size(`${name}/size`), mean: mean(`${name}/mean`), norm: scalar(`${name}/norm`),
    square: matrix(`${name}/square`),
  });
  const inner = (name: string, bins: number): InnerEvents => ({
    mean: mean(`${name}/mean`), norm: scalar(`${name}/norm`), square: matrix(`${name}/square`),
    along: scalar(`${name}/along`), total: scalar(`${name}/total`),
    scores: counts(`${name}/scores`, bins),
  });
  const epoch = (name: string, count: number, bins: number): EpochEvents => ({
    size: size(`${name}/size`), mean: mean(`${name}/mean`), norm: scalar(`${name}/norm`),
    inner: Array.from({ length: count }, (_, t) => inner(`${name}-step-${t + 1}`, bins)),
  });
  return { size, mean, step, epoch };
}

/** Lower ends of the printed bins [2^(j-3), 2^(j-2)), j = 1, 2, ..., up to what a score can be. */
function scoreEdges(scoreMax: number): readonly number[] {
  return Array.from({ length: Math.ceil(log2(scoreMax)) + 2 }, (_, j) => 2 ** (j - 2));
}

/**
 * When the filter ends, and which norm it can see: honest rows show the share of unlucky ones and
 * of sampling (those with heavy tails whatever the printed constant allows them), the norm has
 * Laplace noise (three deviations), and a direction is that of the rows once the norm is above that
 * of the noise of the matrix, about sigma sqrt(2 d).
 */
function levels(options: ReferenceOptions, rho: number): Levels {
  const { kind, facts: { dimension, cohort }, corruption } = options;
  const sensitivity = (2 * (2 * halfSide(options)) ** 2 * dimension) / cohort;
  const unlucky = corruption === 0 ? 0 : 2 * corruption * ln(1 / corruption);
  const honest = kind === 'heavy-tailed' ? heavyNorm : unlucky + 3 * Math.sqrt(dimension / cohort);
  const stop = honest + (3 * sensitivity) / Math.sqrt(2 * rho);
  return { stop, seen: stop + (1.3 * sensitivity * Math.sqrt(2 * dimension)) / Math.sqrt(2 * rho) };
}

/** The largest norm that hostile rows can make inside the box. */
function largestNorm(options: ReferenceOptions): number {
  return options.corruption * halfSide(options) ** 2 * options.facts.dimension;
}

/**
 * The smallest cohort that works: with fewer contributors their place is not found, or the filter
 * sees nothing that hostile rows could do inside the box. Found by doubling and halving,
 * O(log answer).
 */
export function cohortForReference(options: ReferenceOptions): number {
  const { facts, corruption } = options;
  const { dimension } = facts;
  const range = rangeOf(options);
  const { other } = costsOf(options);
  const isEnough = (cohort: number): boolean => {
    const more = { ...options, facts: { ...facts, cohort } };
    return corruption === 0 || levels(more, other).seen <= largestNorm(more);
  };
  let high = Math.max(16, range === null ? 0 : rowsForRange(range, dimension, corruption));
  if (isEnough(high)) return high;
  let low = high;
  while (!isEnough(high) && high < 2 ** 50) [low, high] = [high, 2 * high];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * Hostile rows stay unseen below the level, and are worst together: a share c at distance r widens
 * the rows by c r^2 and moves the mean by c r. Further, the printed filter of one direction removes
 * a row at distance r with probability r^2 / D^2 in a step, so that after T of them the root mean
 * square of what is left of c r is largest, with c D sqrt(T^T / (T + 1)^(T + 1)), at r = D / sqrt(T
 * + 1). The random thresholds of the other filter are a part of one that fits, half of it on
 * average: its level counts twice.
 */
export function referenceError(design: ReferenceDesign): (share: number) => ExpectedError {
  const { facts: { dimension, cohort }, corruption, final, box, seen, steps } = design;
  const sampling = Math.sqrt(dimension / cohort);
  const noise = final.sigma * Math.sqrt(dimension);
  const unseen = Math.sqrt(2 * corruption * seen);
  const count = steps.length;
  return errorUpTo(corruption, { sampling, noise }, (share) => {
    const left = count === 0 ? 0
      : share * box.diagonal * Math.sqrt(pow(count, count) / pow(count + 1, count + 1));
    return share === 0 ? 0 : Math.min((share * box.diagonal) / 2, Math.max(unseen, left));
  });
}
