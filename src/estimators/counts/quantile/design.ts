import { ln } from '../../../base/elementary.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { nearSmallestCohort } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { wholeArm } from '../tables/counts.js';
import { rootAbove } from '../tables/key-places.js';
import { presenceOfRanks, rankUnit } from '../tables/rank-scores.js';
import { Candidates } from './candidates.js';
import { marginAt, noiseAt } from './certified.js';
import { edgesOf, edgesOfEach } from './edges.js';

/** Share of the cost for the number present, and how often it may refuse a whole cohort. */
const presentShare = 0.05;
const refusedInVain = 0.001;
/** A plan is made where answers go astray at most this often. */
const astray = 0.01;
/**
 * The design assumption: the middle tenth of the ranks on the nearer side of a quantile spans at
 * least this part of an octave, so that it has this part of an octave of candidates.
 */
const denseOctaves = 1 / 200;
/** With a range: that tenth spans at least this part of the range, or else `ladderCohort` holds. */
const denseShare = 1 / 100;
/** This share of the ranks between a quantile and the nearer end is left beside that tenth. */
const roomShare = 0.9;
/** A chosen end is nearer to its quantile than the margin as often as one in this, for noise of */
const nearerOften = 8;
/** the choice; and for so many deviations of the noise of its edge. */
const nearerNoise = 1.28;

/** The quantiles that are asked for: the same ones of each column. */
export interface Asked {
  readonly columns: readonly {
    readonly column: number;
    readonly range: readonly [low: number, high: number] | undefined;
  }[];
  readonly probabilities: readonly number[];
  readonly outputShape: readonly number[];
}

/** How the values of a column are chosen. */
export interface ColumnDesign {
  readonly column: number;
  readonly range: readonly [low: number, high: number] | undefined;
  readonly candidates: Candidates;
  readonly choice: ExponentialEvent;
}

/** The counts of people between the edges of all columns. */
export interface Cells {
  readonly noise: CountNoise;
  /** How many cells a column has. */
  readonly ofColumn: number;
  /** The cost of each choice of an end. */
  readonly epsilon: number;
}

/** One release. All of it follows from public facts. */
export interface Design {
  readonly facts: StudyFacts;
  readonly asked: Asked;
  readonly columns: readonly ColumnDesign[];
  /** The noise of the number of those present; null where it would refuse whole cohorts. */
  readonly present: CountNoise | null;
  /** Null: answers have no interval. */
  readonly cells: Cells | null;
}

/** With intervals if there are enough people for them, and else with the number present. */
export function designOf(asked: Asked, facts: StudyFacts): Design {
  const withIntervals = intervalDesign(asked, facts);
  if (hasRoom(withIntervals)) return withIntervals;
  const checked = pointDesign(asked, facts, presentFor(facts));
  // Without the number present the choices have the whole cost.
  return checked.present === null || isEnough(checked) ? checked : pointDesign(asked, facts, null);
}

/** The fewest contributors with whom quantiles have answers, without the number present. */
export function smallestPoints(asked: Asked, facts: StudyFacts): number {
  return cohortFor(pointDesign(asked, facts, null));
}

/** The fewest contributors with whom they have intervals; Infinity: 10^9 are too few. */
export function smallestIntervals(asked: Asked, facts: StudyFacts): number {
  const design = intervalDesign(asked, facts);
  return nearSmallestCohort((cohort) => hasRoom({ ...design, facts: { ...facts, cohort } }), {
    slack: 0,
  });
}

/** True where answers without an interval go astray seldom enough. */
export function isEnough(design: Design): boolean {
  return design.facts.cohort >= cohortFor(design);
}

function pointDesign(asked: Asked, facts: StudyFacts, present: CountNoise | null): Design {
  const share = present === null ? 1 : 1 - presentShare;
  return { facts, asked, columns: columnsOf(asked, facts, share, 1), present, cells: null };
}

/**
 * The share of the counts: with 2 m choices of pure epsilon e and counts of pure epsilon c, for
 * each column, 2 / e and 2 / c ranks of noise add up to the least where c = sqrt(2 m) e.
 */
function intervalDesign(asked: Asked, facts: StudyFacts): Design {
  const { probabilities, columns: { length } } = asked;
  const share = 1 / (1 + Math.sqrt(2 * probabilities.length));
  const ofColumn = edgesOf(probabilities.length) + 1;
  const isPure = facts.target.isPure === true;
  const noise = countNoise({
    name: 'cells', counts: ofColumn * length, l1: 2 * length, l2: rootAbove(2 * length),
    target: facts.target, share,
  });
  const columns = columnsOf(asked, facts, 1 - share, 2);
  // A row that only comes or goes is in one cell of each column.
  const own = isPure ? 0.5 : Math.SQRT1_2 * (1 + 2 ** -52);
  const presence = Math.max(own, presenceOfRanks(probabilities));
  return {
    facts, asked, columns, present: null,
    cells: {
      noise: { ...noise, event: { ...noise.event, presence } }, ofColumn,
      epsilon: columns[0]!.choice.epsilon,
    },
  };
}

