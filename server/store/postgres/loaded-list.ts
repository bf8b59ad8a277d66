import { InvariantError } from '../../../src/base/errors.js';
import type { AdmissionRequest } from '../contract.js';
import {
  noContribution, type AdmissionSource, type Contributor, type Debit, type JournalRow,
} from '../rules/admission-list.js';
import { fingerprintOf } from '../rules/epoch-tables.js';
import { takeNewKey } from '../rules/new-keys.js';
import { spentOf, type SpendingSource } from '../rules/own-budget.js';
import { debitOf, type DebitSource } from '../rules/own-debit.js';
import { plusCharge, type Charge } from '../../../src/privacy/accounting/budget.js';
import { amountRow, noSpend, type AmountRow } from '../rules/spend.js';
import type { PostgresFacts } from './admission-facts.js';
import { emptyExtras, type Extras } from './list-extras.js';
import { pairName, type Window } from './list-reads.js';
import { LoadedPeriods } from './loaded-periods.js';

export interface NewDebit {
  readonly budgetId: bigint;
  readonly contributorId: bigint;
  readonly epochKey: bigint;
  readonly cost: Charge;
}

/** The sum of one contributor's debits in one budget, as the list leaves it. */
export interface NewSpend {
  readonly budgetId: bigint;
  readonly contributorId: bigint;
  readonly version: bigint;
  readonly total: Charge;
}

