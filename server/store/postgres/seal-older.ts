import { toHex } from '../../../src/base/bytes.js';
import { StorageError } from '../../../src/base/errors.js';
import type { StudyId } from '../contract.js';
import { byteaArray, int8Array } from './arrays.js';
import { journalTable } from './epoch-tables.js';
import { keyOfToday } from './encryption-key-turns.js';
import type { EncryptionKeys } from './encryption-keys.js';
import { sealRow, sealSecret } from './row-seal.js';
import type { Session } from './session.js';

/** Rows that one statement seals. Bodies are up to 4 MiB. */
const pageRows = 32;

interface SecretsRow {
  readonly study_key: bigint;
  readonly study_id: StudyId;
  readonly epoch: bigint;
  /** Null when the rows of the epoch are deleted. */
  readonly epoch_key: bigint | null;
  readonly assignment_key: Uint8Array;
  readonly work_seed: Uint8Array;
  readonly fingerprint_key: Uint8Array;
}

interface PlainRow {
  readonly position: bigint;
  readonly public_key: Uint8Array;
  readonly sequence: bigint;
  readonly complete: bigint;
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
}

/**
 * Seals the data that a schema before version 5 has in the clear; part of the transaction of a
 * migration. The pages that had it stay on the disk until they are vacuumed, and in the database's
 * log.
 * @param keys undefined without a folder of keys.
 * @throws StorageError when there is something to seal and no key.
 */
export async function sealOlder(session: Session, keys: EncryptionKeys | undefined): Promise<void> {
  const plain = await session.text<SecretsRow>(`SELECT s.*, study_id, e.epoch_key
    FROM epoch_secrets AS s JOIN studies USING (study_key) LEFT JOIN epochs AS e
      ON e.study_key = s.study_key AND e.epoch = s.epoch AND e.purged = 0`);
  if (plain.length > 0) {
    if (keys === undefined) throw new StorageError('this version seals the rows of contributors '
      + 'before the database gets them, and those of this store are not sealed yet: give the '
      + 'folder for the keys with --encryption-keys');
    const { row_key: encryptionKey, name } = await keyOfToday(session, keys);
    const key = keys.read(name);
    for (const secrets of plain) {
      const { study_id: studyId, epoch } = secrets;
      await session.text(`UPDATE epoch_secrets SET row_key = $3, assignment_key = $4,
        work_seed = $5, fingerprint_key = $6 WHERE study_key = $1 AND epoch = $2`, [
        secrets.study_key, epoch, encryptionKey,
        sealSecret(key, studyId, epoch, 'assignment', secrets.assignment_key),
        sealSecret(key, studyId, epoch, 'seed', secrets.work_seed),
        sealSecret(key, studyId, epoch, 'fingerprint', secrets.fingerprint_key),
      ]);
      if (secrets.epoch_key === null) continue;
      await sealJournal(session, journalTable(secrets.epoch_key), (each) => sealRow(key, {
        studyId, epoch, position: each.position, contributor: toHex(each.public_key),
        sequence: each.sequence, complete: each.complete === 1n,
      }, each.signature, each.body));
    }
  }
  await session.execute('ALTER TABLE epoch_secrets ALTER COLUMN row_key SET NOT NULL');
}

async function sealJournal(
  session: Session, table: string, seal: (row: PlainRow) => Uint8Array,
): Promise<void> {
  await session.execute(`ALTER TABLE ${table} ADD COLUMN sealed bytea;
    ALTER TABLE ${table} ALTER COLUMN sealed SET STORAGE EXTERNAL`);
  for (let after = 0n; ;) {
    const rows = await session.text<PlainRow>(`SELECT j.*, public_key FROM ${table} AS j
      JOIN contributors USING (contributor_id) WHERE position > $1 ORDER BY position
      LIMIT ${pageRows}`, [after]);
    if (rows.length === 0) break;
    after = rows.at(-1)!.position;
    await session.text(`UPDATE ${table} AS j SET sealed = page.sealed
      FROM unnest($1::bigint[], $2::bytea[]) AS page (position, sealed)
      WHERE j.position = page.position`,
    [int8Array(rows.map(({ position }) => position)), byteaArray(rows.map(seal))]);
  }
  await session.execute(`ALTER TABLE ${table} ALTER COLUMN sealed SET NOT NULL,
    DROP COLUMN signature, DROP COLUMN body`);
}
