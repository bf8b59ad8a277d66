import { signing } from '#signing';
import { concatBytes, fromHex } from '../../src/base/bytes.js';
import { InvariantError, KeelsonError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import { failedOutcome, namedOutcome, type QuestionResult } from '../../src/questions/run.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { verifiedBoxKeys } from '../../src/sealed/shares/statements.js';
import { ProofError } from '../../src/sealed/proof/verifier.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import type { EpochStanding, PeerFrame } from '../../src/wire/peer-messages.js';
import { partsOfError } from '../epochs/messages.js';
import { interrupted, publishable } from '../epochs/outcome.js';
import type { ChargeResult } from '../store/contract.js';
import type { HubContext } from '../studies/context.js';
import type { StudyDefinition } from '../studies/definition.js';
import { signRelease } from '../studies/release/release-body.js';
import { Deadline, lastTick, nextTimes, type EpochTimes } from '../studies/release/schedule.js';
import { runAttempt } from './attempt.js';
import { cosigned } from './cosign.js';
import { openShares, receiveEntries, sendEntries, type Manifest } from './entries.js';
import { PeerLostError, type PeerLink, type PeerLinks } from './peer-link.js';
import type { SealedEpochs } from './sealed-epochs.js';

/** The parts of a study that its session needs. */
export interface SessionOptions {
  readonly context: HubContext;
  readonly definition: StudyDefinition;
  readonly epochs: SealedEpochs;
  /** One for each question, in the order of the study's facts. */
  readonly programs: readonly SealedProgram[];
  readonly server: ServerIndex;
  readonly links: PeerLinks;
  /** The time for which another server may be silent, in milliseconds. */
  readonly timeoutMs: number;
  /** True if no epoch may open yet. */
  readonly isHeld: () => boolean;
  /** True if this server is stopping. */
  readonly isOver: () => boolean;
  /** At the front: whether nothing more will happen. */
  readonly isDone: () => boolean;
  /** At the front, when nothing more will happen. @returns false when it was reported before. */
  readonly stop: () => Promise<boolean>;
}

/** Most that the clocks of two servers may be apart, in milliseconds: as in `keelson doctor`. */
const clocksApartMs = 60_000;

type Standing = Extract<PeerFrame, { readonly kind: 'standing' }>;

/** The work of a sealed study's three servers while they are connected: see SealedStudy. */
export class Session {
  /** A charge was made, and its release is under way: it must not be cut. */
  isReleasing = false;
  /** One of the three holds the study: no epoch opens in this session. */
  isSomeoneHeld = false;
  #stopWaiting: (() => void) | null = null;

  constructor(private readonly options: SessionOptions) {}

  /** Ends a wait early: there is something else to do. */
  wake(): void {
    this.#stopWaiting?.();
  }

  /** Cuts the links: all three begin a new session. */
  end(): void {
    for (const link of this.options.links.values()) link.close('ended');
  }

  async run(): Promise<void> {
    const { epochs, links } = this.options;
    const theirs = await this.#exchangeStandings(links);
    await this.#catchUp(links, theirs);
    await this.#adoptLapse(theirs);
    if (epochs.record?.state === 'charged' || this.#someoneCharged(theirs)) {
      await this.#releaseInterrupted(links);
    }
    await this.#endHeld(theirs);
    this.isSomeoneHeld = [...theirs.values()].some(({ heldEpoch }) => heldEpoch !== 0n);
    if (this.#isFront) await this.#lead(links);
    else await this.#follow(links);
  }

  get #epochs(): SealedEpochs {
    return this.options.epochs;
  }

  get #isFront(): boolean {
    return this.options.server === 0;
  }

  #standing(): Standing {
    const state: EpochStanding = this.#epochs.record === null ? 'done'
      : this.#epochs.record.state === 'charged' ? 'charged' : 'open';
    return {
      kind: 'standing', epoch: this.#epochs.lastEpoch, state, releases: BigInt(this.#epochs.count),
      study: this.#epochs.state, heldEpoch: this.#epochs.heldEpoch ?? 0n,
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
      const { studyId } = this.#epochs;
      const [last] = lacking.length === 0 ? []
        : await this.options.context.store.releases(studyId, Number(most) - 1, 1);
      for (const each of lacking) {
        if (of(each) < most - 1n) throw behind(each);
        links.get(each)!.send({ kind: 'released', body: last!.body, signature: last!.signature });
      }
      return;
    }
    if (of(server) < most - 1n) throw behind(server);
    const { body, signature } = await links.get(giver)!.receive('released', timeoutMs);
    await this.#epochs.adoptRelease(body, signature);
  }

  /** The front let an epoch lapse while this server was away. */
  async #adoptLapse(all: ReadonlyMap<ServerIndex, Standing>): Promise<void> {
    const front = all.get(0)!;
    if (this.#isFront) return;
    if (front.study !== this.#epochs.state) {
      this.#epochs.state = front.study;
      await this.options.context.store.setStudyState(this.#epochs.studyId, front.study);
    }
    const record = this.#epochs.record;
    if (record === null || record.state === 'charged') return;
    const isOver = front.epoch > record.epoch
      || (front.epoch === record.epoch && front.state === 'done');
    if (isOver) await this.#epochs.lapse();
  }

  /** True if another server charged the epoch of this one and has no release of it. */
  #someoneCharged(all: ReadonlyMap<ServerIndex, Standing>): boolean {
    const most = servers.reduce((high, each) =>
      (all.get(each)!.releases > high ? all.get(each)!.releases : high), 0n);
    const charged = servers.find((each) =>
      all.get(each)!.state === 'charged' && all.get(each)!.releases === most);
    if (charged === undefined) return false;
    if (all.get(charged)!.epoch === this.#epochs.record?.epoch) return true;
    throw new KeelsonError('invariant', `server ${charged} charged epoch `
      + `${all.get(charged)!.epoch}, which this server does not have`);
  }

  /**
   * An epoch in which one of the three found a wrong message, and which nobody charged, lapses at
   * all three: nothing of it was opened. A server that says so falsely could as well stop.
   */
  async #endHeld(all: ReadonlyMap<ServerIndex, Standing>): Promise<void> {
    const { record } = this.#epochs;
    if (record === null) return;
    const isHeld = [...all.values()].some(({ heldEpoch }) => heldEpoch === record.epoch);
    if (isHeld) await this.#epochs.lapse();
  }

  async #releaseInterrupted(links: PeerLinks): Promise<void> {
    this.isReleasing = true;
    const { balance } = await this.#epochs.charge();
    await this.#release(links, this.options.definition.questions.map(() => interrupted), balance);
    this.isReleasing = false;
  }

  /** At the front: epochs follow one another as long as the session lasts. */
  async #lead(links: PeerLinks): Promise<void> {
    while (!this.options.isOver() && !this.options.isDone()) {
      if (this.#epochs.record === null) await this.#openNext(links);
      if (this.#epochs.record === null) continue;
      // Also for an epoch that is still open: the others may have refused it all the time.
      if (this.options.context.clock.nowMs() >= this.#epochs.patientUntilMs()) {
        await this.#epochs.giveUp();
        throw new PeerLostError('stopped', 'patience has ended for this epoch');
      }
      if (this.#epochs.record.state === 'open') {
        await this.#shareKeys(links);
        await this.#untilClose(links);
        if (this.options.isOver()) return;
        await this.#epochs.closeEpoch();
      }
      for (const link of links.values()) {
        link.send({ kind: 'gather', epoch: this.#epochs.record.epoch });
      }
      await this.#attempt(links);
    }
    // A new session reports the state of the study to the others. Then the log can be read on.
    if (!this.options.isOver() && !await this.options.stop()) await this.#waitFor(links, null);
  }

  /** At the two others: carries out the front's requests. */
  async #follow(links: PeerLinks): Promise<void> {
    const front = links.get(0)!;
    while (!this.options.isOver()) {
      const frame = await front.next(null);
      if (frame.kind === 'openEpoch') await this.#openAsked(front, frame);
      else if (frame.kind === 'gather' && frame.epoch === this.#epochs.record?.epoch) {
        if (this.#epochs.record.state === 'open') await this.#epochs.closeEpoch();
        await this.#attempt(links);
      } else {
        const why = `server 0 sent ${frame.kind} at the wrong time`;
        throw new PeerLostError('unexpected', why, 0);
      }
    }
  }

  // ---- opening

  async #openNext(links: PeerLinks): Promise<void> {
    const { clock, releaseTickMs } = this.options.context;
    if (this.options.isHeld() || this.isSomeoneHeld) return this.#waitFor(links, null);
    const { document: { epoch }, nextOpenMs } = this.#epochs;
    const times = nextTimes(epoch, clock.nowMs(), [nextOpenMs], releaseTickMs);
    const retryAtMs = await this.#epochs.open(this.#epochs.lastEpoch + 1n, times);
    if (retryAtMs !== null) await this.#waitFor(links, retryAtMs - clock.nowMs());
  }

  /** The front asks this server to open an epoch, or to repeat its key for the open one. */
  async #openAsked(
    front: PeerLink, asked: Extract<PeerFrame, { readonly kind: 'openEpoch' }>,
  ): Promise<void> {
    const { epoch } = asked;
    const times = { opensAtMs: Number(asked.opensAtMs), closesAtMs: Number(asked.closesAtMs) };
    const { epoch: length } = this.#epochs.document;
    const everyMs = 'everyMs' in length ? length.everyMs : 0;
    if (this.#epochs.record === null) {
      if (epoch <= this.#epochs.lastEpoch || times.closesAtMs - times.opensAtMs !== everyMs) {
        throw new PeerLostError('unexpected', `server 0 asks for epoch ${epoch} with other times`, 0);
      }
      this.#checkOpening(times);
      await this.#epochs.open(epoch, times);
    }
    const record = this.#epochs.record;
    if (record === null) {
      throw new KeelsonError('budget-exhausted', 'the budget of this server pays for no epoch');
    }
    if (record.epoch !== epoch || record.closesAtMs !== times.closesAtMs) {
      throw new PeerLostError('unexpected', `server 0 asks for epoch ${epoch}, and this server has `
        + `epoch ${record.epoch}`, 0);
    }
    const signed = this.#epochs.ownBoxKey(record);
    front.send({
      kind: 'epochKey', epoch, boxKey: signed.subarray(0, 32), signature: signed.subarray(32),
    });
  }

  /**
   * A server stores no time that its own clock does not bear out. Otherwise one wrong clock at the
   * front would put dates into three stores, and the others would not start again with theirs.
   */
  #checkOpening({ opensAtMs, closesAtMs }: EpochTimes): void {
    const { sealed: { patienceMs } } = this.#epochs;
    const nowMs = this.options.context.clock.nowMs();
    if (opensAtMs > nowMs + clocksApartMs) throw this.#clocksApart('opens', opensAtMs, nowMs);
    if (closesAtMs + patienceMs < nowMs - clocksApartMs) {
      throw this.#clocksApart('closes', closesAtMs, nowMs);
    }
  }

  #clocksApart(what: 'opens' | 'closes', atMs: number, nowMs: number): KeelsonError {
    const [front] = this.#epochs.sealed.servers;
    const textOf = (ms: number): string => new Date(ms).toISOString();
    return new KeelsonError('clock-implausible', `the epoch that ${front.name} (server 0) `
      + `opens now ${what} at ${textOf(atMs)}, and the clock of this `
      + `server says ${textOf(nowMs)}: set the clock that is wrong, and start its server `
      + 'once with --confirm-clock');
  }

  /** The front gets the box keys of both others, and accepts entries from now on. */
  async #shareKeys(links: PeerLinks): Promise<void> {
    const record = this.#epochs.record!;
    const { epoch, opensAtMs, closesAtMs } = record;
    for (const link of links.values()) {
      link.send({
        kind: 'openEpoch', epoch, opensAtMs: BigInt(opensAtMs), closesAtMs: BigInt(closesAtMs),
      });
    }
    const keys = [this.#epochs.ownBoxKey(record)];
    for (const server of [1, 2] as const) {
      const link = links.get(server)!;
      const answer = await link.receive('epochKey', this.options.timeoutMs);
      keys.push(concatBytes(answer.boxKey, answer.signature));
    }
    const { studyId } = this.#epochs;
    verifiedBoxKeys(signing, fromHex(studyId), epoch, this.#epochs.serverKeys, keys);
    if (this.#epochs.boxKeys !== null) return;
    this.#epochs.boxKeys = keys;
    this.options.context.emit({ kind: 'epoch-opened', studyId, epoch, closesAtMs });
  }

  async #untilClose(links: PeerLinks): Promise<void> {
    const { clock } = this.options.context;
    while (!this.options.isOver() && clock.nowMs() < this.#epochs.record!.closesAtMs) {
      await this.#waitFor(links, this.#epochs.record!.closesAtMs - clock.nowMs());
    }
  }

  /** Waits while both links stay open. @throws PeerLostError when one closes. */
  async #waitFor(links: PeerLinks, waitMs: number | null): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = waitMs === null ? undefined
        : this.options.context.clock.after(Math.max(1, waitMs), resolve);
      this.#stopWaiting = () => { cancel?.(); resolve(); };
      for (const link of links.values()) void link.closed.then(() => this.#stopWaiting?.());
    });
    this.#stopWaiting = null;
    const lost = [...links.values()].find((link) => !link.isOpen);
    if (lost !== undefined) throw lost.lost!;
  }

  // ---- the release

  async #attempt(links: PeerLinks): Promise<void> {
    const { store, clock, signer, drained } = this.options.context;
    const { server, timeoutMs, programs } = this.options;
    const { studyId, serverKeys } = this.#epochs;
    await drained();
    const attempt = await store.noteRecovery(studyId, this.#epochs.record!.epoch);
    const { epoch, assignmentKey } = this.#epochs.record!;
    const manifest: Manifest = this.#isFront
      ? await sendEntries(store, studyId, epoch, links.values())
      : await receiveEntries(links.get(0)!, timeoutMs);
    if (await this.#isFree(manifest)) return this.#epochs.lapse();
    const shares = await openShares(manifest.entries, {
      server, forms: programs.map(({ form }) => form), boxSecret: assignmentKey,
      frontKey: serverKeys[0]!, studyId: fromHex(studyId), epoch,
    }, clock);
    const charged: { result?: ChargeResult } = {};
    const results = await this.#holdingIfWrong(runAttempt({
      server, links, signer, serverKeys, studyId, epoch, attempt, timeoutMs, programs,
      charge: async () => {
        this.isReleasing = true;
        charged.result = await this.#epochs.charge();
        if (!charged.result.isMine) {
          throw new InvariantError('an epoch that was charged before is not opened again');
        }
      },
    }, manifest, shares));
    await this.#release(links, this.#outcomesOf(results), charged.result!.balance);
    this.isReleasing = false;
  }

  /**
   * A wrong message is no accident of the network: a server runs changed code, or its memory fails.
   * Another attempt would be another chance for it, so there is none before the operator's word.
   */
  async #holdingIfWrong<T>(attempt: Promise<T>): Promise<T> {
    try {
      return await attempt;
    } catch (error) {
      if (error instanceof ProofError && error.reason === 'proof') this.#epochs.hold();
      throw error;
    }
  }

  /** With public participation it is public that nobody contributed: nothing is charged. */
  async #isFree({ entries }: Manifest): Promise<boolean> {
    return this.#epochs.document.participation === 'public' && entries.length === 0;
  }

  /** The published outcome of each question. Only the operator sees why one failed. */
  #outcomesOf(results: readonly QuestionResult[]): readonly Outcome[] {
    const { context: { logger }, definition: { document: { study }, questions } } = this.options;
    return results.map((result, i) => {
      const planned = questions[i]!;
      const { question, plan } = planned;
      if (result.kind === 'answered') {
        return publishable(namedOutcome(result.outcome, planned), plan, question.columns.length);
      }
      const { code, message } = partsOfError(result.failure);
      const { epoch } = this.#epochs.record!;
      logger.error(
        { study, epoch, question: question.name, code, message },
        'the release of a question failed; the others go on',
      );
      return failedOutcome;
    });
  }

  /** Makes the body of the release, gets all three signatures, and stores it. */
  async #release(
    links: PeerLinks, outcomes: readonly Outcome[], balance: ChargeResult['balance'],
  ): Promise<void> {
    const { clock, releaseTickMs, signer } = this.options.context;
    const { server, timeoutMs } = this.options;
    const { epoch, closesAtMs, rho, delta } = this.#epochs.record!;
    const fromMs = Math.max(closesAtMs, lastTick(clock.nowMs(), releaseTickMs));
    await new Deadline(clock, fromMs, releaseTickMs).reached();
    const own = signRelease(this.options.definition, signer, {
      studyId: this.#epochs.studyId, index: this.#epochs.count, epoch, rho, delta, balance,
      outcomes, previousDigest: this.#epochs.digest, closedAtMs: closesAtMs,
      mechanisms: eventsToJson(this.options.definition.events),
      serverKey: this.#epochs.serverKeys[0]!,
    });
    // The waits of the three may differ by a tick, and one tick is a minute at most.
    await this.#epochs.store(
      await cosigned(own, server, this.#epochs.serverKeys, links, timeoutMs + 2 * releaseTickMs));
    const { context: { logger }, definition: { questions } } = this.options;
    const answers = Object.fromEntries(outcomes.map((outcome, i) => [questions[i]!.question.name, {
      outcome: outcome.kind, ...(outcome.kind === 'refused' && { reason: outcome.reason }),
    }]));
    logger.info({
      study: this.#epochs.document.study, epoch, release: own.index, questions: answers,
    }, 'a release is published');
  }
}

function behind(server: ServerIndex): KeelsonError {
  return new KeelsonError('invalid-study', `the log of server ${server} lacks more than one `
    + 'release: its data folder is older than it was; restore it, or begin a new study');
}
