import { keepsTwoSums } from '../../src/base/budget-rules.js';
import { utf8 } from '../../src/base/bytes.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import type { LedgerBalance, LedgerEntry, StudyRecord } from '../../server/store/contract.js';
import type { Rollback } from '../../server/store/records.js';
import { openPostgresReader, type PostgresReader } from '../../server/store/postgres/reader.js';
import { openSqliteReader, type SqliteReader } from '../../server/store/sqlite/reader.js';
import { durationText } from '../../server/studies/release/guarantee.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import { numberFlag } from '../base/numbers.js';
import { formatNumber, type Output } from '../base/output.js';
import { askedIn } from '../base/questions.js';
import { lossOfBudget } from '../base/spent-loss.js';
import { isFileLedger, showFileLedger } from '../ledger/file.js';
import { usualDelta } from '../base/privacy-flags.js';
import { readSettings, settingsArgument } from '../base/settings-file.js';
import { placeOf } from '../base/store-flags.js';

const entriesShown = 20;

export const ledger = defineCommand({
  name: 'ledger',
  summary: 'Show what was spent and is left of each budget of a server or a file.',
  details: [
    'It may run beside the aggregator, and changes nothing. Amounts are rho (zero-concentrated '
    + 'privacy) and delta; epsilon is their tight conversion at the budget\'s delta. Under the '
    + 'rule pure the amount is epsilon itself, under gaussian half the squared mu of Gaussian '
    + 'differential privacy, under renyi a divergence at the budget\'s order.',
    'For a budget that renews, spent is the sum over its present window. Under contributor scope '
    + 'it is the bound that every release states: no person has spent more, and most have spent '
    + 'less. It also counts, for the operator only, the people left out of the newest epochs '
    + 'because their own budget did not pay, and lists the keys that quarantine excludes, with '
    + 'their distance.',
    'A rollback is an older database that the operator accepted at a start (keelson serve '
    + '--accept-rollback). The entry "rollback" repeats the charges that this database lacked.',
    'The loss distribution is a second account of the same charges. It follows from the noise '
    + 'that was drawn, and usually gives a smaller epsilon. It holds for plans that were fixed in '
    + 'advance. Budgets are not decided by it.',
    'A ledger in a file is the budget of data at hand: --epsilon makes one, "keelson estimate '
    + '--ledger" charges it before each answer, and without --epsilon it is shown. Its charges are '
    + 'never taken back. It cannot know what is answered without it, or from a copy of it.',
  ],
  args: {
    directory: {
      type: 'positional', required: false,
      description: 'data folder of "keelson serve", or the file of a ledger',
    },
    store: {
      type: 'string', valueHint: 'url',
      description: 'instead: the store in PostgreSQL, like postgres://user@host/database',
    },
    ...settingsArgument,
    entries: {
      type: 'string', valueHint: 'n',
      description: 'newest ledger entries, and excluded keys, to show per budget (default '
        + `${entriesShown})`,
    },
    epsilon: {
      type: 'string', valueHint: 'e',
      description: 'makes a ledger in a file: the most that all answers may cost together',
    },
    delta: {
      type: 'string', valueHint: 'd',
      description: 'with --epsilon: its delta, far below 1 / people; 0 for pure answers alone '
        + `(default ${usualDelta()})`,
    },
    participation: {
      type: 'enum', options: ['secret', 'public'],
      description: 'with --epsilon: secret: each answer must protect who takes part; public: what '
        + 'people hold is enough',
    },
    contributor: {
      type: 'string', valueHint: 'column',
      description: 'with --epsilon: holds the ids of people (default: every row is one person)',
    },
    data: {
      type: 'string', valueHint: 'name',
      description: 'with --epsilon: a name of the data (default: that of the file)',
    },
  },
  examples: [
    'keelson ledger data', 'keelson ledger data --json',
    'keelson ledger survey.ledger --epsilon 3 --participation public',
    'keelson ledger survey.ledger',
    'keelson ledger --store postgres://keelson@db/keelson',
  ],
  async run({ args, output }) {
    const limit = numberFlag(
      args.entries, '--entries', { whole: true, atLeast: 0, atMost: 100_000 },
    )
      ?? entriesShown;
    if (isFileLedger(args.directory, args)) {
      showFileLedger(args.directory, args, limit, output);
      return 0;
    }
    const store = await readerOf(args);
    try {
      const studies = await store.studies();
      const budgets = [];
      for (const balance of await store.balances()) {
        const own = studies.filter((study) => study.budgetKey === balance.key);
        const all = await store.ledgerEntries(balance.key, Number.MAX_SAFE_INTEGER);
        const counting = countingAt(Date.now(), balance, all);
        budgets.push(view(balance, own, all.slice(0, limit), {
          loss: lossOfBudget(balance, counting),
          declined: await store.lastDeclined(balance.key),
          leftOut: await leftOutOf(store, balance, own),
          excluded: await excludedFrom(store, own, limit),
        }));
      }
      const rollbacks = (await store.rollbacks())
        .map(({ atMs, ...counts }): RollbackLine =>
          ({ at: new Date(atMs).toISOString(), ...counts }));
      output.json({ budgets, rollbacks });
      describeRollbacks(rollbacks, output);
      for (const budget of budgets) describe(budget, output);
      if (budgets.length === 0) {
        output.text('no budget yet: no study was ever served from here');
      }
      return 0;
    } finally {
      await store.close();
    }
  },
});

