/**
 * The facts that a thread needs for a check lie in front of the body, in the same shared memory:
 * the contributor's key, the study, and the signature.
 */
export const layout = { key: 0, study: 32, signature: 64, body: 128 } as const;

/** Bytes of the digest of a body. */
export const digestBytes = 64;

/** The start options of a thread that checks signatures. */
export interface CheckSetup {
  /** The server's key, then the keys that it had before. */
  readonly serverKeys: readonly Uint8Array[];
}

/** Batches to check, in order. */
export interface CheckCall {
  readonly id: number;
  readonly memories: readonly SharedArrayBuffer[];
  /** Three numbers for each batch: index of its memory, first byte, bytes of the body. */
  readonly places: Uint32Array;
}

/** The results of a list of checks, in the order of the list. */
export interface CheckReply {
  readonly id: number;
  /** One byte for each batch: 1 when the signature is valid. */
  readonly valid: Uint8Array<ArrayBuffer>;
  /** The digests of the bodies, one after the other. */
  readonly digests: Uint8Array<ArrayBuffer>;
}
