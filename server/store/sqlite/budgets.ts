import type { Selectable } from 'kysely';
import { assert } from '../../../src/base/assert.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import { parseAmount, zeroAmount, type Amount } from '../../../src/privacy/amount.js';
import type { BudgetRule } from '../../../src/privacy/cost.js';
import type { BudgetSpec, LedgerBalance, LedgerEntry } from '../contract.js';
import { sql, type Queries } from './query.js';
import type { BudgetsTable } from './tables.js';

/**
 * The ledger's arithmetic. Claim: in every committed state, for every budget, spent + reserved <= cap in rho and in
 * delta. Each function that moves an amount ends in `writeTotals`, which asserts it inside the same transaction, so a
 * state that breaks it is rolled back. Amounts are compared as integers, never as doubles.
 */
export type BudgetRow = Selectable<BudgetsTable>;

export interface Spend {
  readonly rho: Amount;
  readonly delta: Amount;
}

export interface Totals {
  readonly spent: Spend;
  readonly reserved: Spend;
}

const ruleOf = (row: BudgetRow): BudgetRule =>
  row.rule === 'renyi' ? { rule: 'renyi', order: row.renyi_order! } : { rule: row.rule };

export const totalsOf = (row: BudgetRow): Totals => ({
  spent: { rho: parseAmount(row.rho_spent), delta: parseAmount(row.delta_spent) },
  reserved: { rho: parseAmount(row.rho_reserved), delta: parseAmount(row.delta_reserved) },
});

export const capsOf = (row: Pick<BudgetRow, 'rho_cap' | 'delta_cap'>): Spend =>
  ({ rho: parseAmount(row.rho_cap), delta: parseAmount(row.delta_cap) });

export const plus = (left: Spend, right: Spend): Spend =>
  ({ rho: (left.rho + right.rho) as Amount, delta: (left.delta + right.delta) as Amount });

export const minus = (left: Spend, right: Spend): Spend =>
  ({ rho: (left.rho - right.rho) as Amount, delta: (left.delta - right.delta) as Amount });

/** Coordinate by coordinate. */
export const within = (left: Spend, right: Spend): boolean => left.rho <= right.rho && left.delta <= right.delta;

export const noSpend: Spend = { rho: zeroAmount, delta: zeroAmount };

export function balanceOf(row: BudgetRow): LedgerBalance {
  const { spent, reserved } = totalsOf(row);
  const caps = capsOf(row);
  return {
    key: row.budget_key, scope: row.scope, rule: ruleOf(row), rhoCap: caps.rho, deltaCap: caps.delta,
    rhoSpent: spent.rho, deltaSpent: spent.delta, rhoReserved: reserved.rho, deltaReserved: reserved.delta,
    epsilon: row.epsilon, delta: row.delta,
  };
}

export function budgetByKey(queries: Queries, key: string): BudgetRow | undefined {
  return queries.first(sql.selectFrom('budgets').selectAll().where('budget_key', '=', key));
}

/** Null when there is none of that key. */
export function readBalance(queries: Queries, key: string): LedgerBalance | null {
  const row = budgetByKey(queries, key);
  return row === undefined ? null : balanceOf(row);
}

/** In order of creation. */
export function readBalances(queries: Queries): LedgerBalance[] {
  return queries.all(sql.selectFrom('budgets').selectAll().orderBy('budget_id')).map(balanceOf);
}

export function budgetById(queries: Queries, id: bigint): BudgetRow {
  const row = queries.first(sql.selectFrom('budgets').selectAll().where('budget_id', '=', id));
  assert(row !== undefined, 'every study has a budget');
  return row;
}

/** Writes new totals after checking the claim above. */
export function writeTotals(queries: Queries, row: BudgetRow, totals: Totals): LedgerBalance {
  const caps = capsOf(row);
  assert(within(noSpend, totals.spent) && within(noSpend, totals.reserved), 'a ledger total is not negative');
  assert(within(plus(totals.spent, totals.reserved), caps), 'spent and reserved stay within the cap');
  const columns = {
    rho_spent: String(totals.spent.rho), delta_spent: String(totals.spent.delta),
    rho_reserved: String(totals.reserved.rho), delta_reserved: String(totals.reserved.delta),
  };
  queries.run(sql.updateTable('budgets').set(columns).where('budget_id', '=', row.budget_id));
  return balanceOf({ ...row, ...columns });
}

/**
 * The budget of a study that registers: created, or the one there, shrunk to the new caps.
 * @throws KeelsonError invalid-study when rule or scope differ, a cap grows, or less is asked than is already
 * committed.
 */
