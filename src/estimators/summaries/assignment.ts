import { assert } from '../../base/assert.js';
import type { ArmPlan } from '../contract/estimator.js';

/**
 * Bytes of an assignment hash: 32 pseudo-random bytes that belong to one contributor and one epoch.
 */
export const assignmentHashBytes = 32;

/** Where a contributor's row goes. */
export interface Assignment {
  /** Index into the arms of the plan. */
  readonly arm: number;
  /** Hash group within the arm, 0..groups-1. */
  readonly group: number;
  /**
   * For arms of pairs: the slot within the group whose first two members form its pair. 0 for
   * rows.
   */
  readonly slot: number;
  /** Orders rows, independently of arm, group and slot. */
  readonly tag: bigint;
}

/**
 * Where the holder of an assignment hash goes. The assignment hash is a keyed hash of the
 * contributor's identity (or fresh random bytes per contributor offline), so the place depends on
 * nothing else: not on arrival, not on values, not on who else is there. That is what lets disjoint
 * groups compose in parallel, and what makes one contributor more or less change one group only.
 *
 * Each decision reads its own eight bytes, so they are independent; a share of [0, 1) is cut with
 * 53 bits, so groups are uniform to within 2^-53 * groups.
 *
 * @param hash - 32 bytes, uniform for everybody without the key.
 * @param arms - of the plan.
 */
export function assign(hash: Uint8Array, arms: readonly ArmPlan[]): Assignment {
  const arm = armOf(hash, arms);
  const { groups, slots = 1 } = arms[arm]!;
  return {
    arm, group: groupOf(hash, groups), slot: slotOf(hash, slots), tag: tagOf(hash),
  };
}

/** The arm alone. The four parts apart make no objects: a row a microsecond is worth that. */
export function armOf(hash: Uint8Array, arms: readonly ArmPlan[]): number {
  assert(hash.length === assignmentHashBytes, 'an assignment hash has 32 bytes');
  assert(arms.length > 0, 'a plan has an arm');
  if (arms.length === 1) return 0;
  const share = shareAt(hash, 0);
  let bound = 0;
  for (let i = 0; i < arms.length - 1; i++) {
    bound += arms[i]!.share;
    if (share < bound) return i;
  }
  return arms.length - 1;
}

/** The hash group, of `groups`. */
export function groupOf(hash: Uint8Array, groups: number): number {
  return Math.floor(shareAt(hash, 8) * groups);
}

/** The slot within the group, of `slots`. */
export function slotOf(hash: Uint8Array, slots: number): number {
  return Math.floor(shareAt(hash, 16) * slots);
}

const tagBytes = new Uint8Array(8);
const tagView = new DataView(tagBytes.buffer);

/** The tag alone. */
export function tagOf(hash: Uint8Array): bigint {
  for (let i = 0; i < 8; i++) tagBytes[i] = hash[24 + i]!;
  return tagView.getBigUint64(0);
}

/**
 * Half of the tag, as 32 bits with a sign: the high one (0) or the low one (1).
 * @param from - where the hash begins in the bytes.
 */
export function tagWordOf(hash: Uint8Array, half: 0 | 1, from = 0): number {
  return wordAt(hash, from + 24 + 4 * half) | 0;
}

/** 53 bits of the eight bytes at `offset`, the highest first, as a number in [0, 1). */
function shareAt(hash: Uint8Array, offset: number): number {
  const high = wordAt(hash, offset) >>> 5;
  const low = wordAt(hash, offset + 4) >>> 6;
  return (high * 2 ** 26 + low) / 2 ** 53;
}

function wordAt(hash: Uint8Array, at: number): number {
  return ((hash[at]! << 24) | (hash[at + 1]! << 16) | (hash[at + 2]! << 8) | hash[at + 3]!) >>> 0;
}
