import type { SignatureContext, Verifier } from '../../src/signing/index.js';
import type { SignedBatch } from '../../src/wire/index.js';

/**
 * The contributor whose batches a channel carries, and the server and study that they are signed
 * for.
 */
export interface BatchSigner {
  /** Holds the parsed key. Parsing costs about a tenth of a verification. */
  readonly verifier: Verifier;
  readonly signatures: SignatureContext;
  /**
   * Contexts with the keys that the server had before. A contributor may have signed for an earlier
   * key, and its batch or the answer may have been lost.
   */
  readonly earlier: readonly SignatureContext[];
}

/** A batch whose signature is valid, or whose seal opened. */
export interface CheckedBatch {
  /** Shared memory, until `release`. */
  readonly body: Uint8Array;
  /** SHA-512 of the body; on an encrypted channel, as its contributor states it. */
  readonly digest: Uint8Array;
  /** Call it once, when the body is no longer read. */
  readonly release: () => void;
}

/** @param checked null when the signature is not valid; the body is then released. */
export type OnChecked = (checked: CheckedBatch | null) => void;

/** Checks the signatures of batches. */
export interface BatchChecks {
  /** Threads that check. 0: the thread of the listener does it, within `check`. */
  readonly threads: number;
  /**
   * Copies the body out of the frame, and calls `onChecked` once. The calls for one contributor
   * come in the order of its batches.
   */
  check(signer: BatchSigner, frame: SignedBatch, onChecked: OnChecked): void;
  /**
   * A batch of an encrypted channel, whose seal was its check. What is given is overwritten.
   * @param plain the digest that the contributor states, then the body. The digest is not computed
   *   again: it only ever tells this contributor's own repeated batch from another one under the
   *   same sequence (`admission-rules`), and whether a sequence is settled does not depend on it.
   * @returns null for bytes that are too short to have both.
   */
  opened(plain: Uint8Array): CheckedBatch | null;
  close(): Promise<void>;
}