type Reader = SqliteReader | PostgresReader;

/** @throws UsageError unless exactly one place is given. */
function readerOf({ directory, store, settings }: {
  readonly directory?: string | undefined; readonly store?: string | undefined;
  readonly settings?: string | undefined;
}): Promise<Reader> {
  if ((directory === undefined) === (store === undefined)) {
    throw new UsageError('name one place: the data folder of "keelson serve", the file of a '
      + 'ledger, or --store URL');
  }
  if (store !== undefined) return openPostgresReader(placeOf(store, readSettings(settings)));
  if (settings !== undefined) {
    throw new UsageError('--settings belongs to --store: add --store, or leave it out');
  }
  return openSqliteReader(directory!);
}

/** An older database that the operator accepted. */
type RollbackLine = Omit<Rollback, 'atMs'> & {
  /** ISO 8601. */
  readonly at: string;
};

interface BudgetView {
  readonly budget: string;
  readonly scope: string;
  readonly rule: string;
  /** Only with the rule `renyi`. */
  readonly order?: number;
  /** Only for a budget that renews, in milliseconds. */
  readonly windowMs?: number;
  readonly studies: readonly StudyLine[];
  /**
   * Under contributor scope: how many contributors were left out of the two newest epochs of each
   * study.
   */
  readonly leftOut?: readonly LeftOut[];
  readonly rho: Amounts;
  readonly delta: Amounts;
  /** Null if something that counts was not pure, or nothing counts. */
  readonly pure: Amounts | null;
  /** `byLossDistribution` is null if the entries cannot show it. */
  readonly epsilon: {
    readonly spent: number; readonly byLossDistribution: number | null; readonly cap: number;
    readonly atDelta: number;
  };
  readonly entries: readonly EntryLine[];
  /**
   * Keys that quarantine excludes, newest first; absent if there are none. Only for the operator.
   */
  readonly excluded?: readonly Excluded[];
}

interface Excluded {
  readonly study: string;
  /** Public key, hexadecimal. */
  readonly contributor: string;
  readonly fromEpoch: bigint;
  /**
   * Distance of the mean of its rows from the answer of `release`, and the distance beyond which
   * the study excludes.
   */
  readonly distance: number;
  readonly beyond: number;
  /** Position in the study's log, from 0. */
  readonly release: number;
  /** ISO 8601. */
  readonly at: string;
}

interface LeftOut {
  readonly study: string;
  readonly epoch: bigint;
  readonly contributors: number;
}

interface More {
  readonly loss: number | null;
  readonly declined: LedgerEntry | null;
  readonly leftOut: readonly LeftOut[] | null;
  readonly excluded: readonly Excluded[];
}

interface StudyLine {
  readonly study: string;
  readonly studyId: string;
  readonly state: string;
  readonly releases: number;
  /** The names of its questions, of a study that lists them. One charge pays for all of them. */
  readonly questions?: readonly string[];
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
  /** For the newest declined epoch; null if no epoch was declined. */
  readonly asked: number | null;
}

