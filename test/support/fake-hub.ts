import { fromHex, toHex } from '../../src/base/bytes.js';
import type { KeyShare } from '../../src/base/key-share.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { chargeOf } from '../../src/privacy/accounting/budget.js';
import type { Amount } from '../../src/privacy/accounting/amount.js';
import { signReady, signShare, signStatement, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import {
  encodeHeadBody, encodeReleaseBody, encodeStudyDocument, ofShortAnswer, studyId,
  type Answer, type ReleaseFacts, type ShortAnswer, type StudyDocument,
} from '../../src/wire/index.js';
import type {
  HubEvent, StudyHub, StudyView, SubmitResult, VerifiedBatch,
} from '../../server/studies/contract.js';
import type {
  ContributorState, LedgerBalance, ReleaseRecord,
} from '../../server/store/contract.js';
import { server, shortRelease } from './wire-samples.js';
import { saidBody } from './described.js';
import { without } from './without.js';

/**
 * A hub in memory whose behaviour a test scripts through its members. Settles sequences like the
 * real one.
 */
export interface FakeHub extends StudyHub {
  /** Everything that was submitted, in order. */
  readonly submitted: VerifiedBatch[];
  overload: boolean;
  /** While true, submissions wait for `commit()`. */
  hold: boolean;
  /** Settles all that waits, in one turn, as a group commit does. */
  commit(): void;
  /** Makes the next submissions fail as a broken store would. */
  broken: boolean;
  allowed: (contributor: Uint8Array) => boolean;
  spend: ContributorState['spend'];
  /** Of every contributor. */
  inOpenEpoch: boolean;
  ledger: LedgerBalance[];
  /**
   * Appends a signed release to the log and tells everybody. `text` pads its size; `change`
   * replaces what it says.
   */
  publish(
    studyId: string, text?: string, change?: ReleaseChange,
  ): ReleaseRecord;
  change(studyId: string, change: Partial<StudyView>): void;
  emit(event: HubEvent): void;
  readonly listeners: number;
}

/** What a release says in place of the sample. `answers` replaces its one answer. */
export type ReleaseChange = Partial<ReleaseFacts & ShortAnswer>
  & { readonly answers?: readonly Answer[] };

interface Settled {
  readonly digest: string;
  readonly result: SubmitResult;
}

interface Contributor {
  contiguous: bigint;
  readonly settled: Map<bigint, Settled>;
}

export async function createFakeHub(
  documents: readonly StudyDocument[], signer: Signer = server,
): Promise<FakeHub> {
  const views = new Map<string, StudyView>();
  const logs = new Map<string, ReleaseRecord[]>();
  for (const document of documents) {
    const facts = encodeStudyDocument(document);
    const id = await studyId(facts, signing);
    views.set(id, {
      studyId: id,
      name: document.study,
      document,
      facts,
      factsSignature: signStatement('study', signer, fromHex(id), signing.sha512(facts)),
      state: 'open',
      epoch: 7n,
      closesAtMs: Date.now() + 60_000,
      releaseCount: 0,
      budget: `study:${document.study}`,
      charge: chargeOf(0.01, 1e-9),
    });
    logs.set(id, []);
  }
  return new Hub(signer, views, logs);
}

class Hub implements FakeHub {
  readonly submitted: VerifiedBatch[] = [];
  overload = false;
  hold = false;
  broken = false;
  allowed = (): boolean => true;
  spend: ContributorState['spend'] = null;
  inOpenEpoch = false;
  ledger: LedgerBalance[] = [];
  readonly serverKey: Uint8Array;
  readonly rotations: StudyHub['rotations'] = [];
  readonly #contributors = new Map<string, Contributor>();
  readonly #followers = new Set<(event: HubEvent) => void>();
  #waiting: (() => void)[] = [];

  constructor(
    private readonly signer: Signer,
    private readonly views: Map<string, StudyView>,
    private readonly logs: Map<string, ReleaseRecord[]>,
  ) {
    this.serverKey = signer.publicKey;
  }

  get listeners(): number {
    return this.#followers.size;
  }

  studies = (): readonly StudyView[] => [...this.views.values()];
  study = (id: string): StudyView | undefined => this.views.get(id);
  withdraw: StudyHub['withdraw'] = async () =>
    ({ kind: 'withdrawn', undone: false, complete: false });
  overloaded = (): boolean => this.overload;
  admits = (_id: string, contributor: Uint8Array): boolean =>
    (this.allowed as FakeHub['allowed'])(contributor);
  balances = async (): Promise<readonly LedgerBalance[]> => this.ledger;
  progress = async () => ({ contributors: 41, complete: 40, groupsReached: 3, groups: 9 });

  submit(batch: VerifiedBatch): Promise<SubmitResult> {
    // The listener uses the memory of body and rows again after the verdict.
    this.submitted.push({
      ...batch, body: Uint8Array.from(batch.body),
      ...(batch.values !== undefined && { values: Float64Array.from(batch.values) }),
      ...(batch.texts !== undefined && {
        texts: batch.texts.map((table) =>
          (table === null ? null : { ...table, bytes: Uint8Array.from(table.bytes) })),
      }),
    });
    if (this.broken) return Promise.reject(new Error('the disk is gone'));
    return new Promise((resolve) => {
      const settle = (): void => resolve(this.#settle(batch));
      if (this.hold) this.#waiting.push(settle);
      else queueMicrotask(settle);
    });
  }

  commit(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const settle of waiting) settle();
  }

  async contributorState(id: string, contributor: Uint8Array): Promise<ContributorState> {
    const { contiguous, settled } = this.#contributor(id, contributor);
    const next = [...settled.keys()]
      .reduce((max, sequence) => (sequence > max ? sequence : max), contiguous) + 1n;
    const holes: bigint[] = [];
    for (let i = contiguous + 1n; i < next; i++) if (!settled.has(i)) holes.push(i);
    return { nextSequence: next, holes, inOpenEpoch: this.inOpenEpoch, spend: this.spend };
  }

  async releases(id: string, from: number, limit: number): Promise<readonly ReleaseRecord[]> {
    return this.logs.get(id)!.slice(from, from + limit);
  }

  async head(id: string) {
    const log = this.logs.get(id)!;
    const body = encodeHeadBody({
      serverKey: this.serverKey,
      studyId: fromHex(id),
      count: BigInt(log.length),
      digest: fromHex(log.at(-1)?.digest ?? '00'.repeat(64)),
      state: this.views.get(id)!.state,
    });
    return {
      body, signature: signStatement('head', this.signer, fromHex(id), signing.sha512(body)),
    };
  }

  signReady = (
    id: string, contributor: Uint8Array, serverNonce: Uint8Array, clientNonce: Uint8Array,
  ): Uint8Array =>
    signReady(this.signer, fromHex(id), contributor, { serverNonce, clientNonce });

  signShare = (share: Omit<KeyShare, 'signature'>): Uint8Array =>
    signShare(this.signer, share, signing);

  onEvent(listener: (event: HubEvent) => void): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }

  emit(event: HubEvent): void {
    for (const follower of this.#followers) follower(event);
  }

  change(id: string, change: Partial<StudyView>): void {
    this.views.set(id, { ...this.views.get(id)!, ...change });
  }

  publish(id: string, text = '', change: ReleaseChange = {}): ReleaseRecord {
    const log = this.logs.get(id)!;
    const { answers, ...own } = change;
    const release = ofShortAnswer({
      ...shortRelease, studyId: fromHex(id),
      study: this.views.get(id)!.name,
      index: BigInt(log.length),
      epoch: BigInt(7 + log.length),
      previousDigest: fromHex(log.at(-1)?.digest ?? '00'.repeat(64)),
      ...(text === ''
        ? {} : { outcome: { kind: 'refused', reason: 'interrupted', text } as const }),
      ...own,
    });
    const { document } = this.views.get(id)!;
    const isShort = document.wireForm === 'short';
    const body = encodeReleaseBody(saidBody(answers === undefined ? release
      : { ...isShort ? release : without(release, 'wireForm'), answers }, document));
    const digest = signing.sha512(body);
    const signature = signStatement('release', this.signer, fromHex(id), digest);
    const epoch = BigInt(7 + log.length);
    const record = {
      studyId: id, index: log.length, epoch, body, signature, digest: toHex(digest),
    };
    log.push(record);
    this.change(id, { releaseCount: log.length });
    this.emit({ kind: 'release', studyId: id, release: record });
    return record;
  }

  #contributor(id: string, key: Uint8Array): Contributor {
    const name = `${id}/${toHex(key)}`;
    const found = this.#contributors.get(name)
      ?? { contiguous: 0n, settled: new Map<bigint, Settled>() };
    this.#contributors.set(name, found);
    return found;
  }

  /** The store's rules 2 and 3, and acceptance. */
  #settle(batch: VerifiedBatch): SubmitResult {
    const contributor = this.#contributor(batch.studyId, batch.contributor);
    const view = this.views.get(batch.studyId)!;
    const answer = (verdict: SubmitResult['verdict'], code?: WireCode): SubmitResult => ({
      verdict,
      ...(code === undefined ? {} : { code }),
    });
    if (view.state !== 'open') {
      return answer('rejected', view.state === 'ended' ? 'study-ended' : 'budget-exhausted');
    }
    const before = contributor.settled.get(batch.sequence);
    if (before !== undefined && before.digest !== toHex(batch.digest)) {
      return answer('rejected', 'mutated');
    }
    if (before !== undefined) {
      return before.result.verdict === 'accepted'
        ? answer('duplicate') : answer('rejected', before.result.code);
    }
    const result = batch.rejectAs === undefined
      ? answer('accepted') : answer('rejected', batch.rejectAs);
    contributor.settled.set(batch.sequence, { digest: toHex(batch.digest), result });
    while (contributor.settled.has(contributor.contiguous + 1n)) contributor.contiguous += 1n;
    return result;
  }
}

/** An amount for scripts. */
export const amount = (units: bigint): Amount => units as Amount;
