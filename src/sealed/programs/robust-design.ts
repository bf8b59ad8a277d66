import { InvalidParameterError } from '../../base/errors.js';
import type { StudyFacts } from '../../estimators/contract/estimator.js';
import {
  eventsOf, excessMaxOf, robustRound, type RobustRound,
} from '../../estimators/mean/robust-mean/design.js';
import type { RoundsDesign } from '../../estimators/mean/robust-mean/filter-rounds.js';
import { finalSumShare, isBlind } from '../../estimators/mean/filters/design.js';
import { closeRadius } from '../../estimators/pooled/parameters.js';
import { countEvent, sumEvent } from '../../estimators/pooled/query-events.js';
import type { SealedEvent } from '../../privacy/accounting/sealed-cost.js';
import { shareOf } from '../../privacy/accounting/target.js';
import { published } from '../../privacy/mechanisms/sealed-noise.js';
import type { ColumnGrid } from '../shares/column-grid.js';
import { gridForm } from '../shares/share-plan.js';
import { ballOf, checkMeanFacts } from './ball.js';
import { centreEvents, type CentreDesign } from './centre.js';
import { checkRoom, rhoForEvents } from './contract.js';

/** Options of a sealed robust mean, besides the study's facts. All of them are public. */
export interface SealedRobustMeanOptions {
  readonly grid: ColumnGrid;
  /** Share of hostile rows that the interval for them is stated for: 0 to 0.2. Default 0.05. */
  readonly corruption?: number;
  /**
   * Rows farther than this from the centre are left out. In spreads; default: `closeRadius`, as
   * what is opened has more noise, in proportion to the square of the radius.
   */
  readonly radius?: number;
  /** Filter rounds, 1 to 20. Default 2. */
  readonly rounds?: number;
  /** Histograms along axes in each round, at most 50. Default 2. */
  readonly axes?: number;
  /** True if a contributor may have no row. Default: no. */
  readonly isPartial?: boolean;
}

/** The noise of a sealed robust mean, worked out from public numbers. */
export interface SealedRobustDesign extends CentreDesign {
  readonly events: readonly SealedEvent[];
  /** The rounds and the mean, with the noise that is opened. */
  readonly published: RoundsDesign;
}

/** Shares of rho, as in the clear estimator with `shape: light`: the centre, and the mean. */
const centrePart = 0.2;
const finalPart = 0.4;
const countShare = 0.05;
/** The largest radius in steps: sums of squares over all rows are at most 2^60 (`checkRoom`). */
const stepsMax = 2 ** 20;

/** @throws InvalidParameterError for options or a budget that do not fit. */
export function sealedRobustDesign(
  facts: StudyFacts,
  {
    grid, corruption = 0.05, radius = closeRadius(facts.dimension), rounds: asked = 2, axes = 2,
    isPartial = false,
  }: SealedRobustMeanOptions,
): SealedRobustDesign {
  checkMeanFacts(facts, grid);
  checkOptions({ corruption, rounds: asked, axes });
  const { dimension, cohort } = facts;
  const ball = ballOf(radius, grid, stepsMax);
  const rho = rhoForEvents(facts);
  const centre = centreEvents(dimension, shareOf(rho, centrePart));
  const rhoRound = shareOf(rho, (1 - centrePart - finalPart) / asked);
  const planned = Array.from({ length: asked }, (_, t) =>
    robustRound({ axes, facts }, `look-${t + 1}`, rhoRound, ball));
  const excessMax = excessMaxOf(publishedRound(planned[0]!), cohort);
  const rounds = isBlind(excessMax, corruption, ball) ? [] : planned;
  const rhoFinal = shareOf(rho, rounds.length > 0 ? finalPart : 1 - centrePart);
  const sum = sumEvent('mean/sum', dimension, ball, shareOf(rhoFinal, finalSumShare));
  const count = countEvent('mean/count', shareOf(rhoFinal, countShare));
  const events = [centre.coarse, centre.fine, ...rounds.flatMap(eventsOf), sum, count];
  events.forEach(checkRoom);
  return {
    facts, grid, form: gridForm(dimension, grid, isPartial), events, ...centre,
    published: {
      facts, corruption, ball, excessMax, rounds: rounds.map(publishedRound),
      sum: published(sum), count: published(count),
    },
  };
}

function publishedRound({ count, sum, square, distance, histograms }: RobustRound): RobustRound {
  return {
    count: published(count), sum: published(sum), square: published(square),
    distance: distance === null ? null : published(distance),
    histograms: histograms.map((event) => published(event)),
  };
}

function checkOptions(
  { corruption, rounds, axes }: Record<'corruption' | 'rounds' | 'axes', number>,
): void {
  const isWhole = Number.isInteger(rounds) && Number.isInteger(axes);
  if (isWhole && corruption >= 0 && corruption <= 0.2
    && rounds >= 1 && rounds <= 20 && axes >= 1 && axes <= 50) return;
  throw new InvalidParameterError(
    'corruption is 0 to 0.2, rounds are 1 to 20 and axes are 1 to 50',
    { corruption, rounds, axes },
  );
}
