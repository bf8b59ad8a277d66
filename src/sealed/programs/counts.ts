import { InvalidParameterError } from '../../base/errors.js';
import { cellEdges } from '../../base/running-counts.js';
import type { Outcome } from '../../base/outcome.js';
import { answerAtBound } from '../../estimators/contract/outside.js';
import { answerOf } from '../../estimators/counts/distribution/reading.js';
import { binBetween } from '../../estimators/counts/histogram/public-bins.js';
import { cohortName, type BinOf } from '../../estimators/counts/tables/counts.js';
import { cellOf, type Cells } from '../../estimators/counts/tables/rank-scores.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import { gaussianOutcome } from '../../estimators/pooled/centred-mean.js';
import { deviations95 } from '../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../privacy/accounting/calibration.js';
import { sealedCost } from '../../privacy/accounting/sealed-cost.js';
import { publishedOverCharged } from '../../privacy/mechanisms/sealed-noise.js';
import type { ShareForm } from '../shares/form.js';
import { binForm, checkBins } from '../shares/share-plan.js';
import { onesPlane } from '../steps/planes.js';
import { joined, part, parts, publicBits, sumOf, type Numbers } from '../steps/shares.js';
import { oneHot, tally } from '../steps/tally.js';
import { checkRoom, rhoForEvents, type ProgramRun, type SealedProgram } from './contract.js';
import { layoutOf, planesOfBins } from './rows.js';
import { countsTraffic } from './traffic.js';

/** Bins of which a contributor is in one, or in none where they are partial. */
interface Bins {
  /** At most 256, and 255 where they are partial. */
  readonly count: number;
  /** True if a contributor may be in none of them. */
  readonly isPartial: boolean;
  readonly binOf: BinOf;
  /** Bins that are opened: from this one to the last. */
  readonly openedFrom: number;
  /** How far one replaced row moves the opened counts, in L2. */
  readonly l2: number;
}

/**
 * How many contributors are in which bin, opened with noise.
 *
 * Claim. Cost and neighbours as in `SealedProgram`.
 * Why. A contributor shares the bits of its bin by exclusive or. Whatever it sends spells one
 * number, and numbers past the last bin count in the last bin. So each contributor is in exactly
 * one bin, and one row replaced takes 1 from one count and adds 1 to another, or changes the one
 * opened count by 1. That is the event's sensitivity. All bins get noise, empty ones too.
 * Where the bins are partial, numbers past the last bin are in no bin, and nothing of them is
 * opened. So a row replaced by none, or one that comes, changes one count by 1, which is less.
 */
function countsProgram(
  bins: Bins, facts: StudyFacts, answer: (noisy: Float64Array, sigma: number) => Outcome,
): SealedProgram {
  const rho = rhoForEvents(facts);
  if (facts.target.isPure === true) {
    throw new InvalidParameterError(
      'a sealed study has Gaussian noise, and the budget\'s rule is pure: leave the rule out',
    );
  }
  checkBins(bins.count, bins.isPartial);
  const form = binForm(bins.count + Number(bins.isPartial));
  const none = bins.isPartial ? bins.count : 0;
  const event = gaussianEvent({
    name: 'bins', cohort: cohortName, dimension: bins.count - bins.openedFrom,
    sensitivity: bins.l2, rho, grid: countGrid(bins.l2 / Math.sqrt(2 * rho)),
  });
  checkRoom(event);
  return {
    form, events: [event], cost: sealedCost([event], { disjoint: [] }),
    valuesOf: (row) => Uint32Array.of(row === null ? none : bins.binOf(row) ?? none),
    traffic: (people) => countsTraffic(people, form.bits, event.dimension),
    run: async (run) => {
      const counts = await countsOfBins(run, form, bins);
      const noisy = await run.mechanisms.open(event.name, counts, 1);
      return noisy.map((values) => answer(values, publishedOverCharged * event.sigma));
    },
  };
}

async function countsOfBins(
  { party, rows }: ProgramRun, form: ShareForm, { count, isPartial, openedFrom }: Bins,
): Promise<Numbers> {
  const layout = layoutOf(rows.length);
  const { words, people } = layout;
  const everybody = publicBits(party.server, onesPlane(people));
  const hot = await oneHot(party, planesOfBins(rows, form, layout), everybody, words);
  const counts = await tally(party, hot, words);
  const past = isPartial ? []
    : parts(part(counts, 2 * count, 2 * hot.length), 2, hot.length - count);
  const last = sumOf(part(counts, 2 * (count - 1), 2 * count), ...past);
  const listed = parts(counts, 2, count - 1);
  return joined([...listed, last].slice(openedFrom));
}

