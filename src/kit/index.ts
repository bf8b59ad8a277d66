/**
 * The kit for writers of estimators: what an estimator is made of, the suite that every estimator
 * passes, and the audit that attacks it. An estimator of your own runs with `estimate`, `plan` and
 * `runOffline`, as Keelson's own do. Types of plans, events and costs are in `keelson`, mechanisms
 * and accounting in `keelson/advanced`.
 *
 * @module keelson/kit
 */
export { defineEstimator } from '../estimators/contract/given.js';
export { definePooledEstimator } from './pooled.js';
export type {
  CentredPool, DesignRequest, PooledDesign, PooledPipeline, TooFew,
} from '../estimators/pooled/estimator.js';
export type { FoundColumns, OneValue } from '../estimators/pooled/found-columns.js';
export type { PooledPlanParts } from '../estimators/pooled/plan.js';
export { rowsCohort } from '../estimators/pooled/pool.js';

// Parameters, as they are declared and read.
export {
  choiceOf, corruptionParameter, numberOf, numbersOf, optionalNumberOf, rangeOf, rangeParameter,
  type ColumnRange,
} from '../estimators/contract/values.js';

// The numbers of an answer.
export { about, describeCovariance, describeMeans } from '../estimators/contract/describe.js';

// Plans, and the noise that they ask for.
export {
  errorUpTo, infeasible, makePlan, needsCohort, pooledArm, type HonestError, type PlanParts,
} from '../estimators/contract/planning.js';
export { honestErrorOfMean } from '../estimators/pooled/expected-error.js';
export {
  countGrid, exponentialEvent, gaussianEvent, laplaceEvent, type GaussianOptions,
  type Gridded as EventGrid, type Place as EventPlace,
} from '../privacy/accounting/calibration.js';
export { shareOf } from '../privacy/accounting/target.js';

// Summaries of rows, and what a release reads of them.
export { poolOf } from '../estimators/contract/finished.js';
export { wholeArm } from '../estimators/counts/tables/counts.js';
export {
  wholeSumsOf, wholeSumsSummary, type AddWhole, type WholeSumsState,
} from '../estimators/counts/tables/whole-sums.js';
export { rowsSummary, type RowsState, type Unsorted } from '../estimators/summaries/rows.js';
export type { TaggedRows } from '../estimators/summaries/tag-order.js';

// Stages of a release, each with its claim and proof.
export {
  centreStage, knownCentre, type CentreBounds, type CentreStage, type CentreStageOptions,
  type Draws, type PrivateCentreStage,
} from '../estimators/pooled/centre.js';
export type { KernelRunner } from '../numerics/kernels/shards.js';
export type { Centre } from '../privacy/stages/centre.js';
export type { ClipBall } from '../privacy/stages/clip.js';
export {
  clippedMeanEvents, privateClippedMeanOn, type ClippedMean, type ClippedMeanEvents,
  type ClippedMeanEventsOptions, type ClippedMeanOptions,
} from '../privacy/stages/clipped-mean.js';
export type { RowBlock } from '../privacy/stages/rows.js';

// Outcomes.
export {
  finiteValue, intervalAbout, participationBelowPlan,
} from '../estimators/contract/outcomes.js';
export {
  answerOf, gaussianOutcome, type Answer, type MeanEvents,
} from '../estimators/pooled/centred-mean.js';

// The suite, and the audit.
export { complianceCases, type ComplianceCase } from './compliance.js';
export type { ComplianceSample, SampleData } from './sample.js';
export {
  auditEstimator, type EstimatorAudit, type EstimatorAuditOptions,
} from './audit.js';
export type { AuditResult, Claim, KnownNoise, Side } from '../audit/contract.js';
export type { Verdict } from '../audit/verdict.js';
