import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KeelsonError } from '../../../../src/base/errors.js';
import type {
  AdmissionRequest, AdmissionResult, EpochState, StudyId, WithdrawalRequest, WithdrawalResult,
} from '../../../../server/store/contract.js';
import { forgotten, leaseLost } from '../../../../server/store/postgres/failures.js';
import { readsOf, performed, type StoreParts } from '../../../../server/store/rules/calls.js';
import { sql, type Steps } from '../../../../server/store/rules/steps.js';
import { withdraw } from '../../../../server/store/rules/withdrawals.js';
import { Admission } from '../../../../server/store/sqlite/admission.js';
import { openDataFolder, type DataFolder } from '../../../../server/store/sqlite/connection.js';
import { ContributorSpending } from '../../../../server/store/sqlite/contributor-spending.js';
import { epochTablesOf, readSecrets } from '../../../../server/store/sqlite/epoch-tables.js';
import { Journal } from '../../../../server/store/sqlite/journal.js';
import { Queries } from '../../../../server/store/sqlite/query.js';
import { readReleases } from '../../../../server/store/sqlite/releases.js';
import { memoryFolder } from '../../memory-folder.js';
import type { StoreReads } from '../stored.js';
import { SimulatedSlices } from './slices.js';

/** What happens in the database, told when it is committed. */
export interface DatabaseWatcher {
  onAdmitted(requests: readonly AdmissionRequest[], results: readonly AdmissionResult[]): void;
  onWithdrawn(request: WithdrawalRequest, result: WithdrawalResult): void;
  /** A leader wrote. @param newest the token of its budget. */
  onLed(studyId: StudyId, token: bigint, newest: bigint): void;
  /** A summary of a slice was written. @param newest the token of its newest claim. */
  onSummarised(name: string, token: bigint, newest: bigint): void;
  /** Anything was committed. */
  onCommit(): void;
}

interface Lease {
  nodeId: bigint;
  token: bigint;
  expiresAtMs: number;
  askedBy: bigint;
}

/** How the epochs of a study stood when a node read them, by the keys of epochs. */
export interface View {
  readonly revision: bigint;
  readonly states: ReadonlyMap<bigint, string>;
  readonly lastEpoch: bigint;
}

/**
 * The database that all nodes share: SQLite's tables and rules, and beside them what PostgreSQL has
 * for several nodes (leases, numbers of transactions, revisions), each rule as its function says
 * (server/store/postgres/migrations/functions.ts). A transaction is one step of the simulation;
 * whether the locks of PostgreSQL make it so is for other tests.
 */
export class SharedDatabase {
  /** What is stored now: for the oracle, and for reads of nodes. */
  readonly stored: StoreReads & ReturnType<SharedDatabase['reads']>;
  readonly queries: Queries;
  readonly parts: StoreParts;
  readonly journal: Journal;
  readonly slices: SimulatedSlices;
  readonly #root = mkdtempSync(join(memoryFolder, 'keelson-cluster-'));
  readonly #folder: DataFolder;
  readonly #admission: Admission;
  /** The last number of a transaction, by node. */
  readonly nodes = new Map<bigint, bigint>();
  readonly leases = new Map<bigint, Lease>();
  readonly #revisions = new Map<StudyId, bigint>();
  /** Studies that end by an operator's word. */
  readonly ends = new Set<StudyId>();
  /** How often somebody took a lease from nobody or from another node. */
  takings = 0;

