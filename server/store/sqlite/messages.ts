import type { AdmissionRequest, AdmissionResult } from '../contract.js';
import type { Engine } from './engine.js';
import type { ErrorMessage } from './failures.js';

/** Calls that are sent by name. `admit` is sent packed. */
export type NamedMethod = Exclude<keyof Engine, 'admit'>;

export type Request =
  | {
    readonly id: number; readonly kind: 'call'; readonly method: NamedMethod;
    readonly args: readonly unknown[];
  }
  | { readonly id: number; readonly kind: 'admit'; readonly list: PackedList };

/**
 * `opened` and `refused` answer the start of the worker, once. The other kinds answer a request.
 */
export type Response =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly error: ErrorMessage }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  /** `bytes` is the memory of the list, returned for reuse. */
  | {
    readonly kind: 'admitted'; readonly id: number; readonly results: readonly AdmissionResult[];
    readonly bytes: ArrayBuffer;
  }
  | { readonly kind: 'error'; readonly id: number; readonly error: ErrorMessage };

type PackedBatch = Omit<AdmissionRequest, 'digest' | 'body' | 'signature'> & {
  readonly digestBytes: number;
  readonly signatureBytes: number;
  readonly bodyBytes: number;
};

/**
 * A list of batches. All their bytes are at the front of one buffer, in order: copied once, then
 * transferred.
 */
export interface PackedList {
  readonly batches: readonly PackedBatch[];
  readonly bytes: ArrayBuffer;
}

/** A buffer up to this size is reused for the next list. Larger lists are rare. */
export const reusedBytes = 8 * 1024 * 1024;

/**
 * Packs a list. Bodies are many and small, so one copy is cheaper than many transfers.
 * @param spare memory of an earlier list, used when it is large enough.
 */
export function packList(batches: readonly AdmissionRequest[], spare?: ArrayBuffer): PackedList {
  const bytesOf = (batch: AdmissionRequest): number =>
    batch.digest.length + batch.signature.length + batch.body.length;
  const total = batches.reduce((sum, batch) => sum + bytesOf(batch), 0);
  const joined =
    new Uint8Array(spare !== undefined && spare.byteLength >= total ? spare : freshBuffer(total));
  let offset = 0;
  const put = (bytes: Uint8Array): number => {
    joined.set(bytes, offset);
    offset += bytes.length;
    return bytes.length;
  };
  const packed = batches.map(({ digest, signature, body, ...facts }): PackedBatch => ({
    ...facts, digestBytes: put(digest), signatureBytes: put(signature), bodyBytes: put(body),
  }));
  return { batches: packed, bytes: joined.buffer };
}

/** The size is a power of two, so that the next list fits too, unless it is too large to keep. */
function freshBuffer(bytes: number): ArrayBuffer {
  return new ArrayBuffer(bytes > reusedBytes
    ? bytes : 2 ** Math.ceil(Math.log2(Math.max(bytes, 65_536))));
}

/** The batches of a packed list, as views of its buffer. */
export function unpackList(list: PackedList): AdmissionRequest[] {
  let offset = 0;
  const take = (length: number): Uint8Array => {
    const view = new Uint8Array(list.bytes, offset, length);
    offset += length;
    return view;
  };
  return list.batches
    .map(({ digestBytes, signatureBytes, bodyBytes, ...facts }): AdmissionRequest => ({
      ...facts, digest: take(digestBytes), signature: take(signatureBytes), body: take(bodyBytes),
    }));
}
