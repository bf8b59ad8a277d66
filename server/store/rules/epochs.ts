import type { Selectable } from 'kysely';
import { equalBytes } from '../../../src/base/bytes.js';
import { InvariantError } from '../../../src/base/errors.js';
import { pureText, type PureAmount } from '../../../src/privacy/accounting/amount.js';
import { admits, plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import { areSameEvents } from '../../../src/privacy/accounting/event-codec.js';
import type {
  ChargeResult, EpochRecord, EpochState, OpenEpoch, OpenEpochResult, StoreRelease, StudyId,
} from '../contract.js';
import { chargeTime, renewalTime } from './budget-window.js';
import {
  addEntry, balanceOf, budgetById, capsOf, totalsOf, unreserved, wholeMs, writeTotals,
} from './budgets.js';
import type { EpochTables, GroupSecrets } from './epoch-tables.js';
import { pureOfEvents } from './pure-charges.js';
import { writeSeries } from './running-series.js';
import { isSame, spendOf } from './spend.js';
import { all, first, run, sql, type Steps } from './steps.js';
import { existingStudy, type StudyRow } from './studies.js';
import type { BudgetRow, EpochsTable } from './tables.js';

export type EpochRow = Selectable<EpochsTable>;

/** For a transition that the state machine in contract.ts does not have: a defect of the caller. */
function wrongState(action: string, epoch: bigint, state: EpochState | 'absent'): never {
  throw new InvariantError(`cannot ${action} epoch ${epoch}: it is ${state}`,
    { details: { epoch: String(epoch), state } });
}

export function* epochRow(studyKey: bigint, epoch: bigint): Steps<EpochRow | undefined> {
  return yield* first(sql.selectFrom('epochs').selectAll().where('study_key', '=', studyKey)
    .where('epoch', '=', epoch));
}

/** Begins a query of one epoch, by the id of its study, for reads of a single query. */
export const epochOf = (studyId: StudyId, epoch: bigint) => sql.selectFrom('epochs')
  .innerJoin('studies', 'studies.study_key', 'epochs.study_key')
  .where('studies.study_id', '=', studyId).where('epochs.epoch', '=', epoch);

function* existing(
  studyId: StudyId, epoch: bigint, action: string,
): Steps<{ study: StudyRow; row: EpochRow }> {
  const study = yield* existingStudy(studyId);
  const row = yield* epochRow(study.study_key, epoch);
  return row === undefined ? wrongState(action, epoch, 'absent') : { study, row };
}

function* setState(row: EpochRow, state: EpochState): Steps<void> {
  yield* run(sql.updateTable('epochs').set({ state }).where('epoch_key', '=', row.epoch_key));
}

/** The cost of the epoch's release, in the unit of the budget's rule. */
export const costOf = (row: EpochRow): Charge => spendOf(row);

/**
 * Reserves the epoch's cost and opens it. Under contributor scope nothing is reserved here: `admit`
 * debits each contributor with its first row. An epoch whose cost exceeds every contributor's whole
 * budget is declined.
 */
export function* openEpoch(tables: EpochTables, input: OpenEpoch): Steps<OpenEpochResult> {
  const study = yield* existingStudy(input.studyId);
  const budget = yield* budgetById(study.budget_id, input.opensAtMs);
  const cost: Charge = { rho: input.rho, delta: input.delta, pure: input.pure ?? null };
  const present = yield* epochRow(study.study_key, input.epoch);
  if (present !== undefined) {
    const same = present.state === 'open' && isSame(cost, costOf(present));
    return same ? { kind: 'opened', balance: balanceOf(budget) }
      : wrongState('open', input.epoch, present.state);
  }
  if (study.state === 'ended') throw new InvariantError('a study that has ended opens no epoch');
  if (input.epoch <= study.last_epoch) throw new InvariantError('epoch numbers only increase', {
    details: { epoch: String(input.epoch), last: String(study.last_epoch) } });
  const { spent, reserved } = totalsOf(budget);
  const reserves = budget.scope !== 'contributor';
  const beside = plusCharge(reserved, cost);
  const asked = reserves ? plusCharge(spent, beside) : cost;
  const { budget_id: budgetId } = budget;
  const entry = {
    budgetId, studyKey: study.study_key, epoch: input.epoch, cost, atMs: input.opensAtMs,
  };
  const caps = capsOf(budget);
  if (!admits(caps, asked)) {
    yield* addEntry({ ...entry, kind: 'declined' });
    const declined = {
      kind: 'declined', balance: balanceOf(budget), rhoAsked: input.rho, deltaAsked: input.delta,
    } as const;
    if (budget.window_ms !== null && admits(caps, cost)) {
      const fits = (total: Charge): boolean => admits(caps, total);
      return { ...declined, retryAtMs: yield* renewalTime(budget, beside, fits, input.opensAtMs) };
    }
    yield* run(sql.updateTable('studies')
      .set({ state: 'exhausted' }).where('study_key', '=', study.study_key));
    return declined;
  }
  yield* insertEpoch(tables, study.study_key, input);
  yield* run(sql.updateTable('studies').set({ state: 'open', last_epoch: input.epoch })
    .where('study_key', '=', study.study_key));
  if (!reserves) return { kind: 'opened', balance: balanceOf(budget) };
  yield* addEntry({ ...entry, kind: 'reserved' });
  return {
    kind: 'opened',
    balance: yield* writeTotals(budget, { spent, reserved: beside }),
  };
}

function* insertEpoch(tables: EpochTables, studyKey: bigint, input: OpenEpoch): Steps<void> {
  const open =
    yield* first(sql.selectFrom('epochs').select('epoch').where('study_key', '=', studyKey)
      .where('state', '=', 'open'));
  if (open !== undefined) {
    throw new InvariantError(
      `epoch ${open.epoch} is still open: close it before opening ${input.epoch}`,
    );
  }
  const created = yield* first(sql.insertInto('epochs').values({
    study_key: studyKey, epoch: input.epoch, state: 'open',
    opens_at_ms: wholeMs(input.opensAtMs), closes_at_ms: wholeMs(input.closesAtMs),
    rho: String(input.rho), delta: String(input.delta), pure: pureText(input.pure ?? null),
    rows_max: BigInt(input.rowsMax), late: input.late, recoveries: 0n, contributors: 0n,
    released_at_ms: 0n, purged: 0n,
  }).returning('epoch_key'));
  yield* tables.createJournal(created!.epoch_key);
  yield* tables.createSecrets(studyKey, input.epoch, input);
}

export function* beginClose(studyId: StudyId, epoch: bigint): Steps<void> {
  const { row } = yield* existing(studyId, epoch, 'close');
  if (row.state === 'closing') return;
  if (row.state !== 'open') wrongState('close', epoch, row.state);
  yield* setState(row, 'closing');
}

/** Closes one epoch and opens the next, or changes nothing. */
export function* turnEpoch(
  tables: EpochTables, studyId: StudyId, closing: bigint, next: OpenEpoch,
): Steps<OpenEpochResult> {
  yield* beginClose(studyId, closing);
  return yield* openEpoch(tables, next);
}

/**
 * Turns the reserved cost into spent cost. Under contributor scope the total is the sum over
 * epochs. The smaller of this sum and the cap is the public bound on any one contributor's
 * spending.
 * @param atMs the time from which the charge counts, and the time of the returned balance.
 */
export function* chargeEpoch(
  studyId: StudyId, epoch: bigint, events: string, atMs: number,
): Steps<ChargeResult> {
  const { study, row } = yield* existing(studyId, epoch, 'charge');
  const budget = yield* budgetById(study.budget_id, atMs);
  if (row.state === 'charged' || row.state === 'released') {
    const entry = yield* first(sql.selectFrom('ledger').select('events')
      .where('study_key', '=', study.study_key)
      .where('epoch', '=', epoch).where('kind', '=', 'charged'));
    // An earlier version may have charged it, in its words.
    if (entry === undefined || !areSameEvents(entry.events, events)) {
      throw new InvariantError(`epoch ${epoch} was charged for other mechanism events`);
    }
    return { balance: balanceOf(budget), isMine: false };
  }
  if (row.state !== 'closing') wrongState('charge', epoch, row.state);
  yield* setState(row, 'charged');
  const reserved = budget.scope === 'contributor'
    ? totalsOf(budget).reserved : yield* unreserved(budget, costOf(row));
  const cost = { ...costOf(row), pure: pureCharged(budget, row, events) };
  yield* addEntry({
    budgetId: budget.budget_id, studyKey: study.study_key, epoch, kind: 'charged', cost, events,
    atMs: yield* chargeTime(budget, atMs),
  });
  const spent = plusCharge(totalsOf(budget).spent, cost);
  return { balance: yield* writeTotals(budget, { spent, reserved }), isMine: true };
}

/** Older programs opened epochs without a pure amount. The events of such an epoch tell it. */
function pureCharged(budget: BudgetRow, row: EpochRow, events: string): PureAmount {
  const { pure } = costOf(row);
  return pure === null && budget.rule === 'zcdp' ? pureOfEvents(events) : pure;
}

/** Refunds contributors their debits for an epoch. */
export type Refund = (epochKey: bigint, budget: BudgetRow, cost: Charge) => Steps<void>;

/** Returns the reservation. Under contributor scope `refund` returns the contributors' debits. */
export function* lapseEpoch(
  studyId: StudyId, epoch: bigint, nowMs: number, refund: Refund,
): Steps<void> {
  const { study, row } = yield* existing(studyId, epoch, 'lapse');
  if (row.state === 'lapsed') return;
  if (row.state !== 'open' && row.state !== 'closing') wrongState('lapse', epoch, row.state);
  yield* setState(row, 'lapsed');
  const budget = yield* budgetById(study.budget_id, nowMs);
  const cost = costOf(row);
  const { budget_id: budgetId } = budget;
  yield* addEntry(
    { budgetId, studyKey: study.study_key, epoch, kind: 'lapsed', cost, atMs: nowMs },
  );
  if (budget.scope === 'contributor') {
    yield* refund(row.epoch_key, budget, cost);
  } else {
    const { spent } = totalsOf(budget);
    yield* writeTotals(budget, { spent, reserved: yield* unreserved(budget, cost) });
  }
}

/**
 * Ends a charged epoch without a release. The charge stays. Only for an accepted rollback
 * (rollback.ts).
 */
export function* abandonEpoch(row: EpochRow): Steps<void> {
  yield* setState(row, 'lapsed');
}

/**
 * Lapsed epochs whose rows or secrets are still in the file, because a crash preceded the purge.
 */
export function* unpurgedLapses(): Steps<{ studyId: StudyId; epoch: bigint }[]> {
  return (yield* all(sql.selectFrom('epochs')
    .innerJoin('studies', 'studies.study_key', 'epochs.study_key')
    .select(['studies.study_id', 'epochs.epoch'])
    .where('purged', '<', 2n).where('epochs.state', '=', 'lapsed')))
    .map((row) => ({ studyId: row.study_id, epoch: row.epoch }));
}

export function* storeRelease(input: StoreRelease): Steps<void> {
  const { study, row } = yield* existing(input.studyId, input.epoch, 'store the release of');
  if (!/^[0-9a-f]{128}$/.test(input.digest)) {
    throw new InvariantError('a release digest is 128 lower-case hexadecimal digits');
  }
  if (row.state === 'released') {
    const stored = yield* first(sql.selectFrom('releases').selectAll()
      .where('study_key', '=', study.study_key).where('epoch', '=', input.epoch));
    const same = stored !== undefined && Number(stored.release_index) === input.index
      && stored.digest === input.digest
      && equalBytes(stored.body, input.body) && equalBytes(stored.signature, input.signature);
    if (!same) throw new InvariantError(`epoch ${input.epoch} has another release already: one `
      + 'epoch, one release');
    return;
  }
  if (row.state !== 'charged') wrongState('store the release of', input.epoch, row.state);
  if (BigInt(input.index) !== study.release_count) {
    throw new InvariantError(
      `the next release of the log has index ${study.release_count}, not ${input.index}`,
    );
  }
  yield* run(sql.insertInto('releases').values({
    study_key: study.study_key, release_index: BigInt(input.index), epoch: input.epoch,
    body: input.body, signature: input.signature, digest: input.digest,
    stored_at_ms: wholeMs(input.nowMs),
  }));
  yield* writeSeries(study.study_key, input.series ?? []);
  yield* run(sql.updateTable('studies').where('study_key', '=', study.study_key)
    .set({ release_count: study.release_count + 1n, last_digest: input.digest }));
  yield* run(sql.updateTable('epochs').where('epoch_key', '=', row.epoch_key)
    .set({ state: 'released', released_at_ms: wholeMs(input.nowMs) }));
}

export function* noteRecovery(studyId: StudyId, epoch: bigint): Steps<number> {
  const { row } = yield* existing(studyId, epoch, 'recover');
  yield* run(sql.updateTable('epochs').set({ recoveries: row.recoveries + 1n })
    .where('epoch_key', '=', row.epoch_key));
  return Number(row.recoveries) + 1;
}

/**
 * Sets the count of attempts to 0: the epoch was rebuilt, so earlier attempts were no crash loop.
 */
export function* noteRecovered(studyId: StudyId, epoch: bigint): Steps<void> {
  const { row } = yield* existing(studyId, epoch, 'recover');
  yield* run(
    sql.updateTable('epochs').set({ recoveries: 0n }).where('epoch_key', '=', row.epoch_key),
  );
}

/** Reads an epoch's secrets. A reader beside the server gets none. */
export type ReadSecrets = (studyKey: bigint, epoch: bigint) => Steps<GroupSecrets>;

function* recordOf(studyId: StudyId, row: EpochRow, secrets: ReadSecrets): Steps<EpochRecord> {
  return {
    studyId, epoch: row.epoch, state: row.state, opensAtMs: Number(row.opens_at_ms),
    closesAtMs: Number(row.closes_at_ms), ...costOf(row),
    ...yield* secrets(row.study_key, row.epoch), rowsMax: Number(row.rows_max),
    recoveries: Number(row.recoveries),
  };
}

export function* readEpoch(
  studyId: StudyId, epoch: bigint, secrets: ReadSecrets,
): Steps<EpochRecord | null> {
  const row = yield* first(epochOf(studyId, epoch).selectAll('epochs'));
  return row === undefined ? null : yield* recordOf(studyId, row, secrets);
}

export function* unfinishedEpochs(secrets: ReadSecrets): Steps<EpochRecord[]> {
  const rows = yield* all(
    sql.selectFrom('epochs').innerJoin('studies', 'studies.study_key', 'epochs.study_key')
      .selectAll('epochs').select('studies.study_id')
      .where('epochs.state', 'in', ['open', 'closing', 'charged']).orderBy('epoch_key'),
  );
  const records: EpochRecord[] = [];
  for (const row of rows) records.push(yield* recordOf(row.study_id, row, secrets));
  return records;
}

export function* unpurgedEpochs(
  studyId: StudyId,
): Steps<{ epoch: bigint; releasedAtMs: number }[]> {
  return (yield* all(sql.selectFrom('epochs')
    .innerJoin('studies', 'studies.study_key', 'epochs.study_key')
    .select(['epochs.epoch', 'epochs.released_at_ms']).where('studies.study_id', '=', studyId)
    .where('epochs.purged', '<', 2n).where('epochs.state', '=', 'released')
    .orderBy('epochs.epoch')))
    .map((row) => ({ epoch: row.epoch, releasedAtMs: Number(row.released_at_ms) }));
}

export function* contributorCount(studyId: StudyId, epoch: bigint): Steps<number> {
  const row = yield* first(epochOf(studyId, epoch).select('epochs.contributors'));
  return Number(row?.contributors ?? 0n);
}

export function* leftOutCount(studyId: StudyId, epoch: bigint): Steps<number> {
  const counted = yield* first(epochOf(studyId, epoch)
    .innerJoin('epochs_left_out', 'epochs_left_out.epoch_key', 'epochs.epoch_key')
    .select('epochs_left_out.contributors'));
  return Number(counted?.contributors ?? 0n);
}
