import type { WireStudyState } from './messages.js';

/**
 * The messages between the three servers of a sealed study, as Keelson's code sees them.
 * `peer-frames.ts` converts them; proto/keelson/v1/wire.proto documents each field.
 */
export type PeerFrame =
  | {
    readonly kind: 'hello'; readonly studyId: Uint8Array; readonly from: number;
    readonly challenge: Uint8Array; readonly nonce: Uint8Array; readonly signature: Uint8Array;
  }
  | { readonly kind: 'ready'; readonly signature: Uint8Array }
  | {
    readonly kind: 'standing'; readonly epoch: bigint; readonly state: EpochStanding;
    readonly releases: bigint; readonly study: WireStudyState;
    /** The epoch in which it found a wrong message, until its operator resumes; 0: none. */
    readonly heldEpoch: bigint;
  }
  | {
    readonly kind: 'openEpoch'; readonly epoch: bigint; readonly opensAtMs: bigint;
    readonly closesAtMs: bigint;
  }
  | {
    readonly kind: 'epochKey'; readonly epoch: bigint; readonly boxKey: Uint8Array;
    readonly signature: Uint8Array;
  }
  | { readonly kind: 'gather'; readonly epoch: bigint }
  | { readonly kind: 'boxes'; readonly entries: readonly SealedEntry[] }
  | { readonly kind: 'manifest'; readonly count: number; readonly digest: Uint8Array }
  /** One bit for each entry of the manifest, the lowest of a byte first. */
  | { readonly kind: 'unusable'; readonly entries: Uint8Array }
  | {
    readonly kind: 'start'; readonly attempt: number; readonly digest: Uint8Array;
    readonly key: Uint8Array; readonly signature: Uint8Array; readonly rules: number;
  }
  | { readonly kind: 'step'; readonly payload: Uint8Array; readonly more: boolean }
  | { readonly kind: 'sign'; readonly signature: Uint8Array }
  | { readonly kind: 'released'; readonly body: Uint8Array; readonly signature: Uint8Array }
  | { readonly kind: 'stop'; readonly code: string };

/**
 * How far a server is with its newest epoch. `open`: nothing of it was opened. `charged`: charged,
 * and no release is stored. `done`: released or lapsed, or there is none.
 */
export type EpochStanding = 'open' | 'charged' | 'done';

/** A contributor's sealed entry, as it was signed. */
export interface SealedEntry {
  /** 32 bytes. */
  readonly contributor: Uint8Array;
  readonly body: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/** The subprotocol that two servers of a sealed study must name. */
export const peerSubprotocol = 'keelson.sealed.v1';
/** Most bytes of a frame between servers. */
export const peerFrameBytes = 4 * 1024 * 1024;
/** Most entries of one frame: its reader takes a bounded number of parts. */
export const entriesPerFrame = 2_000;
