import type { KeelsonError } from '../src/base/errors.js';
import type { ClientRuntime } from '../client/base/runtime.js';
import type { OpenTransport } from '../client/websocket/contract.js';
import type { RowSource } from './data/sources.js';
import type { FleetStatistics } from './statistics.js';
import type { Truth } from './truth.js';

export interface FleetOptions {
  readonly url: string;
  /**
   * One or more studies, by name or id. Each contributor takes part in all of them, with one key.
   */
  readonly studies: readonly string[];
  readonly contributors: number;
  /** Share of hostile contributors, in [0, 1). The first contributors are hostile. Default 0. */
  readonly corruption?: number;
  /** Name of an attack (`attackNames`). Default shift. */
  readonly attack?: string;
  /** The distance by which the attack moves rows, in spreads. Default: the attack's own. */
  readonly strength?: number;
  /**
   * Called at the start of every epoch of every study. Its result replaces `corruption`, `attack`
   * and `strength`; null keeps those. For attacks on the numbers only.
   */
  readonly tactics?: (study: string, epoch: bigint) => Tactics | null;
  /**
   * Called with each accepted contribution, to compare releases with: `reduced` as by the server,
   * and the rows that were sent.
   */
  readonly onAccepted?: (
    study: string, epoch: bigint, reduced: Float64Array, isHostile: boolean, sent: Float64Array,
  ) => void;
  /**
   * By study name, one per column, in data units: the unit of `strength`. Default: the study's
   * `spread` parameter, or else the standard deviation of honest rows.
   */
  readonly spread?: Readonly<Record<string, readonly number[]>>;
  /** Decides keys, order and attacks. The same seed gives the same contributors. */
  readonly seed: Uint8Array;
  readonly rows: RowSource;
  /**
   * The texts that numbers of honest rows are places of, by study as in `studies`;
   * undefined: `madeUpTexts`. Default: that.
   */
  readonly texts?: (study: string) => readonly string[] | undefined;
  /** Contributors per socket. Default 256. */
  readonly contributorsPerSocket?: number;
  /** Share of an epoch over which contributions are spread. Default 0.8. */
  readonly paceShare?: number;
  /**
   * Time over which they are spread instead, in milliseconds. Default 500 if epochs close on a
   * count.
   */
  readonly paceMs?: number;
  /**
   * Called once for each contributor, with public key and index; returns its enrolment token.
   * Default: no tokens.
   */
  readonly enrolment?: (publicKey: Uint8Array, index: number) => Uint8Array | undefined;
  /** 32 bytes: the key of the only accepted server. Default: the first server that answers. */
  readonly serverKey?: Uint8Array;
  readonly signal?: AbortSignal;
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  readonly runtime?: ClientRuntime;
  readonly openTransport?: OpenTransport;
}

/** The behaviour of the hostile contributors in one epoch. */
export interface Tactics {
  readonly corruption: number;
  /** Name of an attack on the numbers, or `absent`: they send nothing. */
  readonly attack: string;
  readonly strength?: number;
}

/** Simulated contributors in one process. */
export interface Fleet {
  /**
   * Resolves when every honest session has been ready once or was ended by the server. Rejects when
   * all were ended, with the error that ended the first.
   */
  ready(): Promise<void>;
  statistics(): FleetStatistics;
  /**
   * The accepted contributions to an epoch of a study, honest and hostile separately. Null when
   * there were none, or when the epoch is not among the last 64. Those of `malformed` attackers are
   * left out. Rows that were acknowledged while the epoch closed may count in the next one instead.
   */
  truth(study: string, epoch: bigint): Truth | null;
  /** Called when the first contributor learns of a new epoch. */
  onEpoch(listener: (study: string, epoch: bigint) => void): void;
  /** Called when a connection is lost, with the reason and the wait before the next attempt. */
  onReconnecting(listener: (reason: string, retryInMs: number) => void): void;
  /**
   * Called once for each study that accepts nothing more, or of which the server ended all
   * sessions.
   */
  onEnded(listener: (study: string, error: KeelsonError) => void): void;
  /** Starts no more contributions, waits for those in progress, disconnects. */
  close(): Promise<void>;
  /** Stops at once. */
  abort(): void;
}
