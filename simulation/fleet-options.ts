import type { KeelsonError } from '../src/base/errors.js';
import type { ClientRuntime } from '../client/base/runtime.js';
import type { OpenTransport } from '../client/websocket/contract.js';
import type { RowSource } from './data/sources.js';
import type { FleetStatistics } from './statistics.js';
import type { Truth } from './truth.js';

export interface FleetOptions {
  readonly url: string;
  /** One or more studies by name or id: each contributor takes part in all of them, with one key. */
  readonly studies: readonly string[];
  readonly contributors: number;
  /** Share of the contributors that attack, in [0, 1). The first ones are hostile. Default 0. */
  readonly hostileShare?: number;
  /** Name of an attack (`attackNames`). Default shift. */
  readonly attack?: string;
  /** How far the attack moves things, in scales. Default: the attack's own. */
  readonly strength?: number;
  /**
   * Asked at the start of every epoch of every study, in place of `hostileShare`, `attack` and `strength`; null: as
   * those say. For attacks on the numbers only.
   */
  readonly tactics?: (study: string, epoch: bigint) => Tactics | null;
  /** Called with each accepted contribution as the server reduces it, for judging releases. */
  readonly onAccepted?: (study: string, epoch: bigint, reduced: Float64Array, isHostile: boolean) => void;
  /**
   * One per column, in data units, by study name: what strength counts in. Default: the study's `scale`
   * parameter, or else the standard deviation of honest rows.
   */
  readonly scale?: Readonly<Record<string, readonly number[]>>;
  /** Keys, order and attacks follow from it. The same seed is the same contributors. */
  readonly seed: Uint8Array;
  readonly rows: RowSource;
  /** Contributors per socket. Default 256. */
  readonly contributorsPerSocket?: number;
  /** Contributions are spread over this share of an epoch. Default 0.8. */
  readonly paceShare?: number;
  /** Spread over this time instead, in milliseconds. The default where epochs close on a count is 500. */
  readonly paceMs?: number;
  /** Asked once for each contributor, by public key and index: its enrolment token. Default: nobody has one. */
  readonly enrolment?: (publicKey: Uint8Array, index: number) => Uint8Array | undefined;
  /** 32 bytes: the only server to talk to. Default: the first that answers. */
  readonly serverKey?: Uint8Array;
  readonly signal?: AbortSignal;
  readonly backoffInitialMs?: number;
  readonly backoffMaxMs?: number;
  readonly runtime?: ClientRuntime;
  readonly openTransport?: OpenTransport;
}

/** What the hostile ones do in one epoch. */
export interface Tactics {
  readonly hostileShare: number;
  /** Name of an attack on the numbers, or `absent`: they stay away. */
  readonly attack: string;
  readonly strength?: number;
}

/** Simulated contributors in one process. */
export interface Fleet {
  /**
   * Resolves when every honest session has been ready once or was ended by the server; rejects when all were ended, with
   * what ended the first.
   */
  ready(): Promise<void>;
  statistics(): FleetStatistics;
  /**
   * What was accepted in an epoch of a study, honest and hostile apart; null when nothing was, or longer ago than
   * the last 64 epochs. The `malformed` attackers are left out. Rows acknowledged while the epoch closed may count
   * in the next one instead.
   */
  truth(study: string, epoch: bigint): Truth | null;
  /** Called when the first contributor hears of a new epoch. */
  onEpoch(listener: (study: string, epoch: bigint) => void): void;
  /** Called when a connection is lost, with the reason and the wait before the next attempt. */
  onReconnecting(listener: (reason: string, retryInMs: number) => void): void;
  /** Called once per study that takes nothing more, or whose sessions the server has all ended. */
  onEnded(listener: (study: string, error: KeelsonError) => void): void;
  /** Hands out no more work, waits for what is under way, disconnects. */
  close(): Promise<void>;
  /** Stops at once. */
  abort(): void;
}
