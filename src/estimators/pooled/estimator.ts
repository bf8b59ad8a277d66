import type { Released, Sensitive } from '../../base/brands.js';
import type { Outcome } from '../../base/outcome.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import type {
  Estimator, FinishedSummaries, Infeasible, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../contract/estimator.js';
import { poolOf } from '../contract/finished.js';
import { countedAtBound, withOutside } from '../contract/outside.js';
import { spreadParameter, type ColumnRange } from '../contract/values.js';
import {
  makePlan, nearSmallestCohort, needsCohort, pooledArm, withoutDelta,
} from '../contract/planning.js';
import { rowsSummary, type Unsorted } from '../summaries/rows.js';
import type { CentreBounds, CentreStage, Draws, QueryDesign } from './centre.js';
import { centreNotFound } from './centred-mean.js';
import {
  findUnits, knownColumns, withColumns, type FoundColumns,
} from './found-columns.js';
import { releaseOutside } from './outside.js';
import { noiseHides, spreadText, type PooledPlanParts } from './plan.js';
import { rowsCohort, rowsInRange, rowsInSpreads } from './pool.js';
import { chooseSpread, spreadNotFound, type SpreadChoice } from './spread-choice.js';

export { knownColumns, type FoundColumns, type OneValue } from './found-columns.js';

/**
 * The one pipeline of estimators that keep everybody's rows in one pool: spread, centre, release.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost:
 * that of the plan's events, composed adaptively: those of the spread, when it is found privately
 * (found-columns), those of the people beyond public bounds (outside), those of the centre
 * (privacy/stages/centre), and those of the estimator's own `release`, which states what they
 * cover.
 * Why. Spread and centre are public or released when `release` gets them, so its events, which are
 * calibrated for every spread and centre, compose with theirs. Whether a release is refused, and
 * with what text, is a function of released numbers alone. Dividing rows by a public or released
 * spread, and moving them into public bounds, keeps each contributor one row.
 */

/** The public facts from which an estimator plans. */
export interface DesignRequest {
  readonly values: ParameterValues;
  /** The study's, with what is left to spend after the spread. */
  readonly facts: StudyFacts;
  /** One positive number for each column; null: found privately. */
  readonly spread: Float64Array | null;
  /** Public bounds of which the spread is half the width; null: none were given alone. */
  readonly range: ColumnRange | null;
  /** Public bounds beside a given spread; null: not both were given. */
  readonly bounds: CentreBounds | null;
}

/** Too few contributors: the noise hides what is asked for. */
export interface TooFew {
  readonly kind: 'too-few';
  /** The cohort with which it would not; absent: the pipeline searches. */
  readonly cohortNeeded?: number;
  /** The hidden quantity: the words after "the noise hides". */
  readonly hidden: string;
  /** Remedies besides a larger cohort. */
  readonly others: string;
}

/** Rows, and where they are: centre and spread are public or released. */
export interface CentredPool {
  /** The rows as they came; in a design `inSpreads`, divided by the spread. */
  readonly pool: Sensitive<PooledRows>;
  /** In the pool's units. */
  readonly centre: Float64Array;
  /** Data units. */
  readonly spread: Float64Array;
  readonly columns: FoundColumns;
}

/** The design of an estimator, from public numbers. */
export interface PooledDesign {
  readonly kind: 'design';
  readonly centre: CentreStage;
  /**
   * The parts of the plan that the pipeline cannot know. `events` are all that a release may draw
   * after the spread, those of the centre included; `facts` are besides the spread.
   */
  readonly plan: PooledPlanParts;
  /** Noise of each output coordinate in spreads: sigma / rows. Absent: there is no such number. */
  readonly noise?: { readonly sigma: number; readonly rows: number };
  /** Which pools may come in order of arrival; default: none. */
  readonly unsorted?: Unsorted;
  /**
   * The rows are divided by the spread before the centre is looked for, which changes the last bits
   * of a release: estimators that were made so keep it, so that their releases stay as they are.
   */
  readonly inSpreads?: true;
  /** The release itself answers columns of one value, as a mean always does. */
  readonly answersOneValue?: true;
  /** A draw before the spread: a refusal ends the release. */
  readonly admit?: (
    mechanisms: Mechanisms, pool: Sensitive<PooledRows>,
  ) => Released<Outcome | undefined>;
  /** Draws everything after the centre. */
  readonly release: (draws: Draws, centred: CentredPool) => Promise<Released<Outcome>>;
}

