import { Released } from '../../../base/brands.js';
import { median } from '../../../numerics/selection.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { FinishedSummaries, Plan } from '../../contract/estimator.js';
import { pooledArm, type HonestError } from '../../contract/planning.js';
import { nominalSizeFor } from '../../pooled/fullest-bin.js';
import {
  countedSum, outsideDeviation, releaseCountedSum, type CountedSum,
} from './counted-sum.js';
import { explainedOutside, type Answer } from './outcomes.js';
import {
  openRange, publicRange, rangeOffset, releaseRange, rowsForRange, type Range,
} from './range.js';
import { cohortRows, type Units } from './rows.js';
import {
  balancedRadius, medianFactor, shareBeyond, truncationBias, type Moment,
} from './truncation.js';

/**
 * Per coordinate the median of the private means of several groups (median of means). Each group
 * has contributors of its own.
 *
 * Claim. Neighbours: one row replaced by anything, or by nothing, or added. Cost: `budget`, once.
 * Why: a contributor's cohort is a keyed hash of its identity, so neighbours differ in the rows of
 * one cohort only, and all groups together cost the largest of their costs. `split`: a group's
 * range and its mean are of different cohorts, each at the whole budget. The mean is calibrated for
 * any centre that the range may answer. Otherwise both are of one cohort, at shares of the budget
 * that add up to it. The median is a function of what was released. The range of each of d
 * coordinates costs a d-th of its budget. The means of all coordinates are one vector of a cube
 * (counted-sum).
 *
 * Source: Kamath, Singhal and Ullman (2020), Algorithms 1 and 2. Their proof splits epsilon between
 * the two disjoint halves, which is not needed.
 */
export type Budget =
  | { readonly privacy: 'pure'; readonly epsilon: number; readonly radius: number }
  | { readonly privacy: 'zcdp'; readonly rho: number; readonly radius: number }
  | { readonly privacy: 'approx'; readonly rho: number; readonly delta: number };

/** The public numbers that a design is made from; lengths are in units of spread. */
export interface GroupMeansOptions {
  /** Number of contributors in all, and the share of them that is used here. */
  readonly cohort: number;
  readonly share: number;
  readonly dimension: number;
  readonly moment: Moment;
  readonly corruption: number;
  readonly split: boolean;
  /** The range's share of the contributors (split) or of the budget (one cohort). */
  readonly rangePart: number;
  readonly budget: Budget;
  readonly groups?: number | undefined;
  readonly radius?: number | undefined;
  /** Prefix of names. */
  readonly prefix?: string;
}

interface Group {
  readonly rangeCohort: string;
  readonly meanCohort: string;
  readonly range: Range;
  readonly sum: CountedSum;
}

/**
 * The public constants of a release. Errors are per coordinate, of the median, in units of spread.
 */
export interface GroupMeans extends Pick<Plan, 'arms' | 'events'>, HonestError {
  readonly kind: 'design';
  readonly groups: readonly Group[];
  readonly radius: number;
  /** Nominal rows behind a group's mean. */
  readonly groupSize: number;
  readonly bias: number;
  /** Largest share of rows that the bound on the moment lets beyond the radius. */
  readonly shareBeyond: number;
}

/** `cohortNeeded`: contributors with whom a plan would fit; absent when more would not help. */
export interface GroupMeansInfeasible {
  readonly kind: 'infeasible';
  readonly reason: string;
  readonly cohortNeeded?: number;
}

/** Numbers of groups that are tried where none is given. */
const groupsTried = [1, 3, 5, 7, 9] as const;

/**
 * @returns the given number of groups; by default the one whose planned error is least. One group
 *   is enough wherever it fits, about: more groups answer for the probability of a far-off answer,
 *   which falls like exp(-groups / 8), and pay for it with noise and with a wider clipping radius.
 */
export function designGroupMeans(options: GroupMeansOptions): GroupMeans | GroupMeansInfeasible {
  if (options.groups !== undefined) return designWith(options, options.groups);
  return groupsTried.map((groups) => designWith(options, groups)).reduce((best, next) =>
    (next.kind === 'design' && (best.kind !== 'design' || errorOf(next) < errorOf(best))
      ? next : best));
}

