import { columnPlaces } from '../../../base/column-places.js';
import { ln } from '../../../base/elementary.js';
import { findingsMax } from '../../../base/findings.js';
import type { Outcome } from '../../../base/outcome.js';
import { exponentialEvent } from '../../../privacy/accounting/calibration.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { outsideShare, sides } from '../../contract/outside.js';
import { infeasible, makePlan, needsCohort } from '../../contract/planning.js';
import { wholeArm } from '../tables/counts.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { wholeSumsOf, wholeSumsSummary } from '../tables/whole-sums.js';
import {
  capLadder, capScores, capsTried, columnEntries, ladderAdder, ladderEntries, sumsUnder,
} from './cap-ladder.js';
import {
  errorOfTotals, releaseTotals, sizeOfColumns, totalsNoise, type ReleasedTotals, type TotalsNoise,
} from './totals.js';

/** Share of the cost for finding the caps. */
const capsShare = 0.2;
/** Any cap is farther out than all rows at most this often. */
const failure = 0.01;
/** Noise of the total, or of the number above the cap, is larger than planned this often. */
const hiddenOften = 0.0005;

/** How a cap is found. */
export interface FoundCapOptions {
  /** The largest cap of each column: above 0. */
  readonly capMax: readonly number[];
  /** Share of the contributors who are within the cap, if noise allows: 0.75 to 1. */
  readonly capQuantile: number;
}

/**
 * Totals of values that are clipped to 0..cap, each column with a cap that is found privately.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta; or pure epsilon, where the budget asks for it.
 * Why: the caps to choose from, and the rank that is aimed at, are public. Each score moves by at
 * most 1 (capScores), so each choice is the exponential mechanism of its event; the d choices add
 * up to 20 %. For every fixed list of caps, the sums under these caps are what planGivenBounds
 * draws for the ranges 0..cap: whole numbers of steps, by which one row moves each total by at most
 * 1 unit, the cap (bounds); its claim gives 75 % and 5 %. So the events are fixed before data in
 * units of the caps, and the second step is private for every outcome of the first. Costs of steps
 * that are chosen by earlier outcomes add up (Bun and Steinke 2016, lemma 2.3; for pure epsilon,
 * basic composition). The units are released, and the rest is post-processing.
 *
 * The aim: with b = 2 / epsilon of one choice, t0 = b ln(d / 0.01) and a lean of b ln 2, the rank
 * is t = max((1 - capQuantile) cohort, t0), all rounded up. Let t rows be above the lowest cap, and
 * at most t above capMax. Then the cell m of the row of rank t scores -lean m. The k-th cell above
 * it scores lower by t + lean k or more, if it is above all rows. So it is chosen with probability
 * at most 2^-k exp(-t / b), and any of them with at most 1 % / d. Its noise is 2^(k/2) times as
 * large. Without the lean these rare choices would make most of the mean squared error.
 * A cell below all rows scores -(N - t) at most for N rows, and the lean favours it by 64 lean at
 * most. So all those together are chosen with at most 1 % / d if N >= t + 64 lean + t0.
 * Hostile: t people can raise a cap, up to capMax, and the noise with it.
 */
