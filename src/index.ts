/**
 * The library. `estimate` runs one private estimator on rows at hand, `plan` says from public numbers what it would cost
 * and how accurate it would be. The private estimators are in `keelson/estimators`, robust ones that add no noise in
 * `keelson/non-private`, the parts that all are made of in `keelson/advanced`. The server is in `keelson/server`, the
 * client in `keelson/client`.
 *
 * @module keelson
 */
export { estimate, type Estimate, type EstimateOptions } from './estimate.js';
export { plan, type PlanOptions } from './plan.js';
export type { PrivacyStatement } from './privacy-statement.js';
export { estimators as allEstimators, findEstimator } from './estimators/registry.js';

export {
  InvalidInputError, InvalidParameterError, InvariantError, KeelsonError, StorageError, WireError,
  type KeelsonErrorOptions, type StorageCode,
} from './base/errors.js';
export type { ErrorCode, LocalCode, WireCode } from './base/error-codes.js';

// What a plan and its outcome are made of.
export type { Interval95, Outcome, RefusalReason, RefusedOutcome, Uncertainty, ValueOutcome } from './base/outcome.js';
export type { NamedPart } from './base/parts.js';
export type { Released, Sensitive } from './base/brands.js';
export type {
  Citation, CohortPlan, Compute, Estimator, ExpectedError, Guarantee, Infeasible, ParameterSpec,
  ParameterValue,
  ParameterValues, Participation, Plan, PrivacyTarget, StudyFacts,
} from './estimators/contract/estimator.js';
export { estimators, findEstimator } from './estimators/registry.js';
export { parseParameters } from './estimators/contract/parameters.js';
export {
  createGroups, decodeGroups, inlineCompute, mergeGroups, releaseGroups, runOffline,
  assignmentHashBytes,
  type ByteSource, type Groups, type GroupsProgress, type OfflineRun,
} from './estimators/run.js';

export { pointSet, type PointSet } from './numerics/points.js';
export { filteredMean } from './robust/filtered-mean.js';
export type { Filtered, FilterOptions } from './robust/filtering.js';
export { geometricMedian } from './robust/geometric-median.js';
export { multiplicativeFilter } from './robust/multiplicative-filter.js';
export { robustMean } from './robust/robust-mean.js';
export { robustScatter } from './robust/robust-scatter.js';
export type { SpectralPassOptions } from './robust/spectral-pass.js';
export { trimmedMean } from './robust/trimmed-mean.js';

export type { NoiseSource, WorkRandom } from './random/source.js';
export { secureNoise } from './random/secure.js';
export { seededWork } from './random/work.js';

export { amountOf, amountToNumber, parseAmount, type Amount } from './privacy/accounting/amount.js';
export type { BudgetRule, PrivacyCost } from './privacy/accounting/cost.js';
export type { MechanismEvent } from './privacy/accounting/events.js';
export type { Mechanisms } from './privacy/mechanisms/contract.js';
export { createMechanisms, type PreparedMechanisms } from './privacy/mechanisms/index.js';
export { costOfEvents, costWithin } from './privacy/accounting/composition.js';
export { eventsFromJson, eventsToJson } from './privacy/accounting/event-codec.js';
export { analyticGaussianDelta, analyticGaussianSigma } from './privacy/accounting/analytic-gaussian.js';
export {
  deltaOfZcdp, epsilonOfApproximateZcdp, epsilonOfZcdp, rhoForApproximateZcdp, rhoForZcdp,
} from './privacy/accounting/conversion.js';
export { lossOfReleases, type ChargedEvents, type StudyLoss } from './privacy/accounting/loss-distribution/index.js';
export { capsOf, perReleaseTarget, resolveTarget, targetFromRho } from './privacy/accounting/target.js';
