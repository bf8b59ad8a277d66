import type Database from 'better-sqlite3';
import { assert } from '../../../src/base/assert.js';
import type { WireCode } from '../../../src/base/error-codes.js';
import { parseAmount } from '../../../src/privacy/amount.js';
import type { AdmissionRequest, AdmissionResult, ContributorState, StudyId } from '../contract.js';
import { judge, type AdmissionStudy, type ContributionState, type OpenEpochFacts } from './admission-rules.js';
import { capsOf, plus, within, type Spend } from './budgets.js';
import type { ContributorSpending } from './contributor-spending.js';
import { Fingerprints, journalKeys, journalTable } from './epoch-tables.js';
import { sql, type Queries } from './query.js';
import { emptyWindow, holesOf, settle, type ReplayWindow } from './replay-window.js';

interface StudyFacts extends AdmissionStudy {
  readonly studyKey: bigint;
  /** Set under contributor scope: what a contributor's first row of the open epoch is debited, and the cap. */
  readonly debit: { readonly budgetId: bigint; readonly cost: Spend; readonly caps: Spend } | null;
  readonly contributorBudgetId: bigint | null;
  /** Newest epoch of the study, open or not. */
  readonly newest: bigint;
}

/** One contributor in one study while a list is judged; written back once per list. */
interface Contributor {
  readonly contributorId: bigint;
  readonly study: StudyFacts;
  state: ContributionState;
  changed: boolean;
}

interface ReplayColumns {
  readonly contiguous: bigint;
  readonly high: bigint;
  readonly window: Uint8Array;
  readonly epoch_key: bigint;
  readonly row_count: bigint;
  readonly complete: bigint;
}

/** Per open epoch and list: what is added to the epoch's counters. */
type EpochTally = Map<bigint, number>;
type JournalValues = [bigint, bigint, bigint, number, Uint8Array, Uint8Array];
type JournalStatement = Database.Statement<JournalValues>;

const noContribution: ContributionState = { window: emptyWindow, epochKey: 0n, rows: 0, complete: false };

/** The hot path: prepared statements, one transaction per list, each contributor read and written once per list. */
export class Admission {
  readonly #queries: Queries;
  readonly #spending: ContributorSpending;
  readonly #studies = new Map<StudyId, StudyFacts | undefined>();
  readonly #findContributor: Database.Statement<[Uint8Array], { contributor_id: bigint }>;
  readonly #addContributor: Database.Statement<[Uint8Array]>;
  readonly #readReplay: Database.Statement<[bigint, bigint], ReplayColumns>;
  readonly #writeReplay: Database.Statement<[bigint, bigint, number, number, Uint8Array, bigint, number, number]>;
  readonly #journals = new Map<bigint, JournalStatement>();
  readonly #fingerprints: Fingerprints;
  readonly #countContributors: Database.Statement<[number, bigint]>;
  #lastPosition: bigint;