/** How a pooled estimator plans. */
export interface PooledPipeline {
  /** Refuses what is impossible whatever the spread; checked first. Default: nothing. */
  readonly refuse?: (values: ParameterValues, facts: StudyFacts) => Infeasible | null;
  /** The demands on the rest of the target. Default: a positive rho and delta, for the centre. */
  readonly demand?: (values: ParameterValues, facts: StudyFacts) => Infeasible | null;
  readonly design: (request: DesignRequest) => PooledDesign | TooFew | Infeasible;
  /** In a range alone the estimator finds no centre, and answers far fewer people. */
  readonly answersInRange?: true;
}

/** A design that finds its centre and draws as its queries say. */
export function pooledDesign(
  { centre, events }: Pick<QueryDesign, 'centre' | 'events'>,
  parts: Omit<PooledDesign, 'kind' | 'centre' | 'plan'> & {
    readonly plan: Omit<PooledPlanParts, 'events'>;
  },
): PooledDesign {
  return { ...parts, kind: 'design', centre, plan: { ...parts.plan, events } };
}

/** An estimator whose plan is the pipeline's. The parameter `spread` is added in front. */
export function definePooledEstimator(
  about: Omit<Estimator, 'plan'>, pipeline: PooledPipeline,
): Estimator {
  return {
    ...about,
    parameters: [spreadParameter, ...about.parameters],
    plan: (values, facts) => planPooled(pipeline, values, facts),
  };
}

/** Plans from public numbers. Searching for the smallest cohort takes some 40 designs. */
export function planPooled(
  pipeline: PooledPipeline, values: ParameterValues, facts: StudyFacts,
): Plan | Infeasible {
  const refused = pipeline.refuse?.(values, facts) ?? null;
  if (refused !== null) return refused;
  const choice = chooseSpread(values, facts, rowsCohort);
  if (choice.kind === 'infeasible') return alsoForTheRest(choice, pipeline, values, facts);
  const request = requestOf(values, choice);
  const demanded = (pipeline.demand ?? demandDelta)(values, choice.facts);
  if (demanded !== null) return demanded;
  const design = designFor(pipeline, request);
  if (design.kind === 'design') return planFor(design, choice, facts);
  if (design.kind === 'infeasible') return design;
  const { hidden, others } = design;
  return noiseHides(choice.facts, hidden, cohortFor(design, pipeline, request), others);
}

function requestOf(values: ParameterValues, choice: SpreadChoice): DesignRequest {
  if (choice.kind === 'auto') {
    return { values, facts: choice.facts, spread: null, range: null, bounds: null };
  }
  const { facts, spread, outside, isBounded } = choice;
  const range = outside?.range ?? null;
  return {
    values, facts, spread,
    range: isBounded ? range : null,
    bounds: isBounded || range === null ? null : { range, spread },
  };
}

const demandDelta: NonNullable<PooledPipeline['demand']> = (_, { target }) =>
  withoutDelta(target, 'finding the centre');

/** The design, if the cohort is large enough to find the centre. */
function designFor(
  pipeline: PooledPipeline, request: DesignRequest,
): ReturnType<PooledPipeline['design']> {
  const design = pipeline.design(request);
  if (design.kind !== 'design' || request.facts.cohort >= design.centre.cohortNeeded) return design;
  const range = pipeline.answersInRange
    ? 'range without a spread (the smallest and the largest possible value), ' : '';
  return {
    kind: 'too-few',
    cohortNeeded: design.centre.cohortNeeded,
    hidden: 'where the rows are',
    others: `${range}fewer columns, a larger epsilon or a larger centre-part`,
  };
}

function cohortFor(few: TooFew, pipeline: PooledPipeline, request: DesignRequest): number {
  return few.cohortNeeded ?? nearSmallestCohort((cohort) =>
    designFor(pipeline, { ...request, facts: { ...request.facts, cohort } }).kind === 'design');
}

/**
 * A cohort that suffices for the spread may be too small for the rest, and is then not named. Nor
 * is a given spread named as a remedy where the cohort is too small even with one.
 */
function alsoForTheRest(
  spread: Infeasible, pipeline: PooledPipeline, values: ParameterValues, facts: StudyFacts,
): Infeasible {
  if (spread.cohortNeeded === undefined) return spread;
  const enough = { ...facts, cohort: spread.cohortNeeded };
  const choice = chooseSpread(values, enough, rowsCohort);
  if (choice.kind === 'infeasible') return spread;
  const request = requestOf(values, choice);
  const rest = designFor(pipeline, request);
  if (rest.kind === 'too-few') {
    return needsCohort(spread.reason, cohortFor(rest, pipeline, request), rest.others);
  }
  const units = new Float64Array(facts.dimension).fill(1);
  const given = { values, facts, spread: units, range: null, bounds: null };
  const still = designFor(pipeline, given);
  if (still.kind !== 'too-few') return spread;
  const fewest = cohortFor(still, pipeline, given);
  return needsCohort(spread.reason, spread.cohortNeeded, 'fewer columns or a larger epsilon'
    + (fewest < spread.cohortNeeded ? `, or spread and a cohort of ${fewest}` : ''));
}

