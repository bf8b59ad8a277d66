import type { IncomingMessage, ServerResponse } from 'node:http';
import { toHex } from '../../src/base/bytes.js';
import type { WireCode } from '../../src/base/error-codes.js';
import { WireError } from '../../src/base/errors.js';
import { encodeServerFrame, viewOnce, type Once, type ServerFrame } from '../../src/wire/index.js';
import type { CheckedBatch } from '../checks/contract.js';
import { HttpError } from '../operator/http-error.js';
import type { StudyView, SubmitResult, VerifiedBatch } from '../studies/contract.js';
import { readBatch } from './batches.js';
import type { BatchSetup } from './channel.js';
import type { ListenerContext } from './context.js';
import {
  alwaysEnrolled, claimedEnrolment, isEnrolmentOver, mayCountIn, type EnrolmentClaim,
} from './enrolment.js';
import { setupOf, verifierOf } from './hello.js';
import { refusalText, takesEncryptedOnly } from './refusal-texts.js';
import {
  BodyParts, BodyRequests, checkBodyRequest, contentType, readInTime, tooLarge,
} from './request-body.js';
import { countedRefusal, welcomeOf } from './server-frames.js';
import { countedVerdict } from './verdicts.js';

/** The sender of a batch that only its signatures can still invalidate. */
interface Sender {
  readonly view: StudyView;
  readonly setup: BatchSetup;
  /** Null when the study needs no token. */
  readonly claim: EnrolmentClaim | null;
}

/** The verdict on a batch, or the reason why it has none. */
type Judged = { readonly frame: ServerFrame; readonly code: string };

/**
 * Answers of the open epoch to a key that it accepts nothing from. Each would reveal the state of
 * the key, so `not-counted` replaces it.
 */
const standings: ReadonlySet<WireCode> = new Set<WireCode>([
  'quarantined', 'contributor-budget-exhausted', 'contribution-full',
]);

/**
 * Everything that a client must know before it sends. It cannot be used for a Hello: it has no
 * nonce.
 */
export function welcomeOfOnce(context: ListenerContext, view: StudyView): Uint8Array {
  return encodeServerFrame(welcomeOf(context, new Uint8Array(32), [view]));
}

/**
 * Contributions of people who send once: POST /v1/once. One request has one batch, and its answer
 * is one frame: an Ack with the verdict, or a Refusal.
 */
export class OnceRequests extends BodyRequests {
  readonly #verdicts = new OnceVerdicts(this.context);

  protected async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { context } = this;
    const { limits } = context;
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After');
    checkBodyRequest(context, this.rules, request, limits.frameBytes);
    const address = context.clientAddress(request);
    // It costs one verification, as a Hello does. Behind a trusted proxy it is the address of the
    // person, so those that share a proxy share no limit.
    if (!context.helloRates.take(address)) {
      throw new HttpError(429, 'rate-limited', refusalText('rate-limited', { limits }));
    }
    if ('expect' in request.headers) response.writeContinue();
    const once = onceIn(await this.#read(request));
    if (context.stopping) {
      throw new HttpError(503, 'shutting-down', refusalText('shutting-down', { limits }));
    }
    const frame = await this.#verdicts.judge(once);
    if (frame.kind === 'refusal') await this.#rest(address);
    response.setHeader('Content-Type', contentType);
    response.end(encodeServerFrame(frame));
  }

  async #read(request: IncomingMessage): Promise<Uint8Array> {
    const { frameBytes } = this.context.limits;
    const parts = new BodyParts(request);
    const chunks: Uint8Array[] = [];
    const held = { heldBytes: 0 };
    return readInTime(this.context, this.unfinished, {
      request, parts, held, read: async () => {
        for await (const part of parts) {
          held.heldBytes += part.length;
          if (held.heldBytes > frameBytes) throw tooLarge(frameBytes);
          chunks.push(part);
        }
        return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      },
    });
  }

  /** Clients with many refusals have to wait, so that trying is slow. */
  async #rest(address: string): Promise<void> {
    const { clock, rests } = this.context;
    const waitMs = rests.take(address);
    await new Promise<void>((resolve) => { clock.after(waitMs, resolve); });
  }
}

/**
 * Verdicts on batches that come without a channel, one frame for each: an Ack or a Refusal.
 *
 * Claim: who repeats or delivers somebody else's batch makes nothing count twice, and learns of its
 * contributor no more than whether these bytes count. Proof: the signature names server, study,
 * key, epoch, sequence and body, so the batch is judged as its own copy on a channel would be, and
 * a settled sequence is answered from the replay window. There is no Hello, and so no proof that
 * the sender holds the key now. Therefore the answer has no next sequence, no holes and no
 * spending, and the verdicts that depend on how the key stands (withdrawn or complete, quarantined,
 * own budget spent) are one, `not-counted`. Whether a list of keys has this one is asked after the
 * signature, as for Hello, so that nobody can try keys of others. Nothing in the answer depends on
 * what others sent, but for the limits of the server, of new keys and of the people of an
 * epoch, as on a channel.
 */
export class OnceVerdicts {
  constructor(private readonly context: ListenerContext) {}

