import type { Released } from '../../base/brands.js';
import { InvalidParameterError } from '../../base/errors.js';
import type { Outcome } from '../../base/outcome.js';
import { quantilesOfRunning } from '../../base/running-counts.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import { participationBelowPlan } from '../../estimators/contract/outcomes.js';
import { answerOf } from '../../estimators/pooled/centred-mean.js';
import { usualRadius } from '../../estimators/pooled/parameters.js';
import { cohortName } from '../../estimators/counts/tables/counts.js';
import { countGrid, gaussianEvent } from '../../privacy/accounting/calibration.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../privacy/accounting/grid.js';
import { sealedCost } from '../../privacy/accounting/sealed-cost.js';
import { publishedOverCharged } from '../../privacy/mechanisms/sealed-noise.js';
import { stepsOfRow, type ColumnGrid } from '../shares/column-grid.js';
import type { ShareForm } from '../shares/form.js';
import { bits } from '../steps/adder.js';
import { number } from '../steps/convert.js';
import { dot } from '../steps/multiply.js';
import { onesPlane } from '../steps/planes.js';
import {
  constant, differenceOf, maskedBy, publicBits, xorOf, type Bits, type Numbers,
} from '../steps/shares.js';
import {
  coarseCounts, columnBins, fineCounts, lifted, perColumn, totalOf,
} from './columns.js';
import { rhoForEvents, type ProgramRun, type SealedProgram } from './contract.js';
import { layoutOf, numbersOfRows, type Layout } from './rows.js';

/** What a sealed mean is asked with, besides the study's facts. All public. */
export interface SealedMeanOptions {
  readonly grid: ColumnGrid;
  /** Rows farther than this from the centre are left out. In scales; default: `usualRadius`. */
  readonly radius?: number;
}

interface MeanDesign {
  readonly facts: StudyFacts;
  readonly form: ShareForm;
  readonly grid: ColumnGrid;
  /** Squared radius of the ball, in steps: whole. */
  readonly radiusSquared: number;
  readonly coarse: GaussianEvent;
  readonly fine: GaussianEvent;
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
}

/** Shares of rho: of both histograms of the centre together, and of the rest for the count. */
const centreShare = 0.2;
const countShare = 0.05;

/**
 * The private mean of rows that no server sees: a centre from two noisy histograms of each column,
 * the rows within a ball about it, and the noisy sum over the noisy count.
 *
 * Claim. Cost and neighbours as in `SealedProgram`.
 * Why. A contributor is one row of whole steps inside the public range, whatever it sends.
 * - Each histogram has 64 public bins for each of d columns, all with noise. A row is in one bin
 *   of each column, so one row replaced moves the counts by at most sqrt(2 d) in L2. The fine bins
 *   begin at a function of the coarse noisy counts. There is no delta.
 * - The centre is a function of the fine noisy counts. Rows z about it with |z|^2 > R^2, compared
 *   in whole numbers, are left out; the others are at most R long. One row replaced moves the sum
 *   of the rows left by at most 2 R, and their number by at most 1.
 * - All are whole multiples of their events' grids: counts are whole, and a step is 2^-scaleBits
 *   scales, a multiple of the grid of `sum`.
 * Whether the mean is refused follows from opened numbers.
 * The mean is not robust: false rows inside the ball move it. Rows that the ball leaves out are not
 * allowed for in the interval.
 */
export function sealedMean(facts: StudyFacts, options: SealedMeanOptions): SealedProgram {
  const design = designOf(facts, options);
  const { coarse, fine, sum, count, form, grid } = design;
  const events = [coarse, fine, sum, count];
  return {
    form, events, cost: sealedCost(events, { disjoint: [] }),
    valuesOf: (row) => stepsOfRow(row, grid),
    run: (run) => runMean(design, run),
  };
}

/** sqrt(2 d), rounded up. */
const sensitivityOfBins = (dimension: number): number =>
  Math.sqrt(2 * dimension) * (1 + 2 ** -50);

function designOf(
  facts: StudyFacts, { grid, radius = usualRadius(facts.dimension) }: SealedMeanOptions,
): MeanDesign {
  const { dimension, target } = facts;
  if (target.isPure === true) {
    throw new InvalidParameterError(
      'a sealed study has Gaussian noise, and the budget\'s rule is pure: leave the rule out',
    );
  }
  if (grid.lows.length !== dimension) {
    throw new InvalidParameterError(
      `the grid has ${grid.lows.length} columns, and the study ${dimension}`,
    );
  }
  const steps = Math.floor(radius * 2 ** grid.scaleBits);
  if (!(steps >= 1 && steps <= 2 ** 24)) {
    throw new InvalidParameterError(
      `a radius of ${radius} scales is outside 2^-${grid.scaleBits} to `
        + `${2 ** (24 - grid.scaleBits)}`, { radius },
    );
  }
  const rho = rhoForEvents(facts);
  const left = rho * (1 - centreShare);
  const place = { cohort: cohortName };
  const histogram = (name: string): GaussianEvent => {
    const sensitivity = sensitivityOfBins(dimension);
    const own = rho * centreShare / 2;
    return gaussianEvent({
      ...place, name, dimension: columnBins * dimension, sensitivity, rho: own,
      grid: countGrid(sensitivity / Math.sqrt(2 * own)),
    });
  };
  const sensitivity = 2 * steps / 2 ** grid.scaleBits;
  const rhoOfSum = left * (1 - countShare);
  const rhoOfCount = left * countShare;
  return {
    facts, grid, radiusSquared: steps ** 2,
    form: { kind: 'numbers', count: dimension, bits: grid.bits },
    coarse: histogram('centre/coarse'), fine: histogram('centre/fine'),
    sum: gaussianEvent({
      ...place, name: 'mean/sum', dimension, sensitivity, rho: rhoOfSum,
      grid: Math.min(
        2 ** -grid.scaleBits, powerOfTwoBelow(sensitivity / Math.sqrt(2 * rhoOfSum) / 2 ** 20),
      ),
    }),
    count: gaussianEvent({
      ...place, name: 'mean/count', dimension: 1, sensitivity: 1, rho: rhoOfCount,
      grid: countGrid(1 / Math.sqrt(2 * rhoOfCount)),
    }),
  };
}