export function ensureBudget(queries: Queries, spec: BudgetSpec): bigint {
  const row = budgetByKey(queries, spec.key);
  if (row === undefined) {
    return BigInt(queries.run(sql.insertInto('budgets').values({
      budget_key: spec.key, scope: spec.scope, rule: spec.rule.rule,
      renyi_order: spec.rule.rule === 'renyi' ? spec.rule.order : null,
      rho_cap: String(spec.rhoCap), delta_cap: String(spec.deltaCap),
      rho_spent: '0', delta_spent: '0', rho_reserved: '0', delta_reserved: '0',
      epsilon: spec.epsilon, delta: spec.delta,
    })).lastInsertRowid);
  }
  const refuse = (what: string): never => {
    throw new KeelsonError('invalid-study', `the budget ${spec.key} exists and ${what}`,
      { details: { budget: spec.key } });
  };
  const order = spec.rule.rule === 'renyi' ? spec.rule.order : null;
  if (row.rule !== spec.rule.rule || row.renyi_order !== order) {
    refuse(`its rule is ${row.rule}: keep it, or name another budget`);
  }
  if (row.scope !== spec.scope) refuse(`its scope is ${row.scope}: keep it, or name another budget`);
  const caps: Spend = { rho: spec.rhoCap, delta: spec.deltaCap };
  if (!within(caps, capsOf(row))) {
    refuse(`can only shrink: keep epsilon ${row.epsilon} and delta ${row.delta}, or ask for less of both`);
  }
  const { spent, reserved } = totalsOf(row);
  if (!within(plus(spent, reserved), caps)) {
    refuse('more than the new cap is already spent or reserved: ask for more, or end the studies that use it');
  }
  queries.run(sql.updateTable('budgets').where('budget_id', '=', row.budget_id).set({
    rho_cap: String(caps.rho), delta_cap: String(caps.delta), epsilon: spec.epsilon, delta: spec.delta,
  }));
  return row.budget_id;
}

export interface NewEntry {
  readonly budgetId: bigint;
  readonly studyKey: bigint;
  readonly epoch: bigint;
  readonly kind: LedgerEntry['kind'];
  readonly cost: Spend;
  readonly events?: string;
  readonly atMs: number;
}

/** Appends to the ledger; an epoch has at most one entry of a kind, and a second `declined` is dropped. */
export function addEntry(queries: Queries, entry: NewEntry): void {
  const insert = sql.insertInto('ledger').values({
    budget_id: entry.budgetId, study_key: entry.studyKey, epoch: entry.epoch, kind: entry.kind,
    rho: String(entry.cost.rho), delta: String(entry.cost.delta), events: entry.events ?? '',
    at_ms: wholeMs(entry.atMs),
  });
  queries.run(entry.kind === 'declined' ? insert.onConflict((conflict) => conflict.doNothing()) : insert);
}

export const wholeMs = (ms: number): bigint => BigInt(Math.round(ms));

/** Newest first. */
export function ledgerEntries(queries: Queries, budgetKey: string, limit: number): LedgerEntry[] {
  return queries.all(sql.selectFrom('ledger')
    .innerJoin('budgets', 'budgets.budget_id', 'ledger.budget_id')
    .innerJoin('studies', 'studies.study_key', 'ledger.study_key')
    .select(['studies.study_id', 'ledger.epoch', 'ledger.kind', 'ledger.rho', 'ledger.delta', 'ledger.events',
      'ledger.at_ms'])
    .where('budgets.budget_key', '=', budgetKey)
    .orderBy('ledger.entry_id', 'desc').limit(limit))
    .map((row) => ({
      budgetKey, studyId: row.study_id, epoch: row.epoch, kind: row.kind,
      rho: parseAmount(row.rho), delta: parseAmount(row.delta), events: row.events, atMs: Number(row.at_ms),
    }));
}

/**
 * Adds the entries up again and compares with the totals, for budgets where totals are sums (under contributor scope
 * they are a bound).
 * @throws StorageError when the file was changed by something else than this program.
 */
export function verifyLedger(queries: Queries): void {
  const budgets = queries.all(sql.selectFrom('budgets').selectAll().where('scope', '!=', 'contributor'));
  for (const budget of budgets) {
    let spent = noSpend;
    let reserved = noSpend;
    const entries = queries.all(sql.selectFrom('ledger').select(['kind', 'rho', 'delta'])
      .where('budget_id', '=', budget.budget_id));
    for (const entry of entries) {
      const cost: Spend = { rho: parseAmount(entry.rho), delta: parseAmount(entry.delta) };
      if (entry.kind === 'reserved') reserved = plus(reserved, cost);
      if (entry.kind === 'charged') spent = plus(spent, cost);
      if (entry.kind === 'charged' || entry.kind === 'lapsed') reserved = minus(reserved, cost);
    }
    const totals = totalsOf(budget);
    const agrees = within(spent, totals.spent) && within(totals.spent, spent)
      && within(reserved, totals.reserved) && within(totals.reserved, reserved);
    if (!agrees) {
      throw new StorageError(
        `the ledger of ${budget.budget_key} does not add up to its totals: the file was damaged or edited; `
        + 'restore it from a backup', 'storage-failed', { details: { budget: budget.budget_key } });
    }
  }
}
