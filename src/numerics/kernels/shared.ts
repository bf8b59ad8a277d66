/**
 * Zeros, in shared memory if the platform has it, so that threads can work on them without a copy.
 */
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
  return typeof SharedArrayBuffer === 'function'
    ? counted(new SharedArrayBuffer(length)) : new ArrayBuffer(length);
}

const companion = Symbol('companion');
/** Shorter ones are not worth counting. Bytes. */
const countedFrom = 1 << 16;
/** Node's longest buffer is at least this long. Bytes. */
const companionMax = 2 ** 31;

/**
 * Makes the thread that holds `memory` count it. V8 collects garbage when much memory is held, but
 * it does not count shared memory, because several threads may hold it. A thread that receives the
 * rows of a release now and then, and makes little else, would keep the rows of dozens of releases.
 * So an ordinary buffer of the same length, which V8 counts, is kept with it. Nobody writes to that
 * buffer, so it takes up addresses but no memory.
 */
function counted(memory: SharedArrayBuffer, byteLength = memory.byteLength): SharedArrayBuffer {
  if (bytes === undefined || byteLength < countedFrom) return memory;
  try {
    return Object.assign(
      memory, { [companion]: bytes.allocUnsafeSlow(Math.min(byteLength, companionMax)) },
    );
  } catch {
    // No addresses are left for the buffer. The memory itself is usable.
    return memory;
  }
}

/**
 * Every pass sends the same rows. Each time only this part is counted, so that not every pass
 * causes a collection.
 */
const countedPart = 1 / 4;

/** As `counted`, for all shared memory in a message to a thread. */
export function countShared(message: unknown): void {
  if (ArrayBuffer.isView(message)) {
    if (!(message.buffer instanceof ArrayBuffer)) {
      counted(message.buffer, message.buffer.byteLength * countedPart);
    }
  } else if (typeof message === 'object' && message !== null) {
    Object.values(message).forEach(countShared);
  }
}

/** The part of Node's Buffer that is used here. Browsers do not have it. */
interface Bytes {
  fill(value: Bytes): unknown;
}
interface BytesMaker {
  from(buffer: ArrayBufferLike, byteOffset: number, length: number): Bytes;
  allocUnsafeSlow(length: number): Bytes;
}

const { Buffer: bytes } = globalThis as unknown as { readonly Buffer?: BytesMaker };

/**
 * As `to.set(from)`, in half the time if either is in shared memory. There V8 copies word by word,
 * in case other threads write at the same time; Node copies a buffer as a block. Only for numbers
 * that no other thread writes.
 * @param to - as long as `from`.
 */
export function copyNumbers(
  from: Float64Array | Float32Array, to: Float64Array | Float32Array,
): void {
  const isShared = !(from.buffer instanceof ArrayBuffer && to.buffer instanceof ArrayBuffer);
  const isAsItIs = from.BYTES_PER_ELEMENT === to.BYTES_PER_ELEMENT;
  if (bytes === undefined || !isShared || !isAsItIs || from.length === 0) return void to.set(from);
  const view = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Bytes =>
    bytes.from(buffer, byteOffset, byteLength);
  view(to).fill(view(from));
}
