import { assert } from '../../../src/base/assert.js';
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
  readonly isSigned: boolean;
  readonly bodyBytes: number;
  /** First byte of the body in `memory`, an index of the list's memories; absent if copied. */
  readonly at?: number;
  readonly memory?: number;
};

/**
 * A list of batches. Bodies in shared memory stay there: the list has their places. All other bytes
 * are at the front of one buffer, in order: copied once, then transferred.
 */
export interface PackedList {
  readonly batches: readonly PackedBatch[];
  readonly bytes: ArrayBuffer;
  readonly memories: readonly SharedArrayBuffer[];
}

/** A buffer up to this size is reused for the next list. Larger lists are rare. */
export const reusedBytes = 8 * 1024 * 1024;

const digestBytes = 64;
const signatureBytes = 64;

const isShared = ({ buffer }: Uint8Array): boolean => buffer instanceof SharedArrayBuffer;

/**
 * Packs a list. The copied parts are many and small, so one copy is cheaper than many transfers.
 * @param spare memory of an earlier list, used when it is large enough.
 */
export function packList(batches: readonly AdmissionRequest[], spare?: ArrayBuffer): PackedList {
  const total = batches.reduce((sum, { body }) =>
    sum + digestBytes + signatureBytes + (isShared(body) ? 0 : body.length), 0);
  const joined =
    new Uint8Array(spare !== undefined && spare.byteLength >= total ? spare : freshBuffer(total));
  let offset = 0;
  const put = (bytes: Uint8Array): void => {
    joined.set(bytes, offset);
    offset += bytes.length;
  };
  const memories: SharedArrayBuffer[] = [];
  const packed = batches.map(({ digest, signature, body, ...facts }): PackedBatch => {
    const isSigned = signature.length > 0;
    assert(digest.length === digestBytes && (!isSigned || signature.length === signatureBytes),
      'digests have 64 bytes, and signatures 64 or none');
    put(digest);
    put(signature);
    if (!isShared(body)) {
      put(body);
      return { ...facts, isSigned, bodyBytes: body.length };
    }
    const memory = body.buffer as SharedArrayBuffer;
    if (memories.at(-1) !== memory) memories.push(memory);
    return {
      ...facts, isSigned, bodyBytes: body.length, at: body.byteOffset,
      memory: memories.length - 1,
    };
  });
  return { batches: packed, bytes: joined.buffer, memories };
}

/** The size is a power of two, so that the next list fits too, unless it is too large to keep. */
function freshBuffer(bytes: number): ArrayBuffer {
  return new ArrayBuffer(bytes > reusedBytes
    ? bytes : 2 ** Math.ceil(Math.log2(Math.max(bytes, 65_536))));
}

/** The batches of a packed list, as views of its buffer and its memories. */
export function unpackList(list: PackedList): AdmissionRequest[] {
  let offset = 0;
  const take = (length: number): Uint8Array => {
    const view = new Uint8Array(list.bytes, offset, length);
    offset += length;
    return view;
  };
  return list.batches.map(({ isSigned, bodyBytes, at, memory, ...facts }): AdmissionRequest => ({
    ...facts,
    digest: take(digestBytes),
    signature: take(isSigned ? signatureBytes : 0),
    body: memory === undefined
      ? take(bodyBytes) : new Uint8Array(list.memories[memory]!, at, bodyBytes),
  }));
}
