import { openFrame, sealFrame, type ChannelKeys } from '../../src/signing/channel-keys-node.js';
import type { ListenerLimits } from '../network/options.js';

interface Direction {
  /** Frames so far, and the number of the next one. */
  frames: number;
  bytes: number;
}

/**
 * The server's side of an encrypted channel. The number of a frame is its nonce and is not sent:
 * the frames of a socket are in order. Every frame of the contributor counts, also one that does
 * not open and one that is refused for load, so both sides go on with the same number.
 */
export class Encryption {
  readonly #up: Direction = { frames: 0, bytes: 0 };
  readonly #down: Direction = { frames: 0, bytes: 0 };

  constructor(
    private readonly keys: ChannelKeys,
    private readonly limits: Pick<ListenerLimits, 'channelFrames' | 'channelBytes'>,
  ) {}

  /**
   * True if the channel has carried its most, in either direction. Its keys must not be used on.
   */
  get isSpent(): boolean {
    const { channelFrames, channelBytes } = this.limits;
    return [this.#up, this.#down].some(({ frames, bytes }) =>
      frames >= channelFrames || bytes >= channelBytes);
  }

  /** New memory; null for bytes that the contributor did not seal as its next batch. */
  open(encrypted: Uint8Array): Buffer | null {
    return openFrame(this.keys.up, next(this.#up, encrypted), 'batch', encrypted);
  }

  seal(kind: 'opened' | 'ack', bytes: Uint8Array): Uint8Array {
    return sealFrame(this.keys.down, next(this.#down, bytes), kind, bytes);
  }
}

/** Counts a frame. @returns its number. */
function next(direction: Direction, { length }: Uint8Array): number {
  direction.bytes += length;
  return direction.frames++;
}
