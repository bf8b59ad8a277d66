import { fromHex } from '../../src/base/bytes.js';
import {
  signBatch, signHello, signWithdrawal, verifyReady, type Signer,
} from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import {
  decodeServerFrame, encodeBatchBody, encodeClientFrame, encodeRows, joinFrames, splitFrames,
  type BatchBody, type ClientFrame, type Hello, type ServerFrame, type Welcome,
} from '../../src/wire/index.js';
import { newSigner } from './wire-client.js';

/** An answer to an upload: its frames, or its error. */
export interface UploadAnswer {
  readonly status: number;
  readonly nonce: string | null;
  readonly headers: Headers;
  readonly frames: readonly ServerFrame[];
  readonly code: string | undefined;
}

/** A contributor that uploads over HTTP, with no manners of its own. */
export class UploadClient {
  private constructor(
    readonly address: string, readonly studyId: string, readonly signer: Signer,
    readonly welcome: Welcome, public nonce: string,
  ) {}

  static async begin(
    address: string, studyId: string, signer = newSigner(),
  ): Promise<UploadClient> {
    const { frames: [welcome], nonce } = await post(address, {}, undefined);
    if (welcome?.kind !== 'welcome' || nonce === null) throw new Error('no Welcome');
    return new UploadClient(address, studyId, signer, welcome, nonce);
  }

  get context() {
    return { serverKey: this.welcome.serverKey, studyId: fromHex(this.studyId) };
  }

  hello(change: Partial<Hello> = {}, clientNonce = signing.randomBytes(32)): Hello {
    const nonces = { serverNonce: fromHex(this.nonce), clientNonce };
    return {
      kind: 'hello', studyId: this.context.studyId, publicKey: this.signer.publicKey, clientNonce,
      signature: signHello(this.signer, this.context, nonces), ...change,
    };
  }

  batch(sequence: bigint, change: Partial<BatchBody> = {}): ClientFrame {
    const body = encodeBatchBody({
      studyId: this.context.studyId, sequence, epoch: 7n, last: false, rows: 1, columns: 2,
      dataType: 'float64', data: encodeRows(Float64Array.of(1, 2), 'float64'), ...change,
    });
    const signature = signBatch(this.signer, this.context, signing.sha512(body));
    return { kind: 'batch', channel: 1, body, signature };
  }

  withdrawal(epoch: bigint): ClientFrame {
    const signature = signWithdrawal(this.signer, this.context, epoch);
    return { kind: 'withdraw', channel: 1, epoch, signature };
  }

  /** The bytes of a request with a Hello for the present nonce. */
  body(frames: readonly ClientFrame[], hello: Hello = this.hello()): Uint8Array {
    return joinFrames([hello, ...frames].map(encodeClientFrame));
  }

  /** Sends frames behind a Hello. The next nonce is that of the answer. */
  async send(...frames: ClientFrame[]): Promise<UploadAnswer> {
    return this.post(this.body(frames));
  }

  async post(
    body: Uint8Array | undefined, headers: Readonly<Record<string, string>> = {},
  ): Promise<UploadAnswer> {
    const answer = await post(this.address, { 'Keelson-Nonce': this.nonce, ...headers }, body);
    this.nonce = answer.nonce ?? this.nonce;
    return answer;
  }

  /** True if the answer begins with a Ready for this Hello. @param nonce that it was signed for. */
  proves(answer: UploadAnswer, { clientNonce }: Hello, nonce: string): boolean {
    const [ready] = answer.frames;
    return ready?.kind === 'ready' && verifyReady(
      signing.createVerifier(this.welcome.serverKey), this.context.studyId, this.signer.publicKey,
      { serverNonce: fromHex(nonce), clientNonce }, ready.signature,
    );
  }
}

/** One request. A header whose value is empty is left out. */
export async function post(
  address: string, headers: Readonly<Record<string, string>>, body: Uint8Array | undefined,
): Promise<UploadAnswer> {
  const given = { 'Content-Type': 'application/x-protobuf', ...headers };
  const response = await fetch(`${address}/v1/batches`, {
    method: 'POST',
    headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    body: body === undefined ? null : Uint8Array.from(body),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isOk = response.status === 200;
  const error = isOk ? undefined
    : JSON.parse(new TextDecoder().decode(bytes)) as { error: { code: string } };
  return {
    status: response.status, nonce: response.headers.get('Keelson-Nonce'),
    headers: response.headers, code: error?.error.code,
    frames: isOk ? splitFrames(bytes, 2 ** 26).map(decodeServerFrame) : [],
  };
}
