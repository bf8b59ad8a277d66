import { fromHex } from '../../src/base/bytes.js';
import { signBatch, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import {
  decodeServerFrame, encodeBatchBody, encodeOnce, encodeRows, type BatchBody, type Once,
  type ServerFrame,
} from '../../src/wire/index.js';

/** An answer to a contribution without a channel: its one frame, or its error. */
export interface OnceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly frame: ServerFrame | undefined;
  readonly code: string | undefined;
  readonly text: string;
}

export interface OnceSender {
  readonly serverKey: Uint8Array;
  /** Hex. */
  readonly studyId: string;
  readonly signer: Signer;
}

/** A signed contribution of one row to epoch 7, unless told otherwise. */
export function onceOf(
  { serverKey, studyId, signer }: OnceSender, sequence = 1n, change: Partial<BatchBody> = {},
): Once {
  const id = fromHex(studyId);
  const body = encodeBatchBody({
    studyId: id, sequence, epoch: 7n, last: true, rows: 1, columns: 2, dataType: 'float64',
    data: encodeRows(Float64Array.of(1, 2), 'float64'), ...change,
  });
  const signature = signBatch(signer, { serverKey, studyId: id }, signing.sha512(body));
  return { studyId: id, publicKey: signer.publicKey, body, signature };
}

/** Sends it. @param given the message, or any other bytes. */
export async function sendOnce(
  address: string, given: Once | Uint8Array, headers: Readonly<Record<string, string>> = {},
): Promise<OnceAnswer> {
  const response = await fetch(`${address}/v1/once`, {
    method: 'POST', headers: { 'Content-Type': 'application/x-protobuf', ...headers },
    body: Uint8Array.from(given instanceof Uint8Array ? given : encodeOnce(given)),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isOk = response.status === 200;
  const { error } = isOk ? { error: undefined } : JSON.parse(new TextDecoder().decode(bytes)) as {
    error: { code: string; text: string };
  };
  return {
    status: response.status, headers: response.headers, code: error?.code, text: error?.text ?? '',
    frame: isOk ? decodeServerFrame(bytes) : undefined,
  };
}