async function runMean(design: MeanDesign, run: ProgramRun): Promise<Released<Outcome>> {
  const { facts, form, grid } = design;
  const { dimension } = facts;
  const { party, mechanisms } = run;
  const layout = layoutOf(run.rows.length);
  const { numbers, topBits } = await lifted(
    party, numbersOfRows(run.rows, form, layout), grid.bits, dimension * layout.padded,
  );
  const coarse =
    await mechanisms.open(design.coarse.name, await coarseCounts(
      party, topBits, dimension, layout,
    ), 1);
  const starts = startsOf(coarse.value, grid);
  const fine = await mechanisms.open(design.fine.name, await fineCounts(
    party, differenceOf(numbers, perColumn(party, starts, layout)), dimension, layout,
    { width: grid.scaleBits - 2, reach: Math.max(grid.bits, grid.scaleBits + 4) + 1 },
  ), 1);
  const centre = centreOf(fine.value, starts, grid, facts.cohort);
  if (centre === null) return fine.map(() => participationBelowPlan(facts));
  const about = differenceOf(numbers, perColumn(party, centre, layout));
  const alive = await number(party, await insideBall(run, design, about, layout));
  const count = await mechanisms.open(design.count.name, totalOf(alive), 1);
  const sums = await dot(party, alive, about, {
    count: dimension, terms: layout.padded,
    left: (_, i) => i, right: (j, i) => j * layout.padded + i,
  });
  const sum = await mechanisms.open(design.sum.name, sums, 2 ** -grid.scaleBits);
  return sum.map((total): Outcome => meanOf(design, centre, total, count.value[0]!));
}

/** The plane of those who are there and whose rows are within the ball. */
async function insideBall(
  { party }: ProgramRun, { facts: { dimension }, grid, radiusSquared }: MeanDesign, about: Numbers,
  { people, padded }: Layout,
): Promise<Bits> {
  const squares = await dot(party, about, about, {
    count: padded, terms: dimension,
    left: (i, j) => j * padded + i, right: (i, j) => j * padded + i,
  });
  const room = differenceOf(constant(party.server, padded, radiusSquared), squares);
  // An entry is below 2^(bits + 1), and there are at most 2^6; the radius is at most 2^24 steps.
  const sign = Math.max(2 * grid.bits + 8, 48) + 1;
  const [outside] = await bits(party, room, { from: sign, end: sign + 1 });
  const everybody = onesPlane(people);
  return xorOf(maskedBy(outside!, everybody), publicBits(party.server, everybody));
}

/** Where the fine bins of each column begin, in steps: 8 scales before the fullest coarse bin. */
function startsOf(counts: Float64Array, { bits: width, scaleBits }: ColumnGrid): number[] {
  return binsByColumn(counts).map((column) => {
    const fullest = column.reduce((best, count, bin) => (count > column[best]! ? bin : best), 0);
    return (fullest + 0.5) * 2 ** (width - 6) - 2 ** (scaleBits + 3);
  });
}

function binsByColumn(counts: Float64Array): Float64Array[] {
  return Array.from({ length: counts.length / columnBins }, (_, j) =>
    counts.subarray(j * columnBins, (j + 1) * columnBins));
}

/** The noisy medians, in whole steps; null where a column has too few rows for one. */
function centreOf(
  counts: Float64Array, starts: readonly number[], { scaleBits }: ColumnGrid, cohort: number,
): number[] | null {
  const edges = Array.from({ length: columnBins + 1 }, (_, i) => i * 2 ** (scaleBits - 2));
  const centre: number[] = [];
  for (const [j, column] of binsByColumn(counts).entries()) {
    const below = [0];
    for (const count of column) below.push(below.at(-1)! + count);
    if (below.at(-1)! < cohort / 4) return null;
    const [median] = quantilesOfRunning([...below, below.at(-1)!], edges, [0.5]);
    centre.push(starts[j]! + Math.round(median!));
  }
  return centre;
}

function meanOf(
  { facts, grid, sum, count }: MeanDesign, centre: readonly number[], total: Float64Array,
  present: number,
): Outcome {
  if (present < facts.cohort / 4) return participationBelowPlan(facts);
  const published = (event: GaussianEvent): GaussianEvent =>
    ({ ...event, sigma: publishedOverCharged * event.sigma });
  return answerOf({ sum: published(sum), count: published(count) }, {
    // A row stands for the middle of its step.
    centre: grid.lows.map((low, j) => low + (centre[j]! + 0.5) * grid.steps[j]!),
    scale: grid.steps.map((step) => step * 2 ** grid.scaleBits),
    moved: total.map((entry) => entry / present),
    present,
  });
}
