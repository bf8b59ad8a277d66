import { sql as raw } from 'kysely';
import type { StudyId } from '../contract.js';
import { all, sql, type Steps } from '../rules/steps.js';
import { moved } from './failures.js';
import { openSecret, sealSecret } from './row-seal.js';
import { keyMissing, type EncryptionKeys } from './encryption-keys.js';
import { statement, type Session } from './session.js';

/*
 * Which encryption key is in use, and when one is erased. `row_keys` has a row for each key.
 * An epoch keeps the key under which it was opened: `epoch_secrets.row_key`.
 *
 * Claim 1: no row is sealed under a key that is erased before the row is purged. An epoch takes the
 * newest key under a lock that the marking of erased keys waits for, or waits for itself. So either
 * the marking sees the epoch and spares the key, or the epoch sees the mark and takes another key.
 * A row is sealed under the key of its open epoch, and written only if the epoch is still open.
 * Claim 2: a day after the last epoch of a key's day is purged, the key is erased at the latest.
 * Keys of fingerprints, which must outlive the rows, are first sealed under the key of the day.
 * Each node looks every second, with its reading of how studies stand. Days are days of the
 * database's clock, in UTC. A key is made by the node that needs it first.
 */

export interface EncryptionKeyRow {
  readonly row_key: bigint;
  readonly name: string;
}

/** An encryption key that is in use, or is the newest. */
export interface EncryptionKeyUse {
  readonly name: string;
  /** Neither is it of this day, nor does an epoch with rows need it. */
  readonly isIdle: boolean;
}

const dayOf = (time: string): string => `(${time} AT TIME ZONE 'UTC')::date`;
const today = dayOf('clock_timestamp()');
const isOfToday = `erased_at IS NULL AND ${dayOf('made_at')} = ${today}`;
const kept = `EXISTS (SELECT 1 FROM epoch_secrets AS s JOIN epochs AS e USING (study_key, epoch)
  WHERE s.row_key = k.row_key AND e.purged = 0)`;

const useText = `SELECT k.name, ${dayOf('made_at')} != ${today} AND NOT ${kept} AS idle
  FROM row_keys AS k WHERE erased_at IS NULL ORDER BY row_key`;

/** All keys that are not erased. */
export async function encryptionKeysInUse(session: Session): Promise<EncryptionKeyUse[]> {
  const rows = await session.text<{ readonly name: string; readonly idle: boolean }>(useText);
  return rows.map(({ name, idle }) => ({ name, isIdle: idle }));
}

/** The epochs with rows under a key, in words. */
export async function epochsUnder(session: Session, name: string): Promise<string> {
  const rows = await session.text<{
    readonly study: string; readonly first: bigint; readonly last: bigint;
  }>(`SELECT studies.name AS study, min(e.epoch) AS first, max(e.epoch) AS last
    FROM row_keys AS k JOIN epoch_secrets AS s USING (row_key)
    JOIN epochs AS e USING (study_key, epoch) JOIN studies USING (study_key)
    WHERE k.name = $1 AND e.purged = 0 GROUP BY study_id, studies.name ORDER BY study`, [name]);
  return rows.map(({ study, first, last }) => (first === last
    ? `epoch ${first} of ${study}` : `epochs ${first} to ${last} of ${study}`)).join(', ');
}

/** @throws PostgresFailure encryption-key-missing; it names the first key that the folder lacks. */
export async function checkEncryptionKeys(session: Session, keys: EncryptionKeys): Promise<void> {
  for (const { name } of await encryptionKeysInUse(session)) {
    if (keys.has(name)) continue;
    const sealed = await epochsUnder(session, name);
    throw keyMissing(name, keys.pathOf(name), sealed === '' ? undefined : `the rows of ${sealed}`);
  }
}

/** Makes sure that there is a key of this day. Call it before an epoch takes the newest key. */
export async function renewEncryptionKey(session: Session, keys: EncryptionKeys): Promise<void> {
  const found = await session.text(`SELECT 1 FROM row_keys WHERE ${isOfToday}`);
  if (found.length === 0) await session.transaction('', () => keyOfToday(session, keys));
}

