import { signing } from '#signing';
import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { eventsToJson } from '../../src/privacy/accounting/event-codec.js';
import { signSealedStatement } from '../../src/sealed/shares/statements.js';
import { boxKeysOf } from '../../src/signing/boxes.js';
import { decodeReleaseBody } from '../../src/wire/index.js';
import type { SealedFacts, StudyDocument } from '../../src/wire/study-document.js';
import type {
  ChargeResult, EpochRecord, ReleaseRecord, StudyRecord, StudyStateName,
} from '../store/contract.js';
import type { HubContext } from '../studies/context.js';
import type { StudyDefinition } from '../studies/definition.js';
import type { Retention } from '../studies/keep/retention.js';
import { isSignedByAll } from './cosign.js';
import { PeerLostError } from './peer-link.js';

/** The state of a sealed study in one server's store, and the only code that changes it. */
export class SealedEpochs {
  readonly document: StudyDocument;
  readonly sealed: SealedFacts;
  /** The Ed25519 keys of the three servers, in their order. */
  readonly serverKeys: readonly Uint8Array[];
  state: StudyStateName;
  /** Releases in the log. */
  count: number;
  /** SHA-512 of the last release body, hex. */
  digest: string;
  lastEpoch: bigint;
  /** The epoch that is neither released nor lapsed. */
  record: EpochRecord | null = null;
  /** The servers' box keys for the open epoch, while the front takes entries. */
  boxKeys: readonly Uint8Array[] | null = null;
  /** The planned opening of the next epoch: at the close of the last one. 0: not planned. */
  nextOpenMs = 0;

  constructor(
    private readonly context: HubContext, private readonly definition: StudyDefinition,
    /** Hex. */
    readonly studyId: string, record: StudyRecord, private readonly retention: Retention,
    private readonly isFront: boolean,
  ) {
    this.document = definition.document;
    this.sealed = this.document.sealed!;
    this.serverKeys = this.sealed.servers.map(({ key }) => fromHex(key));
    this.state = record.state;
    this.count = record.releaseCount;
    this.digest = record.lastDigest;
    this.lastEpoch = record.lastEpoch;
  }

  get #name(): string {
    return this.document.study;
  }

  /** Continues the work of an earlier process. */
  resume(unfinished: readonly EpochRecord[]): void {
    this.record = unfinished.at(-1) ?? null;
    if (this.record !== null) this.lastEpoch = this.record.epoch;
  }

  patientUntilMs(): number {
    return this.record!.closesAtMs + this.sealed.patienceMs;
  }

  /** @returns when the budget renews, if it does not pay now; else null. */
  async open(
    epoch: bigint, { opensAtMs, closesAtMs }: { opensAtMs: number; closesAtMs: number },
  ): Promise<number | null> {
    const { store, logger } = this.context;
    const { studyId } = this;
    const { contribution, late } = this.document;
    // The secret of the epoch's box key replaces the key that assigns groups: it is stored and
    // erased in the same way.
    const result = await store.openEpoch({
      studyId, epoch, opensAtMs, closesAtMs, ...this.definition.charge,
      rowsMax: contribution.rowsMax, late,
      assignmentKey: signing.randomBytes(32), workSeed: signing.randomBytes(32),
    });
    if (result.kind === 'opened') {
      this.record = await store.epoch(studyId, epoch);
      this.lastEpoch = epoch;
      this.nextOpenMs = closesAtMs;
      return null;
    }
    if (result.retryAtMs !== undefined) return result.retryAtMs;
    this.state = 'exhausted';
    logger.info({ study: this.#name }, 'the budget has no room for another epoch');
    return null;
  }

  /** 96 bytes: this server's box key for the epoch, and its signature. */
  ownBoxKey({ epoch, assignmentKey }: EpochRecord): Uint8Array {
    const { publicKey: boxKey } = boxKeysOf(assignmentKey);
    const signature = signSealedStatement(
      signing, this.context.signer, fromHex(this.studyId),
      { about: 'box-key', epoch, boxKey },
    );
    return concatBytes(boxKey, signature);
  }

  async closeEpoch(): Promise<void> {
    const { store } = this.context;
    const { studyId } = this;
    await store.beginClose(studyId, this.record!.epoch);
    await this.#refreshRecord();
    this.boxKeys = null;
    if (!this.isFront) return;
    this.context.emit({ kind: 'epoch-opened', studyId, epoch: 0n, closesAtMs: 0 });
  }

  async lapse(): Promise<void> {
    const { store, clock } = this.context;
    const { studyId } = this;
    const { epoch } = this.record!;
    await store.lapseEpoch(studyId, epoch, clock.nowMs());
    await store.purgeEpoch(studyId, epoch);
    this.record = null;
    this.boxKeys = null;
  }

  /**
   * Patience has ended. Before the first attempt nothing was opened anywhere: the epoch lapses.
   * Later another server may have opened something, so the epoch is charged.
   */
  async giveUp(): Promise<void> {
    const record = this.record!;
    const { logger } = this.context;
    const { study, epoch } = { study: this.#name, epoch: record.epoch };
    if (record.recoveries === 0) {
      await this.lapse();
      logger.warn({ study, epoch }, 'an epoch lapsed: the three servers did not meet in time');
    } else {
      await this.charge();
      logger.warn({ study, epoch }, 'an epoch ends as interrupted: its release did not succeed');
    }
  }

  /** The epoch in which a message of another server was found to be wrong; null for none. */
  get heldEpoch(): bigint | null {
    return this.context.heldStudies.epochOf(this.studyId);
  }

  /** Durable when it returns: no epoch opens before this server's operator resumes the study. */
  hold(): void {
    this.context.heldStudies.set(this.studyId, this.record!.epoch);
  }

  async charge(): Promise<ChargeResult> {
    const { store } = this.context;
    const { studyId } = this;
    const { epoch, closesAtMs, state } = this.record!;
    if (state === 'open') await store.beginClose(studyId, epoch);
    const result = await store.chargeEpoch(
      studyId, epoch, eventsToJson(this.definition.events), closesAtMs,
    );
    await this.#refreshRecord();
    this.boxKeys = null;
    return result;
  }

  /**
   * Stores a release that all three signed, this server too. It had charged before it signed; a
   * store that was set back since is charged again.
   */
  async adoptRelease(body: Uint8Array, signature: Uint8Array): Promise<void> {
    const { studyId } = this;
    const digest = toHex(signing.sha512(body));
    const { index, epoch, previousDigest } = decodeReleaseBody(body);
    const isNext = index === BigInt(this.count) && toHex(previousDigest) === this.digest
      && epoch === this.record?.epoch;
    if (!isNext || !isSignedByAll({ studyId, digest }, this.serverKeys, signature)) {
      throw new PeerLostError(
        'unexpected', 'a release of another server does not continue the log',
      );
    }
    await this.charge();
    await this.store({ studyId, index: Number(index), epoch, body, signature, digest });
  }

  async store(release: ReleaseRecord): Promise<void> {
    const { store, clock, emit } = this.context;
    await store.storeRelease({ ...release, nowMs: clock.nowMs() });
    this.count += 1;
    this.digest = release.digest;
    this.record = null;
    emit({ kind: 'release', studyId: this.studyId, release });
    // Erases the boxes and the secret of the epoch's box key.
    await this.retention.sweep();
  }

  async #refreshRecord(): Promise<void> {
    this.record = await this.context.store.epoch(this.studyId, this.record!.epoch);
  }
}
