import type { AdmissionRequest, AdmissionResult } from '../contract.js';
import type { Engine } from './engine.js';
import type { ErrorMessage } from './failures.js';

/** Calls that travel by name; `admit` travels packed. */
export type NamedMethod = Exclude<keyof Engine, 'admit'>;

export type Request =
  | { readonly id: number; readonly kind: 'call'; readonly method: NamedMethod; readonly args: readonly unknown[] }
  | { readonly id: number; readonly kind: 'admit'; readonly list: PackedList };

/** `opened` and `refused` answer the start of the worker, once; the others answer a request. */
export type Response =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly error: ErrorMessage }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'admitted'; readonly id: number; readonly results: readonly AdmissionResult[] }
  | { readonly kind: 'error'; readonly id: number; readonly error: ErrorMessage };

type PackedBatch = Omit<AdmissionRequest, 'digest' | 'body' | 'signature'> & {
  readonly digestBytes: number;
  readonly signatureBytes: number;
  readonly bodyBytes: number;
};

/** A list of batches with all their bytes, in order, in one buffer: copied once here, then transferred. */
export interface PackedList {
  readonly batches: readonly PackedBatch[];
  readonly bytes: ArrayBuffer;
}

/** Bodies usually are views of a socket's shared slab, which cannot be transferred: so they are copied, once. */
export function packList(batches: readonly AdmissionRequest[]): PackedList {
  const bytesOf = (batch: AdmissionRequest): number =>
    batch.digest.length + batch.signature.length + batch.body.length;
  const total = batches.reduce((sum, batch) => sum + bytesOf(batch), 0);
  const joined = new Uint8Array(total);
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

/** The batches again, as views of the list's buffer. */
export function unpackList(list: PackedList): AdmissionRequest[] {
  let offset = 0;
  const take = (length: number): Uint8Array => {
    const view = new Uint8Array(list.bytes, offset, length);
    offset += length;
    return view;
  };
  return list.batches.map(({ digestBytes, signatureBytes, bodyBytes, ...facts }): AdmissionRequest => ({
    ...facts, digest: take(digestBytes), signature: take(signatureBytes), body: take(bodyBytes),
  }));
}
