import { keyRoomBytes, keyRoomOf } from '../../../src/questions/key-table.js';
import type { AdmissionRequest, StudyId } from '../contract.js';
import { epochOf } from './epochs.js';
import { first, type Steps } from './steps.js';

/**
 * The room that an accepted batch takes of its epoch's memory for discovered keys, in bytes. An
 * epoch has `keyRoomBytes` for all its questions, and all unfinished epochs of a store together
 * have `serverKeyRoomBytes`. A batch that finds less of either is answered `overloaded`, and
 * nothing of it is written. So its sender may send it again, and it then counts in the next epoch.
 *
 * Claim 1: the table of an epoch's keys is never full. A full table could only drop keys, or fail
 * the release. Either would let one contributor change what is released in a way that no noise
 * covers.
 * Proof. Let a contributor have r rows in the epoch. Its batches have taken the sum of the
 * differences below, which is `keyRoomOf` for r rows: at least what its keys take in all tables,
 * so in any one, whatever they are. Each store adds the room of a list to that of the epoch in the
 * transaction that writes the list, and writes none with which the sum would pass `keyRoomBytes`.
 * Restarts and other servers find the same sum there.
 *
 * Claim 2: whether there is room depends on how many rows came, as a server's load does, and not on
 * their keys or values. Proof: neither is read here.
 *
 * The limit over all epochs bounds memory alone, and no claim needs it. Servers that share a store
 * share it; lists that they judge at the same time may pass it by the room of these lists.
 *
 * Withdrawn rows keep their room, since a server may still hold their keys in memory. This keeps
 * nobody out who would else be in: a contributor takes at most the room of `keysMax` keys in each
 * epoch, withdrawn or not, because its withdrawal is final for the epoch.
 * @param rows the contributor's rows in the epoch, with those of this batch.
 */
export function roomTaken(
  { discovered = [], rows: own }: Pick<AdmissionRequest, 'discovered' | 'rows'>, rows: number,
): number {
  return keyRoomOf(discovered, rows) - keyRoomOf(discovered, rows - own);
}

/**
 * What all unfinished epochs have taken. Where nobody counted it, before a migration, an epoch has
 * a larger number than any can take, and is left out.
 */
export const keyRoomsText = `SELECT CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes
  FROM epochs JOIN key_rooms USING (epoch_key)
  WHERE state IN ('open', 'closing', 'charged') AND bytes <= ${keyRoomBytes}`;

/** See `Store.keyRoom`. */
export function* readKeyRoom(studyId: StudyId, epoch: bigint): Steps<number> {
  const taken = yield* first(epochOf(studyId, epoch)
    .innerJoin('key_rooms', 'key_rooms.epoch_key', 'epochs.epoch_key').select('bytes'));
  return Number(taken?.bytes ?? 0n);
}
