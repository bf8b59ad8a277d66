/**
 * The aggregator, for embedding: `import { createAggregator } from 'keelson/server'`.
 *
 * @module keelson/server
 */
export { createAggregator, type Aggregator, type AggregatorOptions } from './aggregator.js';
export type { ListenerLimits, NetworkOptions, TlsIdentity } from './network/options.js';
export { systemClock, type Clock } from './base/clock.js';
export type { Role } from './base/roles.js';
export { createLogger, silentLogger, type Logger, type LoggerOptions } from './base/logger.js';

// Studies: what they ask, and those that run.
export { defineStudy, type StudyDefinition } from './studies/definition.js';
export {
  parseSettingsText, type AlertSettings, type EmailSettings, type ServerSettings,
} from './study-file/settings.js';
export type {
  ByInput, ColumnName, Duration, EstimatorInput, ParametersInput, QuestionInput, StudyFacts,
  StudyInput, TestInput, WhereInput,
} from './study-file/study-input.js';
export type { BudgetRuleName } from '../src/base/budget-rules.js';
export type { CellOf, ColumnInput, ColumnsInput, RowOf } from '../src/base/row-types.js';
export type {
  EstimatorName, EstimatorParameters, ParametersOf, PerColumn,
} from '../src/estimators/contract/named.js';
export {
  parsePopulationsText, parseStudyText, study, type Population, type Populations,
  type StudyTextOptions,
} from './study-file/index.js';
export type { RefusedStudy } from './studies/refused-study.js';
export type { RunningHub } from './studies/hub/hub-options.js';
export type {
  HubEvent, StudyHub, StudyView, SubmitResult, VerifiedBatch,
} from './studies/contract.js';
export type { TextTable } from '../src/base/text-table.js';
export type {
  ContributorEvidence, EpochEvidence, QuarantineOutcome,
} from './studies/evidence-contract.js';
export type { FindEstimator } from './epochs/engine.js';
export type { KeyShare } from '../src/base/key-share.js';
export type { Key, KnownKeys } from '../src/base/remembered-keys.js';
export type { EncryptedSeries } from '../src/base/running-totals.js';
export type {
  AcceptedBatch, EpochProgress, EpochResult, EpochRunner, EpochSetup, QuestionFailure, SeriesInput,
  TextTables,
} from './epochs/contract.js';

// The stores: a data folder, and a database.
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/open.js';
export { openPostgresStore, type PostgresStoreOptions } from './store/postgres/open.js';
export type { PostgresPlace } from './store/postgres/place.js';
export type {
  ClaimedSlice, EpochSlices, EpochTally, LeaderCalls, Leadership, SharedKey, SharedStore, Slice,
  SlicesLeft, Standings, StudyStanding,
} from './store/shared.js';
export type { NodeHealth, SliceCounts } from './studies/node-health.js';
export type {
  AdmissionRequest, AdmissionResult, BudgetSpec, ChargeResult, ContributorKey, ContributorState,
  EpochRecord, EpochState, JournalEntry, LedgerBalance, LedgerEntry, OpenEpoch, OpenEpochResult,
  ReleaseRecord, Store, StoreRelease, StudyId, StudyRecord, StudyRegistration, StudyStateName,
  WithdrawalRequest, WithdrawalResult,
} from './store/contract.js';
export type { NewQuarantine, Quarantine, Rollback } from './store/records.js';
export type { StoreHealth } from './store/health.js';

// Parts of these types.
export type { Charge } from '../src/privacy/accounting/budget.js';
export type { KeyRotation } from '../src/signing/rotation.js';
export type { DiscoveredKeys } from '../src/questions/key-table.js';
export type { Spend } from '../src/wire/messages.js';
export type { StudyPlan } from '../src/plan-study.js';
export type { PlannedQuestion } from '../src/questions/plan.js';
export type { CutPeople, GroupsCut } from '../src/questions/groups-cut.js';
export type { StudyDocument } from '../src/wire/study-document.js';
