import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../../server/store/sqlite/driver.js';
import { databaseFile } from '../../../server/store/sqlite/connection.js';

/** What a server that broke its promises would have left in its folder. Each must be found. */
export const plants: Readonly<Record<string, (folder: string) => void>> = {
  'acknowledged rows are gone': inFullestJournal((journal) => `DELETE FROM ${journal}`),
  'a row counts twice': inFullestJournal((journal) => `INSERT INTO ${journal}
    SELECT position + 1000000000, contributor_id, sequence, complete, body, signature FROM ${journal}
    WHERE ${counts(journal)} LIMIT 1`),
  'a withdrawal is forgotten': change('DELETE FROM withdrawals'),
  'a study has charged more than its cap':
    change(`UPDATE budgets SET rho_cap = '1' WHERE scope = 'study'`),
  'a population has charged more than its cap':
    change(`UPDATE budgets SET rho_cap = '1' WHERE scope = 'population'`),
  'a contributor is in more epochs than it paid for':
    change(`UPDATE budgets SET rho_cap = '1' WHERE scope = 'contributor'`),
  'an epoch was released uncharged':
    change(`DELETE FROM ledger WHERE kind = 'charged' AND budget_id IN
    (SELECT budget_id FROM budgets WHERE scope = 'contributor')`),
  'a published release is gone': change('DELETE FROM releases'),
  'the server has another key': (folder) =>
    writeFileSync(join(folder, 'server.key'), `${'ab'.repeat(32)}\n`),
};

/** @throws Error when there was nothing to damage: the judge would then rightly find no fault. */
function change(statement: string): (folder: string) => void {
  return (folder) => {
    const database = connect(databaseFile(folder));
    const { changes } = database.prepare(statement).run();
    database.close();
    if (Number(changes) === 0) throw new Error(`nothing in the folder was changed by: ${statement}`);
  };
}

/** Condition for rows that nobody took back. */
function counts(journal: string): string {
  const key = journal.slice('journal_'.length);
  return `contributor_id NOT IN (SELECT contributor_id FROM withdrawals WHERE epoch_key = ${key})`;
}

/** @param statement for the journal with the most rows that count. */
function inFullestJournal(statement: (journal: string) => string): (folder: string) => void {
  return (folder) => {
    const database = connect(databaseFile(folder), { readonly: true });
    const names = database.prepare<[], { name: string }>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'journal_[0-9]*'`).all();
    const counted = names.map(({ name }) => ({
      name,
      rows: database.prepare<[], { rows: bigint }>(
        `SELECT count(*) AS rows FROM ${name} WHERE ${counts(name)}`).get()!.rows,
    }));
    database.close();
    const [fullest] = counted.sort((left, right) => Number(right.rows - left.rows));
    change(statement(fullest!.name))(folder);
  };
}
