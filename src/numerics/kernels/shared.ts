/** Zeros in shared memory where the platform has it, so that threads work on them without a copy. */
export function sharedDoubles(length: number): Float64Array {
  return typeof SharedArrayBuffer === 'function'
    ? new Float64Array(new SharedArrayBuffer(8 * length))
    : new Float64Array(length);
}

/** As `sharedDoubles`, for masks. */
export function sharedBytes(length: number): Uint8Array {
  return typeof SharedArrayBuffer === 'function' ? new Uint8Array(new SharedArrayBuffer(length)) : new Uint8Array(length);
}

/** As `sharedDoubles`, for indexes. */
export function sharedIndexes(length: number): Uint32Array {
  return typeof SharedArrayBuffer === 'function'
    ? new Uint32Array(new SharedArrayBuffer(4 * length))
    : new Uint32Array(length);
}

/** The part of Node's Buffer that is used here; browsers have none. */
interface Bytes {
  fill(value: Bytes): unknown;
}
interface BytesMaker {
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): Bytes;
}

const { Buffer: bytes } = globalThis as unknown as { readonly Buffer?: BytesMaker };

/**
 * As `to.set(from)`, in half the time where either is in shared memory: V8 copies there word by word, in case that
 * others write meanwhile, and Node fills a buffer with another one's bytes as a block. For numbers that no other thread
 * writes.
 * @param to - as long as `from`.
 */
export function copyNumbers(from: Float64Array | Float32Array, to: Float64Array | Float32Array): void {
  const isShared = !(from.buffer instanceof ArrayBuffer && to.buffer instanceof ArrayBuffer);
  const isAsItIs = from.BYTES_PER_ELEMENT === to.BYTES_PER_ELEMENT;
  if (bytes === undefined || !isShared || !isAsItIs || from.length === 0) return void to.set(from);
  const view = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Bytes => bytes.from(buffer, byteOffset, byteLength);
  view(to).fill(view(from));
}