function errorOf({ noise, sampling, bias }: GroupMeans): number {
  return Math.hypot(noise, sampling) + bias;
}

function designWith(options: GroupMeansOptions, groups: number): GroupMeans | GroupMeansInfeasible {
  const { cohort, share, dimension, moment, split, corruption } = options;
  const rangePart = split ? options.rangePart : 1;
  const meanShare = split ? 1 - options.rangePart : 1;
  const groupSize = (cohort * share * meanShare) / groups;
  const radius = options.radius ?? chosenRadius(options, groups, groupSize);
  const made: Group[] = [];
  for (let index = 1; index <= groups; index++) {
    const group = designGroup(options, index, radius);
    if (group === null) {
      return {
        kind: 'infeasible', reason: 'the public bound is more than 4e6 standard deviations away',
      };
    }
    made.push(group);
  }
  const [{ range, sum }] = made as [Group, ...Group[]];
  const wanted = nominalSizeFor(rowsForRange(range, dimension, corruption));
  const needed = Math.ceil((wanted * groups) / (share * rangePart));
  if (cohort < needed) {
    return {
      kind: 'infeasible', cohortNeeded: needed,
      reason: 'the noise hides where the rows of a group of '
        + `${Math.floor((cohort * share * rangePart) / groups)} are`,
    };
  }
  const factor = medianFactor(groups);
  const arms = made.flatMap(({ rangeCohort, meanCohort }) => (split
    ? [
      pooledArm(rangeCohort, (share * rangePart) / groups),
      pooledArm(meanCohort, (share * meanShare) / groups),
    ]
    : [pooledArm(meanCohort, share / groups)]));
  return {
    kind: 'design', groups: made, arms, radius, groupSize,
    events: made.flatMap(({ range: { event }, sum: own }) => [event, own.event, own.outside]),
    noise: (factor * sum.standardDeviation) / groupSize,
    sampling: (factor * moment.bound) / Math.sqrt(groupSize),
    bias: truncationBias(moment, 1, rangeOffset * moment.bound, radius),
    shareBeyond: dimension * shareBeyond(moment, 1, rangeOffset * moment.bound, radius),
  };
}

/** Where the noise of the median and the bias balance, for one coordinate. */
function chosenRadius(options: GroupMeansOptions, groups: number, groupSize: number): number {
  const { dimension, moment } = options;
  const cost = meanCost(options);
  const unit = 'epsilon' in cost
    ? (Math.SQRT2 * 2 * dimension) / cost.epsilon
    : (2 * Math.sqrt(dimension)) / Math.sqrt(2 * cost.rho);
  return balancedRadius(
    moment, 1, rangeOffset * moment.bound, (medianFactor(groups) * unit) / groupSize,
  );
}

/** The budget of a group's mean. */
function meanCost(
  { budget, split, rangePart }: GroupMeansOptions,
): { rho: number } | { epsilon: number } {
  const left = split ? 1 : 1 - rangePart;
  return 'epsilon' in budget
    ? { epsilon: shareOf(budget.epsilon, left) }
    : { rho: shareOf(budget.rho, left) };
}

function designGroup(options: GroupMeansOptions, index: number, radius: number): Group | null {
  const { dimension, moment, split, prefix = '' } = options;
  const meanCohort = `${prefix}mean-${index}`;
  const rangeCohort = split ? `${prefix}range-${index}` : meanCohort;
  const name = `${prefix}range-${index}/bins`;
  const range = designRange(
    options, { name, cohort: rangeCohort, dimension, bound: moment.bound },
  );
  if (range === null) return null;
  const sum = countedSum({
    name: `${prefix}mean-${index}/sum`, cohort: meanCohort, dimension, radius, shape: 'cube',
    cost: meanCost(options),
  });
  return { rangeCohort, meanCohort, range, sum };
}