/** Part of a transaction. The file is durable before the database knows the key. */
export async function keyOfToday(
  session: Session, keys: EncryptionKeys,
): Promise<EncryptionKeyRow> {
  await session.execute('LOCK TABLE row_keys IN SHARE ROW EXCLUSIVE MODE');
  const [found] = await session.text<EncryptionKeyRow>(
    `SELECT row_key, name FROM row_keys WHERE ${isOfToday} ORDER BY row_key DESC LIMIT 1`);
  if (found !== undefined) return found;
  const [day] = await session.text<{ readonly day: string }>(`SELECT ${today}::text AS day`);
  const [made] = await session.text<EncryptionKeyRow>(`INSERT INTO row_keys (name, made_at)
    VALUES ($1, clock_timestamp()) RETURNING row_key, name`, [keys.make(day!.day)]);
  return made!;
}

/** The key for an epoch that is opened now. Locked, so that it is not erased meanwhile. */
export function* newestEncryptionKey(): Steps<EncryptionKeyRow> {
  const [row] = yield* statement(raw`SELECT row_key, name FROM row_keys WHERE erased_at IS NULL
    ORDER BY row_key DESC LIMIT 1 FOR SHARE`) as Steps<EncryptionKeyRow[]>;
  // The newest key that this statement saw was erased while it waited.
  if (row === undefined) throw moved();
  return row;
}

/** Erases the keys that no epoch with rows needs, and files of keys that were erased before. */
export async function eraseIdleEncryptionKeys(
  session: Session, keys: EncryptionKeys,
): Promise<void> {
  if ((await encryptionKeysInUse(session)).some(({ isIdle }) => isIdle)) {
    await session.transaction('', async () => {
      const newest = await keyOfToday(session, keys);
      const locked = await session.text<{ readonly row_key: bigint }>(
        'SELECT row_key FROM row_keys WHERE erased_at IS NULL AND row_key != $1 FOR UPDATE',
        [newest.row_key]);
      await session.perform(sealAnew(keys, newest));
      // A statement of its own: it sees the epochs that were opened before the lock.
      await session.text(`UPDATE row_keys AS k SET erased_at = clock_timestamp()
        WHERE row_key = ANY ($1::bigint[]) AND NOT EXISTS (
          SELECT 1 FROM epoch_secrets AS s WHERE s.row_key = k.row_key)`,
      [locked.map((row) => row.row_key)]);
    });
  }
  const erased = await session.text<{ readonly name: string }>(
    'SELECT name FROM row_keys WHERE erased_at IS NOT NULL AND name = ANY ($1)', [keys.names()]);
  for (const { name } of erased) keys.erase(name);
}

/** Seals the secrets that outlive their rows under the newest key. */
function* sealAnew(keys: EncryptionKeys, newest: EncryptionKeyRow): Steps<void> {
  const rows = yield* statement(raw`SELECT s.study_key, study_id, s.epoch, s.fingerprint_key,
      k.name
    FROM epoch_secrets AS s JOIN row_keys AS k USING (row_key) JOIN studies USING (study_key)
    WHERE k.erased_at IS NULL AND s.row_key != ${newest.row_key} AND NOT EXISTS (SELECT 1 FROM epochs AS e
      WHERE e.study_key = s.study_key AND e.epoch = s.epoch AND e.purged = 0)`) as
    Steps<OutlivingRow[]>;
  for (const row of rows) {
    const key = row.fingerprint_key;
    const plain = openSecret(keys.read(row.name), row.study_id, row.epoch, 'fingerprint', key);
    // A purge may have emptied it meanwhile.
    yield* all(sql.updateTable('epoch_secrets').where('study_key', '=', row.study_key)
      .where('epoch', '=', row.epoch).where('fingerprint_key', '=', key).set({
        fingerprint_key:
          sealSecret(keys.read(newest.name), row.study_id, row.epoch, 'fingerprint', plain),
        row_key: newest.row_key,
      }));
  }
}

interface OutlivingRow {
  readonly study_key: bigint;
  readonly study_id: StudyId;
  readonly epoch: bigint;
  readonly fingerprint_key: Uint8Array;
  readonly name: string;
}
