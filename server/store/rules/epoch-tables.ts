import { createHmac } from 'node:crypto';
import type { Steps } from './steps.js';

/** The secrets of an epoch's groups. Empty arrays once the epoch was purged. */
export interface GroupSecrets {
  readonly assignmentKey: Uint8Array;
  readonly workSeed: Uint8Array;
}

export const noSecrets: GroupSecrets = {
  assignmentKey: new Uint8Array(0), workSeed: new Uint8Array(0),
};

/** The part of a store that keeps an epoch's rows and secrets. */
export interface EpochTables {
  createJournal(epochKey: bigint): Steps<void>;
  /** Also makes the key of the epoch's fingerprints. Epoch 0: before a study's first epoch. */
  createSecrets(studyKey: bigint, epoch: bigint, secrets?: GroupSecrets): Steps<void>;
}

export const fingerprintBytes = 16;

/** The trace of a body in replay windows: 16 bytes of HMAC-SHA-256(the epoch's key, its digest). */
export function fingerprintOf(key: Uint8Array, digest: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(digest).digest().subarray(0, fingerprintBytes);
}
