import type { Clock } from '../../base/clock.js';
import { assert } from '../../../src/base/assert.js';
import type { AdmissionRequest, AdmissionResult, ContributorState, StudyId } from '../contract.js';
import { noRoom } from '../full-disk.js';
import type { Latencies } from '../latencies.js';
import type { Standings } from '../shared.js';
import { ListAdmission } from '../rules/admission-list.js';
import { spentOf } from '../rules/own-budget.js';
import { holesOf } from '../rules/replay-window.js';
import { readAdmissionFacts, type PostgresFacts } from './admission-facts.js';
import { int8Array } from './arrays.js';
import type { Connections } from './connection.js';
import type { EncryptionKeys } from './encryption-keys.js';
import { moved, PostgresFailure } from './failures.js';
import { readExtras } from './list-extras.js';
import { readWindows } from './list-reads.js';
import { admitText, listParameters, writesAnything } from './list-write.js';
import { LoadedList, pairsOf } from './loaded-list.js';
import type { Session } from './session.js';
import type { Writer } from './writer.js';

/** Most batches in one list: their numbers share one number of the list. */
const listMost = 65_536;
/** Lists for which one number of the sequence is enough. */
const blockLists = 1_024;

/**
 * The hot path, in three steps: read the windows of a list, judge it, and write what still holds in
 * one statement. No row is locked while the list is judged. A concurrent change is noticed by the
 * version of a window or the revision of a study; then the list is read and judged again.
 */
export class Admission {
  /** By study; until its revision changes. */
  readonly #facts = new Map<StudyId, PostgresFacts>();
  /** Numbers of lists that this server may use. They only grow, also over restarts. */
  #nextList = 0n;
  #listsEnd = 0n;

  constructor(
    private readonly connections: Connections, private readonly writer: Writer,
    private readonly clock: Clock, private readonly latencies: Latencies,
    private readonly keys: EncryptionKeys,
  ) {}

  /**
   * Drops cached facts, so that the next list need not be judged twice. Call it after a change of
   * these studies. Facts with a contributor budget go too: a change of one of its studies changes
   * all of them.
   * @param studyIds default: all studies.
   */
  forgetStudies(studyIds: Iterable<StudyId> = this.#facts.keys()): void {
    for (const studyId of studyIds) this.#facts.delete(studyId);
    for (const [studyId, { own }] of this.#facts) if (own !== null) this.#facts.delete(studyId);
  }

  /** Drops facts with another open epoch. Their keys may be erased, so none stays in memory. */
  keepOpen({ studies }: Pick<Standings, 'studies'>): void {
    for (const { studyId, open } of studies) {
      const known = this.#facts.get(studyId)?.open;
      if (known !== undefined && known?.epoch !== open?.epoch) this.#facts.delete(studyId);
    }
  }

  /** Judges and journals one list after the calls before it. */
  admit(batches: readonly AdmissionRequest[]): Promise<readonly AdmissionResult[]> {
    assert(batches.length <= listMost, `a list has at most ${listMost} batches`);
    return this.writer.inOrder(async () => {
      const before = this.clock.monotonicMs();
      let tries = 0;
      const results = await this.writer.write<readonly AdmissionResult[]>(
        (session, begin, note) => {
          tries += 1;
          return this.#try(session, begin, note, batches);
        }, { waitsWhileFull: false })
        .catch((error: unknown) => {
          // Others came first each time, the database has no room, or this node lacks the key,
          // and nothing was written. The senders try again later.
          const isRefusal = error instanceof PostgresFailure && (error.kind === 'again'
            || error.kind === 'full' || error.code === 'encryption-key-missing');
          if (!isRefusal) throw error;
          return batches.map(() => (error.kind === 'full' ? noRoom : crowdedOut));
        });
      this.latencies.note((this.clock.monotonicMs() - before) / 1_000, batches.length, tries);
      return results;
    });
  }

  async contributorState(studyId: StudyId, key: string): Promise<ContributorState> {
    return this.connections.use(async (session) => {
      const facts = await this.#readFresh(session, studyId);
      const study = facts.get(studyId);
      const pairs = study === undefined ? [] : [{ study, key }];
      const windows = await readWindows(session, pairs);
      const extras = await readExtras(session, [...windows.values()], facts);
      const list = new LoadedList(facts, windows, extras);
      const contributor = study === undefined ? undefined : list.load(study, key);
      const window = contributor?.state.window ?? { contiguous: 0, high: 0, entries: empty };
      const open = study?.open ?? null;
      const own = study?.own ?? null;
      return {
        nextSequence: BigInt(window.high) + 1n, holes: holesOf(window),
        inOpenEpoch: open !== null && contributor?.state.epochKey === open.epochKey,
        spend: own === null
          ? null : spentOf(list, own, contributor!.contributorId, this.clock.nowMs()),
      };
    });
  }

  async #try(
    session: Session, begin: readonly unknown[],
    note: (results: readonly AdmissionResult[]) => void, batches: readonly AdmissionRequest[],
  ): Promise<boolean> {
    try {
      const facts = await this.#read(session, new Set(batches.map(({ studyId }) => studyId)));
      const windows = await readWindows(session, pairsOf(batches, facts));
      const extras = await readExtras(session, [...windows.values()], facts, batches);
      const base = await this.#base(session);
      const list = new LoadedList(facts, windows, extras, base, () => this.clock.nowMs());
      const admission = new ListAdmission<PostgresFacts>(list);
      const results = batches.map((batch) => admission.admit(batch));
      note(results);
      if (!writesAnything(admission)) {
        // A list that was judged by facts of the past is judged again.
        if (await this.#dropChanged(session, facts)) throw moved();
        return false;
      }
      const [row] = await session.text<{ admitted: boolean }>(
        admitText, listParameters(begin, list, admission, batches));
      if (!row!.admitted) {
        await this.#dropChanged(session, facts);
        throw moved();
      }
      return true;
    } catch (error) {
      // After a failure of the database nothing is known of how far others have come.
      if (error instanceof PostgresFailure && error.kind !== 'again') this.forgetStudies();
      throw error;
    }
  }

  /** The facts of now: another node may have changed them since they were read. */
  async #readFresh(
    session: Session, studyId: StudyId,
  ): Promise<ReadonlyMap<StudyId, PostgresFacts>> {
    const known = await this.#read(session, [studyId]);
    return await this.#dropChanged(session, known) ? this.#read(session, [studyId]) : known;
  }

