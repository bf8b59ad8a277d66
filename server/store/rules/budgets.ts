import type { Selectable } from 'kysely';
import { assert } from '../../../src/base/assert.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import {
  capOf, parseAmount, parsePure, pureText, zeroAmount, type Amount, type PureAmount,
} from '../../../src/privacy/accounting/amount.js';
import {
  admits, plusCharge, type Caps, type Charge,
} from '../../../src/privacy/accounting/budget.js';
import type { BudgetRule } from '../../../src/privacy/accounting/cost.js';
import type { BudgetSpec, LedgerBalance, LedgerEntry } from '../contract.js';
import { renewed } from './budget-window.js';
import { amountRow, atMost, isAmount, isSame, minus, noSpend, pureSum, spendOf } from './spend.js';
import { all, first, run, sql, type Steps } from './steps.js';
import type { BudgetRow, LedgerTable } from './tables.js';

/*
 * The ledger's arithmetic. Claim: in every committed state, for every budget, spent + reserved is
 * what `admits` allows: within the caps of rho and of delta, or within that of pure epsilon. One
 * exception: charges that have left a window are counted again (clock-repair.ts, rollback.ts). Then
 * the sums only fall until one of them is within its cap. Each function that moves an amount ends
 * in `writeTotals`, which asserts the claim inside the same transaction, so a state that breaks it
 * is rolled back. Amounts are compared as integers, never as doubles. budget-window.ts says what
 * counts as spent in a budget that renews.
 *
 * All sums count the same charges. The pure sum is `none` (NULL) while a charge that counts was not
 * pure, or nobody knows. Where such a charge is taken out of a sum, the sum is made again from
 * those that remain: `unreserved`, `renewed`.
 *
 * Under contributor scope the claim is about each contributor (own-budget.ts). The total
 * here is the sum over epochs. It may exceed the cap, so nothing compares the two. Reports show the
 * smaller one.
 *
 * A cap can shrink. Under the other scopes it cannot shrink below what is spent and reserved. Under
 * contributor scope it can always shrink: whether it may must not depend on what any contributor
 * has spent. The new cap is compared with each contributor's own debits, from the next first row
 * on. A contributor that has spent more under the earlier cap keeps what it spent, and every later
 * epoch leaves it out. So the releases of the version with the new cap cost each contributor at
 * most the new cap, and all releases together at most the larger of the new cap and what the
 * earlier versions state. An epoch that is open while the cap shrinks was debited under the earlier
 * cap.
 */

export interface Totals {
  readonly spent: Charge;
  readonly reserved: Charge;
}

const ruleOf = (row: BudgetRow): BudgetRule =>
  row.rule === 'renyi' ? { rule: 'renyi', order: row.renyi_order! } : { rule: row.rule };

export const totalsOf = (row: BudgetRow): Totals => ({
  spent: {
    rho: parseAmount(row.rho_spent), delta: parseAmount(row.delta_spent),
    pure: parsePure(row.pure_spent),
  },
  reserved: {
    rho: parseAmount(row.rho_reserved), delta: parseAmount(row.delta_reserved),
    pure: parsePure(row.pure_reserved),
  },
});

export const capsOf = (row: Pick<BudgetRow, 'rho_cap' | 'delta_cap' | 'pure_cap'>): Caps =>
  ({
    rho: parseAmount(row.rho_cap), delta: parseAmount(row.delta_cap),
    pure: parseAmount(row.pure_cap),
  });

/** The caps that a specification asks for. */
const capsAsked = ({ rhoCap, deltaCap, epsilon }: BudgetSpec): Caps =>
  ({ rho: rhoCap, delta: deltaCap, pure: capOf(epsilon) });

const larger = (left: Amount, right: Amount): Amount => (left > right ? left : right);

/** True if the first caps grow in no coordinate over the second. */
const shrinks = (caps: Caps, before: Caps): boolean =>
  caps.rho <= before.rho && caps.delta <= before.delta && caps.pure <= before.pure;