/** The state of one list: the rows that it has read, and the changes that it will write. */
export class LoadedList
implements AdmissionSource<PostgresFacts>, DebitSource, SpendingSource {
  readonly journalled: (JournalRow & { readonly epochKey: bigint })[] = [];
  /** Numbers of keys that are stored with this list. */
  readonly newIds = new Map<string, bigint>();
  readonly spends = new Map<string, NewSpend>();
  readonly debits: NewDebit[] = [];
  readonly entered: { studyKey: bigint; contributorId: bigint; epoch: bigint }[] = [];
  readonly periods: LoadedPeriods;
  readonly #byKey: ReadonlyMap<bigint, PostgresFacts>;
  readonly #versions: ReadonlyMap<string, bigint>;
  readonly #people: ReadonlyMap<bigint, number>;

  /**
   * @param windows by `pairName` of study and key.
   * @param base the first number of this list: for positions and for new keys.
   */
  constructor(
    private readonly facts: ReadonlyMap<string, PostgresFacts>,
    private readonly windows: ReadonlyMap<string, Window>,
    private readonly extras: Extras = emptyExtras, private readonly base: bigint = 0n,
    private readonly nowMs: () => number = () => 0,
  ) {
    this.periods = new LoadedPeriods(extras);
    this.#byKey = new Map([...facts.values()].map((each) => [each.studyKey, each]));
    this.#versions = new Map([...windows.values()].map(({ studyKey, contributorId, version }) =>
      [pairName(studyKey, contributorId), version]));
    this.#people = new Map([...windows.values()].map(({ openKey, people }) => [openKey, people]));
  }

  study(studyId: string): PostgresFacts | undefined {
    return this.facts.get(studyId);
  }

  load(study: PostgresFacts, key: string): Contributor<PostgresFacts> {
    const window = this.windows.get(pairName(study.studyKey, key));
    const contributorId = window?.contributorId ?? 0n;
    const state = window?.state ?? noContribution;
    const excludedFrom = this.extras.excluded.get(pairName(study.studyKey, contributorId)) ?? null;
    return { contributorId, study, state: { ...state, excludedFrom }, changed: false };
  }

  identify(key: string): bigint {
    let id = this.newIds.get(key);
    if (id === undefined) {
      id = this.base + BigInt(this.newIds.size);
      this.newIds.set(key, id);
    }
    return id;
  }

  fingerprint(studyKey: bigint, epoch: bigint, digest: Uint8Array): Uint8Array | undefined {
    const key = this.#factsOf(studyKey).keys.get(epoch);
    return key === undefined ? undefined : fingerprintOf(key, digest);
  }

  knows(studyKey: bigint, epoch: bigint): boolean {
    return this.#factsOf(studyKey).keys.has(epoch);
  }

  hasWithdrawn({ studyKey }: PostgresFacts, epoch: bigint, contributorId: bigint): boolean {
    return this.extras.withdrawn.has(`${pairName(studyKey, contributorId)} ${epoch}`);
  }

  takeNewKey({ rate }: PostgresFacts, contributorId: bigint): number | null {
    return rate === null ? null
      : takeNewKey(this.periods, rate, contributorId, this.nowMs());
  }

  debit(study: PostgresFacts, contributorId: bigint): Debit | null {
    return debitOf(this, study, contributorId, this.nowMs());
  }

  people(epochKey: bigint): number {
    return this.#people.get(epochKey) ?? 0;
  }

  nextPosition(): bigint {
    return this.base + BigInt(this.journalled.length);
  }

  journal(epochKey: bigint, row: JournalRow): void {
    this.journalled.push({ ...row, epochKey });
  }

  spent(study: PostgresFacts, contributorId: bigint, nowMs: number): Charge {
    return spentOf(this, study.own!, contributorId, nowMs);
  }

  spend({ own, open, debit }: PostgresFacts, contributorId: bigint): void {
    const { budgetId, windowMs } = own!;
    const { cost } = debit!;
    const name = pairName(budgetId, contributorId);
    const before = this.spends.get(name) ?? this.extras.spends.get(name);
    const total = windowMs === null ? plusCharge(before?.total ?? noSpend, cost) : noSpend;
    this.spends.set(name, { budgetId, contributorId, version: before?.version ?? 0n, total });
    if (windowMs !== null) {
      this.debits.push({ budgetId, contributorId, epochKey: open!.epochKey, cost });
    }
  }

  lastEntered({ studyKey }: PostgresFacts, contributorId: bigint): bigint | undefined {
    return this.extras.entered.get(pairName(studyKey, contributorId));
  }

  enter({ studyKey, open }: PostgresFacts, contributorId: bigint): void {
    this.entered.push({ studyKey, contributorId, epoch: open!.epoch });
  }

  running(budgetId: bigint, contributorId: bigint): Charge {
    const name = pairName(budgetId, contributorId);
    return (this.spends.get(name) ?? this.extras.spends.get(name))?.total ?? noSpend;
  }

  * counting(budgetId: bigint, contributorId: bigint, afterMs: bigint): Generator<AmountRow> {
    for (const debit of this.extras.debits.get(pairName(budgetId, contributorId)) ?? []) {
      if (debit.at_ms === null || debit.at_ms > afterMs) yield debit;
    }
    for (const debit of this.debits) {
      if (debit.budgetId === budgetId && debit.contributorId === contributorId) {
        yield amountRow(debit.cost);
      }
    }
  }

  charged(budgetId: bigint, afterMs: bigint, upToMs: bigint): AmountRow[] {
    return this.#byBudget(budgetId).charges
      .filter(({ at_ms: atMs }) => atMs > afterMs && atMs <= upToMs);
  }

  lost(budgetId: bigint, afterMs: bigint): AmountRow[] {
    return this.#byBudget(budgetId).lost.filter(({ at_ms: atMs }) => atMs > afterMs);
  }

  /** The version of a window that was read; 0 for one that is not stored yet. */
  versionOf(studyKey: bigint, contributorId: bigint): bigint {
    return this.#versions.get(pairName(studyKey, contributorId)) ?? 0n;
  }

  #factsOf(studyKey: bigint): PostgresFacts {
    return this.#byKey.get(studyKey)!;
  }

  #byBudget(budgetId: bigint): PostgresFacts {
    for (const facts of this.#byKey.values()) if (facts.own?.budgetId === budgetId) return facts;
    throw new InvariantError('a list has the facts of its budgets');
  }
}

/** The pairs of study and key of a list, each once. Batches of unknown studies have none. */
export function pairsOf(
  batches: readonly Pick<AdmissionRequest, 'studyId' | 'contributor'>[],
  facts: ReadonlyMap<string, PostgresFacts>,
): { readonly study: PostgresFacts; readonly key: string }[] {
  const pairs = new Map<string, { study: PostgresFacts; key: string }>();
  for (const { studyId, contributor: key } of batches) {
    const study = facts.get(studyId);
    if (study !== undefined) pairs.set(pairName(study.studyKey, key), { study, key });
  }
  return [...pairs.values()];
}
