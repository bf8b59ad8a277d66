import { WireError } from '../base/errors.js';
import protobuf from '#protobuf';

/**
 * Length-delimited and 64-bit items in one message. The largest honest message, a release with
 * 4,096 keys of 3 parts and 16 answers about categories of 1,024 names, has 32,000. Without a
 * limit, a few megabytes of empty sub-messages would become objects of a hundred times that size.
 */
const itemsMax = 40_960;

/**
 * Reads the messages of the protocol, which is closed: an unknown field, a wrong wire type, a
 * group, or text that is not UTF-8 is an error. So two readers never disagree about a message.
 */
export class StrictReader extends protobuf.Reader {
  private items = 0;

  override skipType(): this {
    throw malformed('it has a field that the protocol does not define');
  }

  override size(): number {
    this.count();
    return super.size();
  }

  override string(): string {
    return this.stringVerify();
  }

  override uint64(): ReturnType<protobuf.Reader['uint64']> {
    this.count();
    return super.uint64();
  }

  private count(): void {
    if (++this.items > itemsMax) throw malformed(`it has more than ${itemsMax} parts`);
  }
}

/** The refusal of bytes or of a message that the protocol does not allow. `why` must be public. */
export function malformed(why: string, cause?: unknown): WireError {
  return new WireError(
    'malformed', `malformed message: ${why}; see docs/reference/protocol.md`, { cause },
  );
}

/**
 * Runs `read` over the bytes.
 * @throws WireError('malformed') on every fault; never anything else.
 */
export function readStrictly<T>(
  bytes: Uint8Array, what: string, read: (reader: StrictReader) => T,
): T {
  try {
    // From a Buffer the reader would make Buffers. From a plain view it makes the declared types.
    const plain =
      bytes.constructor === Uint8Array
        ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return read(new StrictReader(plain));
  } catch (cause) {
    if (cause instanceof WireError) throw cause;
    throw malformed(`the bytes are not a ${what}`, cause);
  }
}