  /** Drops those of the facts that are not of now. @returns whether there are any. */
  async #dropChanged(
    session: Session, facts: ReadonlyMap<StudyId, PostgresFacts>,
  ): Promise<boolean> {
    const studies = [...facts.values()];
    const changed = await session.text<{ studyId: StudyId }>(
      `SELECT study_id AS "studyId"
        FROM unnest($1::bigint[], $2::bigint[]) AS read (study_key, revision)
        JOIN studies USING (study_key) WHERE studies.revision != read.revision`,
      [int8Array(studies.map(({ studyKey }) => studyKey)),
        int8Array(studies.map(({ revision }) => revision))]);
    for (const { studyId } of changed) this.#facts.delete(studyId);
    return changed.length > 0;
  }

  async #read(
    session: Session, studyIds: Iterable<StudyId>,
  ): Promise<ReadonlyMap<StudyId, PostgresFacts>> {
    const facts = new Map<StudyId, PostgresFacts>();
    for (const studyId of studyIds) {
      const known = this.#facts.get(studyId)
        ?? await readAdmissionFacts(session, studyId, this.keys);
      if (known === undefined) continue;
      // Another server may register a study at any time, so only known ones are kept.
      this.#facts.set(studyId, known);
      facts.set(studyId, known);
    }
    return facts;
  }

  /** The first number of a list. The same list gets another one at each try. */
  async #base(session: Session): Promise<bigint> {
    if (this.#nextList === this.#listsEnd) {
      const [row] = await session.text<{ block: bigint }>(
        "SELECT nextval('list_numbers') AS block");
      this.#nextList = row!.block * BigInt(blockLists);
      this.#listsEnd = this.#nextList + BigInt(blockLists);
    }
    const list = this.#nextList;
    this.#nextList += 1n;
    return list * BigInt(listMost);
  }
}

const empty = new Uint8Array(0);

/** Nothing was written, and the sender may try again. */
const crowdedOut: AdmissionResult = {
  verdict: 'rejected', code: 'overloaded', epoch: 0n, position: 0n, complete: false,
};
