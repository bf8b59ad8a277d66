import { fromHex } from '../../../../src/base/bytes.js';
import { signing } from '../../../../src/signing/node.js';
import { signHello, verifyReady, type Signer } from '../../../../src/signing/index.js';
import {
  decodeClientFrame, decodeServerFrame, encodeClientFrame, encodeOnce, splitFrames,
} from '../../../../src/wire/index.js';
import { BrokenPromise, must } from '../frames/oracle.js';
import { enrolmentOf, serverSigner } from '../frames/study.js';
import type { Tally } from '../frames/tally.js';
import type { Answered } from './sender.js';

/** A Hello, and the nonces that it signs. */
interface Asked {
  readonly serverNonce: Uint8Array;
  readonly clientNonce: Uint8Array;
}

/** Statuses and codes of section 9 of the protocol, as far as a sender can cause them. */
const errors: Readonly<Record<number, readonly string[]>> = {
  400: ['malformed', 'nonce-missing', 'bad-request', 'cut-off'], 403: ['unknown-host'],
  408: ['too-slow'], 409: ['stale-nonce'], 413: ['too-large'], 415: ['wrong-content-type'],
  429: ['rate-limited'], 503: ['overloaded', 'shutting-down'],
};

/** Answers that only a channel gives, since they tell how a key stands. */
const standings: readonly string[] = ['quarantined', 'contributor-budget-exhausted'];

/** One contributor in one study that uploads: makes Hellos, and judges what is answered. */
export class UploadPeer {
  /** As a channel of a socket, for those who make frames. It is 1 in each request. */
  readonly channel = 1;
  sequence = 1n;
  /** Nonces that it got and did not use. */
  readonly nonces: string[] = [];
  /** Every Hello that it made, by its nonce of the server. */
  private readonly asked: Asked[] = [];

  constructor(
    readonly signer: Signer, readonly studyId: Uint8Array,
    private readonly isEnrolledStudy: boolean, private readonly tally: Tally,
    private readonly issued: Set<string>,
  ) {}

  /** A Hello as it should be, for a nonce of the server. */
  hello(nonce: string): Uint8Array {
    const serverNonce = fromHex(nonce);
    const clientNonce = signing.randomBytes(32);
    this.asked.push({ serverNonce, clientNonce });
    const { studyId, signer: { publicKey } } = this;
    const context = { serverKey: serverSigner.publicKey, studyId };
    const signature = signHello(this.signer, context, { serverNonce, clientNonce });
    const enrolment = enrolmentOf(publicKey).token;
    return encodeClientFrame({
      kind: 'hello', studyId, publicKey, clientNonce, signature, enrolment,
    });
  }

  /**
   * @param nonce that the request had; undefined for a beginning.
   * @throws BrokenPromise for an answer that no server gives.
   */
  judge(answer: Answered | null, nonce: string | undefined): void {
    if (answer === null) return this.tally.count('no answer');
    const { status, body } = answer;
    if (answer.nonce !== undefined) {
      must(!this.issued.has(answer.nonce), 'no two nonces are equal');
      this.issued.add(answer.nonce);
      this.nonces.push(answer.nonce);
    }
    if (this.#isError(answer)) {
      return must((status === 409) === (answer.nonce !== undefined), 'a stale nonce is replaced');
    }
    must(answer.nonce !== undefined, 'an answer brings the next nonce');
    const [first, ...rest] = splitFrames(body, 2 ** 26).map((bytes) => decodeServerFrame(bytes));
    if (nonce === undefined) return must(first?.kind === 'welcome', 'a beginning gets Welcome');
    if (first === undefined) return must(false, 'an answer has a frame');
    if (first.kind === 'refusal') {
      must(first.channel === 0 && rest.length === 0, 'a refused Hello is the only frame');
      return this.tally.count(`refusal ${first.code}`);
    }
    if (first.kind !== 'ready') throw new BrokenPromise(`an answer begins with ${first.kind}`);
    this.judgeReady(first, nonce);
    this.sequence = first.nextSequence > this.sequence ? first.nextSequence : this.sequence;
    for (const frame of rest) {
      must(frame.kind !== 'ready' && frame.kind !== 'welcome', 'there is one Ready');
      if (frame.kind === 'refusal') this.tally.count(`refusal ${frame.code}`);
      if (frame.kind !== 'ack') continue;
      if (frame.accepted.length > 0) this.tally.count('accepted', frame.accepted.length);
      for (const rejection of frame.rejections) this.tally.count(`rejected ${rejection.code}`);
    }
  }

  /** The batch of a signed frame, as who sends once would send it. */
  once(frame: Uint8Array): Uint8Array {
    const batch = decodeClientFrame(frame);
    if (batch.kind !== 'batch') throw new Error('only a batch is sent once');
    const { studyId, signer: { publicKey } } = this;
    const { token } = enrolmentOf(publicKey);
    return encodeOnce({
      studyId, publicKey, body: batch.body, signature: batch.signature,
      ...(token !== undefined && { enrolment: token }),
    });
  }

  /**
   * The same for a contribution without a channel.
   * @param isWhole its bytes are those that `once` made.
   */
  judgeOnce(answer: Answered | null, isWhole: boolean): void {
    if (answer === null) return this.tally.count('no answer');
    must(answer.nonce === undefined, 'who sends once gets no nonce');
    if (this.#isError(answer)) return must(answer.status !== 409, 'without a nonce none is stale');
    const frame = decodeServerFrame(answer.body);
    if (frame.kind === 'refusal') return this.tally.count(`once: refusal ${frame.code}`);
    if (frame.kind !== 'ack') throw new BrokenPromise(`who sends once gets ${frame.kind}`);
    const { accepted, rejections } = frame;
    must(accepted.length + rejections.length === 1, 'a batch sent once has one verdict');
    must(frame.channel === 0 && frame.ownSpend === undefined && frame.credit === 0,
      'a verdict without a channel says nothing of its sender');
    must(accepted.length === 0 || !isWhole || !this.isEnrolledStudy
      || enrolmentOf(this.signer.publicKey).isGood, 'a batch sent once there has a token');
    if (accepted.length > 0) this.tally.count('once: accepted');
    for (const { code } of rejections) {
      must(!standings.includes(code), `${code} tells a stranger how the key stands`);
      this.tally.count(`once: rejected ${code}`);
    }
  }

  #isError({ status, code }: Answered): boolean {
    this.tally.count(status === 200 ? 'answered' : `status ${status} ${code ?? ''}`);
    if (status === 200) return false;
    // Node itself answers what is no HTTP, without a code.
    const isKnown = code === undefined ? status === 400 : errors[status]?.includes(code) === true;
    must(isKnown, `no sender causes status ${status} ${code}`);
    return true;
  }

  /** Ready goes to the one who signed this nonce, and to nobody else. */
  private judgeReady(
    ready: { publicKey: Uint8Array; studyId: Uint8Array; signature: Uint8Array }, nonce: string,
  ): void {
    this.tally.count('ready');
    const { publicKey } = this.signer;
    must(!this.isEnrolledStudy || enrolmentOf(publicKey).isGood, 'a channel there has a token');
    const verifier = signing.createVerifier(serverSigner.publicKey);
    const isProven = this.asked.some(({ serverNonce, clientNonce }) =>
      Buffer.from(serverNonce).toString('hex') === nonce && verifyReady(
        verifier, this.studyId, publicKey, { serverNonce, clientNonce }, ready.signature));
    must(isProven, 'Ready answers a Hello for the nonce of its request');
  }
}
