/**
 * The aggregator, for embedding: `import { createAggregator } from 'keelson/server'`.
 *
 * @module keelson/server
 */
export { createAggregator, type Aggregator, type AggregatorOptions } from './aggregator.js';
export { systemClock, type Clock } from './base/clock.js';
export type {
  HubEvent, StudyHub, StudyView, SubmitResult, VerifiedBatch,
} from './studies/contract.js';
export { openServerKeys, type ServerKeys } from './keys/server-keys.js';
export { createLogger, silentLogger, type Logger, type LoggerOptions } from './base/logger.js';
export type {
  LedgerBalance, LedgerEntry, ReleaseRecord, Store, StudyStateName,
} from './store/contract.js';
export { openSqliteStore } from './store/sqlite/open.js';
export { defineStudy, type StudyDefinition } from './studies/definition.js';
export type { RefusedStudy } from './studies/refused-study.js';
export { createStudyHub, type RunningHub, type StudyHubOptions } from './studies/hub.js';
export {
  parsePopulationsText, parseStudyText, type Populations, type StudyTextOptions,
} from './study-file/index.js';
