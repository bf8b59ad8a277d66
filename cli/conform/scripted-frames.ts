import type { WireCode } from '../../src/base/error-codes.js';
import { retryableWireCodes } from '../../src/base/error-codes.js';
import { batchRows, type BatchBody, type Refusal } from '../../src/wire/index.js';

/** A batch that the server took for good. */
export interface TakenBatch {
  readonly contributor: string;
  readonly sequence: bigint;
  readonly epoch: bigint;
  readonly last: boolean;
  readonly rows: number;
  readonly values: Float64Array;
  /** Present in studies with typed columns. */
  readonly cells?: BatchBody['cells'];
}

/** The point at which a connection is cut, once: just after the server did or received this. */
export type CutPoint = 'welcome' | 'hello' | 'ready' | 'batch' | 'stored' | 'ack' | 'withdrawal';

const noBytes = new Uint8Array(0);

/** @param subject what it is about. */
export function scriptedRefusal(
  code: WireCode,
  { channel = 0, studyId = noBytes, publicKey = noBytes }:
  Partial<Pick<Refusal, 'channel' | 'studyId' | 'publicKey'>>,
): Refusal {
  const retryable = retryableWireCodes.has(code);
  return { kind: 'refusal', code, retryable, text: 'scripted', channel, studyId, publicKey };
}

/** Each row of a batch of numbers, as the numbers with commas between them. */
export function rowTexts(body: BatchBody): string[] {
  if (body.cells !== undefined) return [];
  const values = batchRows(body);
  return Array.from({ length: body.rows }, (_, i) =>
    values.slice(i * body.columns, (i + 1) * body.columns).join());
}
