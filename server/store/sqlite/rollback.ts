import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../../src/base/assert.js';
import { StorageError } from '../../../src/base/errors.js';
import {
  zeroAmount, type Amount, type PureAmount,
} from '../../../src/privacy/accounting/amount.js';
import { admits, plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import type { Rollback } from '../records.js';
import { chargeTime } from '../rules/budget-window.js';
import {
  addEntry, budgetById, capsOf, totalsOf, wholeMs, writeTotals,
} from '../rules/budgets.js';
import { noSpend, smaller } from '../rules/spend.js';
import { abandonEpoch, lapseEpoch } from '../rules/epochs.js';
import type { StoreParts } from '../rules/calls.js';
import { HighWater, markOf, noProgress, progressSince } from './high-water.js';
import { markFile, readMark, releasesIn, type Mark, type StudyMark } from './mark.js';
import { forgetSeries } from '../rules/running-series.js';
import { sql } from '../rules/steps.js';
import type { Queries } from './query.js';
import type { BudgetRow } from '../rules/tables.js';
import { existingStudy, registerStudy, studyRow, type StudyRow } from '../rules/studies.js';

/*
 * Rollbacks: a start finds an older database than the folder has held. Its ledger lacks the later
 * charges, so the same budget could be spent twice. Such a start is refused, unless the operator
 * accepts it for this one start.
 *
 * Claim: after an acceptance with a mark, every budget has at least as much spent as was ever
 * charged to it and still counts. The mark has the sum of all charges of each study. What the
 * ledger lacks of this sum is charged again, now, in the transaction that records the acceptance. A
 * charge made now leaves a budget's window after the charge that it replaces, because the clock was
 * checked before (server/store/clock-check.ts). The missing charges may not fit the cap. Those that
 * still count do fit: charges within one window never passed the caps of one sum
 * (budget-window.ts). So where it is known which sum that was, the budget is then filled to its
 * caps (`whatCounts`), and that is at least what counts. Under contributor scope every contributor
 * is debited what is missing (own-budget.ts), whether or not it took part in the lost epochs.
 *
 * Claim: no epoch gets a second release. If the mark has a charge of an epoch and the ledger lacks
 * it, the epoch is closed without a release. If releases are missing, a charged epoch without a
 * release is closed in the same way. Later epochs have larger numbers than any in the mark. Without
 * a mark each epoch that the database has and that has no release is closed: its rows may have had
 * their release. A new epoch may then have the number of one that was lost, with other rows.
 *
 * Not everything can be detected. Hidden remain a mark that was set back together with the
 * database; what was lost since the last charge or release (rows, withdrawals, quarantines); and
 * when the missing charges were made: the clock is compared only with the newest time stamp of the
 * older database.
 */

export interface RollbackOptions {
  /** Unix time of the acceptance, and the stamp of its charges. The clock has been checked. */
  readonly nowMs: number;
  /** Refunds contributors their debits for an epoch that lapses. */
  readonly parts: StoreParts;
}

/** The mark of an open folder. Compares it with the database once, then keeps both in step. */
export class FolderMark {
  readonly #mark: Mark | null;
  readonly #found: Mark;
  /** Null while an older database is not accepted yet. */
  #highWater: HighWater | null = null;

  /**
   * @param acceptsRollback whether the operator accepts an older database.
   * @throws StorageError data-folder-rolled-back when the database holds less than the mark, or may
   *   hold less, and the operator did not accept that.
   */
  constructor(
    private readonly queries: Queries, private readonly directory: string,
    acceptsRollback: boolean,
  ) {
    this.#mark = readMark(directory);
    this.#found = markOf(queries, progressSince(queries, noProgress));
    const why = this.#mark === null
      ? whyUnmarked(queries, directory) : whyBehind(queries, directory, this.#mark, this.#found);
    if (why === null) {
      this.#keep();
    } else if (!acceptsRollback) {
      const details = positions(this.#mark, this.#found);
      throw new StorageError(why, 'data-folder-rolled-back', { details });
    }
  }

  /** True if the database has everything that the mark has. Until then nothing may be written. */
  get isSettled(): boolean {
    return this.#highWater !== null;
  }

  /** Makes the charges that an older database lacks. Does nothing when nothing is missing. */
  acceptRollback(options: RollbackOptions): void {
    if (this.isSettled) return;
    const { queries } = this;
    queries.transaction(() => acceptRollback(queries, this.#mark, this.#found, options));
    this.#keep();
  }

  /** See `HighWater.advance`. */
  advance<T>(action: () => T): T {
    assert(this.#highWater !== null, 'an older database is accepted before anything is charged');
    return this.#highWater.advance(action);
  }

  #keep(): void {
    this.#highWater = new HighWater(this.queries, this.directory);
    this.#highWater.advance(() => undefined);
    // Last: if a crash comes before it, the folder looks like one of an older version without a
    // mark.
    this.queries.database.exec("INSERT OR IGNORE INTO meta (name, value) VALUES ('marked', 1)");
  }
}

/** Oldest first. */
export function readRollbacks(queries: Queries): Rollback[] {
  const number = (value: bigint | null): number | null => (value === null ? null : Number(value));
  return queries.all(sql.selectFrom('rollbacks').selectAll().orderBy('rollback')).map((row) => ({
    atMs: Number(row.at_ms),
    ledger: { found: Number(row.ledger_found), marked: number(row.ledger_marked) },
    releases: { found: Number(row.releases_found), marked: number(row.releases_marked) },
  }));
}

function positions(mark: Mark | null, found: Mark): Readonly<Record<string, string | number>> {
  return {
    ledgerFound: String(found.ledger), releasesFound: releasesIn(found),
    ...(mark !== null && { ledgerMarked: String(mark.ledger), releasesMarked: releasesIn(mark) }),
  };
}

/** A folder of an older version has no mark either. It is not refused, and gets one. */
function whyUnmarked(queries: Queries, directory: string): string | null {
  const known = queries.database.prepare("SELECT 1 FROM meta WHERE name = 'marked'").get();
  const wasMarked = known !== undefined;
  const isEmpty = queries.first(sql.selectFrom('studies').select('study_key').limit(1))
    === undefined;
  const hasKey = existsSync(join(directory, 'server.key'));
  if (!wasMarked && !(isEmpty && hasKey)) return null;
  const what = wasMarked
    ? `${markFile(directory)} is missing, and the database knows that there was one`
    : `the database in ${directory} is empty or new, and there is a server.key from before`;
  return `${what}: nobody can know how much was charged and released meanwhile, so budgets could `
    + 'be spent twice. Put keelson.mark, or the newest database, back. If both are lost, read '
    + '"Restore" in docs/operating/operations.md, then start once with --accept-rollback';
}

function whyBehind(queries: Queries, directory: string, mark: Mark, found: Mark): string | null {
  const lost = mark.studies.find((study) => lossOf(queries, study, found) !== null);
  if (found.ledger >= mark.ledger && lost === undefined) return null;
  const whose = lost === undefined ? '' : ` (${lost.name} lacks some)`;
  return `the database in ${directory} is older than ${markFile(directory)}, or is another one: `
    + `its ledger has ${found.ledger} entries and its logs ${releasesIn(found)} releases, the mark `
    + `knows ${mark.ledger} and ${releasesIn(mark)}${whose}, so budgets could be spent twice. `
    + 'Put the newest database back. If it is lost, start once with --accept-rollback: '
    + 'it charges what the mark knows and the ledger lacks';
}

interface Loss {
  readonly missing: Charge;
  /** A release is missing, or differs from the mark's. */
  readonly releases: boolean;
}

/** The part of a marked study that the database lacks; null when it lacks nothing. */
function lossOf(queries: Queries, marked: StudyMark, found: Mark): Loss | null {
  const own = found.studies.find(({ studyId }) => studyId === marked.studyId);
  const charged = own?.charged ?? noSpend;
  const rho = above(marked.charged.rho, charged.rho);
  const delta = above(marked.charged.delta, charged.delta);
  const pure = pureAbove(marked.charged.pure, charged.pure ?? null, rho > 0n || delta > 0n);
  const missing: Charge = { rho, delta, pure };
  const releases = marked.releases > 0 && marked.digest !== digestAt(queries, marked);
  return releases || hasAmount(missing) ? { missing, releases } : null;
}

const above = (left: Amount, right: Amount): Amount =>
  (left > right ? (left - right) as Amount : zeroAmount);

/**
 * `none` where nobody can know. An older program's mark has no pure amount: where nothing else is
 * missing, no charge is.
 */
function pureAbove(
  marked: PureAmount | undefined, found: PureAmount, isMissing: boolean,
): PureAmount {
  if (marked === null || found === null || marked === undefined) {
    return isMissing || (marked === null && found !== null) ? null : zeroAmount;
  }
  return above(marked, found);
}

const hasAmount = ({ rho, delta, pure }: Charge): boolean =>
  rho > 0n || delta > 0n || pure === null || pure > 0n;

function digestAt(queries: Queries, { studyId, releases }: StudyMark): string | undefined {
  const study = queries.perform(studyRow(studyId));
  if (study === undefined) return undefined;
  return queries.first(sql.selectFrom('releases').select('digest')
    .where('study_key', '=', study.study_key)
    .where('release_index', '=', BigInt(releases) - 1n))?.digest;
}

/**
 * @param mark null when there is none: then every epoch of the database that has no release ends,
 *   and nothing is charged, because it is unknown what is missing.
 */
function acceptRollback(
  queries: Queries, mark: Mark | null, found: Mark, options: RollbackOptions,
): void {
  queries.perform(forgetSeries());
  const { rollback } = queries.first(sql.insertInto('rollbacks').values({
    at_ms: wholeMs(options.nowMs), ledger_found: found.ledger, ledger_marked: mark?.ledger ?? null,
    releases_found: BigInt(releasesIn(found)),
    releases_marked: mark === null ? null : BigInt(releasesIn(mark)),
  }).returning('rollback'))!;
  if (mark === null) {
    const studies = queries.all(sql.selectFrom('studies').selectAll());
    for (const study of studies) {
      closeEpochs(queries, study, { ...every, alsoCharged: true }, options);
    }
  }
  const losses = (mark?.studies ?? [])
    .map((marked) => ({ marked, loss: lossOf(queries, marked, found) }));
  for (const { marked, loss } of losses) {
    if (loss === null) continue;
    const study = registered(queries, mark!, marked, options);
    const own = found.studies.find(({ studyId }) => studyId === marked.studyId);
    const isCharged = hasAmount(loss.missing);
    // The charge goes to an epoch that has none. That is the mark's epoch, unless the database went
    // on to other epochs.
    const isTaken = isCharged && own !== undefined && own.epoch >= marked.epoch;
    const epoch = isTaken ? own.epoch + 1n : marked.epoch;
    closeEpochs(queries, study, { upTo: epoch, alsoCharged: loss.releases }, options);
    if (epoch > study.last_epoch) {
      queries.run(sql.updateTable('studies').set({ last_epoch: epoch })
        .where('study_key', '=', study.study_key));
    }
    const { missing } = loss;
    if (isCharged) chargeMissing(queries, { study, epoch, missing, rollback }, options);
  }
}

/** The study of the mark. Registered again when the database does not have it. */
function registered(
  queries: Queries, mark: Mark, marked: StudyMark, { nowMs, parts }: RollbackOptions,
): StudyRow {
  const present = queries.perform(studyRow(marked.studyId));
  if (present !== undefined) return present;
  const budget = mark.budgets.find(({ key }) => key === marked.budgetKey)!;
  const { studyId, name, document } = marked;
  queries.perform(registerStudy(parts.tables, { studyId, name, document, budget, nowMs }));
  return queries.perform(existingStudy(studyId));
}

/** All epochs of a study. */
const every = { upTo: 2n ** 62n } as const;

/**
 * Ends epochs that may have had their release. Their rows are purged like those of a lapsed epoch.
 */
function closeEpochs(
  queries: Queries, study: StudyRow,
  which: { readonly upTo: bigint; readonly alsoCharged: boolean },
  { nowMs, parts }: RollbackOptions,
): void {
  const rows = queries.all(sql.selectFrom('epochs').selectAll()
    .where('study_key', '=', study.study_key)
    .where('epoch', '<=', which.upTo).where('state', 'in', ['open', 'closing', 'charged']));
  for (const row of rows) {
    if (row.state !== 'charged') {
      queries.perform(lapseEpoch(study.study_id, row.epoch, nowMs, parts.refund));
    } else if (which.alsoCharged) queries.perform(abandonEpoch(row));
  }
}

interface MissingCharge {
  readonly study: StudyRow;
  readonly epoch: bigint;
  readonly missing: Charge;
  readonly rollback: bigint;
}

function chargeMissing(
  queries: Queries, { study, epoch, missing, rollback }: MissingCharge, options: RollbackOptions,
): void {
  const { nowMs } = options;
  const isShared = queries.perform(budgetById(study.budget_id, nowMs)).scope !== 'contributor';
  const before = queries.perform(budgetById(study.budget_id, nowMs));
  if (isShared && !admits(capsOf(before), plusCharge(totalOf(before), missing))) {
    giveReservationsBack(queries, study, options);
  }
  const budget = queries.perform(budgetById(study.budget_id, nowMs));
  const cost = isShared ? whatCounts(budget, missing) : missing;
  queries.perform(addEntry({
    budgetId: budget.budget_id, studyKey: study.study_key, epoch, kind: 'charged', cost,
    atMs: queries.perform(chargeTime(budget, nowMs)),
  }));
  const { newest } = queries.database
    .prepare<[], { newest: bigint }>('SELECT max(entry_id) AS newest FROM ledger').get()!;
  queries.run(sql.insertInto('rollback_charges').values({ entry_id: newest, rollback }));
  const { spent, reserved } = totalsOf(budget);
  queries.perform(writeTotals(budget, { spent: plusCharge(spent, cost), reserved },
    { countsMore: budget.window_ms !== null }));
}

function totalOf(budget: BudgetRow): Charge {
  const { spent, reserved } = totalsOf(budget);
  return plusCharge(spent, reserved);
}

/**
 * The amount that is charged again. If a charge was not pure, rho and delta kept within their caps,
 * and what is beyond them has left the window. Otherwise nobody knows which of the two sums kept
 * within its cap, so nothing is left out.
 */
function whatCounts(budget: BudgetRow, missing: Charge): Charge {
  const total = totalOf(budget);
  if (total.pure !== null && missing.pure !== null) return missing;
  const caps = capsOf(budget);
  return {
    rho: smaller(missing.rho, above(caps.rho, total.rho)),
    delta: smaller(missing.delta, above(caps.delta, total.delta)), pure: missing.pure,
  };
}

/**
 * Returns the reservations of every study on the budget: charges that were made take precedence
 * over epochs that are not charged.
 */
function giveReservationsBack(queries: Queries, study: StudyRow, options: RollbackOptions): void {
  const sharing = queries.all(sql.selectFrom('studies').selectAll()
    .where('budget_id', '=', study.budget_id));
  for (const each of sharing) {
    closeEpochs(queries, each, { ...every, alsoCharged: false }, options);
  }
}
