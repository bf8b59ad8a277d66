import type { Connection } from '../sqlite/driver.js';
import { journalKeys, journalTable } from '../sqlite/epoch-tables.js';

/** One row, by the names of the columns in PostgreSQL. */
export type Row = Readonly<Record<string, unknown>>;

/** A table of PostgreSQL, and the rows that are moved into it. */
export interface MovedTable {
  readonly name: string;
  /** The columns that no other row has the same values in. Rows come in their order. */
  readonly key: readonly string[];
  /** The number of rows in one step. */
  readonly pageRows: number;
  readonly rows: () => Iterable<Row>;
  /** Converts a row to the form in which it is written. Default: the row itself. */
  readonly seal?: (row: Row) => Row;
  /** Converts a written row back to its form in the folder. Default: the written row itself. */
  readonly open?: (row: Row, there: Row) => Row;
}

const pageRows = 500;
/** Bodies are long: up to 4 MiB each. */
const pageBodies = 32;

/** Tables with the same columns in both stores: columns, and then the key. */
const equal: readonly (readonly [name: string, columns: string, key: string])[] = [
  ['budget_windows', 'budget_id, window_ms, renewed_through_ms', 'budget_id'],
  ['studies', 'study_key, study_id, name, document, budget_id, state, release_count, last_digest, '
    + 'last_epoch, registered_at_ms', 'study_key'],
  ['ledger', 'entry_id, budget_id, study_key, epoch, kind, rho, delta, pure, events, at_ms',
    'entry_id'],
  ['contributors', 'contributor_id, public_key', 'contributor_id'],
  ['replay', 'study_key, contributor_id, contiguous, high, epoch_key, row_count, complete, '
    + '"window"', 'study_key, contributor_id'],
  ['contributor_spend', 'budget_id, contributor_id, rho, delta, pure', 'budget_id, contributor_id'],
  ['contributor_debits', 'budget_id, contributor_id, epoch_key, rho, delta, pure',
    'budget_id, contributor_id, epoch_key'],
  ['releases', 'study_key, release_index, epoch, body, signature, digest, stored_at_ms',
    'study_key, release_index'],
  ['quarantines', 'study_key, contributor_id, from_epoch, distance, beyond, release_index, at_ms',
    'study_key, contributor_id'],
  ['key_rotations', 'rotation, record, at_ms', 'rotation'],
  ['withdrawals', 'epoch_key, contributor_id, signature, at_ms', 'epoch_key, contributor_id'],
  ['new_keys', 'study_name, per_ms, from_ms, keys', 'study_name, per_ms'],
  ['rollbacks', 'rollback, at_ms, ledger_found, ledger_marked, releases_found, releases_marked',
    'rollback'],
  ['rollback_charges', 'entry_id, rollback', 'entry_id'],
  ['running_series', 'study_key, question, sealed', 'study_key, question'],
  ['running_participations', 'study_key, contributor_id, epoch', 'study_key, contributor_id'],
  ['epoch_people', 'epoch_key, people', 'epoch_key'],
];

const budgetsText = `SELECT budget_id, budget_key, scope, rule, renyi_order, rho_cap, delta_cap,
    pure_cap, rho_spent, delta_spent, pure_spent, rho_reserved, delta_reserved, pure_reserved,
    epsilon, delta,
    EXISTS (SELECT 1 FROM budget_windows AS w WHERE w.budget_id = b.budget_id) AS renews
  FROM budgets AS b ORDER BY budget_id`;

/*
 * In PostgreSQL the row of an epoch has minus the contributors that withdrew, and each server
 * counts who came in a row of epoch_tallies. Server 0 counted everything before the move. An epoch
 * whose rows are being deleted counts as purged: its rows are not moved.
 */