function designRange(
  { budget, split, rangePart }: GroupMeansOptions,
  place: { name: string; cohort: string; dimension: number; bound: number },
): Range | null {
  const part = split ? 1 : rangePart;
  switch (budget.privacy) {
    case 'pure':
      return publicRange({
        ...place, radius: budget.radius, epsilon: shareOf(budget.epsilon, part) / place.dimension,
      });
    case 'zcdp': {
      // A choice of epsilon costs epsilon^2 / 8.
      const epsilon = Math.sqrt((8 * shareOf(budget.rho, part)) / place.dimension) * (1 - 2 ** -50);
      return publicRange({ ...place, radius: budget.radius, epsilon });
    }
    case 'approx':
      return openRange({ ...place, rho: shareOf(budget.rho, part), delta: budget.delta });
  }
}

/**
 * The median in units of spread with the parts of its error, or why fewer than half of the groups
 * answered.
 */
export type FoundMeans =
  | {
    readonly kind: 'means';
    readonly means: Float64Array;
    /**
     * Standard deviation of the noise and of honest rows' sampling, per coordinate, of the median.
     */
    readonly noise: Float64Array;
    readonly sampling: Float64Array;
    /** As `Answer` of outcomes has it. */
    readonly outside: Answer['outside'];
  }
  | { readonly kind: 'no-range'; readonly coordinates: readonly number[] }
  | { readonly kind: 'few-rows' };

interface GroupAnswer {
  readonly means: Float64Array;
  readonly noise: Float64Array;
  readonly sampling: number;
  readonly present: number;
  readonly outside: number;
}

/** Draws everything. A group that fails is left out; at least half must answer. */
export function releaseGroupMeans(
  mechanisms: Mechanisms, design: GroupMeans, units: Units, summaries: FinishedSummaries,
  bound: number,
): Released<FoundMeans> {
  const released = design.groups.map((group) =>
    releaseGroup(mechanisms, design, group, units, summaries, bound));
  const all = Released.all<readonly (GroupAnswer | GroupFailure)[]>(released);
  return all.map((answers): FoundMeans => {
    const good = answers.filter((answer): answer is GroupAnswer => 'means' in answer);
    const failed = answers.find((answer): answer is GroupFailure => !('means' in answer));
    if (good.length < (answers.length + 1) / 2 && failed !== undefined) return failed;
    const factor = medianFactor(good.length);
    const over = (of: (answer: GroupAnswer, j: number) => number): Float64Array =>
      good[0]!.means.map((_, j) => median(good.map((answer) => of(answer, j))));
    return {
      kind: 'means',
      means: over((answer, j) => answer.means[j]!),
      noise: over((answer, j) => factor * answer.noise[j]!),
      sampling: over((answer) => factor * answer.sampling),
      outside: {
        number: good.reduce((sum, answer) => sum + answer.outside, 0),
        explained: explainedOutside(
          good.reduce((sum, answer) => sum + answer.present, 0) * design.shareBeyond,
          Math.sqrt(good.length) * outsideDeviation(design.groups[0]!.sum),
        ),
      },
    };
  });
}

type GroupFailure = Extract<FoundMeans, { kind: 'no-range' | 'few-rows' }>;

function releaseGroup(
  mechanisms: Mechanisms, { groupSize }: GroupMeans, group: Group, units: Units,
  summaries: FinishedSummaries,
  bound: number,
): Released<GroupAnswer | GroupFailure> {
  const { range, sum } = group;
  const dimension = units.columns.length;
  const found = releaseRange(
    mechanisms, range, cohortRows(summaries, group.rangeCohort, units), dimension,
  );
  const place = found.value;
  if (place.kind === 'failed') {
    return found.map(() => ({ kind: 'no-range', coordinates: place.coordinates }));
  }
  const { centre } = place;
  const rows = cohortRows(summaries, group.meanCohort, units);
  return releaseCountedSum(mechanisms, sum, rows, centre).map((released) => {
    const { sum: total, present, outside } = released;
    if (!(present >= groupSize / 4)) return { kind: 'few-rows' };
    return {
      means: total.map((entry, j) => centre[j]! + entry / present),
      noise: total.map((entry) => Math.hypot(
        sum.standardDeviation, (entry / present) * sum.countStandardDeviation,
      ) / present),
      sampling: bound / Math.sqrt(present), present, outside,
    };
  });
}