export function balanceOf(row: BudgetRow): LedgerBalance {
  const { spent, reserved } = totalsOf(row);
  const caps = capsOf(row);
  const shown = row.scope === 'contributor' ? atMost(spent, caps) : spent;
  return {
    key: row.budget_key, scope: row.scope, rule: ruleOf(row), rhoCap: caps.rho,
    deltaCap: caps.delta, pureCap: caps.pure, rhoSpent: shown.rho, deltaSpent: shown.delta,
    pureSpent: shown.pure, rhoReserved: reserved.rho, deltaReserved: reserved.delta,
    pureReserved: reserved.pure, epsilon: row.epsilon, delta: row.delta,
    ...(row.window_ms !== null && { windowMs: Number(row.window_ms) }),
  };
}

export const budgetRows = () => sql.selectFrom('budgets')
  .leftJoin('budget_windows', 'budget_windows.budget_id', 'budgets.budget_id')
  .selectAll('budgets').select(['window_ms', 'renewed_through_ms']);

function* budgetByKey(key: string): Steps<BudgetRow | undefined> {
  return yield* first(budgetRows().where('budget_key', '=', key));
}

/** The specification that the budget was created with. */
export function specOf(row: BudgetRow): BudgetSpec {
  const caps = capsOf(row);
  return {
    key: row.budget_key, scope: row.scope, rule: ruleOf(row),
    rhoCap: caps.rho, deltaCap: caps.delta, epsilon: row.epsilon, delta: row.delta,
    ...(row.window_ms !== null && { windowMs: Number(row.window_ms) }),
  };
}

/** Null when no budget has that key. */
export function* readBalance(key: string, nowMs: number): Steps<LedgerBalance | null> {
  const row = yield* budgetByKey(key);
  return row === undefined ? null : balanceOf(yield* renewed(row, nowMs));
}

/** In order of creation. */
export function* readBalances(nowMs: number): Steps<LedgerBalance[]> {
  const balances: LedgerBalance[] = [];
  for (const row of yield* all(budgetRows().orderBy('budgets.budget_id'))) {
    balances.push(balanceOf(yield* renewed(row, nowMs)));
  }
  return balances;
}

/** The budget at `nowMs`. */
export function* budgetById(id: bigint, nowMs: number): Steps<BudgetRow> {
  const row = yield* first(budgetRows().where('budgets.budget_id', '=', id));
  assert(row !== undefined, 'every study has a budget');
  return yield* renewed(row, nowMs);
}

/**
 * Writes new totals and the time of the renewal, after checking the claim above.
 * @param how.countsMore what has left the window may count again. Default: no.
 */
export function* writeTotals(
  row: BudgetRow, totals: Totals, { countsMore = false }: { readonly countsMore?: boolean } = {},
): Steps<LedgerBalance> {
  const { spent, reserved } = totals;
  assert(isAmount(spent) && isAmount(reserved), 'a ledger total is not negative');
  const total = plusCharge(spent, reserved);
  assert(countsMore || row.scope === 'contributor' || admits(boundOf(row), total),
    'spent and reserved stay within the caps of one sum, or do not grow');
  const columns = {
    rho_spent: String(spent.rho), delta_spent: String(spent.delta),
    pure_spent: pureText(spent.pure), rho_reserved: String(reserved.rho),
    delta_reserved: String(reserved.delta), pure_reserved: pureText(reserved.pure),
  };
  yield* run(sql.updateTable('budgets').set(columns).where('budget_id', '=', row.budget_id));
  if (row.renewed_through_ms !== null) {
    yield* run(
      sql.updateTable('budget_windows').set({ renewed_through_ms: row.renewed_through_ms })
        .where('budget_id', '=', row.budget_id),
    );
  }
  return balanceOf({ ...row, ...columns });
}

/** The caps of a budget, or what it has spent and reserved, coordinate by coordinate. */
function boundOf(row: BudgetRow): Caps {
  const caps = capsOf(row);
  const totals = totalsOf(row);
  const before = plusCharge(totals.spent, totals.reserved);
  return {
    rho: larger(caps.rho, before.rho), delta: larger(caps.delta, before.delta),
    pure: larger(caps.pure, before.pure ?? zeroAmount),
  };
}

/** The cost that stays reserved after an epoch has been charged or has lapsed. */
export function* unreserved(row: BudgetRow, cost: Charge): Steps<Charge> {
  const left = minus(totalsOf(row).reserved, cost);
  return left.pure === null ? { ...left, pure: yield* pureReserved(row.budget_id) } : left;
}

