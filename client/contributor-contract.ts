import type { BatchBody, Spend } from '../src/wire/index.js';
import type { StudyDocument } from '../src/wire/study-document.js';
import type { Outbox } from './outbox/contract.js';
import type { RowsInput } from './rows.js';
import type { ClientRuntime } from './base/runtime.js';
import type { Settled } from './session/settled.js';
import type { ContributorState, ContributorStatus, OpenEpochNews } from './status.js';
import type { OpenTransport } from './websocket/contract.js';

/** How a contributor connects, and as whom. */
export interface ContributorOptions {
  /** Like ws://127.0.0.1:8787 or wss://example.org/keelson. */
  readonly url: string;
  /** The study's name, or its id (64 hexadecimal digits), which pins the exact facts. */
  readonly study: string;
  /** 32 bytes: the contributor's secret key. `readSeed` takes it from a key file. */
  readonly seed: Uint8Array;
  /**
   * Default: memory. Give `await openOutbox(path)` so that unsettled rows survive this process. The contributor
   * closes it.
   */
  readonly outbox?: Outbox;
  /** 32 bytes: the only server to talk to. Default: the outbox's, else the first one that proves its key. */
  readonly serverKey?: Uint8Array;
  /** Where the study admits by enrolment: the token for this key, in hexadecimal, as the operator issued it. */
  readonly enrolment?: string;
  /** How numbers travel; float32 halves the bytes and rounds. Default float64. */
  readonly dataType?: BatchBody['dataType'];
  /** Aborting it is `abort`. */
  readonly signal?: AbortSignal;
  /** Waits between connection attempts, in milliseconds. Default 250 doubling to 30,000, less up to half at random. */
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  /** Silence after which a connection is given up, in milliseconds. Default 30,000. */
  readonly idleTimeoutMs?: number;
  /** For tests and other platforms. */
  readonly runtime?: ClientRuntime;
  readonly openTransport?: OpenTransport;
}

/** One contributor's standing connection to one study. */
export interface Contributor {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Where it stands now. */
  readonly state: ContributorState;
  /**
   * What the study's budget has charged to this contributor: as of the last connection, or the first row of an epoch
   * since. Null outside contributor scope.
   */
  readonly ownSpend: Spend | null;
  /** The study's verified facts, once connected. Rejects with the error that ended the contributor before. */
  study(): Promise<StudyDocument>;
  /**
   * Sends rows to the open epoch, or to the next one to open, and resolves once they are settled: durably accepted,
   * or refused for good. Connections may come and go meanwhile. With `last` the contribution to that epoch is complete.
   * @throws (rejects) InvalidParameterError for rows that no epoch takes; KeelsonError('overloaded') when too many wait
   * already; whatever ended the contributor first ('closed', 'server-key-mismatch', 'outbox-failed', ...): a durable
   * outbox then still holds the rows, and the next run sends them.
   */
  send(rows: RowsInput, options?: { readonly last?: boolean }): Promise<Settled>;
  /** `send` of a whole contribution to one epoch. */
  contribute(rows: RowsInput): Promise<Settled>;
  /**
   * Takes back all that this contributor gave to an epoch that is still open, from whichever run: nothing of it counts in the
   * release. Final for that epoch: it takes no more rows. Goes out when what was sent before is settled.
   * @param epoch default: the one that is open then.
   * @returns the epoch, once the server has it on disk.
   * @throws (rejects) WireError('too-late') when the epoch is closed; whatever ended the contributor first.
   */
  withdraw(epoch?: bigint): Promise<bigint>;
  /** The present state, then every change. Any number of readers; a slow one loses the oldest. */
  status(): AsyncIterable<ContributorStatus>;
  /** The open epoch, then each one that opens. Ends with the contributor. */
  epochs(): AsyncIterable<OpenEpochNews>;
  /**
   * Takes no more rows, waits until all are settled, disconnects. Resolves also when the contributor has ended
   * otherwise.
   */
  close(): Promise<void>;
  /** Stops at once. What waits rejects with `closed`. */
  abort(): void;
}
