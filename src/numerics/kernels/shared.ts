/** Zeros in shared memory where the platform has it, so that threads work on them without a copy. */
export function sharedDoubles(length: number): Float64Array {
  return new Float64Array(sharedMemory(8 * length));
}

/** As `sharedDoubles`, for masks. */
export function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(sharedMemory(length));
}

/** As `sharedDoubles`, for indexes. */
export function sharedIndexes(length: number): Uint32Array {
  return new Uint32Array(sharedMemory(4 * length));
}

function sharedMemory(length: number): SharedArrayBuffer | ArrayBuffer {
  return typeof SharedArrayBuffer === 'function' ? counted(new SharedArrayBuffer(length)) : new ArrayBuffer(length);
}

const company = Symbol('company');
/** Shorter ones are not worth counting. Bytes. */
const countedFrom = 1 << 16;
/** Node's longest buffer is at least this long. Bytes. */
const companyMax = 2 ** 31;

/**
 * Makes the thread that holds `memory` count it. V8 collects when much waits for it, but does not count shared memory,
 * since several threads may hold it: one that is sent a release's rows now and then, and makes little else, would
 * keep those of dozens of releases. So an ordinary buffer of the same length, which V8 does count, goes with it. As
 * nobody writes to that, it takes addresses, and no memory.
 */
function counted(memory: SharedArrayBuffer, byteLength = memory.byteLength): SharedArrayBuffer {
  if (bytes === undefined || byteLength < countedFrom) return memory;
  try {
    return Object.assign(memory, { [company]: bytes.allocUnsafeSlow(Math.min(byteLength, companyMax)) });
  } catch {
    // No addresses are left for it: the memory itself is there.
    return memory;
  }
}

/** The same rows are sent for every pass: each time a part is counted, so that not every pass makes the thread collect. */
const countedPart = 1 / 4;

/** As `counted`, for all shared memory of what a thread was sent. */
export function countShared(message: unknown): void {
  if (ArrayBuffer.isView(message)) {
    if (!(message.buffer instanceof ArrayBuffer)) counted(message.buffer, message.buffer.byteLength * countedPart);
  } else if (typeof message === 'object' && message !== null) Object.values(message).forEach(countShared);
}

/** The part of Node's Buffer that is used here; browsers have none. */
interface Bytes {
  fill(value: Bytes): unknown;
}
interface BytesMaker {
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): Bytes;
  allocUnsafeSlow(length: number): Bytes;
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
