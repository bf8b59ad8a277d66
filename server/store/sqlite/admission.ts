import type Database from 'better-sqlite3';
import { assert } from '../../../src/base/assert.js';
import type { WireCode } from '../../../src/base/error-codes.js';
import { parseAmount } from '../../../src/privacy/accounting/amount.js';
import type { AdmissionRequest, AdmissionResult, ContributorState, StudyId } from '../contract.js';
import {
  judge, leftOutRows, type AdmissionStudy, type ContributionState, type OpenEpochFacts,
} from './admission-rules.js';
import { budgetTime } from './budget-window.js';
import { budgetById, capsOf, plus, within, type Spend } from './budgets.js';
import {
  forgottenThrough, type ContributorSpending, type OwnBudget,
} from './contributor-spending.js';
import { Fingerprints, journalKeys, journalTable } from './epoch-tables.js';
import { NewKeys, rateIn, type NewKeyRate } from './new-keys.js';
import { sql, type Queries } from './query.js';
import { emptyWindow, holesOf, settle, type ReplayWindow } from './replay-window.js';

interface StudyFacts extends AdmissionStudy {
  readonly studyKey: bigint;
  /**
   * Set under contributor scope: the cost of a contributor's first row of the open epoch, and the
   * cap.
   */
  readonly debit: Debits | null;
  /** Set under contributor scope. */
  readonly own: OwnBudget | null;
  /** Whether the study has quarantined keys. If not, no key is looked up. */
  readonly excludes: boolean;
  /** Set when the study limits how many new keys it takes. */
  readonly rate: NewKeyRate | null;
}

interface Debits {
  readonly cost: Spend;
  readonly caps: Spend;
  /** Scheduled close of the open epoch; Infinity where it closes on a count. */
  readonly closesAtMs: number;
}

/** The state of one contributor in one study while a list is judged; written back once per list. */
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

/** Per open epoch and list: the numbers to add to the epoch's counters. */
type EpochTally = Map<bigint, { contributors: number; leftOut: number }>;
/** What the first row of an epoch did to the contributor's own spending. */
interface Debit { readonly fits: boolean; readonly spend: Spend }
type JournalValues = [bigint, bigint, bigint, number, Uint8Array, Uint8Array];
type JournalStatement = Database.Statement<JournalValues>;

const noContribution: ContributionState = {
  window: emptyWindow, epochKey: 0n, rows: 0, complete: false, excludedFrom: null,
};

/**
 * The hot path: prepared statements, one transaction per list, and each contributor is read and
 * written once per list.
 */
export class Admission {
  readonly #queries: Queries;
  readonly #spending: ContributorSpending;
  readonly #studies = new Map<StudyId, StudyFacts | undefined>();
  readonly #findContributor: Database.Statement<[Uint8Array], { contributor_id: bigint }>;
  readonly #addContributor: Database.Statement<[Uint8Array]>;
  readonly #readReplay: Database.Statement<[bigint, bigint], ReplayColumns>;
  readonly #writeReplay: Database.Statement<
    [bigint, bigint, number, number, Uint8Array, bigint, number, number]
  >;
  readonly #journals = new Map<bigint, JournalStatement>();
  readonly #readExcluded: Database.Statement<[bigint, bigint], { from_epoch: bigint }>;
  readonly #fingerprints: Fingerprints;
  readonly #countContributors: Database.Statement<[number, bigint]>;
  readonly #countLeftOut: Database.Statement<[bigint, number]>;
  readonly #newKeys: NewKeys;
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
    this.#fingerprints = new Fingerprints(database);
    this.#countContributors =
      database.prepare('UPDATE epochs SET contributors = contributors + ? WHERE epoch_key = ?');
    this.#countLeftOut =
      database.prepare(`INSERT INTO epochs_left_out (epoch_key, contributors) VALUES (?, ?)
      ON CONFLICT (epoch_key) DO UPDATE SET contributors = contributors + excluded.contributors`);
    this.#newKeys = new NewKeys(database, nowMs);
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
    const loaded = new Map<string, Contributor>();
    const tally: EpochTally = new Map();
    const results = batches.map((batch) => this.#admitOne(batch, loaded, tally));
    for (const { contributorId, study, state, changed } of loaded.values()) {
      if (!changed) continue;
      const { window } = state;
      this.#writeReplay
        .run(study.studyKey, contributorId, window.contiguous, window.high, window.entries,
          state.epochKey, state.rows, state.complete ? 1 : 0);
    }
    for (const [epochKey, { contributors, leftOut }] of tally) {
      if (contributors > 0) this.#countContributors.run(contributors, epochKey);
      if (leftOut > 0) this.#countLeftOut.run(epochKey, leftOut);
    }
    return results;
  }

