import { createHmac } from 'node:crypto';

/**
 * What decides a contributor's cohort, group, slot and tag in one epoch: HMAC-SHA256 of its public key under the
 * epoch's assignment key. A function of the contributor alone, fixed before any row was read, so one contributor more
 * or less changes one group; nobody without the key can tell, or choose, whom it shares a group with.
 * @param assignmentKey 32 secret bytes, fresh for each epoch.
 * @param contributor 32 bytes.
 * @returns 32 bytes; see `assign` in src/estimators.
 */
export function ticketOf(assignmentKey: Uint8Array, contributor: Uint8Array): Uint8Array {
  return createHmac('sha256', assignmentKey).update(contributor).digest();
}

/**
 * The seed of the ranks of one batch's records. Its message is longer than a ticket's, so the two never meet.
 * @param sequence of the batch: with the contributor's key it names the batch.
 */
export function recordSeedOf(assignmentKey: Uint8Array, contributor: Uint8Array, sequence: bigint): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, sequence);
  return createHmac('sha256', assignmentKey).update(contributor).update('record').update(number).digest();
}
