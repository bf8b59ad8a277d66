import type { Charge } from '../../../src/privacy/accounting/budget.js';
import { assert } from '../../../src/base/assert.js';
import type { WireCode } from '../../../src/base/error-codes.js';
import type { AdmissionRequest, AdmissionResult, StudyId } from '../contract.js';
import {
  judge, leftOutRows, type AdmissionStudy, type ContributionState,
} from './admission-rules.js';
import { fingerprintBytes } from './epoch-tables.js';
import { emptyWindow, settle, type ReplayWindow } from './replay-window.js';

/** A study's facts as admission knows them. */
export interface StudyFacts extends AdmissionStudy {
  readonly studyKey: bigint;
}

/** The state of one contributor in one study while a list is judged; written once per list. */
export interface Contributor<Facts extends StudyFacts> {
  /** 0: not in the table of contributors yet. */
  readonly contributorId: bigint;
  readonly study: Facts;
  state: ContributionState;
  changed: boolean;
}

/** The effect of an epoch's first row on the contributor's own spending. */
export interface Debit {
  readonly fits: boolean;
  readonly spend: Charge;
}

/** The numbers that a list adds to the counters of an open epoch. */
export interface EpochTally {
  contributors: number;
  leftOut: number;
  /** The most people that the epoch accepts; see rules/people.ts. */
  readonly peopleMax: number;
}

/** A batch that was accepted, as the journal stores it. */
export interface JournalRow {
  readonly position: bigint;
  readonly contributorId: bigint;
  readonly batch: AdmissionRequest;
  readonly complete: boolean;
}

/** A list's access to the store. All its reads and writes are in the list's transaction. */
export interface AdmissionSource<Facts extends StudyFacts> {
  /** Undefined for a study that was never registered. */
  study(studyId: StudyId): Facts | undefined;
  load(study: Facts, key: string): Contributor<Facts>;
  /** The number of a key that is about to be stored. The same key always gets the same number. */
  identify(key: string): bigint;
  /** The fingerprint of a digest under the epoch's key; undefined when the key is deleted. */
  fingerprint(studyKey: bigint, epoch: bigint, digest: Uint8Array): Uint8Array | undefined;
  /** True if that key exists. */
  knows(studyKey: bigint, epoch: bigint): boolean;
  /** True if a contributor took back its rows from an epoch. 0: one that is not stored yet. */
  hasWithdrawn(study: Facts, epoch: bigint, contributorId: bigint): boolean;
  /**
   * Counts a key that sends its first batch. @returns null when the study accepts it, otherwise the
   * Unix time from which it accepts new keys.
   */
  takeNewKey(study: Facts, contributorId: bigint): number | null;
  /** Under contributor scope: debits the open epoch's cost if it fits. Null under other scopes. */
  debit(study: Facts, contributorId: bigint): Debit | null;
  /** People of the epoch in the lists before this one. Asked once a list. */
  people(epochKey: bigint): number;
  nextPosition(): bigint;
  journal(epochKey: bigint, row: JournalRow): void;
}

export const noContribution: ContributionState = {
  window: emptyWindow, epochKey: 0n, rows: 0, complete: false, excludedFrom: null,
};

/**
 * Judges one list, in order, by the rules of `Store.admit`. Each contributor is loaded once.
 * Afterwards `changed` and `tallies` hold the changes to write.
 */
export class ListAdmission<Facts extends StudyFacts> {
  readonly #source: AdmissionSource<Facts>;
  readonly #loaded = new Map<string, Contributor<Facts>>();
  /** By the key of the epoch. */
  readonly tallies = new Map<bigint, EpochTally>();
  /** By the key of the epoch: its people in the lists before this one. */
  readonly #people = new Map<bigint, number>();

  constructor(source: AdmissionSource<Facts>) {
    this.#source = source;
  }