  #admitOne(
    batch: AdmissionRequest, loaded: Map<string, Contributor>, tally: EpochTally,
  ): AdmissionResult {
    const study = this.#study(batch.studyId);
    const contributor = study === undefined ? undefined : this.#contributor(study, batch, loaded);
    const state = contributor?.state ?? noContribution;
    const judgement = judge(batch, study, state, (epoch) =>
      this.#fingerprints.of(study!.studyKey, epoch, batch.digest));
    if (judgement.kind === 'refuse') return answer('rejected', { code: judgement.code });
    if (judgement.kind === 'repeat') {
      return judgement.code === undefined
        ? answer('duplicate', { epoch: judgement.epoch })
        : answer('rejected', { code: judgement.code });
    }
    assert(
      study !== undefined && contributor !== undefined, 'only a known study accepts or consumes',
    );
    const retryAtMs = study.rate === null || state.window.high > 0 ? null
      : this.#newKeys.take(study.rate, contributor.contributorId);
    if (retryAtMs !== null) return answer('rejected', { code: 'too-many-new-keys', retryAtMs });
    const identified = this.#identify(contributor, batch, loaded);
    const begins = judgement.kind === 'accept' && judgement.first;
    const debit = begins ? this.#debit(study, identified.contributorId) : null;
    const leftOut = debit?.fits === false;
    const consumed = judgement.kind === 'consume' ? judgement.code : undefined;
    const refused = leftOut ? 'contributor-budget-exhausted' : consumed;
    const window = this.#settle(state, study, batch, refused);
    identified.changed = true;
    const spend = debit === null ? {} : { spend: debit.spend };
    if (leftOut) {
      this.#tally(tally, study.open!.epochKey).leftOut += 1;
      identified.state =
        { ...state, window, epochKey: study.open!.epochKey, rows: leftOutRows, complete: true };
      return answer('rejected', { code: refused!, ...spend });
    }
    if (judgement.kind === 'consume') {
      identified.state = { ...state, window };
      return answer('rejected', { code: judgement.code });
    }
    const open = study.open!;
    if (judgement.first) this.#tally(tally, open.epochKey).contributors += 1;
    this.#lastPosition += 1n;
    this.#journal(open.epochKey).run(this.#lastPosition, identified.contributorId, batch.sequence,
      judgement.complete ? 1 : 0, batch.signature, batch.body);
    identified.state = {
      ...state, window, epochKey: open.epochKey, rows: judgement.rows, complete: judgement.complete,
    };
    return answer('accepted', {
      epoch: open.epoch, position: this.#lastPosition, complete: judgement.complete, ...spend,
    });
  }

  #tally(tally: EpochTally, epochKey: bigint): { contributors: number; leftOut: number } {
    const counts = tally.get(epochKey) ?? { contributors: 0, leftOut: 0 };
    tally.set(epochKey, counts);
    return counts;
  }

  #settle(
    state: ContributionState, study: StudyFacts, batch: AdmissionRequest,
    code: WireCode | undefined,
  ): ReplayWindow {
    const fingerprint = this.#fingerprints.of(study.studyKey, study.newest, batch.digest);
    assert(fingerprint !== undefined, 'the newest epoch of a study has its fingerprint key');
    return settle(state.window, Number(batch.sequence), { code, epoch: study.newest, fingerprint },
      (epoch) => !this.#fingerprints.knows(study.studyKey, epoch));
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

  /**
   * Under contributor scope: debits the epoch's cost if it fits. A refusal is final for this epoch.
   *
   * Where the budget renews, spending is computed at a time v: the present, but at most the
   * scheduled close of the epoch, because an epoch may stay open longer. Claim: take the charges
   * that a contributor takes part in, and a half-open period of the window's length W. Those of
   * these charges with stamps in the period (budget-window.ts) are within the cap together. Proof:
   * let j be the one of them that was debited last, at v. Its stamp s is not before that close, nor
   * before any earlier stamp, so s >= v. Every other one was either not charged yet at that moment,
   * or had a stamp later than s - W >= v - W. In both cases it counted when j was debited under the
   * check. An epoch that closes on a count gets its stamp at its close, after its rows.
   */
  #debit(study: StudyFacts, contributorId: bigint): Debit | null {
    if (study.debit === null) return null;
    const own = study.own!;
    const { cost, caps, closesAtMs } = study.debit;
    const spent = this.#spending.spent(own, contributorId, Math.min(this.#nowMs(), closesAtMs));
    if (!within(plus(spent, cost), caps)) return { fits: false, spend: spent };
    return {
      fits: true,
      spend: this.#spending.debit(own, contributorId, study.open!.epochKey, cost, spent),
    };
  }

  #contributor(
    study: StudyFacts, batch: AdmissionRequest, loaded: Map<string, Contributor>,
  ): Contributor {
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

  /** Gives a contributor its number just before it is written. */
  #identify(
    contributor: Contributor, batch: AdmissionRequest, loaded: Map<string, Contributor>,
  ): Contributor {
    if (contributor.contributorId !== 0n) return contributor;
    const key = Buffer.from(batch.contributor, 'hex');
    // The same list may have added it under another study.
    const found = this.#findContributor.get(key);
    const contributorId = found?.contributor_id
      ?? BigInt(this.#addContributor.run(key).lastInsertRowid);
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

function answer(
  verdict: AdmissionResult['verdict'],
  facts: Partial<
    Pick<AdmissionResult, 'epoch' | 'code' | 'position' | 'complete' | 'spend' | 'retryAtMs'>
  >,
): AdmissionResult {
  return { verdict, epoch: 0n, position: 0n, complete: false, ...facts };
}

function stateOf(row: ReplayColumns): ContributionState {
  return {
    window: { contiguous: Number(row.contiguous), high: Number(row.high), entries: row.window },
    epochKey: row.epoch_key, rows: Number(row.row_count), complete: row.complete === 1n,
    excludedFrom: null,
  };
}

function readFacts(queries: Queries, studyId: StudyId): StudyFacts | undefined {
  const row = queries.first(
    sql.selectFrom('studies').innerJoin('budgets', 'budgets.budget_id', 'studies.budget_id')
      .select([
        'study_key', 'name', 'document', 'state', 'last_epoch', 'scope', 'studies.budget_id',
        'rho_cap', 'delta_cap',
      ])
      .where('study_id', '=', studyId),
  );
  if (row === undefined) return undefined;
  const newest = queries.first(sql.selectFrom('epochs')
    .select(['epoch_key', 'epoch', 'state', 'rows_max', 'late', 'rho', 'delta', 'closes_at_ms'])
    .where('study_key', '=', row.study_key).where('epoch', '=', row.last_epoch));
  const epoch = newest?.state === 'open' ? newest : undefined;
  const open: OpenEpochFacts | null = epoch === undefined ? null
    : { epochKey: epoch.epoch_key, epoch: epoch.epoch, rowsMax: Number(epoch.rows_max) };
  const byContributor = row.scope === 'contributor';
  return {
    studyKey: row.study_key, state: row.state, open, newest: row.last_epoch,
    late: newest?.late ?? 'next', rate: rateIn(row.name, row.document),
    excludes: queries.first(sql.selectFrom('quarantines').select('study_key')
      .where('study_key', '=', row.study_key).limit(1)) !== undefined,
    own: byContributor ? ownBudget(queries, row.budget_id) : null,
    debit: !byContributor || epoch === undefined ? null : {
      caps: capsOf(row), cost: { rho: parseAmount(epoch.rho), delta: parseAmount(epoch.delta) },
      closesAtMs: epoch.closes_at_ms === 0n ? Infinity : Number(epoch.closes_at_ms),
    },
  };
}

/** Facts that hold until the next charge. After a charge they are read again. */
export function ownBudget(queries: Queries, budgetId: bigint): OwnBudget {
  const row = budgetById(queries, budgetId, 0);
  return {
    budgetId, windowMs: row.window_ms,
    notBeforeMs: row.window_ms === null ? 0n : budgetTime(queries, row, 0),
    forgottenMs: row.window_ms === null ? 0n : forgottenThrough(queries.database, budgetId),
  };
}

/**
 * The highest position in a journal or stored by a purge. Positions are never reused, even after a
 * restart.
 */
function lastPosition(database: Database.Database): bigint {
  const read = (text: string): bigint =>
    database.prepare<[], { last: bigint | null }>(text).get()?.last ?? 0n;
  return journalKeys(database)
    .map((key) => read(`SELECT max(position) AS last FROM ${journalTable(key)}`))
    .reduce((left, right) => (left > right ? left : right),
      read("SELECT value AS last FROM meta WHERE name = 'journal_position'"));
}
