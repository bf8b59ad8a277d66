import { createHmac } from 'node:crypto';

/**
 * Decides a contributor's cohort, group, slot and tag in one epoch: HMAC-SHA256 of its public key
 * under the epoch's assignment key. It depends on the contributor alone and is fixed before any row
 * is read. So adding or removing one contributor changes one group. Without the key nobody can find
 * out, or choose, who shares a group.
 * @param assignmentKey 32 secret bytes, fresh for each epoch.
 * @param contributor 32 bytes.
 * @returns 32 bytes; see `assign` in src/estimators.
 */
export function assignmentHashOf(assignmentKey: Uint8Array, contributor: Uint8Array): Uint8Array {
  return createHmac('sha256', assignmentKey).update(contributor).digest();
}

/**
 * The secret by which a contributor's keys are chosen in one epoch. Its message is longer than that
 * of an assignment hash, and differs in length from that of a record's seed.
 */
export function keySecretOf(assignmentKey: Uint8Array, contributor: Uint8Array): Uint8Array {
  return createHmac('sha256', assignmentKey).update(contributor).update('keys').digest();
}

/**
 * The seed of the ranks of one batch's records. Its message is longer than that of an assignment
 * hash, so the two are never equal.
 * @param sequence of the batch: with the contributor's key it identifies the batch.
 */
export function recordSeedOf(
  assignmentKey: Uint8Array, contributor: Uint8Array, sequence: bigint,
): Uint8Array {
  const number = new Uint8Array(8);
  new DataView(number.buffer).setBigUint64(0, sequence);
  return createHmac('sha256', assignmentKey)
    .update(contributor).update('record').update(number).digest();
}
