import type { Charge } from '../../../src/privacy/accounting/budget.js';
import type { Selectable } from 'kysely';
import type { WithdrawalRequest, WithdrawalResult } from '../contract.js';
import { leftOutRows } from './admission-rules.js';
import { budgetById, wholeMs } from './budgets.js';
import { costOf, epochRow, type EpochRow } from './epochs.js';
import { leaveRunning } from './running-series.js';
import { first, run, sql, type Steps } from './steps.js';
import { existingStudy, type StudyRow } from './studies.js';
import type { BudgetRow, ReplayTable } from './tables.js';

/** Refunds one contributor its debit for an epoch. No release may use its rows. */
export type RefundOne = (
  epochKey: bigint, budget: BudgetRow, contributorId: bigint, cost: Charge,
) => Steps<void>;

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
export function* withdraw(
  input: WithdrawalRequest, refundOne: RefundOne,
): Steps<WithdrawalResult> {
  const study = yield* existingStudy(input.studyId);
  // Checked before any query with it: a client may name any of 2^64 epochs, and the database's
  // integers have half that range.
  if (input.epoch > study.last_epoch) return { kind: 'refused', code: 'epoch-not-open' };
  const row = yield* epochRow(study.study_key, input.epoch);
  if (row === undefined) return { kind: 'refused', code: 'too-late' };
  const found = (yield* first(sql.selectFrom('contributors').select('contributor_id')
    .where('public_key', '=', Buffer.from(input.contributor, 'hex'))))?.contributor_id;
  if (found !== undefined && (yield* isWithdrawn(row.epoch_key, found))) {
    return { kind: 'withdrawn', undone: false, complete: false };
  }
  if (row.state !== 'open') return { kind: 'refused', code: 'too-late' };
  const before = found === undefined ? undefined : yield* contributionOf(study, found);
  // A key that sent nothing yet leaves no trace. Otherwise it would fill tables, and would count
  // as known where new keys are limited.
  if (found === undefined || before === undefined) {
    return { kind: 'withdrawn', undone: false, complete: false };
  }
  const isHere = before.epoch_key === row.epoch_key;
  const undone = isHere && before.row_count > 0n;
  if (undone) yield* takeOut(study, row, found, refundOne);
  if (!isHere || before.row_count !== BigInt(leftOutRows)) {
    yield* closeContribution(study, row, found);
  }
  yield* run(sql.insertInto('withdrawals').values({
    epoch_key: row.epoch_key, contributor_id: found, signature: input.signature,
    at_ms: wholeMs(input.nowMs),
  }));
  return { kind: 'withdrawn', undone, complete: undone && before.complete === 1n };
}

/**
 * Deletes withdrawals from epochs before `epoch` whose rows are deleted: nothing asks for them any
 * more. As long as an epoch has its rows, its withdrawals keep some of them out of the journal.
 */
export function* forgetWithdrawals(studyKey: bigint, epoch: bigint): Steps<void> {
  yield* run(sql.deleteFrom('withdrawals').where('epoch_key', 'in',
    sql.selectFrom('epochs').select('epoch_key').where('study_key', '=', studyKey)
      .where('epoch', '<', epoch).where('purged', '!=', 0n)));
}

function* isWithdrawn(epochKey: bigint, contributorId: bigint): Steps<boolean> {
  return (yield* first(sql.selectFrom('withdrawals').select('at_ms')
    .where('epoch_key', '=', epochKey)
    .where('contributor_id', '=', contributorId))) !== undefined;
}

type Contribution = Pick<Selectable<ReplayTable>, 'epoch_key' | 'row_count' | 'complete'>;

/** The contributor's latest contribution to the study; undefined when it never sent anything. */
function* contributionOf(
  study: StudyRow, contributorId: bigint,
): Steps<Contribution | undefined> {
  return yield* first(sql.selectFrom('replay').select(['epoch_key', 'row_count', 'complete'])
    .where('study_key', '=', study.study_key).where('contributor_id', '=', contributorId));
}

function* takeOut(
  study: StudyRow, row: EpochRow, contributorId: bigint, refundOne: RefundOne,
): Steps<void> {
  yield* run(sql.updateTable('epochs').where('epoch_key', '=', row.epoch_key)
    .set((epoch) => ({ contributors: epoch('contributors', '-', 1n) })));
  yield* leaveRunning(study.study_key, contributorId, row.epoch);
  const budget = yield* budgetById(study.budget_id, 0);
  if (budget.scope !== 'contributor') return;
  yield* refundOne(row.epoch_key, budget, contributorId, costOf(row));
}

/** The epoch accepts nothing more from the contributor. Its settled sequences stay settled. */
function* closeContribution(
  study: StudyRow, row: EpochRow, contributorId: bigint,
): Steps<void> {
  yield* run(sql.updateTable('replay')
    .set({ epoch_key: row.epoch_key, row_count: 0n, complete: 1n })
    .where('study_key', '=', study.study_key).where('contributor_id', '=', contributorId));
}
