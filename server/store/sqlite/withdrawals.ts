import type Database from 'better-sqlite3';
import type { WithdrawalRequest, WithdrawalResult } from '../contract.js';
import { leftOutRows } from './admission-rules.js';
import { ownBudget } from './admission.js';
import { budgetById } from './budgets.js';
import type { ContributorSpending } from './contributor-spending.js';
import { costOf, epochRow, type EpochRow } from './epochs.js';
import type { Queries } from './query.js';
import { existingStudy, type StudyRow } from './studies.js';

interface Contribution {
  readonly epoch_key: bigint; readonly row_count: bigint; readonly complete: bigint;
}

/**
 * Takes back a contribution to the open epoch, with all consequences, in one transaction: the
 * journal no longer returns its rows, the epoch counts one contributor less, later batches for the
 * epoch find it complete, and the contributor gets back what it was debited of its own budget.
 *
 * Claim about the budget: the refund is sound. Under contributor scope the promise is for one
 * contributor, absent from all epochs, or present in the same ones with other values. A withdrawn
 * contribution reaches no summary that is released: the release is computed as if the contribution
 * had never come (ReleaseLine). So this release is the same function of the others' rows whatever
 * the contribution held, and costs its contributor nothing. Nothing of the epoch is published
 * before its close, and after the close nothing is withdrawn, so the choice to withdraw cannot
 * depend on the epoch's noise. Withdrawing is final for the epoch, so one debit is given back once.
 * Budgets of the study or a population are charged for the epoch as a whole, no matter who took
 * part, and keep their reservation.
 *
 * Because it is final, sending a recorded message again has no effect. Cost: a few point queries.
 */
export function withdraw(
  queries: Queries, spending: ContributorSpending, input: WithdrawalRequest,
): WithdrawalResult {
  return queries.transaction(() => {
    const { database } = queries;
    const study = existingStudy(queries, input.studyId);
    // Checked before any query with it: a client may name any of 2^64 epochs, and SQLite's integers
    // have half that range.
    if (input.epoch > study.last_epoch) return { kind: 'refused', code: 'epoch-not-open' };
    const row = epochRow(queries, study.study_key, input.epoch);
    if (row === undefined) return { kind: 'refused', code: 'too-late' };
    const key = Buffer.from(input.contributor, 'hex');
    const found = contributorId(database, key);
    if (found !== undefined && isWithdrawn(database, row.epoch_key, found)) {
      return { kind: 'withdrawn', undone: false, complete: false };
    }
    if (row.state !== 'open') return { kind: 'refused', code: 'too-late' };
    const before = found === undefined ? undefined : contributionOf(database, study, found);
    // A key that sent nothing yet leaves no trace. Otherwise it would fill tables, and would count
    // as known where new keys are limited.
    if (found === undefined || before === undefined) {
      return { kind: 'withdrawn', undone: false, complete: false };
    }
    const isHere = before.epoch_key === row.epoch_key;
    const undone = isHere && before.row_count > 0n;
    if (undone) takeOut(queries, spending, study, row, found);
    if (!isHere || before.row_count !== BigInt(leftOutRows)) {
      closeContribution(database, study, row, found);
    }
    database.prepare(
      'INSERT INTO withdrawals (epoch_key, contributor_id, signature, at_ms) VALUES (?, ?, ?, ?)',
    )
      .run(row.epoch_key, found, input.signature, BigInt(Math.round(input.nowMs)));
    return { kind: 'withdrawn', undone, complete: undone && before.complete === 1n };
  });
}

/** Deletes withdrawals from epochs before `epoch`: nothing asks for them any more. */
export function forgetWithdrawals(queries: Queries, studyKey: bigint, epoch: bigint): void {
  queries.database.prepare(`DELETE FROM withdrawals WHERE epoch_key IN
    (SELECT epoch_key FROM epochs WHERE study_key = ? AND epoch < ?)`).run(studyKey, epoch);
}

function contributorId(database: Database.Database, key: Uint8Array): bigint | undefined {
  return database.prepare<[Uint8Array], { contributor_id: bigint }>(
    'SELECT contributor_id FROM contributors WHERE public_key = ?').get(key)?.contributor_id;
}

function isWithdrawn(database: Database.Database, epochKey: bigint, id: bigint): boolean {
  return database.prepare('SELECT 1 FROM withdrawals WHERE epoch_key = ? AND contributor_id = ?')
    .get(epochKey, id) !== undefined;
}

/** The contributor's latest contribution to the study; undefined when it never sent anything. */
function contributionOf(
  database: Database.Database, study: StudyRow, id: bigint,
): Contribution | undefined {
  return database.prepare<[bigint, bigint], Contribution>(
    'SELECT epoch_key, row_count, complete FROM replay WHERE study_key = ? AND contributor_id = ?',
  ).get(study.study_key, id);
}

function takeOut(
  queries: Queries, spending: ContributorSpending, study: StudyRow, row: EpochRow, id: bigint,
): void {
  queries.database.prepare('UPDATE epochs SET contributors = contributors - 1 WHERE epoch_key = ?')
    .run(row.epoch_key);
  if (budgetById(queries, study.budget_id, 0).scope !== 'contributor') return;
  spending.refundOne(ownBudget(queries, study.budget_id), id, row.epoch_key, costOf(row));
}

/** The epoch takes nothing more from the contributor. Its settled sequences stay settled. */
function closeContribution(
  database: Database.Database, study: StudyRow, row: EpochRow, id: bigint,
): void {
  database.prepare(`UPDATE replay SET epoch_key = ?, row_count = 0, complete = 1
    WHERE study_key = ? AND contributor_id = ?`).run(row.epoch_key, study.study_key, id);
}
