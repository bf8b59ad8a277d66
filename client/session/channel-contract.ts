import type { WireCode } from '../../src/base/error-codes.js';
import type { KeelsonError } from '../../src/base/errors.js';
import type { AsyncSigner } from '../../src/signing/index.js';
import type { BatchBody, Ready, Spend } from '../../src/wire/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { Outbox } from '../outbox/contract.js';
import type { ClientRuntime } from '../base/runtime.js';
import type { VerifiedWelcome } from './handshake.js';

/** The present socket of a channel. */
export interface ChannelLink {
  readonly welcome: VerifiedWelcome;
  send(bytes: Uint8Array): void;
  readonly writable: boolean;
  /** Calls `channel.pump()` once there is room again. */
  whenWritable(channel: Pumped): void;
  /** Gives the socket up. Another one is opened after a wait. */
  drop(reason: string): void;
  /** Reports that the server works as expected. */
  progress(): void;
}

/** A channel that waits for room. */
export interface Pumped {
  pump(): void;
}

/** Events that a channel reports to its owner. */
export interface ChannelOwner {
  /** The server proved its key. Nothing is sent until the returned promise resolves. */
  onProven?(): Promise<void> | undefined;
  onReady?(ready: Ready): void;
  /**
   * The contributor's spending, reported with the first row of an epoch under contributor
   * scope.
   */
  onSpend?(spend: Spend): void;
  /**
   * The open epoch changed; 0n when none is open. `closesInMs` is null when the server did not
   * report it.
   */
  onEpoch?(epoch: bigint, closesInMs: number | null): void;
  /** The server deferred a batch or a Hello. It is sent again later. */
  onPutOff?(code: WireCode): void;
  /** Nothing more can be sent. Everything that was open has been finished or failed. */
  onEnded?(error: KeelsonError): void;
}

export interface ChannelOptions {
  /** Absent while a page still makes it: then set `Channel.signer` before the channel is added. */
  readonly signer?: AsyncSigner;
  /** Name, or id in hexadecimal. */
  readonly study: string;
  readonly runtime: ClientRuntime;
  readonly owner: ChannelOwner;
  readonly dataType?: BatchBody['dataType'];
  readonly outbox?: Outbox;
  /** The token in each Hello, or a function that gets one for this study. */
  readonly enrolment?: Uint8Array | GetEnrolment | undefined;
  /** Sends no signed batch but the entries of sealed studies. */
  readonly encryptedOnly?: boolean | undefined;
  /** Needed for sealed studies. */
  readonly sealing?: Sealing | undefined;
}

/** The inputs of a contribution to a sealed study. */
export interface SealingInput {
  /** The study's verified facts. */
  readonly document: StudyDocument;
  /** The contributor's rows, row-major, of the types of their columns. An absent cell is NaN. */
  readonly rows: Float64Array;
  /** The texts that the numbers of text columns are places in. */
  readonly texts: readonly string[] | undefined;
  /** 32 bytes. */
  readonly studyId: Uint8Array;
  readonly epoch: bigint;
  readonly sequence: bigint;
  /** 32 bytes. */
  readonly contributorKey: Uint8Array;
  /** 96 bytes for each server: its box key for this epoch and its signature. */
  readonly boxKeys: readonly Uint8Array[];
}

/**
 * Makes the entry that a contributor signs in place of rows: `sealing` of the entry
 * `client/sealing`. @throws KeelsonError when the keys are not signed by the study's servers.
 */
export type Sealing = (input: SealingInput) => Uint8Array;

/** Gets a token for a study: see `ContributorOptions.enrolment`. */
export type GetEnrolment = (study: StudyDocument) => Promise<Uint8Array>;
