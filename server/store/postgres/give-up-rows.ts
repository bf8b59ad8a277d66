import { systemClock, type Clock } from '../../base/clock.js';
import { StorageError } from '../../../src/base/errors.js';
import type { EpochState, StudyId } from '../contract.js';
import { epochRow, lapseEpoch } from '../rules/epochs.js';
import type { Steps } from '../rules/steps.js';
import { existingStudy } from '../rules/studies.js';
import { int8Array } from './arrays.js';
import { connected } from './connection.js';
import { deleteRows } from './journal.js';
import type { PostgresPlace } from './place.js';
import { refund } from './refunds.js';
import { EncryptionKeys } from './encryption-keys.js';
import { checkDatabase } from './schema.js';
import type { Session } from './session.js';
import { keepNodesOut } from './versions.js';

/** An epoch whose rows cannot be read any more. */
export interface LostEpoch {
  readonly studyId: StudyId;
  /** The name of the study. */
  readonly study: string;
  readonly epoch: bigint;
  readonly state: EpochState;
}

/** The losses caused by the encryption keys that a folder lacks. */
export interface LostRows {
  /** Names of the missing keys. */
  readonly keys: readonly string[];
  /** True if the folder has none of the keys that the store needs. */
  readonly isAll: boolean;
  /** Epochs with rows under these keys, by study and number. */
  readonly epochs: readonly LostEpoch[];
}

/**
 * Changes nothing.
 * @param folder of the encryption keys. It is not made.
 * @throws StorageError when the database cannot be used; InvalidInputError when others can read a
 *   key.
 */
export function lostRows(place: PostgresPlace, folder: string): Promise<LostRows> {
  return connected(place, async ({ session }) => {
    await checkDatabase(session);
    return findLost(session, folder);
  });
}

/**
 * Gives up all rows that are encrypted under keys which the folder lacks, so that servers start
 * again. It may be run again after a crash, and goes on.
 *
 * An open or closing epoch lapses: its reservation goes back to the budget, or to the contributors.
 * A charged one stays charged, and its leader ends it as interrupted. The rows of all of them, and
 * of released ones, are deleted. The missing keys count as erased.
 *
 * Claim 1: no noise was drawn from the rows of an epoch that lapses, and none ever is. A process
 * draws noise only after its own transaction has moved the epoch to `charged`. The state is read
 * under the gate and the lock of the budget. A charge takes both too, so no charge has committed.
 * After the lapse a charge finds another state and fails. No server runs meanwhile, and one that
 * was away can commit nothing more (`keepNodesOut`).
 * Claim 2: noise of a charged epoch may have been drawn, so its charge stays, and nobody draws
 * again: the next leader finds a charge that is not its own.
 * Claim 3: what happens does not depend on rows, which nobody can read. It depends on which keys
 * are missing and on the states of epochs, and both are public.
 * Claim 4: other epochs keep their rows, states and secrets, except that keys of fingerprints under
 * a missing key are deleted. These tell a repeated batch from another one with its number. Without
 * them the first answer is repeated, and nothing counts twice (replay-window.ts).
 * @param mayBeAll whether to go on when the folder has none of the keys that the store needs.
 * @returns what was given up.
 * @throws StorageError when a server runs on the store, no key is missing, the folder has none of
 *   the keys and `mayBeAll` is false, or the database cannot be used.
 */
export function giveUpRows(
  place: PostgresPlace, folder: string, mayBeAll: boolean, clock: Clock = systemClock,
): Promise<LostRows> {
  return connected(place, async ({ session }) => {
    await checkDatabase(session);
    const lost = await findLost(session, folder);
    refuseUnlikely(lost, folder, mayBeAll);
    const alone = (action: () => Promise<void>): Promise<void> =>
      session.transaction('', async () => {
        await keepNodesOut(session, 'true', 'servers run on this store');
        await action();
      });
    // There may be many, and a transaction has room for a limited number of dropped tables.
    for (const each of lost.epochs.filter(isFinished)) {
      await alone(() => giveUp(session, [each], clock));
    }
    await alone(async () => {
      const left = await findLost(session, folder);
      await giveUp(session, left.epochs, clock);
      await forgetKeys(session, left.keys);
    });
    return lost;
  });
}

const isFinished = ({ state }: LostEpoch): boolean => state === 'released' || state === 'lapsed';

function refuseUnlikely({ keys, isAll }: LostRows, folder: string, mayBeAll: boolean): void {
  if (keys.length === 0) throw new StorageError(`no encryption key is missing in ${folder}: there is `
    + 'nothing to give up');
  if (isAll && !mayBeAll) throw new StorageError(`${folder} has none of the ${keys.length} encryption `
    + 'keys that this store needs, as if it were another folder: check --encryption-keys and '
    + 'whether the volume is there. If all keys are lost, add --all',
  'storage-failed', { details: { keys } });
}

async function findLost(session: Session, folder: string): Promise<LostRows> {
  const needed = await session.text<{ readonly name: string }>(
    'SELECT name FROM row_keys WHERE erased_at IS NULL ORDER BY row_key');
  const keys = needed.map(({ name }) => name)
    .filter((name) => !EncryptionKeys.canRead(folder, name));
  const epochs = await session.text<{
    readonly study_id: StudyId; readonly name: string; readonly epoch: bigint;
    readonly state: EpochState;
  }>(`SELECT study_id, studies.name, e.epoch, e.state FROM row_keys AS k
    JOIN epoch_secrets AS s USING (row_key) JOIN epochs AS e USING (study_key, epoch)
    JOIN studies USING (study_key)
    WHERE k.name = ANY ($1) AND e.purged = 0 ORDER BY studies.name, study_key, e.epoch`, [keys]);
  return {
    keys, isAll: keys.length === needed.length,
    epochs: epochs.map(({ study_id: studyId, name: study, epoch, state }) =>
      ({ studyId, study, epoch, state })),
  };
}

/** Part of a transaction. */
async function giveUp(
  session: Session, epochs: readonly LostEpoch[], clock: Clock,
): Promise<void> {
  const studies = [...new Set(epochs.map(({ studyId }) => studyId))];
  await session.text('SELECT lock_studies($1, $2)', [studies, null]);
  for (const each of epochs) await session.perform(end(each, clock.nowMs()));
}

function* end({ studyId, epoch }: LostEpoch, nowMs: number): Steps<void> {
  const study = yield* existingStudy(studyId);
  const row = yield* epochRow(study.study_key, epoch);
  if (row!.state === 'open' || row!.state === 'closing') {
    yield* lapseEpoch(studyId, epoch, nowMs, refund);
  }
  yield* deleteRows(study, row!);
}

async function forgetKeys(session: Session, names: readonly string[]): Promise<void> {
  const keys = await session.text<{ readonly row_key: bigint }>(
    'SELECT row_key FROM row_keys WHERE name = ANY ($1)', [names]);
  const numbers = int8Array(keys.map(({ row_key: key }) => key));
  await session.text(`UPDATE epoch_secrets
    SET assignment_key = '', work_seed = '', fingerprint_key = ''
    WHERE row_key = ANY ($1::bigint[])`, [numbers]);
  await session.text(`UPDATE row_keys SET erased_at = clock_timestamp()
    WHERE row_key = ANY ($1::bigint[])`, [numbers]);
}