/** The entries that count as spent now. */
function countingAt(
  nowMs: number, { windowMs }: LedgerBalance, entries: readonly LedgerEntry[],
): readonly LedgerEntry[] {
  return windowMs === undefined
    ? entries : entries.filter((entry) => entry.atMs > nowMs - windowMs);
}

async function leftOutOf(
  store: Reader, { scope }: LedgerBalance, studies: readonly StudyRecord[],
): Promise<readonly LeftOut[] | null> {
  if (scope !== 'contributor') return null;
  const newest = studies.flatMap(({ studyId, name, lastEpoch }) =>
    [lastEpoch, lastEpoch - 1n].filter((epoch) => epoch > 0n)
      .map((epoch) => ({ studyId, name, epoch })));
  return Promise.all(newest.map(async ({ studyId, name, epoch }) =>
    ({ study: name, epoch, contributors: await store.leftOutCount(studyId, epoch) })));
}

async function excludedFrom(
  store: Reader, studies: readonly StudyRecord[], limit: number,
): Promise<readonly Excluded[]> {
  const all = await Promise.all(studies.map(async ({ studyId, name }) =>
    (await store.quarantines(studyId, limit))
      .map(({ contributor, fromEpoch, distance, beyond, releaseIndex, atMs }) => (
        {
          study: name, contributor, fromEpoch, distance, beyond, release: releaseIndex,
          at: new Date(atMs).toISOString(),
        }
      ))));
  return all.flat().sort((left, right) => (left.at < right.at ? 1 : -1)).slice(0, limit);
}

function view(
  balance: LedgerBalance, studies: readonly StudyRecord[], entries: readonly LedgerEntry[],
  more: More,
): BudgetView {
  const { declined, excluded, leftOut, loss } = more;
  const rho = amounts(balance.rhoSpent, balance.rhoReserved, balance.rhoCap, declined?.rho ?? null);
  const delta =
    amounts(balance.deltaSpent, balance.deltaReserved, balance.deltaCap, declined?.delta ?? null);
  const nameOf = (studyId: string): string =>
    studies.find((study) => study.studyId === studyId)?.name ?? studyId;
  return {
    budget: balance.key,
    scope: balance.scope,
    rule: balance.rule.rule,
    ...(balance.rule.rule === 'renyi' && { order: balance.rule.order }),
    ...(balance.windowMs !== undefined && { windowMs: balance.windowMs }),
    ...(leftOut !== null && { leftOut }),
    ...(excluded.length > 0 && { excluded }),
    studies: studies.map(({ name, studyId, state, releaseCount, document }) => {
      const questions = askedIn(utf8(document))?.questions;
      return {
        study: name, studyId, state, releases: releaseCount,
        ...(questions !== undefined && { questions }),
      };
    }),
    rho,
    delta,
    pure: pureAmounts(balance, declined),
    epsilon: {
      spent: epsilonOfSpent(
        balance.rule, balance.rhoSpent, balance.deltaSpent, balance.delta, balance.pureSpent),
      byLossDistribution: loss,
      cap: balance.epsilon,
      atDelta: balance.delta,
    },
    entries: entries.map((entry) => ({
      study: nameOf(entry.studyId), epoch: entry.epoch, kind: entry.kind,
      rho: amountToNumber(entry.rho), delta: amountToNumber(entry.delta),
      at: new Date(entry.atMs).toISOString(),
    })),
  };
}

/** The sum of pure epsilons, which pays as well. */
function pureAmounts(
  { rule, pureSpent, pureReserved, pureCap }: LedgerBalance, declined: LedgerEntry | null,
): Amounts | null {
  if (!keepsTwoSums(rule.rule) || pureSpent === null || pureReserved === null) return null;
  if (pureSpent + pureReserved === 0n) return null;
  return amounts(pureSpent, pureReserved, pureCap, declined?.pure ?? null);
}

/** The name of the sum by which a rule goes. */
function unitOf(rule: string): string {
  return { pure: 'epsilon', gaussian: 'mu^2 / 2', renyi: 'divergence' }[rule] ?? 'rho';
}