function planFor(design: PooledDesign, choice: SpreadChoice, { dimension }: StudyFacts): Plan {
  const [spread, outside] = choice.kind === 'given'
    ? [choice.spread, choice.outside] : [null, null];
  const { plan, noise, unsorted } = design;
  return makePlan({
    ...plan,
    arms: [pooledArm(rowsCohort)],
    events: [
      ...(choice.kind === 'auto' ? choice.events : outside === null ? [] : [outside.event]),
      ...plan.events,
    ],
    noise: spread === null || noise === undefined ? []
      : Array.from(spread, (unit) => (unit * noise.sigma) / noise.rows),
    guarantee: outside === null ? plan.guarantee : {
      ...plan.guarantee, assumptions: [countedAtBound, ...plan.guarantee.assumptions],
    },
    facts: {
      spread: spreadText(spread), ...plan.facts,
      ...(outside !== null && { clippedReportedFrom: outside.reportedFrom }),
    },
    summary: () => rowsSummary(dimension, unsorted),
    release: (summaries, mechanisms, compute) =>
      releasePooled(design, choice, summaries, { mechanisms, compute }),
  });
}

async function releasePooled(
  design: PooledDesign, choice: SpreadChoice, summaries: FinishedSummaries, draws: Draws,
): Promise<Released<Outcome>> {
  const { mechanisms } = draws;
  const pool = poolOf(summaries, rowsCohort);
  const admitted = design.admit?.(mechanisms, pool);
  const refusal = admitted?.value;
  if (admitted !== undefined && refusal !== undefined) return admitted.map(() => refusal);
  if (choice.kind === 'given') {
    const { spread, outside } = choice;
    const columns = knownColumns(spread);
    if (outside === null) return releaseInSpreads(design, choice, draws, pool, spread, columns);
    const numbers = releaseOutside(mechanisms, pool, outside).value;
    const rows = pool.map((whole) => rowsInRange(whole, outside.range));
    const released = await releaseInSpreads(design, choice, draws, rows, spread, columns);
    return released.map((outcome) => withOutside(outcome, numbers, outside.reportedFrom));
  }
  const { facts } = choice;
  const found = await findUnits(draws, pool, facts.dimension, choice);
  const units = found.value;
  const unknown = units.kind === 'failed' ? units.coordinates
    : isMean(design, facts) || design.answersOneValue === true ? []
      : columnsOfOneValue(units.columns);
  if (units.kind === 'failed' || unknown.length > 0) {
    return found.map<Outcome>(() => spreadNotFound(facts, unknown));
  }
  return releaseInSpreads(design, choice, draws, pool, units.spread, units.columns);
}

/** True if there is one number for each column. */
function isMean({ plan: { outputShape } }: PooledDesign, { dimension }: StudyFacts): boolean {
  return outputShape.length === 1 && outputShape[0] === dimension;
}

/** Columns of which a mean has no more to say than their value, and others nothing. */
function columnsOfOneValue({ oneValue }: FoundColumns): readonly number[] {
  return oneValue.flatMap((one, j) => (one === null ? [] : [j]));
}

/**
 * A mean also says what its columns are.
 * @param spread - public, or released; so are the `columns`.
 */
async function releaseInSpreads(
  design: PooledDesign, { facts }: SpreadChoice, draws: Draws, pool: Sensitive<PooledRows>,
  spread: Float64Array, columns: FoundColumns,
): Promise<Released<Outcome>> {
  const isInSpreads = design.inSpreads === true;
  const rows = isInSpreads
    ? pool.map((whole): PooledRows =>
      ({ ...whole, ...rowsInSpreads(whole, spread, whole.isScratch) })) : pool;
  const found = await design.centre.find(draws, rows, isInSpreads ? spread.map(() => 1) : spread);
  const centre = found.value;
  if (centre.kind === 'failed') {
    return found.map<Outcome>(() => centreNotFound(facts, centre.coordinates));
  }
  const outcome =
    await design.release(draws, { pool: rows, centre: centre.centre, spread, columns });
  return isMean(design, facts) ? outcome.map((value) => withColumns(value, columns)) : outcome;
}