function countsOutcome(noisy: Float64Array, sigma: number): Outcome {
  const deviation = new Array<number>(noisy.length).fill(sigma);
  return gaussianOutcome(
    'the noisy counts', Array.from(noisy), deviation, () => deviations95 * sigma,
  );
}

/**
 * The number of contributors for whose row a test holds.
 * @param isCounted - public. Default: everybody, so that the answer is how many took part.
 */
export function sealedCount(
  facts: StudyFacts, isCounted: (row: ArrayLike<number>) => boolean = () => true,
): SealedProgram {
  return countsProgram(
    { count: 2, isPartial: false, openedFrom: 1, l2: 1, binOf: (row) => (isCounted(row) ? 1 : 0) },
    facts, countsOutcome,
  );
}

/**
 * A histogram over public bins: (-inf, e1), [e1, e2), ..., [ek, inf).
 * @param options.column - from 0. @param options.edges - ascending, 1 to 255, in data units.
 * @throws InvalidParameterError when there are more bins than a sealed study has.
 */
export function sealedHistogram(
  facts: StudyFacts, { column, edges, isPartial = false }: {
    readonly column: number; readonly edges: readonly number[]; readonly isPartial?: boolean;
  },
): SealedProgram {
  return countsProgram({
    count: edges.length + 1, isPartial, openedFrom: 0, l2: Math.SQRT2,
    binOf: binBetween(column, edges),
  }, facts, countsOutcome);
}

/**
 * A count for each public key, of those for whose row a test holds. A contributor is under one key
 * at most. Numbers past the last key are nobody's.
 * @param binOf - the place of a row's key; null where it does not count.
 * @throws InvalidParameterError when there are more keys than a sealed study has.
 */
export function sealedCounts(facts: StudyFacts, keys: number, binOf: BinOf): SealedProgram {
  // One key has one count, which one row changes by 1.
  const l2 = keys === 1 ? 1 : Math.SQRT2;
  return countsProgram(
    { count: keys, isPartial: true, openedFrom: 0, l2, binOf }, facts, countsOutcome,
  );
}

/** Options of sealed quantiles. */
export interface SealedQuantileOptions extends Cells {
  readonly column: number;
  /** Ascending, each above 0 and below 1. */
  readonly probabilities: readonly number[];
  /** True if a contributor may have no row. Default: no. */
  readonly isPartial?: boolean;
}

/**
 * Quantiles of one column over a public range, read from a noisy histogram of its cells as those of
 * `distribution` are. Values beyond the range count in the cell at its end. So an interval that
 * reaches the end of the range is open there, and an answer in the cell at its end says so.
 * @throws InvalidParameterError when there are more cells than a sealed study has.
 */
export function sealedQuantile(
  facts: StudyFacts,
  { column, probabilities, isPartial = false, ...range }: SealedQuantileOptions,
): SealedProgram {
  const { low, high, cells } = range;
  const edges = cellEdges({ range: [low, high], cells })!;
  return countsProgram({
    count: cells, isPartial, openedFrom: 0, l2: Math.SQRT2,
    binOf: (row) => cellOf(row[column]!, range),
  }, facts, (noisy, sigma) => {
    // Nobody is below the first edge, and nobody above the last one.
    const running = new Float64Array(cells + 2);
    noisy.forEach((count, cell) => (running[cell + 1] = running[cell]! + count));
    running[cells + 1] = running[cells]!;
    const below = running.map((_, i) => sigma * Math.sqrt(Math.min(i, cells)));
    const answer = answerOf({
      column, edges, probabilities, cohort: facts.cohort, below,
      above: below.map((_, i) => sigma * Math.sqrt(Math.max(0, cells - i))),
      outside: sigma,
    }, running, facts);
    if (answer.kind !== 'value') return answer;
    const asked = probabilities.length;
    const estimate = answer.estimate.slice(0, asked);
    const isAtBound = estimate.some((value) => value <= edges[1]! || value >= edges.at(-2)!);
    return {
      kind: 'value', estimate, shape: [asked],
      uncertainty: answer.uncertainty,
      interval95: {
        low: answer.interval95!.low.slice(0, asked)
          .map((end) => (end <= edges[0]! ? -Infinity : end)),
        high: answer.interval95!.high.slice(0, asked)
          .map((end) => (end >= edges.at(-1)! ? Infinity : end)),
      },
      ...(isAtBound && { findings: answerAtBound(column) }),
    };
  });
}