  /** Contributors whose windows changed. */
  * changed(): Generator<Contributor<Facts>> {
    for (const contributor of this.#loaded.values()) if (contributor.changed) yield contributor;
  }

  admit(batch: AdmissionRequest): AdmissionResult {
    const source = this.#source;
    const study = source.study(batch.studyId);
    const contributor = study === undefined ? undefined : this.#contributor(study, batch);
    const state = contributor?.state ?? noContribution;
    const judgement = judge(batch, study, state, (epoch) =>
      source.fingerprint(study!.studyKey, epoch, batch.digest), () =>
      source.hasWithdrawn(study!, batch.epoch, contributor!.contributorId));
    if (judgement.kind === 'refuse') return answer('rejected', { code: judgement.code });
    if (judgement.kind === 'repeat') {
      return judgement.code === undefined
        ? answer('duplicate', { epoch: judgement.epoch })
        : answer('rejected', { code: judgement.code });
    }
    assert(
      study !== undefined && contributor !== undefined, 'only a known study accepts or consumes',
    );
    const begins = judgement.kind === 'accept' && judgement.first;
    if (begins && this.#isFull(study.open!.epochKey, batch.peopleMax)) {
      return answer('rejected', { code: 'overloaded', isFull: true });
    }
    const retryAtMs = state.window.high > 0
      ? null : source.takeNewKey(study, contributor.contributorId);
    if (retryAtMs !== null) return answer('rejected', { code: 'too-many-new-keys', retryAtMs });
    const identified = this.#identify(contributor, batch);
    const debit = begins ? source.debit(study, identified.contributorId) : null;
    const leftOut = debit?.fits === false;
    const consumed = judgement.kind === 'consume' ? judgement.code : undefined;
    const refused = leftOut ? 'contributor-budget-exhausted' : consumed;
    const window = this.#settle(state, study, batch, refused);
    identified.changed = true;
    const spend = debit === null ? {} : { spend: debit.spend };
    if (leftOut) {
      this.#tally(study.open!.epochKey, batch).leftOut += 1;
      identified.state =
        { ...state, window, epochKey: study.open!.epochKey, rows: leftOutRows, complete: true };
      return answer('rejected', { code: refused!, ...spend });
    }
    if (judgement.kind === 'consume') {
      identified.state = { ...state, window };
      return answer('rejected', { code: judgement.code });
    }
    const { complete, rows } = judgement;
    const { epoch, epochKey } = study.open!;
    if (begins) this.#tally(epochKey, batch).contributors += 1;
    const position = source.nextPosition();
    const { contributorId } = identified;
    source.journal(epochKey, { position, contributorId, batch, complete });
    identified.state = { ...state, window, epochKey, rows, complete };
    return answer('accepted', { epoch, position, complete, ...spend });
  }

  #tally(epochKey: bigint, { peopleMax }: AdmissionRequest): EpochTally {
    const counts = this.tallies.get(epochKey) ?? { contributors: 0, leftOut: 0, peopleMax };
    this.tallies.set(epochKey, counts);
    return counts;
  }

  /** True if the epoch has all the people that it accepts: see rules/people.ts. */
  #isFull(epochKey: bigint, peopleMax: number): boolean {
    const before = this.#people.get(epochKey) ?? this.#source.people(epochKey);
    this.#people.set(epochKey, before);
    return before + (this.tallies.get(epochKey)?.contributors ?? 0) >= peopleMax;
  }

  #settle(
    state: ContributionState, study: Facts, batch: AdmissionRequest, code: WireCode | undefined,
  ): ReplayWindow {
    const { studyKey, newest } = study;
    // The newest epoch has no key only after its own was lost. Then its entries are repeated
    // without a comparison, whatever they contain.
    const fingerprint = this.#source.fingerprint(studyKey, newest, batch.digest)
      ?? new Uint8Array(fingerprintBytes);
    return settle(state.window, Number(batch.sequence), { code, epoch: newest, fingerprint },
      (epoch) => !this.#source.knows(studyKey, epoch));
  }

  #contributor(study: Facts, batch: AdmissionRequest): Contributor<Facts> {
    const name = `${batch.studyId}${batch.contributor}`;
    let contributor = this.#loaded.get(name);
    if (contributor === undefined) {
      contributor = this.#source.load(study, batch.contributor);
      this.#loaded.set(name, contributor);
    }
    return contributor;
  }

  /** Assigns a contributor its number just before it is written. */
  #identify(contributor: Contributor<Facts>, batch: AdmissionRequest): Contributor<Facts> {
    if (contributor.contributorId !== 0n) return contributor;
    const contributorId = this.#source.identify(batch.contributor);
    const identified: Contributor<Facts> = { ...contributor, contributorId };
    this.#loaded.set(`${batch.studyId}${batch.contributor}`, identified);
    return identified;
  }
}

function answer(
  verdict: AdmissionResult['verdict'],
  facts: Partial<
    Pick<AdmissionResult,
      'epoch' | 'code' | 'position' | 'complete' | 'spend' | 'retryAtMs' | 'isFull'>
  >,
): AdmissionResult {
  return { verdict, epoch: 0n, position: 0n, complete: false, ...facts };
}
