import type { BatchBody, Spend } from '../src/wire/index.js';
import type { StudyDocument } from '../src/wire/study-document.js';
import type { Via } from './http/fallback.js';
import type { Outbox } from './outbox/contract.js';
import type { RowsInput, TypedRow } from './rows.js';
import type { ClientRuntime } from './base/runtime.js';
import type { Sealing } from './session/channel-contract.js';
import type { Settled } from './session/settled.js';
import type { ContributorState, ContributorStatus, OpenEpochNews } from './status.js';
import type { OpenTransport } from './websocket/contract.js';

/** The server, the study and the key of a contributor, and how it connects. */
export interface ContributorOptions {
  /** For example ws://127.0.0.1:8787 or wss://example.org/keelson. */
  readonly url: string;
  /** The study's name, or its id (64 hexadecimal digits), which pins the exact facts. */
  readonly study: string;
  /** 32 bytes: the contributor's secret key. `readSeed` reads it from a key file. */
  readonly seed: Uint8Array;
  /**
   * Default: memory. Pass `await openOutbox(path)` so that unsettled rows survive this process. The
   * contributor closes it.
   */
  readonly outbox?: Outbox;
  /**
   * 32 bytes: the only accepted server. Default: the outbox's, else the first one that proves its
   * key.
   */
  readonly serverKey?: Uint8Array;
  /**
   * Needed if the study admits by tokens: the token for this key, in hexadecimal, as the operator
   * issued it; or a function that gets one for the verified study, like
   * `async (study) => (await requestToken({ ...mine, study })).enrolment`. It is called before the
   * first Hello and whenever a token has expired, and again later when it throws
   * `transport-failed`.
   */
  readonly enrolment?: string | ((study: StudyDocument) => Promise<string>);
  /**
   * Needed for sealed studies: `sealing` of the entry `client/sealing`. Ordinary studies ignore it.
   */
  readonly sealing?: Sealing;
  /**
   * Sends rows on encrypted channels alone, so that nobody who ends TLS in front of the server
   * reads a row or forges an acceptance. Where the server, the page or the way to the server has
   * none, the contributor ends with `unsupported`, and the rows stay in the outbox. Entries of
   * sealed studies are encrypted to their three servers in any case, and go signed. Default false:
   * without such channels batches go signed.
   */
  readonly encryptedOnly?: boolean;
  /** Encoding of numbers. float32 halves the bytes and rounds. Default float64. */
  readonly dataType?: BatchBody['dataType'];
  /** Aborting this signal calls `abort`. */
  readonly signal?: AbortSignal;
  /**
   * Waits between connection attempts, in milliseconds. Default: 250, doubling to 30,000, less up
   * to half at random.
   */
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  /** Silence after which a connection is dropped, in milliseconds. Default 30,000. */
  readonly idleTimeoutMs?: number;
  /** For tests and other platforms. */
  readonly runtime?: ClientRuntime;
  /** Default: WebSocket, and HTTP requests where no WebSocket gets through. */
  readonly openTransport?: OpenTransport;
}

/**
 * One contributor's standing connection to one study. `Row`: what a row by names has, such as
 * `RowOf<typeof columns>`; the default accepts the rows of any study.
 */
export interface Contributor<Row extends TypedRow = TypedRow> {
  /** 32 bytes. Pages compute it asynchronously. */
  readonly publicKey: Promise<Uint8Array>;
  /** The present state. */
  readonly state: ContributorState;
  /** The way in which rows travel now: see `ContributorStatus`. */
  readonly via: Via;
  /**
   * The study's charges to this contributor, as of the last connection, or of the
   * first row of an epoch after it. Null outside contributor scope.
   */
  readonly ownSpend: Spend | null;
  /**
   * The study's verified facts, after the first connection. Of a list of questions, only the
   * signature is verified: show nothing of them as HTML. Rejects with the error that ended the
   * contributor earlier.
   */
  study(): Promise<StudyDocument>;
  /**
   * Sends rows to the open epoch, or to the next one to open. Resolves when they are settled:
   * durably accepted, or refused for good. Connections may be lost and renewed in between. With
   * `last` the contribution to that epoch is complete. Rows may be lists of numbers, or state their
   * values by name and type, such as `{ minutes: 3, late: true, region: 'north' }`. Only the study
   * determines their numbers, so before the first connection of a run they wait in memory and not
   * in the outbox.
   * @throws (rejects) InvalidParameterError for rows that no epoch accepts;
   *   KeelsonError('overloaded') when too many rows wait already; the error that ended the
   *   contributor earlier ('closed', 'server-key-mismatch', 'outbox-failed', ...). A durable outbox
   *   then still holds the rows, and the next run sends them.
   */
  send(rows: RowsInput<Row>, options?: { readonly last?: boolean }): Promise<Settled>;
  /** Sends a whole contribution to one epoch: `send` with `last`. */
  contribute(rows: RowsInput<Row>): Promise<Settled>;
  /**
   * Takes back all rows that this contributor sent to an open epoch, in any run. None of them
   * counts in the release. This is final for that epoch: it accepts no more rows. It is sent when
   * the rows sent earlier are settled.
   * @param epoch default: the one that is open then, or the next one that opens.
   * @returns the epoch, once the server has stored the withdrawal on disk.
   * @throws (rejects) WireError('too-late') when the epoch is closed; the error that ended the
   *   contributor earlier.
   */
  withdraw(epoch?: bigint): Promise<bigint>;
  /**
   * The present state, then every change. Any number of readers; a slow reader misses the oldest
   * changes.
   */
  status(): AsyncIterable<ContributorStatus>;
  /** The open epoch, then each one that opens. Ends with the contributor. */
  epochs(): AsyncIterable<OpenEpochNews>;
  /**
   * Accepts no more rows, waits until all are settled, and disconnects. Also resolves when the
   * contributor has ended in another way.
   */
  close(): Promise<void>;
  /** Stops at once. Everything that waits rejects with `closed`. */
  abort(): void;
}
