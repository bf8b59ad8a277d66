import type { Charge } from '../../../src/privacy/accounting/budget.js';
import type { AdmissionRequest, AdmissionResult, ContributorState, StudyId } from '../contract.js';
import { readFacts, type StoredFacts } from '../rules/admission-facts.js';
import {
  ListAdmission, noContribution, type AdmissionSource, type Contributor, type Debit,
  type JournalRow,
} from '../rules/admission-list.js';
import type { ContributionState } from '../rules/admission-rules.js';
import { takeNewKey } from '../rules/new-keys.js';
import { debitOf, type DebitSource } from '../rules/own-debit.js';
import { holesOf } from '../rules/replay-window.js';
import type { ReplayTable } from '../rules/tables.js';
import type { ContributorSpending } from './contributor-spending.js';
import type { Connection, Statement } from './driver.js';
import { Fingerprints, journalKeys, journalTable } from './epoch-tables.js';
import { NewKeys } from './new-keys.js';
import type { Queries } from './query.js';
import { Participations } from './running-series.js';

type ReplayColumns = Omit<ReplayTable, 'study_key' | 'contributor_id'>;

type JournalValues = [bigint, bigint, bigint, number, Uint8Array, Uint8Array];
type JournalStatement = Statement<JournalValues>;

/**
 * The hot path: prepared statements, one transaction per list, and each contributor is read and
 * written once per list.
 */
export class Admission implements AdmissionSource<StoredFacts>, DebitSource {
  readonly #queries: Queries;
  readonly #spending: ContributorSpending;
  readonly #studies = new Map<StudyId, StoredFacts | undefined>();
  readonly #findContributor: Statement<[Uint8Array], { contributor_id: bigint }>;
  readonly #addContributor: Statement<[Uint8Array]>;
  readonly #readReplay: Statement<[bigint, bigint], ReplayColumns>;
  readonly #writeReplay: Statement<
    [bigint, bigint, number, number, Uint8Array, bigint, number, number]
  >;
  readonly #journals = new Map<bigint, JournalStatement>();
  readonly #readExcluded: Statement<[bigint, bigint], { from_epoch: bigint }>;
  readonly #readWithdrawal: Statement<[bigint, bigint, bigint], { at_ms: bigint }>;
  readonly #fingerprints: Fingerprints;
  readonly #countContributors: Statement<[number, bigint]>;
  readonly #countLeftOut: Statement<[bigint, number]>;
  readonly #readPeople: Statement<[bigint], { people: bigint }>;
  readonly #countPeople: Statement<[bigint, number]>;
  readonly #newKeys: NewKeys;
  readonly #participations: Participations;
  readonly #nowMs: () => number;
  #lastPosition: bigint;

