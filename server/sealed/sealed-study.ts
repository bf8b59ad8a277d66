import { signing } from '#signing';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { InvariantError, KeelsonError, StorageError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { signSealedStatement, verifiedBoxKeys } from '../../src/sealed/shares/statements.js';
import { sealedProgramOfStudy } from '../../src/plan-sealed.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { boxKeysOf } from '../../src/signing/boxes.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import type { EpochStanding, PeerFrame } from '../../src/wire/peer-messages.js';
import { shortForm, type OneQuestion, type SealedFacts } from '../../src/wire/study-document.js';
import type { EpochProgress } from '../epochs/contract.js';
import { interrupted, publishable } from '../epochs/outcome.js';
import type {
  AdmissionResult, ChargeResult, EpochRecord, StudyRecord, StudyStateName, WithdrawalRequest,
  WithdrawalResult,
} from '../store/contract.js';
import type { StudyView, SubmitResult, VerifiedBatch } from '../studies/contract.js';
import type { HubContext } from '../studies/context.js';
import type { StudyDefinition } from '../studies/definition.js';
import { LatestView, type StudyIdentity } from '../studies/latest-view.js';
import type { LiveStudyOptions } from '../studies/live-study-options.js';
import { signRelease } from '../studies/release-body.js';
import { Deadline, lastTick, nextTimes } from '../studies/schedule.js';
import type { LocalStudy, StudyMode } from '../studies/study-list.js';
import { answerOf } from '../studies/submit-answer.js';
import { runAttempt } from './attempt.js';
import { cosigned, isSignedByAll } from './cosign.js';
import { openShares, receiveEntries, sendEntries, type Manifest } from './entries.js';
import type { Mesh } from './mesh.js';
import { PeerLostError, type PeerLink, type PeerLinks } from './peer-link.js';

export interface SealedStudyOptions extends LiveStudyOptions {
  readonly server: ServerIndex;
  readonly mesh: Mesh;
  /** How long another server may be silent during a release, in milliseconds. */
  readonly timeoutMs: number;
}

type Standing = Extract<PeerFrame, { readonly kind: 'standing' }>;

const retryMs = { least: 100, most: 5_000 } as const;

/**
 * One server's part of a sealed study. Server 0 is the front: contributors and readers connect to
 * it, and it decides when epochs open and close. The two others follow it, each with its own
 * ledger, noise and signature.
 *
 * All three must be connected while an epoch opens and while it is released. What they do then is
 * one session: each says how far its store is, the one that lacks a release gets it, and the front
 * leads from there. Whatever goes wrong ends the session at all three: they close their links,
 * connect anew and begin with what their stores have. So the stores alone decide:
 * - Nobody charged: a new attempt, with new key streams. Nothing of the earlier one was opened.
 * - Somebody charged and nobody has a release: all charge, and sign `refused: interrupted`. Noise
 *   is never drawn twice for the same epoch.
 * - Somebody has the release with three signatures: the others store the same bytes.
 *
 * Claim. What this server lets others learn of an epoch is charged in its own ledger before.
 * Why. Its first opening leaves after `chargeEpoch` has resolved (`runAttempt`), and that call made
 * the charge (`isMine`), so no other attempt of this server opened anything of the epoch.
 */
export class SealedStudy implements LocalStudy {
  readonly #view: LatestView;
  readonly #document: OneQuestion;
  readonly #sealed: SealedFacts;
  readonly #program: SealedProgram;
  readonly #serverKeys: readonly Uint8Array[];
  #state: StudyStateName;
  #count: number;
  #digest: string;
  #lastEpoch: bigint;
  /** The epoch that is neither released nor lapsed. */
  #record: EpochRecord | null = null;
  /** Of the open epoch, while the front takes entries. */
  #boxKeys: readonly Uint8Array[] | null = null;
  #mode: StudyMode;
  #isHeld: boolean;
  #isOver = false;
  #nextOpenMs = 0;
  #loop: Promise<void> = Promise.resolve();
  /** The links of the session that is under way. */
  #links: PeerLinks | null = null;
  #stopWaiting: (() => void) | null = null;
  #isStopped = false;
  /** Of an attempt: the charge was made, so what remains of the session must not be cut. */
  #isReleasing = false;

  constructor(
    private readonly context: HubContext, readonly definition: StudyDefinition,
    readonly identity: StudyIdentity, record: StudyRecord,
    private readonly options: SealedStudyOptions,
  ) {
    this.#view = new LatestView(definition, identity);
    this.#document = shortForm(definition.document);
    this.#sealed = this.#document.sealed!;
    this.#serverKeys = this.#sealed.servers.map(({ key }) => fromHex(key));
    const { target, document } = definition;
    this.#program = sealedProgramOfStudy(this.#document, {
      dimension: document.columns.length, cohort: document.cohort,
      participation: document.participation, target,
    });
    this.#state = record.state;
    this.#count = record.releaseCount;
    this.#digest = record.lastDigest;
    this.#lastEpoch = record.lastEpoch;
    this.#mode = options.mode;
    this.#isHeld = options.held;
  }

  get view(): StudyView {
    const isOpen = this.#boxKeys !== null && this.#record?.state === 'open';
    return this.#view.of({
      state: this.#state,
      epoch: isOpen ? this.#record!.epoch : 0n,
      closesAtMs: isOpen ? this.#record!.closesAtMs : 0,
      releaseCount: this.#count,
      ...(isOpen && { boxKeys: this.#boxKeys! }),
    });
  }

  get mode(): StudyMode {
    return this.#mode;
  }

  get digest(): string {
    return this.#digest;
  }

  /** Contributors send to the front alone. */
  get isRunning(): boolean {
    return this.#isFront && !this.#isOver;
  }

  get #isFront(): boolean {
    return this.options.server === 0;
  }

  get #name(): string {
    return this.#document.study;
  }

  /** Resolves before the other servers are there. */
  async start(unfinished: readonly EpochRecord[]): Promise<void> {
    this.#record = unfinished.at(-1) ?? null;
    if (this.#record !== null) this.#lastEpoch = this.#record.epoch;
    this.#loop = this.#run().catch((error: unknown) => this.context.fatal(error));
  }

  abandon(): Promise<void> {
    return this.close();
  }

  settle(_batch: VerifiedBatch, result: AdmissionResult): SubmitResult {
    return answerOf(this.definition, result);
  }

  withdraw(request: WithdrawalRequest): Promise<WithdrawalResult> {
    return this.context.store.withdraw(request);
  }

  async progress(): Promise<EpochProgress | null> {
    const { epoch } = this.view;
    if (epoch === 0n) return null;
    const count = await this.context.store.contributorCount(this.identity.studyId, epoch);
    return { contributors: count, complete: count, groupsReached: 0, groups: 0 };
  }

  async begin(): Promise<void> {
    this.#isHeld = false;
    this.#stopWaiting?.();
  }

  /** The open epoch is released as planned; none follows. */
  async end(): Promise<void> {
    this.#mode = 'end';
    this.#stopWaiting?.();
    this.options.mesh.interrupt();
  }

  async settled(): Promise<void> {
    while (this.#isReleasing) {
      await new Promise<void>((resolve) => { this.context.clock.after(20, resolve); });
    }
  }

  /** Finishes a release whose charge was made, and leaves everything else to the next start. */
  async close(): Promise<void> {
    this.#isOver = true;
    await this.settled();
    for (const link of this.#links?.values() ?? []) link.close('shutting-down');
    this.options.mesh.close();
    this.#stopWaiting?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { mesh } = this.options;
    let delayMs: number = retryMs.least;
    while (!this.#isOver) {
      const links = await mesh.connected(this.#untilDueMs());
      if (this.#isOver) return;
      if (links === null) {
        await this.#whileAlone();
        continue;
      }
      this.#links = links;
      const beganMs = this.context.clock.monotonicMs();
      let code = 'ended';
      try {
        await this.#session(links);
      } catch (error) {
        if (isOwnFailure(error)) throw error;
        code = error instanceof KeelsonError ? error.code : 'internal';
        this.#note(error);
      } finally {
        for (const link of links.values()) link.close(code);
        this.#links = null;
        this.#isReleasing = false;
      }
      // A session that lasted shows that the others work.
      const isLong = this.context.clock.monotonicMs() - beganMs > 30_000;
      delayMs = isLong ? retryMs.least : Math.min(2 * delayMs, retryMs.most);
      await this.#pause(delayMs);
    }
  }

  #note(error: unknown): void {
    if (this.#isOver) return;
    const { logger } = this.context;
    const what = { study: this.#name, epoch: this.#record?.epoch ?? 0n, err: error };
    if (error instanceof PeerLostError && error.reason === 'closed') {
      logger.info(what, 'another server is away: the three servers will connect anew');
    } else {
      logger.warn(what, 'the three servers begin anew');
    }
  }

  /** Whether nothing more will happen. */
  #isDone(): boolean {
    return this.#isFront && this.#record === null
      && (this.#mode !== 'run' || this.#state !== 'open');
  }

  /** @returns false when this was told before. */
  async #stop(): Promise<boolean> {
    if (this.#isStopped) return false;
    this.#isStopped = true;
    const { store, emit, logger } = this.context;
    const { studyId } = this.identity;
    if (this.#mode === 'end' && this.#state === 'open') {
      await store.setStudyState(studyId, 'ended');
      this.#state = 'ended';
    }
    logger.info({ study: this.#name, state: this.#state }, 'a study stopped');
    emit({ kind: 'study-stopped', studyId, state: this.#state });
    this.options.onDone();
    return true;
  }

  // ---- time

  /** Until the front must do something by itself, without the others. */
  #untilDueMs(): number | null {
    const record = this.#record;
    if (!this.#isFront || record === null) return null;
    const nowMs = this.context.clock.nowMs();
    if (record.state === 'open') return Math.max(0, record.closesAtMs - nowMs);
    if (record.state === 'closing') return Math.max(0, this.#patientUntilMs(record) - nowMs);
    return null;
  }

  #patientUntilMs({ closesAtMs }: EpochRecord): number {
    return closesAtMs + this.#sealed.patienceMs;
  }

  /** The others are away when an epoch closes, or when patience ends. */
  async #whileAlone(): Promise<void> {
    const record = this.#record;
    if (record === null || this.#untilDueMs() !== 0) return;
    if (record.state === 'open') await this.#closeEpoch();
    else await this.#giveUp();
  }

  /**
   * Patience has ended. Before the first attempt nothing was opened anywhere: the epoch lapses.
   * Later another server may have opened something, so the epoch is charged.
   */
  async #giveUp(): Promise<void> {
    const record = this.#record!;
    const { logger } = this.context;
    const { study, epoch } = { study: this.#name, epoch: record.epoch };
    if (record.recoveries === 0) {
      await this.#lapse();
      logger.warn({ study, epoch }, 'an epoch lapsed: the three servers did not meet in time');
    } else {
      await this.#charge();
      logger.warn({ study, epoch }, 'an epoch ends as interrupted: its release did not succeed');
    }
  }

  async #pause(delayMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.context.clock.after(delayMs, resolve);
      this.#stopWaiting = () => { cancel(); resolve(); };
    });
    this.#stopWaiting = null;
  }

  // ---- one session

  async #session(links: PeerLinks): Promise<void> {
    const theirs = await this.#exchangeStandings(links);
    await this.#catchUp(links, theirs);
    await this.#adoptLapse(theirs);
    if (this.#record?.state === 'charged' || this.#someoneCharged(theirs)) {
      await this.#releaseInterrupted(links);
    }
    if (this.#isFront) await this.#lead(links);
    else await this.#follow(links);
  }

  #standing(): Standing {
    const state: EpochStanding = this.#record === null ? 'done'
      : this.#record.state === 'charged' ? 'charged' : 'open';
    return {
      kind: 'standing', epoch: this.#lastEpoch, state, releases: BigInt(this.#count),
      study: this.#state,
    };
  }

  async #exchangeStandings(links: PeerLinks): Promise<Map<ServerIndex, Standing>> {
    const { server, timeoutMs } = this.options;
    const own = this.#standing();
    for (const link of links.values()) link.send(own);
    const all = new Map<ServerIndex, Standing>([[server, own]]);
    for (const link of links.values()) {
      all.set(link.server, await link.receive('standing', timeoutMs));
    }
    return all;
  }

  /** A server that lacks the last release gets it from the first server that has it. */
  async #catchUp(links: PeerLinks, all: ReadonlyMap<ServerIndex, Standing>): Promise<void> {
    const { server, timeoutMs } = this.options;
    const of = (each: ServerIndex): bigint => all.get(each)!.releases;
    const most = servers.reduce((high, each) => (of(each) > high ? of(each) : high), 0n);
    const giver = servers.find((each) => of(each) === most)!;
    if (of(server) === most) {
      if (server !== giver) return;
      const lacking = servers.filter((each) => of(each) < most);
      const { studyId } = this.identity;
      const [last] = lacking.length === 0 ? []
        : await this.context.store.releases(studyId, Number(most) - 1, 1);
      for (const each of lacking) {
        if (of(each) < most - 1n) throw behind(each);
        links.get(each)!.send({ kind: 'released', body: last!.body, signature: last!.signature });
      }
      return;
    }
    if (of(server) < most - 1n) throw behind(server);
    const { body, signature } = await links.get(giver)!.receive('released', timeoutMs);
    await this.#adoptRelease(body, signature);
  }

  /**
   * Stores a release that all three signed, this server too. It had charged before it signed; a
   * store that was set back since is charged again.
   */
  async #adoptRelease(body: Uint8Array, signature: Uint8Array): Promise<void> {
    const { studyId } = this.identity;
    const digest = toHex(signing.sha512(body));
    const { index, epoch, previousDigest } = decodeReleaseBody(body);
    const isNext = index === BigInt(this.#count) && toHex(previousDigest) === this.#digest
      && epoch === this.#record?.epoch;
    if (!isNext || !isSignedByAll({ studyId, digest }, this.#serverKeys, signature)) {
      throw new PeerLostError('unexpected', 'a release of another server does not continue the log');
    }
    await this.#charge();
    await this.#store({ studyId, index: Number(index), epoch, body, signature, digest });
  }

  /** The front let an epoch lapse while this server was away. */
  async #adoptLapse(all: ReadonlyMap<ServerIndex, Standing>): Promise<void> {
    const front = all.get(0)!;
    if (this.#isFront) return;
    if (front.study !== this.#state) {
      this.#state = front.study;
      await this.context.store.setStudyState(this.identity.studyId, front.study);
    }
    const record = this.#record;
    if (record === null || record.state === 'charged') return;
    const isOver = front.epoch > record.epoch
      || (front.epoch === record.epoch && front.state === 'done');
    if (isOver) await this.#lapse();
  }

  /** Whether another server charged the epoch of this one and has no release of it. */
  #someoneCharged(all: ReadonlyMap<ServerIndex, Standing>): boolean {
    const most = servers.reduce((high, each) =>
      (all.get(each)!.releases > high ? all.get(each)!.releases : high), 0n);
    const charged = servers.find((each) =>
      all.get(each)!.state === 'charged' && all.get(each)!.releases === most);
    if (charged === undefined) return false;
    if (all.get(charged)!.epoch === this.#record?.epoch) return true;
    throw new KeelsonError('invariant', `server ${charged} charged epoch `
      + `${all.get(charged)!.epoch}, which this server does not have`);
  }

  async #releaseInterrupted(links: PeerLinks): Promise<void> {
    this.#isReleasing = true;
    const { balance } = await this.#charge();
    await this.#release(links, interrupted, balance);
    this.#isReleasing = false;
  }

  /** At the front: epochs follow one another as long as the session lasts. */
  async #lead(links: PeerLinks): Promise<void> {
    while (!this.#isOver && !this.#isDone()) {
      if (this.#record === null) await this.#openNext(links);
      if (this.#record === null) continue;
      if (this.#record.state === 'open') {
        await this.#shareKeys(links);
        await this.#untilClose(links);
        if (this.#isOver) return;
        await this.#closeEpoch();
      }
      if (this.context.clock.nowMs() >= this.#patientUntilMs(this.#record)) {
        await this.#giveUp();
        throw new PeerLostError('stopped', 'patience has ended for this epoch');
      }
      for (const link of links.values()) {
        link.send({ kind: 'gather', epoch: this.#record.epoch });
      }
      await this.#attempt(links);
    }
    // A new session tells the others the state of the study. Then the log can be read on.
    if (!this.#isOver && !await this.#stop()) await this.#waitFor(links, null);
  }

  /** At the two others: does what the front asks for. */
  async #follow(links: PeerLinks): Promise<void> {
    const front = links.get(0)!;
    const other = [...links.values()].find(({ server }) => server !== 0)!;
    // A session without the third server is none.
    void other.closed.then(() => front.close('closed'));
    while (!this.#isOver) {
      const frame = await front.next(null);
      if (frame.kind === 'openEpoch') await this.#openAsked(front, frame);
      else if (frame.kind === 'gather' && frame.epoch === this.#record?.epoch) {
        if (this.#record.state === 'open') await this.#closeEpoch();
        await this.#attempt(links);
      } else throw new PeerLostError('unexpected', `server 0 sent ${frame.kind} at the wrong time`);
    }
  }

  // ---- opening and closing

  async #openNext(links: PeerLinks): Promise<void> {
    const { clock, releaseTickMs } = this.context;
    if (this.#isHeld) return this.#waitFor(links, null);
    const times =
      nextTimes(this.#document.epoch, clock.nowMs(), [this.#nextOpenMs], releaseTickMs);
    const retryAtMs = await this.#open(this.#lastEpoch + 1n, times);
    if (retryAtMs !== null) await this.#waitFor(links, retryAtMs - clock.nowMs());
  }

  /** @returns when the budget renews, if it does not pay now; else null. */
  async #open(
    epoch: bigint, { opensAtMs, closesAtMs }: { opensAtMs: number; closesAtMs: number },
  ): Promise<number | null> {
    const { store, logger } = this.context;
    const { studyId } = this.identity;
    const { rho, delta } = this.definition.charge;
    const { contribution, late } = this.#document;
    // The secret of the epoch's box key takes the place of the key that assigns groups: it is
    // stored and erased in the same way.
    const result = await store.openEpoch({
      studyId, epoch, opensAtMs, closesAtMs, rho, delta, rowsMax: contribution.rowsMax, late,
      assignmentKey: signing.randomBytes(32), workSeed: signing.randomBytes(32),
    });
    if (result.kind === 'opened') {
      this.#record = await store.epoch(studyId, epoch);
      this.#lastEpoch = epoch;
      this.#nextOpenMs = closesAtMs;
      return null;
    }
    if (result.retryAtMs !== undefined) return result.retryAtMs;
    this.#state = 'exhausted';
    logger.info({ study: this.#name }, 'the budget has no room for another epoch');
    return null;
  }

  /** The front asks this server to open an epoch, or to repeat its key for the open one. */
  async #openAsked(
    front: PeerLink, asked: Extract<PeerFrame, { readonly kind: 'openEpoch' }>,
  ): Promise<void> {
    const { epoch } = asked;
    const times = { opensAtMs: Number(asked.opensAtMs), closesAtMs: Number(asked.closesAtMs) };
    const everyMs = 'everyMs' in this.#document.epoch ? this.#document.epoch.everyMs : 0;
    if (this.#record === null) {
      if (epoch <= this.#lastEpoch || times.closesAtMs - times.opensAtMs !== everyMs) {
        throw new PeerLostError('unexpected', `server 0 asks for epoch ${epoch} with other times`);
      }
      await this.#open(epoch, times);
    }
    const record = this.#record as EpochRecord | null;
    if (record === null) {
      throw new KeelsonError('budget-exhausted', 'the budget of this server pays for no epoch');
    }
    if (record.epoch !== epoch || record.closesAtMs !== times.closesAtMs) {
      throw new PeerLostError('unexpected', `server 0 asks for epoch ${epoch}, and this server has `
        + `epoch ${record.epoch}`);
    }
    const signed = this.#ownBoxKey(record);
    front.send({
      kind: 'epochKey', epoch, boxKey: signed.subarray(0, 32), signature: signed.subarray(32),
    });
  }

  /** 96 bytes: this server's box key for the epoch, and its signature. */
  #ownBoxKey({ epoch, assignmentKey }: EpochRecord): Uint8Array {
    const { publicKey: boxKey } = boxKeysOf(assignmentKey);
    const signature = signSealedStatement(
      signing, this.context.signer, fromHex(this.identity.studyId),
      { about: 'box-key', epoch, boxKey },
    );
    return concatBytes(boxKey, signature);
  }

  /** The front gets the box keys of both others, and takes entries from now on. */
  async #shareKeys(links: PeerLinks): Promise<void> {
    const record = this.#record!;
    const { epoch, opensAtMs, closesAtMs } = record;
    for (const link of links.values()) {
      link.send({
        kind: 'openEpoch', epoch, opensAtMs: BigInt(opensAtMs), closesAtMs: BigInt(closesAtMs),
      });
    }
    const keys = [this.#ownBoxKey(record)];
    for (const server of [1, 2] as const) {
      const link = links.get(server)!;
      const answer = await link.receive('epochKey', this.options.timeoutMs);
      keys.push(concatBytes(answer.boxKey, answer.signature));
    }
    const { studyId } = this.identity;
    verifiedBoxKeys(signing, fromHex(studyId), epoch, this.#serverKeys, keys);
    if (this.#boxKeys !== null) return;
    this.#boxKeys = keys;
    this.context.emit({ kind: 'epoch-opened', studyId, epoch, closesAtMs });
  }

  async #untilClose(links: PeerLinks): Promise<void> {
    const { clock } = this.context;
    while (!this.#isOver && clock.nowMs() < this.#record!.closesAtMs) {
      await this.#waitFor(links, this.#record!.closesAtMs - clock.nowMs());
    }
  }

  /** Waits while both links stay open. @throws PeerLostError when one closes. */
  async #waitFor(links: PeerLinks, waitMs: number | null): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = waitMs === null ? undefined
        : this.context.clock.after(Math.max(1, waitMs), resolve);
      this.#stopWaiting = () => { cancel?.(); resolve(); };
      for (const link of links.values()) void link.closed.then(() => this.#stopWaiting?.());
    });
    this.#stopWaiting = null;
    const lost = [...links.values()].find((link) => !link.isOpen);
    if (lost !== undefined) {
      throw new PeerLostError('closed', `the link to server ${lost.server} was lost`);
    }
  }

  async #closeEpoch(): Promise<void> {
    const { store } = this.context;
    const { studyId } = this.identity;
    await store.beginClose(studyId, this.#record!.epoch);
    await this.#refreshRecord();
    this.#boxKeys = null;
    if (this.#isFront) this.context.emit({ kind: 'epoch-opened', studyId, epoch: 0n, closesAtMs: 0 });
  }

  async #refreshRecord(): Promise<void> {
    this.#record = await this.context.store.epoch(this.identity.studyId, this.#record!.epoch);
  }

  async #lapse(): Promise<void> {
    const { store, clock } = this.context;
    const { studyId } = this.identity;
    const { epoch } = this.#record!;
    await store.lapseEpoch(studyId, epoch, clock.nowMs());
    await store.purgeEpoch(studyId, epoch);
    this.#record = null;
    this.#boxKeys = null;
  }

  // ---- the release

  async #attempt(links: PeerLinks): Promise<void> {
    const { store, clock, signer, drained } = this.context;
    const { server, timeoutMs } = this.options;
    const { studyId } = this.identity;
    await drained();
    const attempt = await store.noteRecovery(studyId, this.#record!.epoch);
    await this.#refreshRecord();
    const { epoch, assignmentKey } = this.#record!;
    const manifest: Manifest = this.#isFront
      ? await sendEntries(store, studyId, epoch, links.values())
      : await receiveEntries(links.get(0)!, timeoutMs);
    if (await this.#isFree(manifest)) return this.#lapse();
    const shares = await openShares(manifest.entries, {
      server, form: this.#program.form, boxSecret: assignmentKey, frontKey: this.#serverKeys[0]!,
      studyId: fromHex(studyId), epoch,
    }, clock);
    const charged: { result?: ChargeResult } = {};
    const outcome = await runAttempt({
      server, links, signer, serverKeys: this.#serverKeys, studyId, epoch, attempt, timeoutMs,
      program: this.#program, unusableMax: this.#sealed.unusableMax,
      charge: async () => {
        this.#isReleasing = true;
        charged.result = await this.#charge();
        if (!charged.result.isMine) {
          throw new InvariantError('an epoch that was charged before is not opened again');
        }
      },
    }, manifest, shares);
    await this.#release(links, outcome, charged.result!.balance);
    this.#isReleasing = false;
  }

  /** With public participation it is public that nobody came: nothing is charged. */
  async #isFree({ entries }: Manifest): Promise<boolean> {
    return this.#document.participation === 'public' && entries.length === 0;
  }

  async #charge(): Promise<ChargeResult> {
    const { store } = this.context;
    const { studyId } = this.identity;
    const { epoch, closesAtMs, state } = this.#record!;
    if (state === 'open') await store.beginClose(studyId, epoch);
    const result = await store.chargeEpoch(
      studyId, epoch, eventsToJson(this.definition.events), closesAtMs,
    );
    await this.#refreshRecord();
    this.#boxKeys = null;
    return result;
  }

  /** Makes the body of the release, gets all three signatures, and stores it. */
  async #release(
    links: PeerLinks, outcome: Outcome, balance: ChargeResult['balance'],
  ): Promise<void> {
    const { clock, releaseTickMs, signer } = this.context;
    const { server, timeoutMs } = this.options;
    const { plan } = this.definition.questions[0];
    const { epoch, closesAtMs, rho, delta } = this.#record!;
    const published = publishable(outcome, plan, this.#document.columns.length);
    const fromMs = Math.max(closesAtMs, lastTick(clock.nowMs(), releaseTickMs));
    await new Deadline(clock, fromMs, releaseTickMs).reached();
    const own = signRelease(this.definition, signer, {
      studyId: this.identity.studyId, index: this.#count, epoch, rho, delta, balance,
      outcomes: [published], previousDigest: this.#digest, closedAtMs: closesAtMs,
      mechanisms: eventsToJson(this.definition.events), serverKey: this.#serverKeys[0]!,
    });
    // The waits of the three may differ by a tick, and one tick is a minute at most.
    await this.#store(
      await cosigned(own, server, this.#serverKeys, links, timeoutMs + 2 * releaseTickMs));
    const { logger } = this.context;
    logger.info({
      study: this.#name, epoch, release: own.index, outcome: published.kind,
      ...(published.kind === 'refused' && { reason: published.reason }),
    }, 'a release is published');
  }

  async #store(release: Parameters<HubContext['store']['storeRelease']>[0] extends infer R
    ? Omit<R, 'nowMs' | 'series'> : never): Promise<void> {
    const { store, clock, emit } = this.context;
    await store.storeRelease({ ...release, nowMs: clock.nowMs() });
    this.#count += 1;
    this.#digest = release.digest;
    this.#record = null;
    emit({ kind: 'release', studyId: this.identity.studyId, release });
    // Erases the boxes and the secret of the epoch's box key.
    await this.options.retention.sweep();
  }
}

function isOwnFailure(error: unknown): boolean {
  return error instanceof StorageError || error instanceof InvariantError
    || !(error instanceof Error);
}

function behind(server: ServerIndex): KeelsonError {
  return new KeelsonError('invalid-study', `the log of server ${server} lacks more than one `
    + 'release: its data folder is older than it was; restore it, or begin a new study');
}
