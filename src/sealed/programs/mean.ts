import type { Released } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import { reportedFromOf, sides, withOutside } from '../../estimators/contract/outside.js';
import { participationBelowPlan } from '../../estimators/contract/outcomes.js';
import { answerOf } from '../../estimators/pooled/centred-mean.js';
import { usualRadius } from '../../estimators/pooled/parameters.js';
import { cohortName } from '../../estimators/counts/tables/counts.js';
import { normalUpperQuantile } from '../../numerics/normal.js';
import { countGrid, gaussianEvent } from '../../privacy/accounting/calibration.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import { powerOfTwoBelow } from '../../privacy/accounting/grid.js';
import { sealedCost } from '../../privacy/accounting/sealed-cost.js';
import { published } from '../../privacy/mechanisms/sealed-noise.js';
import type { ClipBall } from '../../privacy/stages/clip.js';
import { gridRange, type ColumnGrid } from '../shares/column-grid.js';
import { gridForm, stepsOrNone } from '../shares/share-plan.js';
import { number } from '../steps/convert.js';
import { dot } from '../steps/multiply.js';
import { ballOf, checkMeanFacts, insideBall } from './ball.js';
import {
  beyondGrid, centreEvents, deviationOfPeople, releaseCentre, spreadsOf, type CentreDesign,
} from './centre.js';
import { columnSums, totalOf } from './columns.js';
import { checkRoom, rhoForEvents, type ProgramRun, type SealedProgram } from './contract.js';
import { layoutOf } from './rows.js';
import { meanTraffic } from './traffic.js';

/** Options of a sealed mean, besides the study's facts. All of them are public. */
export interface SealedMeanOptions {
  readonly grid: ColumnGrid;
  /** Rows farther than this from the centre are left out. In spreads; default: `usualRadius`. */
  readonly radius?: number;
  /** True if a contributor may have no row. Default: no. */
  readonly isPartial?: boolean;
}

interface MeanDesign extends CentreDesign {
  readonly ball: ClipBall;
  readonly sum: GaussianEvent;
  readonly count: GaussianEvent;
}

/** Shares of rho: of both histograms of the centre together, and of the rest for the count. */
const centrePart = 0.2;
const countShare = 0.05;

/**
 * The private mean of rows that no server sees: a centre, the rows within a ball about it, and the
 * noisy sum over the noisy count.
 *
 * Claim. Cost and neighbours as in `SealedProgram`.
 * Why. A contributor is one row of whole steps inside the public range, whatever it sends.
 * - The centre is that of `centre`.
 * - Rows z about it with |z|^2 > R^2, compared in whole numbers, are left out; the others are at
 *   most R long. One row replaced moves the sum of the rows left by at most 2 R, and their number
 *   by at most 1. So does one that is replaced by none, whose sum it moves by R at most.
 * - All are whole multiples of their events' grids: counts are whole, and a step is 2^-spreadBits
 *   spreads, a multiple of the grid of `sum`.
 * Whether the mean is refused follows from opened numbers.
 * The mean is not robust: false rows inside the ball move it. How many rows the ball leaves out is
 * read from the opened counts: where that stands out of its noise, the answer says so and has no
 * interval.
 */
export function sealedMean(facts: StudyFacts, options: SealedMeanOptions): SealedProgram {
  const design = designOf(facts, options);
  const { coarse, fine, sum, count, grid, form } = design;
  const events = [coarse, fine, sum, count];
  events.forEach(checkRoom);
  return {
    form, events, cost: sealedCost(events, { disjoint: [] }),
    outside: beyondGrid(design),
    valuesOf: (row) => stepsOrNone(row, grid, form),
    traffic: (people) => meanTraffic(people, grid, form),
    run: (run) => runMean(design, run),
  };
}

