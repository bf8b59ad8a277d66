import { amountToNumber } from '../../src/privacy/amount.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/conversion.js';
import type { LedgerBalance, LedgerEntry, StudyRecord } from '../../server/store/contract.js';
import { openSqliteReader } from '../../server/store/sqlite/reader.js';
import { defineCommand } from '../command.js';
import { numberFlag } from '../numbers.js';
import { formatNumber, type Output } from '../output.js';
import { lossOfBudget } from '../spent-loss.js';

const entriesShown = 20;

export const ledger = defineCommand({
  name: 'ledger',
  summary: 'Show what was spent, reserved and is left of every budget in a data folder.',
  details: [
    'Reads beside a running aggregator and changes nothing. Amounts are zero-concentrated privacy (rho) and delta; '
    + 'epsilon is their tight conversion at the budget\'s delta.',
    'The loss distribution is a second account of the same charges, from the noise that was drawn: usually a smaller '
    + 'epsilon. It holds for plans that were fixed in advance, and does not gate the budget.',
  ],
  args: {
    directory: { type: 'positional', required: true, description: 'data folder of "keelson serve"' },
    entries: {
      type: 'string', valueHint: 'n',
      description: `newest ledger entries to show per budget (default ${entriesShown})`,
    },
  },
  examples: ['keelson ledger data', 'keelson ledger data --json'],
  async run({ args, output }) {
    const limit = numberFlag(args.entries, '--entries', { whole: true, atLeast: 0, atMost: 100_000 }) ?? entriesShown;
    const store = await openSqliteReader(args.directory);
    try {
      const studies = await store.studies();
      const budgets = [];
      for (const balance of await store.balances()) {
        const own = studies.filter((study) => study.budgetKey === balance.key);
        const all = await store.ledgerEntries(balance.key, Number.MAX_SAFE_INTEGER);
        budgets.push(view(balance, own, all.slice(0, limit), lossOfBudget(balance, all)));
      }
      output.json({ budgets });
      for (const budget of budgets) describe(budget, output);
      if (budgets.length === 0) output.text('no budget yet: no study was ever served from this folder');
      return 0;
    } finally {
      await store.close();
    }
  },
});

interface BudgetView {
  readonly budget: string;
  readonly scope: string;
  readonly rule: string;
  readonly studies: readonly StudyLine[];
  readonly rho: Amounts;
  readonly delta: Amounts;
  /** `byLossDistribution`: null when the entries do not tell it. */
  readonly epsilon: {
    readonly spent: number; readonly byLossDistribution: number | null; readonly cap: number; readonly atDelta: number;
  };
  readonly entries: readonly EntryLine[];
}

interface StudyLine {
  readonly study: string;
  readonly studyId: string;
  readonly state: string;
  readonly releases: number;
}

interface EntryLine {
  readonly study: string;
  readonly epoch: bigint;
  readonly kind: string;
  readonly rho: number;
  readonly delta: number;
  /** ISO 8601. */
  readonly at: string;
}

interface Amounts {
  readonly spent: number;
  readonly reserved: number;
  readonly left: number;
  readonly cap: number;
  /** Of the newest declined epoch; null when none was declined. */
  readonly asked: number | null;
}

function view(
  balance: LedgerBalance, studies: readonly StudyRecord[], entries: readonly LedgerEntry[], loss: number | null,
): BudgetView {
  const declined = entries.filter((entry) => entry.kind === 'declined')
    .reduce<LedgerEntry | null>((newest, entry) => (entry.atMs > (newest?.atMs ?? -Infinity) ? entry : newest), null);
  const rho = amounts(balance.rhoSpent, balance.rhoReserved, balance.rhoCap, declined?.rho ?? null);
  const delta = amounts(balance.deltaSpent, balance.deltaReserved, balance.deltaCap, declined?.delta ?? null);
  const nameOf = (studyId: string): string => studies.find((study) => study.studyId === studyId)?.name ?? studyId;
  return {
    budget: balance.key,
    scope: balance.scope,
    rule: balance.rule.rule,
    studies: studies.map(({ name, studyId, state, releaseCount }) =>
      ({ study: name, studyId, state, releases: releaseCount })),
    rho,
    delta,
    epsilon: {
      spent: rho.spent === 0 ? 0 : epsilonOfApproximateZcdp(rho.spent, delta.spent, balance.delta),
      byLossDistribution: loss,
      cap: balance.epsilon,
      atDelta: balance.delta,
    },
    entries: entries.map((entry) => ({
      study: nameOf(entry.studyId), epoch: entry.epoch, kind: entry.kind,
      rho: amountToNumber(entry.rho), delta: amountToNumber(entry.delta), at: new Date(entry.atMs).toISOString(),
    })),
  };
}

function amounts(spent: bigint, reserved: bigint, cap: bigint, asked: bigint | null): Amounts {
  const number = (amount: bigint): number => amountToNumber(amount as LedgerBalance['rhoCap']);
  return {
    spent: number(spent), reserved: number(reserved), left: number(cap - spent - reserved), cap: number(cap),
    asked: asked === null ? null : number(asked),
  };
}

function describe(budget: BudgetView, output: Output): void {
  output.text(`${budget.budget}   scope ${budget.scope}, rule ${budget.rule}`);
  for (const { study, state, releases, studyId } of budget.studies) {
    output.text(`  study ${study}: ${state}, ${releases} releases (${studyId.slice(0, 16)})`);
  }
  const { spent, byLossDistribution: loss, cap, atDelta } = budget.epsilon;
  output.text(`  epsilon ${spent.toFixed(4)} spent of ${cap} at delta ${atDelta}`
    + (loss === null ? '' : `; ${loss.toFixed(4)} by its loss distribution`));
  output.table(['', 'spent', 'reserved', 'left', 'cap', 'asked'], (['rho', 'delta'] as const).map((name) => {
    const of = budget[name];
    return [name, formatNumber(of.spent), formatNumber(of.reserved), formatNumber(of.left), formatNumber(of.cap),
      of.asked === null ? '-' : formatNumber(of.asked)];
  }));
  if (budget.entries.length > 0) {
    output.text();
    output.table(['when', 'study', 'epoch', 'what', 'rho', 'delta'], budget.entries.map((entry) => {
      const { at, study, epoch, kind, rho, delta } = entry;
      return [at.slice(0, 19), study, String(epoch), kind, formatNumber(rho), formatNumber(delta)];
    }));
  }
  output.text();
}