/** @param choices - for each quantile. */
function columnsOf(
  { columns, probabilities }: Asked, { target }: StudyFacts, share: number, choices: number,
): readonly ColumnDesign[] {
  const times = choices * probabilities.length;
  const part = (cost: number): number =>
    (share === 1 && columns.length === 1 ? cost : shareOf(cost, share / columns.length));
  return columns.map(({ column, range }) => {
    const candidates = new Candidates(range);
    const choice = exponentialEvent({
      name: columns.length === 1 ? 'choice' : `choice-${column}`,
      cohort: wholeArm.name, candidates: candidates.count, sensitivity: rankUnit, times,
      presence: presenceOfRanks(probabilities),
      ...target.isPure === true
        ? { epsilon: part(target.epsilon) / times } : { rho: part(target.rho) },
    });
    return { column, range, candidates, choice };
  });
}

/** A release of a quarter of the cohort is refused. In a small cohort noise hides a quarter. */
function presentFor({ cohort, target }: StudyFacts): CountNoise | null {
  const noise = countNoise({
    name: 'present', counts: 1, l1: 1, l2: 1, target, share: presentShare,
  });
  return noise.upperQuantile(refusedInVain) > 0.75 * cohort ? null : noise;
}

/** How many cells of its column are below the edges of a quantile. */
export interface Places {
  /** Below the edge at its lower chosen value, */
  readonly first: number;
  /** the one in the middle, */
  readonly middle: number;
  /** and the one behind its upper chosen value. */
  readonly last: number;
}

/**
 * Where edges of different quantiles do not overlap.
 * @param j - of the quantile, among all in ascending order.
 */
export function placesOf(quantiles: number, j: number): Places {
  const each = edgesOfEach(quantiles);
  const first = 2 + j * each;
  const last = first + each - 1;
  return { first, middle: Math.round((first + last) / 2), last };
}

/**
 * The ranks below and above its own at which the ends of a quantile are chosen: farther than the
 * margin of their edges by what noise may make of them, but for one end in eight or so. If such an
 * end does not hold, one farther out does.
 */
export function aimsOf(
  { noise, ofColumn, epsilon }: Cells, probabilities: readonly number[], j: number, cohort: number,
): readonly [low: number, high: number] {
  const probability = probabilities[j]!;
  const { first, last } = placesOf(probabilities.length, j);
  const distance = (below: number): number => Math.ceil(
    marginAt(noise, probability, { people: cohort, below, above: ofColumn - below })
    + nearerNoise * noiseAt(noise, probability, below, ofColumn - below)
    + (2 / epsilon) * ln(nearerOften),
  );
  return [-distance(first), distance(last)];
}

/** True where a chosen end goes astray once in a hundred times at most. */
function hasRoom({ facts: { cohort }, asked: { probabilities }, columns, cells }: Design): boolean {
  return columns.every((column) => {
    const room = (2 / column.choice.epsilon) * ln(oddsOf(column) / astray);
    return probabilities.every((probability, j) => {
      const [low, high] = aimsOf(cells!, probabilities, j, cohort);
      return probability * cohort + low >= room && (1 - probability) * cohort - high >= room;
    });
  });
}

function oddsOf({ range, candidates }: ColumnDesign): number {
  const dense = range === undefined ? candidates.octaves / denseOctaves : 1 / denseShare;
  return candidates.kinds * dense;
}

/**
 * The fewest contributors with which an answer goes astray at most once in a hundred releases.
 *
 * A candidate beyond all contributors on the nearer side misses min(p, 1 - p) n of them, one within
 * the nearest tenth of that side at most a tenth of that. If the second kind are one in `odds` of
 * all candidates, the odds of the first kind are at most odds exp(-.9 min(p, 1 - p) n epsilon / 2)
 * for each of m choices.
 */
function cohortFor({ asked, columns }: Design): number {
  return Math.max(...columns.map((column) => cohortAt(oddsOf(column), asked, column)));
}

/** The same where the rows are dense on the ladder, but not in the range: of 99 in 0..10^9. */
export function ladderCohort({ asked, columns }: Design): number {
  return Math.max(...columns.map((column) => {
    const { candidates: { kinds, octaves } } = column;
    return cohortAt(kinds * octaves / denseOctaves, asked, column);
  }));
}

function cohortAt(odds: number, asked: Asked, { choice: { epsilon } }: ColumnDesign): number {
  const room = roomShare * corruptionMaxOf(asked);
  const choices = asked.probabilities.length * asked.columns.length;
  return Math.ceil((2 / epsilon) * ln(odds * choices / astray) / room);
}

/** The share past which hostile contributors alone choose the lowest or the highest quantile. */
export function corruptionMaxOf({ probabilities }: Asked): number {
  return Math.min(...probabilities.map((probability) => Math.min(probability, 1 - probability)));
}

/**
 * With probability at least 1 - failure, every quantile's rank is off by no more than this many
 * contributors, where candidates are as dense among the ranks around the quantile: a choice then
 * misses t ranks with probability exp(-t epsilon / 2). A union bound covers all choices.
 */
export function rankErrorAt({ asked, columns }: Design, failure: number): number {
  const choices = asked.probabilities.length * columns.length;
  return (2 / columns[0]!.choice.epsilon) * ln(choices / failure);
}