/** The pure sum of the epochs that are open or closing. */
export function* pureReserved(budgetId: bigint): Steps<PureAmount> {
  const rows = yield* all(sql.selectFrom('epochs')
    .innerJoin('studies', 'studies.study_key', 'epochs.study_key').select('epochs.pure')
    .where('studies.budget_id', '=', budgetId)
    .where('epochs.state', 'in', ['open', 'closing']));
  return pureSum(rows);
}

/**
 * The budget of a study that registers: a new one, or the existing one, shrunk to the new caps.
 * @throws KeelsonError invalid-study when rule, scope or window differ, or a cap grows, or (except
 *   under contributor scope) a cap shrinks below what is spent and reserved.
 */
export function* ensureBudget(spec: BudgetSpec, nowMs: number): Steps<bigint> {
  const found = yield* budgetByKey(spec.key);
  if (found === undefined) return yield* createBudget(spec);
  const row = yield* renewed(found, nowMs);
  const refuse = (what: string): never => {
    throw new KeelsonError('invalid-study', `the budget ${spec.key} exists and ${what}`,
      { details: { budget: spec.key } });
  };
  const order = spec.rule.rule === 'renyi' ? spec.rule.order : null;
  if (row.rule !== spec.rule.rule || row.renyi_order !== order) {
    refuse(`its rule is ${row.rule}: keep it, or name another budget`);
  }
  if (row.scope !== spec.scope) {
    refuse(`its scope is ${row.scope}: keep it, or name another budget`);
  }
  const windowMs = row.window_ms === null ? undefined : Number(row.window_ms);
  if (windowMs !== spec.windowMs) {
    const rule = windowMs === undefined ? 'does not renew' : `renews over ${windowMs} ms`;
    refuse(`${rule}: keep that, or name another budget`);
  }
  const caps = capsAsked(spec);
  if (!shrinks(caps, capsOf(row))) {
    refuse(`can only shrink: keep epsilon ${row.epsilon} and delta ${row.delta}, or ask for less `
      + 'of both');
  }
  // Unchanged caps need no check.
  const isLess = !isSame(capsOf(row), caps);
  const { spent, reserved } = totalsOf(row);
  if (isLess && row.scope !== 'contributor' && !admits(caps, plusCharge(spent, reserved))) {
    refuse('more than the new cap is already spent or reserved: ask for more, or end the studies '
      + 'that use it');
  }
  yield* run(sql.updateTable('budgets').where('budget_id', '=', row.budget_id).set({
    rho_cap: String(caps.rho), delta_cap: String(caps.delta), pure_cap: String(caps.pure),
    epsilon: spec.epsilon, delta: spec.delta,
  }));
  return row.budget_id;
}

function* createBudget(spec: BudgetSpec): Steps<bigint> {
  const created = yield* first(sql.insertInto('budgets').values({
    budget_key: spec.key, scope: spec.scope, rule: spec.rule.rule,
    renyi_order: spec.rule.rule === 'renyi' ? spec.rule.order : null,
    rho_cap: String(spec.rhoCap), delta_cap: String(spec.deltaCap),
    pure_cap: String(capsAsked(spec).pure), rho_spent: '0', delta_spent: '0', pure_spent: '0',
    rho_reserved: '0', delta_reserved: '0', pure_reserved: '0',
    epsilon: spec.epsilon, delta: spec.delta,
  }).returning('budget_id'));
  const id = created!.budget_id;
  if (spec.windowMs !== undefined) {
    yield* run(sql.insertInto('budget_windows').values({
      budget_id: id, window_ms: wholeMs(spec.windowMs), renewed_through_ms: 0n,
    }));
  }
  return id;
}

export interface NewEntry {
  readonly budgetId: bigint;
  readonly studyKey: bigint;
  readonly epoch: bigint;
  readonly kind: LedgerTable['kind'];
  readonly cost: Charge;
  readonly events?: string;
  readonly atMs: number;
}

/**
 * Appends to the ledger. An epoch has at most one entry of each kind; a second `declined` is
 * dropped.
 */
