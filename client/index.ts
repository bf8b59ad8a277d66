/**
 * The client of Keelson, for Node and browsers: contribute rows to a study, follow its releases.
 *
 * @module keelson/client
 * @example
 * import { createContributor, openOutbox, openSeed, subscribe } from 'keelson/client';
 *
 * const url = 'ws://127.0.0.1:8787';
 * const seed = await openSeed('alice.key');
 * const outbox = await openOutbox('alice.outbox');
 * const contributor = createContributor({ url, study: 'flight-delays', seed, outbox });
 * const result = await contributor.contribute([[12, 640], [3, 233]]);
 * await contributor.close();
 *
 * for await (const { release } of subscribe({ url, study: 'flight-delays' })) {
 *   console.log(release.epoch, release.outcome);
 * }
 */
export { openOutbox, openSeed } from '#outbox';
export { signing } from '#signing';
export { retryableWireCodes, wireCodes } from '../src/base/error-codes.js';
export type { ErrorCode, LocalCode, WireCode } from '../src/base/error-codes.js';
export {
  InvalidInputError, InvalidParameterError, KeelsonError, WireError, type KeelsonErrorOptions,
} from '../src/base/errors.js';
export { deviationsAsNormal } from '../src/base/noise-deviations.js';
export type {
  Finding, FindingReason, Interval95, NewerReason, Outcome, RefusalReason, RefusedOutcome,
  RunningRelease, Uncertainty, ValueOutcome,
} from '../src/base/outcome.js';
export type {
  BinInfo, NumberFacts, NumberInfo, NumberKind, ThresholdSide,
} from '../src/base/number-info.js';
export type { NamedPart } from '../src/base/parts.js';
export { LogError } from '../src/log/index.js';
export type { LogFaultCode } from '../src/log/index.js';
export type {
  Answer, BatchBody, Cells, HeadBody, LedgerPosition, Notice, ReleaseBody, Ready, ReleaseCost,
  ReleaseFacts, SignedHead, SignedRelease, Spend, WireStudyState,
} from '../src/wire/messages.js';
export type {
  Discovery, GroupBy, Question, RowTest, TestValue,
} from '../src/base/questions.js';
export type { ParameterValue, ParameterValues, Participation } from '../src/base/facts.js';
export type { KeyAgreement, Signer, Signing, Soon, Verifier } from '../src/signing/contract.js';
export type { BudgetRuleName } from '../src/base/budget-rules.js';
export type { ColumnType } from '../src/base/columns.js';
export type { CellOf, ColumnInput, ColumnsInput, RowOf } from '../src/base/row-types.js';
export type { ColumnFormat, ColumnWords } from '../src/base/study-words.js';
export type { TokenPeriods } from '../src/base/token-periods.js';
export {
  ReleaseSeries, RunningTotals, seriesFaultText, smooth, smoothedLevels, type Level,
  type Measured, type NumberSeries, type QuestionSeries, type RunningTotal, type SeriesFault,
  type Total,
} from '../src/series/index.js';
export type { StudyDocument } from '../src/wire/study-document.js';
export { createContributor, publicKeyOf } from './contributor.js';
export type { Contributor, ContributorOptions } from './contributor-contract.js';
export type { Sealing, SealingInput } from './session/channel-contract.js';
export type { Via } from './http/fallback.js';
export { clientDefaults, systemRuntime } from './base/defaults.js';
export type {
  Outbox, OutboxBatch, OutboxContents, OutboxItem, OutboxPin,
} from './outbox/contract.js';
export { memoryOutbox } from './outbox/memory.js';
export type { Cell, NumberRows, RowsInput, TypedRow } from './rows.js';
export type { ClientRuntime } from './base/runtime.js';
export { readSeed } from './base/seed.js';
export type { Settled } from './session/settled.js';
export type { ContributorState, ContributorStatus, OpenEpochNews } from './status.js';
export { subscribe } from './subscriber.js';
export type {
  ReleaseSubscription, StudyNews, SubscribeOptions, VerifiedRelease,
} from './subscriber.js';
export type {
  HelloAgain, OpenTransport, Transport, TransportHandlers,
} from './websocket/contract.js';
