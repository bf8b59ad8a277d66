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
