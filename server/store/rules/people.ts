import type { StudyId } from '../contract.js';
import { epochOf } from './epochs.js';
import { first, type Steps } from './steps.js';

/*
 * The people of an epoch: contributors whose batch was accepted in it. An epoch takes
 * `peopleMax` of them, a public fact of its study. The first batch of one more is answered
 * `overloaded` with `isFull`, and nothing of it is written. So its sender may send it again, and it
 * then counts in the next epoch.
 *
 * Claim 1: until so many people have come, no answer to a batch depends on what others sent, how
 * many rows they have, or whether they came.
 * Proof. The answer follows from the study's facts, the state of the budget, the sender's own
 * window, rows and spending, and the comparison below, which then has one result. Nothing else that
 * others change is read: there is no room that people share, within a study or over studies. A rate
 * of new keys is such a number, and a study with secret participation cannot have one.
 *
 * Claim 2: the tables of an epoch's keys are never full. A full table could only drop keys, or fail
 * the release. Either would let one contributor change what is released in a way that no noise
 * covers.
 * Proof. A contributor's keys take at most `keyRoomOf` in all tables, whatever they are. A study is
 * planned only if `peopleMax` times as much fits into one table. Each store adds the people of a
 * list to those of the epoch in the transaction that writes the list, and writes none with which
 * there would be more. Restarts and other servers find the same number there.
 *
 * A contributor who withdraws stays one of them, since a server may still hold its keys in memory.
 * So does one that is quarantined later.
 */

/** See `Store.peopleCount`. */
export function* readPeople(studyId: StudyId, epoch: bigint): Steps<number> {
  const found = yield* first(epochOf(studyId, epoch)
    .innerJoin('epoch_people', 'epoch_people.epoch_key', 'epochs.epoch_key').select('people'));
  return Number(found?.people ?? 0n);
}
