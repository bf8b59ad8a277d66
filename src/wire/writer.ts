import type protobuf from 'protobufjs/minimal.js';

/**
 * The written bytes, in their own memory. On Node the writer would return views of a shared pool,
 * and sending one to a worker would copy the whole pool.
 */
export function written(writer: protobuf.Writer): Uint8Array {
  return new Uint8Array(writer.finish(true));
}
