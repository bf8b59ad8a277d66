import type { KeyObject } from 'node:crypto';
import { toHex } from '../../../src/base/bytes.js';
import {
  openRow, openSecret, sealRow, sealSecret, type RowPlace, type SecretName,
} from '../postgres/row-seal.js';
import type { Connection } from '../sqlite/driver.js';
import type { MovedTable, Row } from './moved-tables.js';

/** The key under which everything is sealed that is moved. */
export interface MovingKey {
  readonly encryptionKey: bigint;
  readonly key: KeyObject;
}

const secretColumns: Readonly<Record<string, SecretName>> = {
  assignment_key: 'assignment', work_seed: 'seed', fingerprint_key: 'fingerprint',
};

/** The same tables. Rows of contributors and secrets of epochs are sealed on their way. */
export function sealedTables(
  tables: readonly MovedTable[], database: Connection, moving: MovingKey,
): MovedTable[] {
  const studies = new Map(database.prepare<[], { study_key: bigint; study_id: string }>(
    'SELECT study_key, study_id FROM studies').all()
    .map(({ study_key: key, study_id: id }) => [key, id]));
  const epochs = new Map(database.prepare<[], EpochRow>(
    'SELECT epoch_key, study_key, epoch FROM epochs').all().map((row) => [row.epoch_key, row]));
  return tables.map((table) => {
    if (table.name === 'epoch_secrets') return withSealedSecrets(table, studies, moving);
    const epochKey = /^journal_(\d+)$/.exec(table.name)?.[1];
    if (epochKey === undefined) return table;
    const { epoch, study_key: studyKey } = epochs.get(BigInt(epochKey))!;
    return withSealedRows(table, studies.get(studyKey)!, epoch, moving.key);
  });
}

interface EpochRow {
  readonly epoch_key: bigint;
  readonly study_key: bigint;
  readonly epoch: bigint;
}

function withSealedSecrets(
  table: MovedTable, studies: ReadonlyMap<bigint, string>, { encryptionKey, key }: MovingKey,
): MovedTable {
  const changed = (
    place: Row, row: Row, change: typeof sealSecret | typeof openSecret,
  ): Row => ({
    ...row, ...Object.fromEntries(Object.entries(secretColumns).map(([column, name]) => [
      column, change(key, studies.get(place['study_key'] as bigint)!, place['epoch'] as bigint,
        name, row[column] as Uint8Array),
    ])),
  });
  return {
    ...table,
    seal: (row) => ({ ...changed(row, row, sealSecret), row_key: encryptionKey }),
    open: (row, there) => changed(row, there, openSecret),
  };
}

function withSealedRows(
  table: MovedTable, studyId: string, epoch: bigint, key: KeyObject,
): MovedTable {
  const placeOf = (row: Row): RowPlace => ({
    studyId, epoch, position: row['position'] as bigint,
    contributor: toHex(row['public_key'] as Uint8Array), sequence: row['sequence'] as bigint,
    complete: row['complete'] === 1n,
  });
  return {
    ...table,
    seal: (row) => {
      const { position, contributor_id: contributorId, sequence, complete, signature, body } = row;
      const sealed = sealRow(key, placeOf(row), signature as Uint8Array, body as Uint8Array);
      return { position, contributor_id: contributorId, sequence, complete, sealed };
    },
    open: (row, there) => ({
      ...there, public_key: row['public_key'],
      ...openRow(key, placeOf(row), there['sealed'] as Uint8Array),
    }),
  };
}