  constructor(queries: Queries, spending: ContributorSpending) {
    this.#queries = queries;
    this.#spending = spending;
    const { database } = queries;
    this.#findContributor = database.prepare('SELECT contributor_id FROM contributors WHERE public_key = ?');
    this.#addContributor = database.prepare('INSERT INTO contributors (public_key) VALUES (?)');
    this.#readReplay = database.prepare(
      `SELECT contiguous, high, window, epoch_key, row_count, complete FROM replay
        WHERE study_key = ? AND contributor_id = ?`);
    this.#writeReplay = database.prepare(`INSERT OR REPLACE INTO replay
      (study_key, contributor_id, contiguous, high, window, epoch_key, row_count, complete)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#fingerprints = new Fingerprints(database);
    this.#countContributors = database.prepare('UPDATE epochs SET contributors = contributors + ? WHERE epoch_key = ?');
    this.#lastPosition = lastPosition(database);
  }

  /** The last position given out: noted durably before the rows that hold it are purged. */
  get lastPosition(): bigint {
    return this.#lastPosition;
  }

  /** Call after any transaction that changed studies, epochs or budgets: what is remembered of them is read again. */
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
    const loaded = new Map<string, Contributor>();
    const tally: EpochTally = new Map();
    const results = batches.map((batch) => this.#admitOne(batch, loaded, tally));
    for (const { contributorId, study, state, changed } of loaded.values()) {
      if (!changed) continue;
      const { window } = state;
      this.#writeReplay.run(study.studyKey, contributorId, window.contiguous, window.high, window.entries,
        state.epochKey, state.rows, state.complete ? 1 : 0);
    }
    for (const [epochKey, count] of tally) this.#countContributors.run(count, epochKey);
    return results;
  }

  #admitOne(batch: AdmissionRequest, loaded: Map<string, Contributor>, tally: EpochTally): AdmissionResult {
    const study = this.#study(batch.studyId);
    const contributor = study === undefined ? undefined : this.#contributor(study, batch, loaded);
    const state = contributor?.state ?? noContribution;
    const judgement = judge(batch, study, state, (epoch) =>
      this.#fingerprints.of(study!.studyKey, epoch, batch.digest));
    if (judgement.kind === 'refuse') return answer('rejected', state, { code: judgement.code });
    if (judgement.kind === 'repeat') {
      return judgement.code === undefined
        ? answer('duplicate', state, { epoch: judgement.epoch })
        : answer('rejected', state, { code: judgement.code });
    }
    assert(study !== undefined && contributor !== undefined, 'only a known study accepts or consumes');
    const identified = this.#identify(contributor, batch, loaded);
    let code = judgement.kind === 'consume' ? judgement.code : undefined;
    if (judgement.kind === 'accept' && judgement.first && !this.#debit(study, identified.contributorId)) {
      code = 'contributor-budget-exhausted';
    }
    const window = this.#settle(state, study, batch, code);
    identified.changed = true;
    if (judgement.kind === 'consume' || code !== undefined) {
      identified.state = { ...state, window };
      return answer('rejected', identified.state, { code: code! });
    }
    const open = study.open!;
    if (judgement.first) tally.set(open.epochKey, (tally.get(open.epochKey) ?? 0) + 1);
    this.#lastPosition += 1n;
    this.#journal(open.epochKey).run(this.#lastPosition, identified.contributorId, batch.sequence,
      judgement.complete ? 1 : 0, batch.signature, batch.body);
    identified.state = { window, epochKey: open.epochKey, rows: judgement.rows, complete: judgement.complete };
    return answer('accepted', identified.state, {
      epoch: open.epoch, position: this.#lastPosition, complete: judgement.complete,
    });
  }

  #settle(
    state: ContributionState, study: StudyFacts, batch: AdmissionRequest, code: WireCode | undefined,
  ): ReplayWindow {
    const fingerprint = this.#fingerprints.of(study.studyKey, study.newest, batch.digest);
    assert(fingerprint !== undefined, 'the newest epoch of a study has its fingerprint key');
    return settle(state.window, Number(batch.sequence), { code, epoch: study.newest, fingerprint },
      (epoch) => !this.#fingerprints.knows(study.studyKey, epoch));
  }

  #journal(epochKey: bigint): JournalStatement {
    let statement = this.#journals.get(epochKey);
    if (statement === undefined) {
      statement = this.#queries.database.prepare<JournalValues>(`INSERT INTO ${journalTable(epochKey)}
        (position, contributor_id, sequence, complete, signature, body) VALUES (?, ?, ?, ?, ?, ?)`);
      this.#journals.set(epochKey, statement);
    }
    return statement;
  }

  /** Under contributor scope: debits the epoch's cost if it fits. A refusal is for good: it concerns this epoch. */
  #debit(study: StudyFacts, contributorId: bigint): boolean {
    if (study.debit === null) return true;
    const { budgetId, cost, caps } = study.debit;
    const total = plus(this.#spending.spent(budgetId, contributorId), cost);
    if (!within(total, caps)) return false;
    this.#spending.write(budgetId, contributorId, total);
    return true;
  }

  #contributor(study: StudyFacts, batch: AdmissionRequest, loaded: Map<string, Contributor>): Contributor {
    const name = `${batch.studyId}${batch.contributor}`;
    let contributor = loaded.get(name);
    if (contributor === undefined) {
      contributor = this.#load(study, batch.contributor);
      loaded.set(name, contributor);
    }
    return contributor;
  }

  #load(study: StudyFacts, key: string): Contributor {
    const found = this.#findContributor.get(Buffer.from(key, 'hex'));
    // 0: not in the table yet. A batch that is refused without trace must not add its key.
    if (found === undefined) return { contributorId: 0n, study, state: noContribution, changed: false };
    const row = this.#readReplay.get(study.studyKey, found.contributor_id);
    const state = row === undefined ? noContribution : stateOf(row);
    return { contributorId: found.contributor_id, study, state, changed: false };
  }

  /** Gives a contributor that is about to be written its number. */
  #identify(contributor: Contributor, batch: AdmissionRequest, loaded: Map<string, Contributor>): Contributor {
    if (contributor.contributorId !== 0n) return contributor;
    const key = Buffer.from(batch.contributor, 'hex');
    // The same list may have added it under another study.
    const found = this.#findContributor.get(key);
    const contributorId = found?.contributor_id ?? BigInt(this.#addContributor.run(key).lastInsertRowid);
    const identified: Contributor = { ...contributor, contributorId };
    loaded.set(`${batch.studyId}${batch.contributor}`, identified);
    return identified;
  }

  #study(studyId: StudyId): StudyFacts | undefined {
    if (!this.#studies.has(studyId)) this.#studies.set(studyId, readFacts(this.#queries, studyId));
    return this.#studies.get(studyId);
  }

  contributorState(studyId: StudyId, key: string): ContributorState {
    const study = this.#study(studyId);
    const contributor = study === undefined ? undefined : this.#load(study, key);
    const { window } = contributor?.state ?? noContribution;
    const budgetId = study?.contributorBudgetId ?? null;
    return {
      nextSequence: BigInt(window.high) + 1n, contiguousSequence: BigInt(window.contiguous), holes: holesOf(window),
      spend: budgetId === null ? null : this.#spending.spent(budgetId, contributor!.contributorId),
    };
  }
}

function answer(
  verdict: AdmissionResult['verdict'], state: ContributionState,
  facts: Partial<Pick<AdmissionResult, 'epoch' | 'code' | 'position' | 'complete'>>,
): AdmissionResult {
  const contiguousSequence = BigInt(state.window.contiguous);
  return { verdict, epoch: 0n, position: 0n, complete: false, ...facts, contiguousSequence };
}

function stateOf(row: ReplayColumns): ContributionState {
  return {
    window: { contiguous: Number(row.contiguous), high: Number(row.high), entries: row.window },
    epochKey: row.epoch_key, rows: Number(row.row_count), complete: row.complete === 1n,
  };
}

function readFacts(queries: Queries, studyId: StudyId): StudyFacts | undefined {
  const row = queries.first(sql.selectFrom('studies').innerJoin('budgets', 'budgets.budget_id', 'studies.budget_id')
    .select(['study_key', 'state', 'last_epoch', 'scope', 'studies.budget_id', 'rho_cap', 'delta_cap'])
    .where('study_id', '=', studyId));
  if (row === undefined) return undefined;
  const epoch = queries.first(sql.selectFrom('epochs')
    .select(['epoch_key', 'epoch', 'rows_max', 'late', 'rho', 'delta'])
    .where('study_key', '=', row.study_key).where('state', '=', 'open'));
  const open: OpenEpochFacts | null = epoch === undefined ? null
    : { epochKey: epoch.epoch_key, epoch: epoch.epoch, rowsMax: Number(epoch.rows_max), late: epoch.late };
  const byContributor = row.scope === 'contributor';
  return {
    studyKey: row.study_key, state: row.state, open, newest: row.last_epoch,
    contributorBudgetId: byContributor ? row.budget_id : null,
    debit: !byContributor || epoch === undefined ? null : {
      budgetId: row.budget_id, caps: capsOf(row),
      cost: { rho: parseAmount(epoch.rho), delta: parseAmount(epoch.delta) },
    },
  };
}

/** The highest position in a journal or noted by a purge: positions are never reused, also after a restart. */
function lastPosition(database: Database.Database): bigint {
  const read = (text: string): bigint => database.prepare<[], { last: bigint | null }>(text).get()?.last ?? 0n;
  return journalKeys(database)
    .map((key) => read(`SELECT max(position) AS last FROM ${journalTable(key)}`))
    .reduce((left, right) => (left > right ? left : right),
      read("SELECT value AS last FROM meta WHERE name = 'journal_position'"));
}