export function planFoundCap(options: FoundCapOptions, facts: StudyFacts): Plan | Infeasible {
  const { capMax, capQuantile } = options;
  const { cohort, dimension, target } = facts;
  if (facts.keys !== undefined) {
    return infeasible(
      'no cap is found for an answer that is split by keys',
      'give cap, the most that one contributor counts for under a key, or range',
    );
  }
  const choice = capChoice(facts);
  const rows = 2 / choice.epsilon;
  const leastRank = rows * ln(dimension / failure);
  const lean = Math.ceil(rows * Math.LN2);
  const rank = Math.ceil(Math.max((1 - capQuantile) * cohort, leastRank));
  const room = Math.ceil(capsTried * lean + leastRank);
  const cohortNeeded = Math.ceil(Math.max(room + leastRank + 1, (room + 1) / capQuantile));
  if (cohort < cohortNeeded) {
    return needsCohort(
      `with ${cohort} contributors, noise may find a cap that clips nearly everybody`,
      cohortNeeded, 'a larger epsilon or a cap that you know',
    );
  }
  const size = sizeOfColumns(dimension);
  const noise = totalsNoise(size, target, 1 - outsideShare - capsShare);
  const ladders = capMax.map(capLadder);
  return makePlan({
    arms: [wholeArm],
    events: [choice, noise.totals.event, noise.outside.numbers.event],
    guarantee: {
      theorem: 'caps by the exponential mechanism, then a sum of bounded whole numbers with '
        + 'discrete noise; proof in src/estimators/counts/sum/found-cap',
      assumptions: ['for the total of unclipped values: all values are within the found cap'],
      corruptionMax,
    },
    outputShape: [dimension],
    facts: {
      errorsAreIn: 'shares of the total of a cohort in which everybody is at the found cap',
      cap: 'found privately',
      noiseInBounds: noise.totals.standardDeviation,
      clippedAbout: rank,
      clippedReportedFrom: noise.outside.reportedFrom,
    },
    expectedError: errorOfTotals(noise, size, facts),
    summary: () => wholeSumsSummary(dimension, dimension * ladderEntries, ladderAdder(ladders)),
    release: async (summaries, mechanisms) => {
      const sums = wholeSumsOf(summaries);
      const caps = ladders.map((_, j) => mechanisms.exponential(
        choice.name, sums.map((all) => capScores(columnEntries(all, j), { rank, lean })),
      ).value);
      const units = caps.map((cap, j) => ladders[j]![cap]!.unit);
      return releaseTotals(
        noise, units, sums.map((all) => sumsUnder(all, caps)), mechanisms, facts, undefined,
        (outcome, released) => withoutUnseenEnds(outcome, visibilityOf(released, caps, noise)),
      );
    },
  });
}

/** The columns whose total says little, judged by released numbers. */
interface Visibility {
  /** Their end is unseen: everybody who adds visibly to the total may be at the cap. */
  readonly unseen: readonly number[];
  /** Those of the `unseen` columns in which values beyond the cap stand out of their noise. */
  readonly lost: readonly number[];
}

/**
 * Anyone above the cap adds one unit to the total, and everybody else adds their own value. So
 * where the total is not visibly more than the number of those above, the values within the cap add
 * nothing visible. All values may then be beyond the cap, as when far fewer people came than the
 * cohort, and nobody knows how far. With the smallest cap nearly all values are 0 or less, or all
 * of them are beyond it. Noise alone hides more than this in one run of a thousand.
 */
function visibilityOf(
  { totals, outside }: ReleasedTotals, caps: readonly number[], noise: TotalsNoise,
): Visibility {
  const chance = hiddenOften / caps.length;
  const hidden = noise.totals.upperQuantile(chance)
    + noise.outside.numbers.upperQuantile(chance);
  const [below, above] = [0, 1].map((side) => caps.map((_, j) => outside[sides * j + side]!));
  const unseen = caps.flatMap((cap, j) =>
    (cap === 0 || totals[j]! <= above![j]! + hidden ? [j] : []));
  const { reportedFrom } = noise.outside;
  return { unseen, lost: unseen.filter((j) => Math.max(below![j]!, above![j]!) > reportedFrom) };
}

/**
 * A total of values that are all at a cap which was not found is no answer. A column whose end is
 * unseen has no interval. Post-processing.
 */
function withoutUnseenEnds(outcome: Outcome, { unseen, lost }: Visibility): Outcome {
  if (outcome.kind === 'refused' || unseen.length === 0) return outcome;
  if (lost.length > 0) {
    return {
      kind: 'refused',
      reason: 'spread-not-found',
      text: `no cap was found in ${columnPlaces(lost)}: nearly everybody who was seen is `
        + 'beyond it or below 0. Either far fewer contributors came than planned for: lower '
        + 'cohort, or wait for more. Or give cap, the most that one contributor counts for, or '
        + 'range',
    };
  }
  const isUnseen = (j: number): boolean => unseen.includes(j);
  const { low, high } = outcome.interval95!;
  return {
    ...outcome,
    interval95: {
      low: low.map((end, j) => (isUnseen(j) ? -Infinity : end)),
      high: high.map((end, j) => (isUnseen(j) ? Infinity : end)),
    },
    findings: [
      { reason: 'end-unseen' as const, columns: unseen, amounts: [] }, ...outcome.findings ?? [],
    ].slice(0, findingsMax),
  };
}

/** One choice for each column. */
function capChoice({ dimension, target }: StudyFacts): ExponentialEvent {
  return exponentialEvent({
    name: 'caps', cohort: wholeArm.name, candidates: capsTried, sensitivity: 1,
    times: dimension,
    ...(target.isPure === true
      ? { epsilon: shareOf(target.epsilon, capsShare) / dimension }
      : { rho: shareOf(target.rho, capsShare) }),
  });
}