  /** @param nowMs Unix time, for budgets that renew and rates. */
  constructor(queries: Queries, spending: ContributorSpending, nowMs: () => number) {
    this.#queries = queries;
    this.#spending = spending;
    this.#nowMs = nowMs;
    const { database } = queries;
    this.#findContributor =
      database.prepare('SELECT contributor_id FROM contributors WHERE public_key = ?');
    this.#addContributor = database.prepare('INSERT INTO contributors (public_key) VALUES (?)');
    this.#readReplay = database.prepare(
      `SELECT contiguous, high, window, epoch_key, row_count, complete FROM replay
        WHERE study_key = ? AND contributor_id = ?`);
    this.#writeReplay = database.prepare(`INSERT OR REPLACE INTO replay
      (study_key, contributor_id, contiguous, high, window, epoch_key, row_count, complete)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#readExcluded = database.prepare(
      'SELECT from_epoch FROM quarantines WHERE study_key = ? AND contributor_id = ?');
    this.#readWithdrawal = database.prepare(`SELECT at_ms FROM withdrawals
      JOIN epochs USING (epoch_key) WHERE study_key = ? AND epoch = ? AND contributor_id = ?`);
    this.#fingerprints = new Fingerprints(database);
    this.#countContributors =
      database.prepare('UPDATE epochs SET contributors = contributors + ? WHERE epoch_key = ?');
    this.#countLeftOut =
      database.prepare(`INSERT INTO epochs_left_out (epoch_key, contributors) VALUES (?, ?)
      ON CONFLICT (epoch_key) DO UPDATE SET contributors = contributors + excluded.contributors`);
    this.#readPeople = database.prepare('SELECT people FROM epoch_people WHERE epoch_key = ?');
    this.#countPeople = database.prepare(`INSERT INTO epoch_people (epoch_key, people)
      VALUES (?, ?) ON CONFLICT (epoch_key) DO UPDATE SET people = people + excluded.people`);
    this.#newKeys = new NewKeys(database);
    this.#participations = new Participations(database);
    this.#lastPosition = lastPosition(database);
  }

  /** The last position given out. A purge stores it before it deletes the rows that hold it. */
  get lastPosition(): bigint {
    return this.#lastPosition;
  }

  /**
   * Drops the cached facts. Call it after a transaction that changed studies, epochs or budgets.
   */
  forgetStudies(): void {
    this.#studies.clear();
    this.#journals.clear();
    this.#fingerprints.forgetKeys();
  }

  admit(batches: readonly AdmissionRequest[]): AdmissionResult[] {
    const positionBefore = this.#lastPosition;
    try {
      return this.#queries.transaction(() => this.#admitAll(batches));
    } catch (error) {
      this.#lastPosition = positionBefore;
      throw error;
    }
  }

  #admitAll(batches: readonly AdmissionRequest[]): AdmissionResult[] {
    const list = new ListAdmission(this);
    const results = batches.map((batch) => list.admit(batch));
    for (const { contributorId, study, state } of list.changed()) {
      const { window } = state;
      this.#writeReplay
        .run(study.studyKey, contributorId, window.contiguous, window.high, window.entries,
          state.epochKey, state.rows, state.complete ? 1 : 0);
    }
    for (const [epochKey, { contributors, leftOut }] of list.tallies) {
      if (contributors > 0) {
        this.#countContributors.run(contributors, epochKey);
        this.#countPeople.run(epochKey, contributors);
      }
      if (leftOut > 0) this.#countLeftOut.run(epochKey, leftOut);
    }
    return results;
  }

  people(epochKey: bigint): number {
    return Number(this.#readPeople.get(epochKey)?.people ?? 0n);
  }

  nextPosition(): bigint {
    this.#lastPosition += 1n;
    return this.#lastPosition;
  }

  journal(epochKey: bigint, { position, contributorId, batch, complete }: JournalRow): void {
    this.#journal(epochKey).run(position, contributorId, batch.sequence, complete ? 1 : 0,
      batch.signature, batch.body);
  }

  fingerprint(studyKey: bigint, epoch: bigint, digest: Uint8Array): Uint8Array | undefined {
    return this.#fingerprints.of(studyKey, epoch, digest);
  }

  knows(studyKey: bigint, epoch: bigint): boolean {
    return this.#fingerprints.knows(studyKey, epoch);
  }

  hasWithdrawn({ studyKey }: StoredFacts, epoch: bigint, contributorId: bigint): boolean {
    return this.#readWithdrawal.get(studyKey, epoch, contributorId) !== undefined;
  }

  takeNewKey({ rate }: StoredFacts, contributorId: bigint): number | null {
    return rate === null ? null
      : takeNewKey(this.#newKeys, rate, contributorId, this.#nowMs());
  }

  #journal(epochKey: bigint): JournalStatement {
    let statement = this.#journals.get(epochKey);
    if (statement === undefined) {
      statement =
        this.#queries.database.prepare<JournalValues>(`INSERT INTO ${journalTable(epochKey)}
        (position, contributor_id, sequence, complete, signature, body) VALUES (?, ?, ?, ?, ?, ?)`);
      this.#journals.set(epochKey, statement);
    }
    return statement;
  }

  debit(study: StoredFacts, contributorId: bigint): Debit | null {
    return debitOf(this, study, contributorId, this.#nowMs());
  }

  spent(study: StoredFacts, contributorId: bigint, nowMs: number): Charge {
    return this.#spending.spent(study.own!, contributorId, nowMs);
  }

  spend(study: StoredFacts, contributorId: bigint): void {
    this.#spending.debit(study.own!, contributorId, study.open!.epochKey, study.debit!.cost);
  }

  lastEntered({ studyKey }: StoredFacts, contributorId: bigint): bigint | undefined {
    return this.#participations.lastEpoch(studyKey, contributorId);
  }

  enter({ studyKey, open }: StoredFacts, contributorId: bigint): void {
    this.#participations.enter(studyKey, contributorId, open!.epoch);
  }

  load(study: StoredFacts, key: string): Contributor<StoredFacts> {
    const found = this.#findContributor.get(Buffer.from(key, 'hex'));
    // 0: not in the table yet. A batch that leaves no trace must not add its key.
    if (found === undefined) {
      return { contributorId: 0n, study, state: noContribution, changed: false };
    }
    const row = this.#readReplay.get(study.studyKey, found.contributor_id);
    const excludedFrom = study.excludes
      ? (this.#readExcluded.get(study.studyKey, found.contributor_id)?.from_epoch ?? null) : null;
    const state = { ...(row === undefined ? noContribution : stateOf(row)), excludedFrom };
    return { contributorId: found.contributor_id, study, state, changed: false };
  }

  identify(key: string): bigint {
    const bytes = Buffer.from(key, 'hex');
    // The same list may have added it under another study.
    return this.#findContributor.get(bytes)?.contributor_id
      ?? BigInt(this.#addContributor.run(bytes).lastInsertRowid);
  }

  study(studyId: StudyId): StoredFacts | undefined {
    if (!this.#studies.has(studyId)) {
      this.#studies.set(studyId, this.#queries.perform(readFacts(studyId)));
    }
    return this.#studies.get(studyId);
  }

  contributorState(studyId: StudyId, key: string): ContributorState {
    const study = this.study(studyId);
    const contributor = study === undefined ? undefined : this.load(study, key);
    const { window, epochKey } = contributor?.state ?? noContribution;
    const open = study?.open ?? null;
    const own = study?.own ?? null;
    return {
      nextSequence: BigInt(window.high) + 1n, holes: holesOf(window),
      inOpenEpoch: open !== null && contributor !== undefined && epochKey === open.epochKey,
      spend: own === null
        ? null : this.#spending.spent(own, contributor!.contributorId, this.#nowMs()),
    };
  }
}

function stateOf(row: ReplayColumns): ContributionState {
  return {
    window: { contiguous: Number(row.contiguous), high: Number(row.high), entries: row.window },
    epochKey: row.epoch_key, rows: Number(row.row_count), complete: row.complete === 1n,
    excludedFrom: null,
  };
}

/**
 * The highest position in a journal or stored by a purge. Positions are never reused, even after a
 * restart.
 */
function lastPosition(database: Connection): bigint {
  const read = (text: string): bigint =>
    database.prepare<[], { last: bigint | null }>(text).get()?.last ?? 0n;
  return journalKeys(database)
    .map((key) => read(`SELECT max(position) AS last FROM ${journalTable(key)}`))
    .reduce((left, right) => (left > right ? left : right),
      read("SELECT value AS last FROM meta WHERE name = 'journal_position'"));
}