export function* addEntry(entry: NewEntry): Steps<void> {
  const insert = sql.insertInto('ledger').values({
    budget_id: entry.budgetId, study_key: entry.studyKey, epoch: entry.epoch, kind: entry.kind,
    ...amountRow(entry.cost), events: entry.events ?? '', at_ms: wholeMs(entry.atMs),
  });
  yield* run(entry.kind === 'declined'
    ? insert.onConflict((conflict) => conflict.doNothing()) : insert);
}

export const wholeMs = (ms: number): bigint => BigInt(Math.round(ms));

const entryRows = (budgetKey: string, limit: number) => sql.selectFrom('ledger')
  .innerJoin('budgets', 'budgets.budget_id', 'ledger.budget_id')
  .innerJoin('studies', 'studies.study_key', 'ledger.study_key')
  .leftJoin('rollback_charges', 'rollback_charges.entry_id', 'ledger.entry_id')
  .select([
    'budget_key', 'studies.study_id', 'ledger.epoch', 'ledger.kind', 'ledger.rho', 'ledger.delta',
      'ledger.pure', 'ledger.events', 'ledger.at_ms', 'rollback_charges.rollback',
  ])
  .where('budgets.budget_key', '=', budgetKey)
  .orderBy('ledger.entry_id', 'desc').limit(limit);

type EntryRow =
  Pick<Selectable<LedgerTable>, 'epoch' | 'kind' | 'rho' | 'delta' | 'pure' | 'events' | 'at_ms'>
    & { readonly budget_key: string; readonly study_id: string; readonly rollback: bigint | null };

const entryOf = (row: EntryRow): LedgerEntry => ({
  budgetKey: row.budget_key, studyId: row.study_id, epoch: row.epoch,
  // Every sum counts it as a charge.
  kind: row.rollback === null ? row.kind : 'rollback',
  ...spendOf(row), events: row.events, atMs: Number(row.at_ms),
});

/** Newest first. */
export function* ledgerEntries(budgetKey: string, limit: number): Steps<LedgerEntry[]> {
  return (yield* all(entryRows(budgetKey, limit))).map(entryOf);
}

/** The newest epoch that did not fit; null when all did. */
export function* lastDeclined(budgetKey: string): Steps<LedgerEntry | null> {
  const row = yield* first(entryRows(budgetKey, 1).where('ledger.kind', '=', 'declined'));
  return row === undefined ? null : entryOf(row);
}

/**
 * Adds the entries up and compares them with the totals, for budgets whose totals are sums (under
 * contributor scope they are a bound).
 * @throws StorageError when they differ: something other than this program changed the file.
 */
export function* verifyLedger(): Steps<void> {
  const budgets = yield* all(budgetRows().where('scope', '!=', 'contributor'));
  for (const budget of budgets) {
    let spent: Charge = noSpend;
    let reserved: Charge = noSpend;
    const entries = yield* all(sql.selectFrom('ledger')
      .leftJoin('rollback_charges', 'rollback_charges.entry_id', 'ledger.entry_id')
      .select(['kind', 'rho', 'delta', 'pure', 'at_ms', 'rollback'])
      .where('budget_id', '=', budget.budget_id));
    for (const entry of entries) {
      const cost = spendOf(entry);
      if (entry.kind === 'reserved') reserved = plusCharge(reserved, cost);
      const isCounted = budget.renewed_through_ms === null
        || entry.at_ms > budget.renewed_through_ms;
      if (entry.kind === 'charged' && isCounted) spent = plusCharge(spent, cost);
      // The charges of an accepted rollback were never reserved.
      const wasReserved = entry.kind === 'lapsed'
        || (entry.kind === 'charged' && entry.rollback === null);
      if (wasReserved) reserved = minus(reserved, cost);
    }
    const totals = totalsOf(budget);
    // A sum of reservations cannot be taken apart again once it was `none`.
    const pure = yield* pureReserved(budget.budget_id);
    const agrees = isSame(spent, totals.spent) && isSame({ ...reserved, pure }, totals.reserved);
    if (!agrees) {
      throw new StorageError(
        `the ledger of ${budget.budget_key} does not add up to its totals: the file was damaged or `
        + 'edited; restore it from a '
        + 'backup', 'storage-failed', { details: { budget: budget.budget_key } });
    }
  }
}