/** Both sums in words, such as "3 of 8 by epsilon"; null where only one is kept. */
function sumsText({ rule, rho, delta, pure }: BudgetView): string | null {
  if (pure === null) return null;
  const isUsedUp = rho.left === 0 || (delta.cap > 0 && delta.left === 0);
  const share = Math.round(100 * (rho.spent + rho.reserved) / rho.cap);
  const unit = unitOf(rule);
  return `  either sum pays: ${formatNumber(pure.spent + pure.reserved)} of ${formatNumber(pure.cap)} by epsilon; `
    + (isUsedUp ? `by ${unit} this budget would be used up` : `${share} % by ${unit}`);
}

function amounts(spent: bigint, reserved: bigint, cap: bigint, asked: bigint | null): Amounts {
  const number = (amount: bigint): number => amountToNumber(amount as LedgerBalance['rhoCap']);
  return {
    spent: number(spent), reserved: number(reserved), cap: number(cap),
    left: number(spent + reserved < cap ? cap - spent - reserved : 0n),
    asked: asked === null ? null : number(asked),
  };
}

function describeRollbacks(rollbacks: readonly RollbackLine[], output: Output): void {
  for (const { at, ledger, releases } of rollbacks) {
    const lost = ledger.marked === null ? 'how much was lost is not known'
      : `${ledger.marked} entries and ${releases.marked} releases were known`;
    output.text(`rollback accepted ${at.slice(0, 19)}: the ledger had ${ledger.found} entries `
      + `and the logs ${releases.found} releases; ${lost}`);
  }
  if (rollbacks.length > 0) output.text();
}

function describe(budget: BudgetView, output: Output): void {
  const order = budget.order === undefined ? '' : ` at order ${formatNumber(budget.order)}`;
  const renews = budget.windowMs === undefined
    ? '' : `, renews over ${durationText(budget.windowMs)}`;
  output.text(`${budget.budget}   scope ${budget.scope}, rule ${budget.rule}${order}${renews}`);
  for (const { study, state, releases, studyId, questions } of budget.studies) {
    output.text(`  study ${study}: ${state}, ${releases} releases (${studyId.slice(0, 16)})`);
    if (questions !== undefined) output.text(`    each pays for ${questions.join(', ')}`);
  }
  for (const { study, epoch, contributors } of budget.leftOut ?? []) {
    output.text(`  left out of epoch ${epoch} of ${study}: ${contributors} contributors`);
  }
  const { spent, byLossDistribution: loss, cap, atDelta } = budget.epsilon;
  const bound = budget.leftOut === undefined ? '' : 'at most ';
  output.text(`  epsilon ${bound}${spent.toFixed(4)} spent of ${cap} at delta ${atDelta}`
    + (loss === null ? '' : `; ${loss.toFixed(4)} by its loss distribution`));
  const sums = sumsText(budget);
  if (sums !== null) output.text(sums);
  const unit = {
    rho: unitOf(budget.rule), delta: 'delta',
    pure: 'epsilon',
  };
  output.table(
    ['', 'spent', 'reserved', 'left', 'cap', 'asked'],
    (['rho', 'delta', 'pure'] as const).flatMap((name) => {
      const of = budget[name];
      return of === null ? [] : [[
        unit[name], formatNumber(of.spent), formatNumber(of.reserved), formatNumber(of.left),
        formatNumber(of.cap),
        of.asked === null ? '-' : formatNumber(of.asked),
      ]];
    }),
  );
  if (budget.entries.length > 0) {
    output.text();
    output.table(['when', 'study', 'epoch', 'what', 'rho', 'delta'], budget.entries.map((entry) => {
      const { at, study, epoch, kind, rho, delta } = entry;
      return [at.slice(0, 19), study, String(epoch), kind, formatNumber(rho), formatNumber(delta)];
    }));
  }
  if (budget.excluded !== undefined) {
    output.text();
    output.table(
      ['excluded', 'study', 'key', 'from epoch', 'distance', 'beyond', 'release'],
      budget.excluded.map((entry) => {
        const { at, study, contributor, fromEpoch, distance, beyond, release } = entry;
        return [
          at.slice(0, 19), study, contributor.slice(0, 16), String(fromEpoch),
          formatNumber(distance),
            formatNumber(beyond), String(release),
        ];
      }),
    );
  }
  output.text();
}
