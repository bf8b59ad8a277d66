import { assert } from '../../src/base/assert.js';
import { sharedBytes } from '../../src/numerics/kernels/shared.js';

/** Bytes of a batch in memory that threads share. */
export interface SharedBody {
  /** The bytes. They end at a multiple of 8 bytes, so that their numbers can be read in place. */
  readonly bytes: Uint8Array;
  /** Overwrites the bytes and lets others use the memory. Call it once, after the last use. */
  readonly release: () => void;
}

/** Size of a block. The longest frame fits into it, with the bytes that a check adds. */
const blockBytes = 4 * 1024 * 1024 + 4_096;
/** `fill` writes a pattern as a block, too, but a single number byte by byte. */
const zeros = Buffer.alloc(64);
/** Unused blocks that are kept for the next bodies. */
const sparesMax = 4;

interface Block {
  readonly buffer: Buffer;
  /** The earliest start of the next body. */
  used: number;
  /** Bodies that are not released. */
  bodies: number;
}

/**
 * Memory for the bodies of batches between the socket and the journal. The listener copies a body
 * into it once. The threads that check signatures and the store's thread read it in place.
 *
 * Bodies lie one after the other in blocks. A block is used again when all bodies in it are
 * released. Batches are answered nearly in the order in which they came, so few blocks are in use.
 * Memory that is given back is overwritten with zeros at once: no row stays in memory longer than
 * its batch. V8 never sees a body as garbage. Bodies of 64 KiB in buffers of their own caused a
 * collection of the whole heap every few hundred batches.
 */
export class BodyMemory {
  #current: Block = freshBlock();
  readonly #spares: Block[] = [];

  /** Copies bytes into shared memory, one after the other. @param parts in all at most a block. */
  hold(...parts: readonly Uint8Array[]): SharedBody {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    assert(length + 7 <= blockBytes, 'a frame is shorter than a block');
    const block = this.#blockFor(length);
    const end = (block.used + length + 7) & ~7;
    const start = end - length;
    block.used = end;
    block.bodies += 1;
    let at = start;
    for (const part of parts) {
      // `fill` copies as a block. `set` would copy word by word, because the memory is shared.
      if (part.length > 0) block.buffer.fill(part, at, at + part.length);
      at += part.length;
    }
    let isHeld = true;
    return {
      bytes: new Uint8Array(block.buffer.buffer, start, length),
      release: () => {
        assert(isHeld, 'a body is released once');
        isHeld = false;
        if (length > 0) block.buffer.fill(zeros, start, end);
        this.#release(block);
      },
    };
  }

  #blockFor(length: number): Block {
    if (this.#current.used + length + 7 <= blockBytes) return this.#current;
    this.#current = this.#spares.pop() ?? freshBlock();
    return this.#current;
  }

  #release(block: Block): void {
    block.bodies -= 1;
    if (block.bodies > 0) return;
    block.used = 0;
    if (block !== this.#current && this.#spares.length < sparesMax) this.#spares.push(block);
  }
}

function freshBlock(): Block {
  return { buffer: Buffer.from(sharedBytes(blockBytes).buffer), used: 0, bodies: 0 };
}
