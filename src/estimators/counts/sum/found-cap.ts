import { columnPlaces } from '../../../base/column-places.js';
import { findingsMax } from '../../../base/findings.js';
import type { Finding, Outcome, Uncertainty } from '../../../base/outcome.js';
import { clusterSeenFrom } from '../../pooled/far-side.js';
import type { Infeasible, Plan, StudyFacts } from '../../contract/estimator.js';
import { finiteValue } from '../../contract/outcomes.js';
import { reportedFromOf, sides, withOutside } from '../../contract/outside.js';
import { infeasible, makePlan, needsCohort } from '../../contract/planning.js';
import { countNoise, type CountNoise } from '../tables/count-noise.js';
import { wholeArm } from '../tables/counts.js';
import { rootAbove } from '../tables/key-places.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { wholeSumsOf, wholeSumsSummary } from '../tables/whole-sums.js';
import { stepsPerUnit } from './bounds.js';
import {
  aboveAt, capLadder, cellsOf, ladderAdder, ladderCells, ladderEntries, negativeAt, sumsUnder,
  type CapLadder,
} from './cap-ladder.js';
import { coreFrom, readCap, type CapReader, type CapReading } from './cap-reading.js';
import { cellNoise } from './cell-noise.js';
import { errorOfTotals, sizeOfColumns } from './totals.js';

/** Share of the cost for the cells; the totals have the rest. */
const cellsShare = 0.3;
/** People for each person of the core: the fullest cell of a usual column has a fifth of them. */
const peoplePerCore = 5;

/** The noise of the cells and of the totals, in caps. */
interface FoundCapNoise {
  readonly cells: CountNoise;
  readonly totals: CountNoise;
  readonly reader: CapReader;
}

/**
 * Totals of values that are clipped to 0..capMax, with a cap that is found privately for each
 * column: noisy cells of the values say which cap to add up under, and what is above it.
 *
 * Claim. Neighbours: one row replaced by any other row, or by nothing, or added. Cost: rho zCDP, no
 * delta; or pure epsilon, where the budget asks for it.
 * Why: a row is in exactly one cell of each of d columns. Replaced, it moves one cell down and one
 * up by 1; gone or added, one cell alone. So all cells are at most 2 d apart in L1 and sqrt(2 d) in
 * L2, and 30 % of the cost pays for them (count-noise). The caps are functions of released cells.
 * For every fixed list of caps the totals are whole numbers of steps, of which one row moves each
 * by at most 1 unit, the cap (bounds): d in L1 and sqrt(d) in L2, for 70 %. So both events are
 * fixed before data in units of the caps, and the second is private for every outcome of the first.
 * Costs of steps that are chosen by earlier outcomes add up (Bun and Steinke 2016, lemma 2.3; for
 * pure epsilon, basic composition). The rest is post-processing.
 *
 * Interval. It is about the total with values clipped to 0..capMax. At its lower end it has the
 * noise and the widths of cells above the cap; at its upper end also what may be there unseen
 * (cap-reading, unseen-tail). It assumes that no group of fewer than `clusterSeenFrom` people is
 * far above the others. The noise of the excess is a sum of several Laplace numbers where privacy
 * is pure: it is stated as one with the same deviation, whose tails are heavier.
 * Hostile: m people add up to m capMax, if they say that they have so much.
 */
export function planFoundCap(capMax: readonly number[], facts: StudyFacts): Plan | Infeasible {
  const { cohort, dimension } = facts;
  if (facts.keys !== undefined) {
    return infeasible(
      'no cap is found for an answer that is split by groups',
      'give cap, the most that one contributor counts for under a group, or range',
    );
  }
  const noise = noiseOf(facts);
  const core = coreFrom(noise.reader);
  const cohortNeeded = Math.ceil(peoplePerCore * core);
  if (cohort < cohortNeeded) {
    return needsCohort(
      `with ${cohort} contributors, noise may hide where the values are`,
      cohortNeeded, 'a larger epsilon or a cap that you know',
    );
  }
  const ladders = capMax.map(capLadder);
  const seenFrom = clusterSeenFrom(noise.reader.noise);
  const hides = seenFrom * Math.max(...capMax);
  return makePlan({
    arms: [wholeArm],
    events: [noise.cells.event, noise.totals.event],
    guarantee: {
      theorem: 'cells of values, then a sum of bounded whole numbers under a cap that they show, '
        + 'with discrete noise; proof in src/estimators/counts/sum/found-cap',
      assumptions: [
        `for its interval: no group of fewer than ${seenFrom} people has values far above the `
          + 'others',
        'for the total of unclipped values: all values are from 0 to cap-max',
      ],
      corruptionMax,
    },
    outputShape: [dimension],
    facts: {
      errorsAreIn: 'shares of the total of a cohort in which everybody is at the found cap',
      cap: 'found privately',
      noiseInBounds: noise.totals.standardDeviation,
      noiseOfCells: noise.cells.standardDeviation,
      answeredFromPeopleInACell: core,
      clippedReportedFrom: reportedFrom(noise, dimension),
      clusterSeenFrom: seenFrom,
      clusterMayAdd: hides,
      interval: `stands on this: no group of fewer than ${seenFrom} people has values far above `
        + `the others. Noise hides such a group, which may add up to ${hides} to a total; every `
        + 'private method hides some. With a smaller cap-max it may add less.',
    },
    expectedError: errorOfTotals(noise, sizeOfColumns(dimension), facts),
    summary: () => wholeSumsSummary(dimension, dimension * ladderEntries, ladderAdder(ladders)),
    release: async (summaries, mechanisms) => {
      const sums = wholeSumsOf(summaries);
      const cells = noise.cells.draw(mechanisms, sums.map(cellsOf));
      const counts = cells.value;
      const readings = ladders.map((_, j) =>
        readCap(counts.subarray(j * ladderCells, j * ladderCells + aboveAt + 1), noise.reader));
      if (!readings.every((reading) => reading !== null)) {
        return cells.map(() => coresUnseen(readings, core));
      }
      const caps = readings.map(({ cap }) => cap);
      const drawn = noise.totals.draw(mechanisms, sums.map((all) =>
        sumsUnder(all, caps).map((steps) => steps / stepsPerUnit)));
      return drawn.map((totals) =>
        outcomeOf(totals, counts, readings, { ladders, noise, cohort, capMax, seenFrom }));
    },
  });
}