const epochsText = `SELECT epoch_key, study_key, epoch, state, opens_at_ms, closes_at_ms, rho, delta,
    pure, rows_max, late, recoveries, -(SELECT count(*) FROM withdrawals AS w
      WHERE w.epoch_key = e.epoch_key) AS contributors,
    released_at_ms, CASE WHEN purged = 0 THEN 0 ELSE 2 END AS purged
  FROM epochs AS e ORDER BY epoch_key`;
const talliesText = `SELECT epoch_key, 0 AS writer, e.contributors + (SELECT count(*)
      FROM withdrawals AS w WHERE w.epoch_key = e.epoch_key) AS contributors,
    coalesce(l.contributors, 0) AS left_out
  FROM epochs AS e LEFT JOIN epochs_left_out AS l USING (epoch_key) ORDER BY epoch_key`;

/** The tables of a data folder in the form of PostgreSQL, in the order of their references. */
export function movedTables(database: Connection): readonly MovedTable[] {
  const table = (name: string, text: string, key: string, rows = pageRows): MovedTable => ({
    name, key: key.split(', '), pageRows: rows,
    rows: () => database.prepare<[], Row>(text).iterate(),
  });
  const epochs = table('epochs', epochsText, 'epoch_key');
  const kept = new Set([...epochs.rows()].filter(({ purged }) => purged === 0n)
    .map(({ epoch_key: key }) => key as bigint));
  const journals = journalKeys(database).filter((key) => kept.has(key));
  const parts = equal.map(([name, columns, key]) =>
    table(name, `SELECT ${columns} FROM ${name} ORDER BY ${key}`, key));
  const studies = parts.findIndex(({ name }) => name === 'studies') + 1;
  return [
    table('budgets', budgetsText, 'budget_id'), ...parts.slice(0, studies), epochs,
    {
      ...table('epoch_tallies', talliesText, 'epoch_key, writer'),
      rows: () => tallies(database, new Set(journals)),
    },
    {
      name: 'epoch_secrets', key: ['study_key', 'epoch'], pageRows,
      rows: () => secrets(database, [...epochs.rows()]),
    },
    ...parts.slice(studies),
    ...journals.map((key) => table(journalTable(key), `SELECT position, contributor_id, sequence,
        complete, signature, body, public_key FROM ${journalTable(key)}
      JOIN contributors USING (contributor_id) ORDER BY position`, 'position', pageBodies)),
  ];
}

/** Each contribution has one row with which it was complete. */
function* tallies(database: Connection, journals: ReadonlySet<bigint>): Generator<Row> {
  for (const row of database.prepare<[], Row>(talliesText).all()) {
    const key = row['epoch_key'] as bigint;
    const counted = !journals.has(key) ? undefined : database.prepare<[], { complete: bigint }>(
      `SELECT count(*) AS complete FROM ${journalTable(key)} WHERE complete = 1`).get();
    yield { ...row, complete: counted?.complete ?? 0n };
  }
}

const empty = new Uint8Array(0);

/** In SQLite each epoch's secrets are a table of their own. Those of a purged epoch are empty. */
function* secrets(database: Connection, epochs: readonly Row[]): Generator<Row> {
  const purged = new Set(epochs.filter((row) => row['purged'] !== 0n)
    .map((row) => `${String(row['study_key'])} ${String(row['epoch'])}`));
  const names = database.prepare<[], { name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'secrets_[0-9]*'").all();
  const places = names.map(({ name }) => {
    const [, study, epoch] = name.split('_');
    return { name, study: BigInt(study!), epoch: BigInt(epoch!) };
  }).sort((left, right) => Number(left.study - right.study) || Number(left.epoch - right.epoch));
  for (const { name, study, epoch } of places) {
    const row = database.prepare<[], Row>(
      `SELECT assignment_key, work_seed, fingerprint_key FROM ${name}`).get()!;
    const groups = purged.has(`${study} ${epoch}`)
      ? { assignment_key: empty, work_seed: empty } : {};
    yield { study_key: study, epoch, ...row, ...groups };
  }
}
