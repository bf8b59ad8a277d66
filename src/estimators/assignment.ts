import { assert } from '../base/assert.js';
import type { CohortPlan } from './contract.js';

/** Bytes of a ticket: 32 pseudo-random bytes that belong to one contributor and one epoch. */
export const ticketBytes = 32;

/** Where a contributor's row goes. */
export interface Assignment {
  /** Index into the plan's cohorts. */
  readonly cohort: number;
  /** Hash group within the cohort, 0..groups-1. */
  readonly group: number;
  /** For cohorts of pairs: the slot within the group whose first two members form its pair. 0 for rows. */
  readonly slot: number;
  /** Orders rows, independently of cohort, group and slot. */
  readonly tag: bigint;
}

/**
 * Where the holder of a ticket goes. The ticket is a keyed hash of the contributor's identity (or
 * fresh random bytes per contributor offline), so the place depends on nothing else: not on arrival,
 * not on values, not on who else is there. That is what lets disjoint groups compose in parallel,
 * and what makes one contributor more or less change one group only.
 *
 * Each decision reads its own eight bytes, so they are independent; a share of [0, 1) is cut with
 * 53 bits, so groups are uniform to within 2^-53 * groups.
 *
 * @param ticket - 32 bytes, uniform to whoever does not hold the key.
 * @param cohorts - of the plan.
 */
export function assign(ticket: Uint8Array, cohorts: readonly CohortPlan[]): Assignment {
  assert(ticket.length === ticketBytes, `a ticket has ${ticketBytes} bytes`);
  assert(cohorts.length > 0, 'a plan has a cohort');
  const view = new DataView(ticket.buffer, ticket.byteOffset, ticket.length);
  const cohort = cohortAt(shareAt(view, 0), cohorts);
  const { groups, slots = 1 } = cohorts[cohort]!;
  const group = Math.floor(shareAt(view, 8) * groups);
  return { cohort, group, slot: Math.floor(shareAt(view, 16) * slots), tag: view.getBigUint64(24) };
}

/** 53 bits of the eight bytes at `offset` as a number in [0, 1). */
function shareAt(view: DataView, offset: number): number {
  const high = view.getUint32(offset) >>> 5;
  const low = view.getUint32(offset + 4) >>> 6;
  return (high * 2 ** 26 + low) / 2 ** 53;
}

function cohortAt(share: number, cohorts: readonly CohortPlan[]): number {
  let bound = 0;
  for (let i = 0; i < cohorts.length - 1; i++) {
    bound += cohorts[i]!.share;
    if (share < bound) return i;
  }
  return cohorts.length - 1;
}