function noiseOf({ cohort, dimension, target }: StudyFacts): FoundCapNoise {
  const cells = countNoise({
    name: 'cells', counts: dimension * ladderCells, l1: 2 * dimension,
    l2: rootAbove(2 * dimension), target, share: cellsShare,
  });
  const { l1, l2 } = sizeOfColumns(dimension);
  const totals = countNoise({
    name: 'totals', counts: dimension, l1, l2, target, share: 1 - cellsShare,
    grid: 1 / stepsPerUnit,
  });
  return {
    cells, totals,
    reader: {
      noise: cellNoise(cells), columns: dimension, cohort,
      totalHalf: totals.interval95([0]).high[0]!, cellHalf: cells.interval95([0]).high[0]!,
    },
  };
}

/** From which noisy number of people below 0 or above capMax on it stands out of its noise. */
function reportedFrom({ cells }: Pick<FoundCapNoise, 'cells'>, columns: number): number {
  return reportedFromOf(sides * columns, cells);
}

/** Released numbers alone. */
function coresUnseen(readings: readonly (CapReading | null)[], core: number): Outcome {
  const hiddenColumns = readings.flatMap((reading, j) => (reading === null ? [j] : []));
  return {
    kind: 'refused',
    reason: 'largest-unseen',
    text: `noise hides how large the values of ${columnPlaces(hiddenColumns)} are: of the people `
      + `with more than 0, no more than ${Math.ceil(core)} are visibly of about one size, which is `
      + 'within 1.4 times each other. Give cap, the most that one contributor counts for, or '
      + 'range. Or lower cohort if far fewer contributors came than planned for, or wait for more',
  };
}

/** Made from released and public numbers alone. */
function outcomeOf(
  totals: Float64Array, counts: Float64Array, readings: readonly CapReading[],
  { ladders, noise, cohort, capMax, seenFrom }: {
    readonly ladders: readonly CapLadder[]; readonly noise: FoundCapNoise; readonly cohort: number;
    readonly capMax: readonly number[]; readonly seenFrom: number;
  },
): Outcome {
  const caps = readings.map(({ cap }, j) => ladders[j]![cap]!.unit);
  const estimate = readings.map(({ excess }, j) => (totals[j]! + excess) * caps[j]!);
  // Rounding moves each contributor's value by at most half a step.
  const rounded = cohort / (2 * stepsPerUnit);
  const ends = readings.map(({ half, eitherWay, more }) =>
    ({ down: half + eitherWay + rounded, up: half + eitherWay + more + rounded }));
  const findings = readings.flatMap(({ windows, seenUpTo }, j): readonly Finding[] => {
    const from = seenUpTo * caps[j]!;
    // Nobody counts for more than capMax, so nobody hides beyond it.
    return [...from < capMax[j]!
      ? [{ reason: 'interval-assumes', columns: [j], amounts: [seenFrom, 1, from] } as const] : [],
    ...clustersFar(windows, j, caps[j]!)];
  });
  const answer = finiteValue({
    estimate,
    shape: [readings.length],
    uncertainty: uncertaintyOf(noise, readings, caps),
    interval95: {
      low: estimate.map((total, j) => total - ends[j]!.down * caps[j]!),
      high: estimate.map((total, j) => total + ends[j]!.up * caps[j]!),
    },
    spread: caps,
    ...(findings.length > 0 && { findings: findings.slice(0, findingsMax) }),
  }, 'a total is', 'give a smaller cap-max');
  const outside = readings.flatMap((_, j) =>
    [negativeAt, aboveAt].map((cell) => counts[j * ladderCells + cell]!));
  return withOutside(answer, outside, reportedFrom(noise, readings.length));
}

function uncertaintyOf(
  { cells, totals }: FoundCapNoise, readings: readonly CapReading[], caps: readonly number[],
): Uncertainty {
  const [ofCell, ofTotal] = [sizeOf(cells), sizeOf(totals)];
  const sizes = readings.map(({ weight }, j) => caps[j]! * Math.hypot(ofTotal, weight * ofCell));
  return totals.event.kind === 'gaussian'
    ? { kind: 'gaussian', standardDeviation: sizes } : { kind: 'laplace', scale: sizes };
}

const sizeOf = ({ event }: CountNoise): number =>
  (event.kind === 'gaussian' ? event.sigma : event.scale);

/** People who stand apart, or noise that looks like them. */
function clustersFar(
  windows: CapReading['windows'], column: number, cap: number,
): readonly Finding[] {
  return windows.filter(({ isApart }) => isApart).map(({ rows, from, to, isSure }) => ({
    reason: 'cluster-far', columns: [column],
    amounts: [rows, from * cap, to * cap, Number(isSure)],
  }));
}