function designOf(
  facts: StudyFacts,
  { grid, radius = usualRadius(facts.dimension), isPartial = false }: SealedMeanOptions,
): MeanDesign {
  const { dimension } = facts;
  checkMeanFacts(facts, grid);
  const ball = ballOf(radius, grid, 2 ** 24);
  const rho = rhoForEvents(facts);
  const left = rho * (1 - centrePart);
  const place = { cohort: cohortName };
  const sensitivity = 2 * ball.radius;
  const rhoOfSum = left * (1 - countShare);
  const rhoOfCount = left * countShare;
  return {
    facts, grid, ball, form: gridForm(dimension, grid, isPartial),
    ...centreEvents(dimension, rho * centrePart),
    sum: gaussianEvent({
      ...place, name: 'mean/sum', dimension, sensitivity, rho: rhoOfSum,
      grid: Math.min(
        ball.grid, powerOfTwoBelow(sensitivity / Math.sqrt(2 * rhoOfSum) / 2 ** 20),
      ),
    }),
    count: gaussianEvent({
      ...place, name: 'mean/count', dimension: 1, sensitivity: 1, rho: rhoOfCount,
      grid: countGrid(1 / Math.sqrt(2 * rhoOfCount)),
    }),
  };
}

async function runMean(design: MeanDesign, run: ProgramRun): Promise<Released<Outcome>> {
  const { facts, grid, ball } = design;
  const { party, mechanisms } = run;
  const layout = layoutOf(run.rows.length);
  const { about, present: withRow, centre, outside, people } =
    await releaseCentre(run, design, layout);
  if (about === null) return centre.map(() => participationBelowPlan(facts));
  const inside = await insideBall(party, { about, present: withRow }, ball, design, layout);
  const alive = await number(party, inside.alive);
  const count = await mechanisms.open(design.count.name, totalOf(alive), 1);
  const sums = await dot(party, alive, about, columnSums(facts.dimension, layout));
  const sum = await mechanisms.open(design.sum.name, sums, ball.grid);
  return sum.map((total): Outcome => {
    const [present = 0] = count.value;
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    const answer = answerOf({ sum: published(design.sum), count: published(design.count) }, {
      centre: centre.value, spread: spreadsOf(grid), present,
      moved: total.map((entry) => entry / present),
    });
    const { reportedFrom } = beyondGrid(design);
    const told = toldOf(design, centre.value, outside.value, reportedFrom);
    const isTrimmed = people.value - present - told > trimmedFrom(design);
    return withOutside(
      isTrimmed ? withoutInterval(answer) : answer, outside.value, reportedFrom);
  });
}

/**
 * How many of those that the ball leaves out are reported already, as beyond the grid: at least
 * this many people are beyond an end that is farther from the centre than the ball reaches.
 */
function toldOf(
  { grid, ball }: MeanDesign, centre: Float64Array, outside: Float64Array, reportedFrom: number,
): number {
  const spreads = spreadsOf(grid);
  const byColumn = gridRange(grid).map((ends, j) => ends.reduce((sum, end, side) => {
    const people = outside[sides * j + side]!;
    const isLeftOut = Math.abs(end - centre[j]!) > ball.radius * spreads[j]!;
    return isLeftOut && people > reportedFrom ? sum + people : sum;
  }, 0));
  return Math.max(...byColumn);
}

/** The noisy number from which the rows that the ball leaves out stand out of the noise. */
function trimmedFrom(design: MeanDesign): number {
  const deviation = Math.hypot(
    deviationOfPeople(design), published(design.count).sigma,
    Math.sqrt(sides) * published(design.coarse).sigma,
  );
  return reportedFromOf(1, {
    upperQuantile: (probability) => deviation * normalUpperQuantile(probability),
  });
}

function withoutInterval(outcome: Outcome): Outcome {
  if (outcome.kind === 'refused') return outcome;
  const answer = { ...outcome };
  delete answer.interval95;
  const trimmed = { reason: 'rows-trimmed', columns: [], amounts: [] } as const;
  return { ...answer, findings: [trimmed, ...outcome.findings ?? []] };
}