  /** Resolves when the batch has its verdict: if it was accepted, it is durable then. */
  async judge(once: Once): Promise<ServerFrame> {
    const sender = this.#senderOf(once);
    if ('kind' in sender) return sender;
    const { clock, metrics, tracing, settled } = this.context;
    const startedMs = clock.monotonicMs();
    const trace = tracing.begin('keelson.batch', { 'keelson.study': sender.setup.studyName });
    trace.step('check');
    metrics.batches.add(1, { form: 'once' });
    const { totals } = metrics;
    const bytes = once.body.length;
    totals.queuedBatches += 1;
    totals.queuedBytes += bytes;
    try {
      const checked = await this.#checked(sender, once);
      const judged = checked === null ? this.#refuse('bad-signature', once)
        : await this.#verdict(sender, once, checked, () => {
          trace.step('store');
        });
      if (judged.frame.kind === 'ack') {
        metrics.ackSeconds.observe((clock.monotonicMs() - startedMs) / 1000);
      }
      trace.end({ 'keelson.code': judged.code });
      return judged.frame;
    } finally {
      totals.queuedBatches -= 1;
      totals.queuedBytes -= bytes;
      settled.fire();
    }
  }

  /** The checks that cost no signature, cheapest first. @returns the refusal, if one fails. */
  #senderOf(once: Once): Sender | ServerFrame {
    const { context } = this;
    const view = context.hub.study(toHex(once.studyId));
    if (view === undefined) return this.#refuse('unknown-study', once).frame;
    if (view.document.sealed !== undefined) {
      return this.#refuse('unsupported', once, 'a sealed study takes entries on a channel only: '
        + 'send Hello over WebSocket, or to /v1/batches').frame;
    }
    if (context.encryptedOnly) return this.#refuse('unsupported', once, takesEncryptedOnly).frame;
    const claim = claimedEnrolment(view.document, once.enrolment);
    if (typeof claim === 'string') return this.#refuse(claim, once).frame;
    const verifier = verifierOf(once.publicKey);
    if (verifier === undefined) return this.#refuse('invalid-key', once).frame;
    const setup = setupOf(context, view, verifier, claim ?? alwaysEnrolled);
    if (isEnrolmentOver(setup.enrolled, view, context.clock.nowMs())) {
      return this.#refuse('enrolment-expired', once).frame;
    }
    return { view, setup, claim };
  }

  #checked({ setup }: Sender, { body, signature }: Once): Promise<CheckedBatch | null> {
    return new Promise((resolve) => {
      this.context.checks.check(setup, { kind: 'batch', channel: 0, body, signature }, resolve);
    });
  }

  /** The checks after the signature of the batch. */
  async #verdict(
    { setup, claim }: Sender, once: Once, checked: CheckedBatch, stores: () => void,
  ): Promise<Judged> {
    const { hub, limits } = this.context;
    try {
      if (!hub.admits(setup.studyId, once.publicKey)) return this.#refuse('key-not-allowed', once);
      if (claim?.isIssuedTo(once.publicKey) === false) return this.#refuse('not-enrolled', once);
      // Read again: the study may have ended, or its epoch closed, while the signature was checked.
      const view = hub.study(setup.studyId);
      if (view === undefined) return this.#refuse('unknown-study', once);
      const batch = readBatch(setup, once.signature, checked, limits.rowsPerBatch);
      if (batch === undefined) return this.#refuse('malformed', once);
      stores();
      return this.#ack(setup, batch, await this.#submit(setup, view, batch));
    } finally {
      checked.release();
    }
  }

  /** @returns undefined when the batch could not be stored: its sequence was not consumed. */
  async #submit(
    { enrolled }: BatchSetup, view: StudyView, batch: VerifiedBatch,
  ): Promise<SubmitResult | undefined> {
    const { hub, logger } = this.context;
    if (!mayCountIn(enrolled, view, batch.epoch)) {
      return { verdict: 'rejected', code: 'epoch-not-open' };
    }
    try {
      return await hub.submit(batch);
    } catch (error) {
      logger.error({ err: error }, 'a batch could not be stored');
      return undefined;
    }
  }

  #ack(setup: BatchSetup, batch: VerifiedBatch, result: SubmitResult | undefined): Judged {
    const told = withoutStanding(setup, batch, result);
    const rejected = countedVerdict(this.context, setup, batch, told);
    const frame = {
      kind: 'ack', channel: 0,
      accepted: rejected === null ? [batch.sequence] : [],
      rejections: rejected === null ? [] : [rejected],
      epoch: this.context.hub.study(setup.studyId)?.epoch ?? 0n, credit: 0,
    } as const;
    return { frame, code: rejected?.code ?? result!.verdict };
  }

  #refuse(code: WireCode, { studyId, publicKey }: Once, fault?: string): Judged {
    const facts = { limits: this.context.limits, fault };
    return { frame: countedRefusal(this.context, code, { studyId, publicKey, facts }), code };
  }
}

/**
 * The verdict, without what it reveals about the key. A batch that is larger than a contribution is
 * `contribution-full` however the key stands.
 */
function withoutStanding(
  { facts: { rowsMax = Infinity } }: BatchSetup, { rows }: VerifiedBatch,
  result: SubmitResult | undefined,
): SubmitResult | undefined {
  if (result?.code === undefined || !standings.has(result.code)) return result;
  return { ...result, code: rows > rowsMax ? 'contribution-full' : 'not-counted' };
}

/** @throws HttpError for bytes that are no contribution. */
function onceIn(bytes: Uint8Array): Once {
  try {
    return viewOnce(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    const text = `${error.message}; see docs/reference/protocol.md, section 9`;
    throw new HttpError(400, error.code, text);
  }
}
