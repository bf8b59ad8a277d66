import { malformed } from './reader.js';

/** A length of up to this many bytes stands in front of each frame: base 128, low part first. */
const lengthBytesMax = 5;

/**
 * A list of frames in one body: each frame with its length before it, as protobuf's delimited
 * streams have it. Bodies of HTTP requests have this form.
 */
export function joinFrames(frames: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(
    frames.reduce((sum, { length }) => sum + lengthBytesMax + length, 0));
  let at = 0;
  for (const frame of frames) {
    let length = frame.length;
    for (; length > 127; length = Math.floor(length / 128)) joined[at++] = (length % 128) + 128;
    joined[at++] = length;
    joined.set(frame, at);
    at += frame.length;
  }
  return joined.subarray(0, at);
}

/** A length, and the index after it; undefined when it is cut short. */
function lengthAt(bytes: Uint8Array, at: number): readonly [number, number] | undefined {
  let length = 0;
  for (let i = 0; i < lengthBytesMax && at + i < bytes.length; i++) {
    const byte = bytes[at + i]!;
    length += (byte % 128) * 128 ** i;
    if (byte < 128) return [length, at + i + 1];
  }
  if (bytes.length - at >= lengthBytesMax) throw malformed('the length of a frame has no end');
  return undefined;
}

/** The whole frames in `bytes`, as views, and the index after them. */
function framesIn(
  bytes: Uint8Array, frameBytesMax: number,
): { readonly frames: Uint8Array[]; readonly end: number } {
  const frames: Uint8Array[] = [];
  let end = 0;
  while (end < bytes.length) {
    const found = lengthAt(bytes, end);
    if (found === undefined) break;
    const [length, start] = found;
    if (length > frameBytesMax) {
      throw malformed(`a frame has ${length} bytes, the most is ${frameBytesMax}`);
    }
    if (start + length > bytes.length) break;
    frames.push(bytes.subarray(start, start + length));
    end = start + length;
  }
  return { frames, end };
}

/**
 * The frames of a body that arrives in parts. It holds at most one unfinished frame, in a buffer
 * that grows with what arrives and not with what is announced.
 */
export class FrameSplitter {
  private rest = new Uint8Array(0);
  private restBytes = 0;

  /** @param frameBytesMax longest frame that is accepted. */
  constructor(private readonly frameBytesMax: number) {}

  /** Bytes of memory that the unfinished frame takes. */
  get heldBytes(): number {
    return this.rest.length;
  }

  /** True while a frame is unfinished. A body that ends here is cut short. */
  get isUnfinished(): boolean {
    return this.restBytes > 0;
  }

  /**
   * Takes the next part. The frames are views, valid until the next call.
   * @throws WireError('malformed') for a frame longer than the limit, or a length without an end.
   */
  push(part: Uint8Array): Uint8Array[] {
    const bytes = this.restBytes === 0 ? part : this.joinedWith(part);
    const { frames, end } = framesIn(bytes, this.frameBytesMax);
    this.keep(bytes, end);
    return frames;
  }

  private joinedWith(part: Uint8Array): Uint8Array {
    const needed = this.restBytes + part.length;
    if (needed > this.rest.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.rest.length));
      grown.set(this.rest.subarray(0, this.restBytes));
      this.rest = grown;
    }
    this.rest.set(part, this.restBytes);
    this.restBytes = needed;
    return this.rest.subarray(0, needed);
  }

  private keep(bytes: Uint8Array, from: number): void {
    const isOwn = bytes.buffer === this.rest.buffer;
    if (isOwn && from === 0) return;
    // The frames found are views of the old buffer, so the rest moves to a new one.
    this.rest = new Uint8Array(bytes.subarray(from));
    this.restBytes = this.rest.length;
  }
}

/** All frames of a whole body. @throws WireError('malformed') for a body that is cut short. */
export function splitFrames(body: Uint8Array, frameBytesMax: number): Uint8Array[] {
  const { frames, end } = framesIn(body, frameBytesMax);
  if (end < body.length) throw malformed('the last frame is cut short');
  return frames;
}
