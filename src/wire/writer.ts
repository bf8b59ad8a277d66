import type protobuf from 'protobufjs/minimal.js';

/**
 * The bytes that were written, in memory of their own. On Node the writer would hand out windows
 * into a shared pool, and sending one to a worker would copy the whole pool.
 */
export function written(writer: protobuf.Writer): Uint8Array {
  return new Uint8Array(writer.finish(true));
}