  constructor(readonly nowMs: () => number, readonly watcher: DatabaseWatcher) {
    this.#folder = openDataFolder(join(this.#root, 'data'));
    this.queries = new Queries(this.#folder.database);
    const spending = new ContributorSpending(this.queries);
    this.#admission = new Admission(this.queries, spending, nowMs);
    this.journal = new Journal(this.queries, this.#admission, spending, nowMs);
    const { queries } = this;
    /* eslint-disable require-yield -- These need no rows, and run at once. */
    this.parts = {
      tables: epochTablesOf(queries), nowMs,
      * secrets(studyKey, epoch) { return readSecrets(queries, studyKey, epoch); },
      * refund(epochKey, budget, cost) {
        spending.refund(epochKey, budget.budget_id, budget.window_ms !== null, cost);
      },
      withdraw: (input) => withdraw(input, function* refundOne(epochKey, budget, id, cost) {
        spending.refundOne(budget.budget_id, budget.window_ms !== null, id, epochKey, cost);
      }),
    };
    /* eslint-enable require-yield */
    this.stored = this.reads();
    this.slices = new SimulatedSlices({
      nowMs, stored: () => this.stored,
      onResult: ({ epoch, slice }, ...tokens) =>
        watcher.onSummarised(`slice ${slice} of epoch ${epoch}`, ...tokens),
    });
  }

  remove(): void {
    this.#folder.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  reads() {
    const { queries, journal } = this;
    const admission = this.#admission;
    return {
      ...performed<Pick<StoreReads, 'study' | 'epoch' | 'unfinishedEpochs' | 'rotations'
        | 'balances' | 'ledgerEntries'>>(
        readsOf(this.parts), (steps) => queries.perform(steps)),
      journal: (...page: Parameters<Journal['read']>) => journal.read(...page),
      releases: (studyId: StudyId, from: number, limit: number, bytesMost?: number) =>
        readReleases(queries, studyId, from, limit, bytesMost),
      contributorState: (studyId: StudyId, contributor: string) => {
        admission.forgetStudies();
        return admission.contributorState(studyId, contributor);
      },
    };
  }

  /** Numbers a transaction of a node. */
  begin(node: bigint, number: bigint): void {
    if (this.nodes.get(node) !== number - 1n) throw forgotten();
  }

  /** One transaction of a node that runs steps. */
  change<T>(studies: readonly StudyId[], steps: Steps<T>): T {
    const result = this.queries.transaction(() => this.queries.perform(steps));
    for (const studyId of this.#affected(studies)) {
      this.#revisions.set(studyId, this.#revision(studyId) + 1n);
    }
    this.#admission.forgetStudies();
    return result;
  }

  /** @throws lease-lost when the token is not the newest. */
  lead(studyId: StudyId, token: bigint): void {
    if (this.newestToken(studyId) !== token) throw leaseLost();
  }

  newestToken(studyId: StudyId): bigint {
    const budget = this.#budgetOf(studyId);
    return (budget === undefined ? undefined : this.leases.get(budget)?.token) ?? 0n;
  }

  /** See `take_lease`. */
  takeLease(
    studyId: StudyId, nodeId: bigint, ttlMs: number, freeMs: number,
  ): readonly { readonly budget: bigint | null; readonly granted: bigint }[] {
    const budget = this.#budgetOf(studyId);
    if (budget === undefined) return [{ budget: null, granted: 0n }];
    const now = this.nowMs();
    const lease = this.leases.get(budget);
    if (lease?.nodeId === nodeId) {
      lease.expiresAtMs = now + ttlMs;
      return [{ budget, granted: lease.token }];
    }
    if (lease !== undefined && lease.expiresAtMs + freeMs > now) return [];
    const token = (lease?.token ?? 0n) + 1n;
    this.leases.set(budget, { nodeId, token, expiresAtMs: now + ttlMs, askedBy: 0n });
    this.takings += 1;
    for (const each of this.#studiesOf(budget)) {
      this.#revisions.set(each, this.#revision(each) + 1n);
    }
    return [{ budget, granted: token }];
  }

  /** See `renew_leases`. */
  renew(
    budgets: readonly bigint[], tokens: readonly bigint[], ttlMs: number,
  ): { budget: bigint }[] {
    const lost: { budget: bigint }[] = [];
    budgets.forEach((budget, i) => {
      const lease = this.leases.get(budget);
      if (lease?.token === tokens[i]) lease!.expiresAtMs = this.nowMs() + ttlMs;
      else lost.push({ budget });
    });
    return lost;
  }

  /** Gives back leases of a node. @returns whether there were any. */
  giveBack(matches: (lease: Lease, budget: bigint) => boolean): boolean {
    const given = [...this.leases].filter(([budget, lease]) => matches(lease, budget));
    for (const [, lease] of given) Object.assign(lease, { nodeId: 0n, expiresAtMs: this.nowMs() });
    return given.length > 0;
  }

  /** See `askToLead`. */
  ask(nodeId: bigint, studyIds: readonly StudyId[]): void {
    const live = [...this.leases].filter(([, { expiresAtMs }]) => expiresAtMs > this.nowMs());
    const led = (node: bigint): number => live.filter(([, lease]) => lease.nodeId === node).length;
    if (live.some(([, { askedBy }]) => askedBy === nodeId)) return;
    const own = new Set(studyIds.map((studyId) => this.#budgetOf(studyId)));
    const found = live.find(([budget, lease]) => lease.nodeId !== nodeId && lease.askedBy === 0n
      && own.has(budget) && led(lease.nodeId) >= 2 + led(nodeId));
    if (found !== undefined) found[1].askedBy = nodeId;
  }

  /** The lease of a study, while it holds. */
  leaseOf(studyId: StudyId): Lease | undefined {
    const budget = this.#budgetOf(studyId);
    const lease = budget === undefined ? undefined : this.leases.get(budget);
    return lease !== undefined && lease.expiresAtMs > this.nowMs() ? lease : undefined;
  }

  /** What a node reads of a study before it judges a list. */
  view(studyId: StudyId): View {
    const rows = this.queries.all(sql.selectFrom('epochs')
      .innerJoin('studies', 'studies.study_key', 'epochs.study_key')
      .select(['epochs.epoch_key', 'epochs.state']).where('studies.study_id', '=', studyId));
    return {
      revision: this.#revision(studyId),
      states: new Map(rows.map(({ epoch_key: key, state }) => [key, state])),
      lastEpoch: this.stored.study(studyId)?.lastEpoch ?? 0n,
    };
  }

  /**
   * Judges and writes one list, by what the node had read.
   * @param hasGate false only where the fault is planted: the list is judged by what was read, even
   *   if that has changed.
   * @returns null when what was read has changed, and nothing was written.
   */
  admit(
    batches: readonly AdmissionRequest[], views: ReadonlyMap<StudyId, View>, hasGate: boolean,
  ): readonly AdmissionResult[] | null {
    const changed = [...views].filter(([studyId, { revision }]) =>
      revision !== this.#revision(studyId));
    if (changed.length > 0 && hasGate) return null;
    const now = changed.map(([studyId]) => this.view(studyId));
    this.#admission.forgetStudies();
    for (const [studyId, view] of changed) this.#show(studyId, view);
    let results: readonly AdmissionResult[];
    try {
      results = this.#admission.admit(batches);
    } finally {
      changed.forEach(([studyId], i) => this.#show(studyId, now[i]!));
      this.#admission.forgetStudies();
    }
    this.watcher.onAdmitted(batches, results);
    return results;
  }

  /**
   * A study has one open epoch, so what is open comes last. Epochs that came later count as closed.
   */
  #show(studyId: StudyId, { states, lastEpoch }: View): void {
    const wanted = [...this.view(studyId).states.keys()].map((key) =>
      [key, states.get(key) ?? 'closing'] as const)
      .sort(([, left], [, right]) => Number(left === 'open') - Number(right === 'open'));
    for (const [key, state] of wanted) {
      this.queries.run(sql.updateTable('epochs').set({ state: state as EpochState })
        .where('epoch_key', '=', key));
    }
    this.queries.run(sql.updateTable('studies').set({ last_epoch: lastEpoch })
      .where('study_id', '=', studyId));
  }

  #revision(studyId: StudyId): bigint {
    return this.#revisions.get(studyId) ?? 0n;
  }

  /** Studies whose admission sees a change of these: others of a contributor's budget, too. */
  #affected(studyIds: readonly StudyId[]): ReadonlySet<StudyId> {
    return new Set(studyIds.flatMap((studyId) => {
      const budget = this.#budgetOf(studyId);
      return budget === undefined ? [studyId] : [studyId, ...this.#studiesOf(budget)];
    }));
  }

  #budgetOf(studyId: StudyId): bigint | undefined {
    return this.queries.first(sql.selectFrom('studies').select('budget_id')
      .where('study_id', '=', studyId))?.budget_id;
  }

  #studiesOf(budget: bigint): readonly StudyId[] {
    return this.queries.all(sql.selectFrom('studies').select('study_id')
      .where('budget_id', '=', budget)).map((row) => row.study_id);
  }
}

/** Errors that a node may get from a transaction; others are defects of the simulation. */
export const isTyped = (error: unknown): error is KeelsonError => error instanceof KeelsonError;
