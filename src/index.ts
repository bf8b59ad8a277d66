/**
 * The library. `estimate` runs one private estimator on rows at hand, `plan` says from public
 * numbers what it would cost and how accurate it would be, and a `Session` has one budget for all
 * answers about its rows. The private estimators are in
 * `keelson/estimators`, robust ones that add no noise in `keelson/non-private`, the parts that all
 * are made of in `keelson/advanced`. A budget that lasts is in `keelson/ledger`, the server in
 * `keelson/server`, the client in `keelson/client`.
 *
 * @module keelson
 */
export { estimate, type Estimate, type EstimateOptions } from './estimate.js';
export { Session, type AnswerOptions, type SessionOptions } from './session.js';
export type { Ledger, LedgerCaps, LedgerEntry, LedgerState, LedgerTerms } from './ledger.js';
export { plan, type PlanOptions } from './plan.js';
export {
  chooseEstimator, type Candidate, type Choice, type ChooseOptions,
} from './choose.js';
export { questionNames, type QuestionName } from './question-names.js';
export type { PrivacyStatement } from './privacy-statement.js';
export { estimators as allEstimators, findEstimator } from './estimators/registry.js';

export {
  InvalidInputError, InvalidParameterError, InvariantError, KeelsonError, StorageError, WireError,
  type KeelsonErrorOptions, type StorageCode,
} from './base/errors.js';
export type { ErrorCode, LocalCode, WireCode } from './base/error-codes.js';

// Parts of a plan and of its outcome.
export type {
  Finding, FindingReason, Interval95, NewerReason, Outcome, RefusalReason, RefusedOutcome,
  RunningRelease, Uncertainty, ValueOutcome,
} from './base/outcome.js';
export { findingText, ifFalseText } from './base/findings.js';
export { describeAnswer, type Described } from './answers/describe.js';
export type { ColumnType } from './base/columns.js';
export type {
  EstimatorName, EstimatorParameters, ParametersOf, PerColumn,
} from './estimators/contract/named.js';
export type { ColumnFormat, ColumnWords } from './base/study-words.js';
export type {
  BinInfo, ColumnInfo, Describe, NumberFacts, NumberInfo, NumberKind, ThresholdSide,
} from './base/number-info.js';
export type { NamedPart } from './base/parts.js';
export type { Released, Sensitive } from './base/brands.js';
export type {
  Citation, ArmPlan, Compute, Estimator, ExpectedError, Finished, FinishedSummaries,
  GroupStatistic, Guarantee, Infeasible, KeyFacts, ParameterSpec, ParameterValue, ParameterValues,
  Participation, PlaceCounts, PlaceSums, Plan, PlannedSeries, PlannedWork, PooledRows,
  PrivacyTarget, Reach, StudyFacts, Summary, SummaryTable,
} from './estimators/contract/estimator.js';
export type { Amount, PureAmount } from './privacy/accounting/amount.js';
export type { Charge } from './privacy/accounting/budget.js';
export type { BudgetRule, PrivacyCost, RenyiCost } from './privacy/accounting/cost.js';
export type { BudgetCaps, Statement } from './privacy/accounting/target.js';
export type {
  AffineMaskEvent, ExponentialEvent, GaussianEvent, GaussianHistogramEvent, GaussianThresholdEvent,
  KeyedDraws, GroupHistogramEvent, GroupSumsEvent, GroupWeightsEvent, LaplaceEvent, MechanismEvent,
  SymmetricGaussianEvent, WishartMaskEvent,
} from './privacy/accounting/events.js';
export type {
  FoundKeys, KeptBin, KeptKey, KeptSums, Mechanisms, PlaceTable, Scores,
} from './privacy/mechanisms/contract.js';
export type { ScoreRuns } from './random/samplers/choice.js';
export type { WorkRandom } from './random/source.js';
