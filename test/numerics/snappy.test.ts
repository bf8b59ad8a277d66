import { snappyUncompress } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { snappyBlock } from '../../src/numerics/kernels/snappy.js';
import { utf8 } from '../../src/base/bytes.js';
import { seededRandom } from '../../src/random/work.js';

const random = seededRandom(utf8('snappy'));
const below = (most: number): number => Math.floor(random.uniform() * most);

/** A literal with its length in as few bytes as it takes, or in more. */
function literal(size: number, more: number): number[] {
  const bytes = Array.from({ length: size }, () => below(256));
  const last = size - 1;
  if (last < 60 && more === 0) return [last << 2, ...bytes];
  const width = Math.max(more, Math.ceil((32 - Math.clz32(last)) / 8), 1);
  const length = Array.from({ length: width }, (_, i) => (last >>> (8 * i)) & 255);
  return [(59 + width) << 2, ...length, ...bytes];
}

/** A copy of each of the three forms. */
function copied(size: number, distance: number, form: number): number[] {
  if (form === 1) return [1 | ((size - 4) << 2) | ((distance >> 8) << 5), distance & 255];
  const bytes = Array.from({ length: form === 2 ? 2 : 4 }, (_, i) => (distance >>> (8 * i)) & 255);
  return [form | ((size - 1) << 2), ...bytes];
}

/** A block that is made of random parts, and how many bytes it has when it is decoded. */
function made(): { readonly block: Uint8Array; readonly length: number } {
  const block: number[] = literal(1 + below(300), below(5));
  let length = snappyLength(block);
  for (let part = 0; part < 30; part++) {
    if (below(3) === 0) {
      const size = 1 + below(200);
      block.push(...literal(size, below(5)));
      length += size;
      continue;
    }
    const form = 1 + below(3);
    const size = form === 1 ? 4 + below(8) : 1 + below(64);
    block.push(...copied(size, 1 + below(Math.min(length, form === 1 ? 2_047 : 60_000)), form));
    length += size;
  }
  const preamble: number[] = [];
  for (let left = length; ; left >>>= 7) {
    preamble.push(left < 128 ? left : (left & 127) | 128);
    if (left < 128) break;
  }
  return { block: Uint8Array.from([...preamble, ...block]), length };
}

/** Of a block of one literal. */
function snappyLength([tag = 0, ...rest]: readonly number[]): number {
  return (tag >>> 2) < 60 ? (tag >>> 2) + 1 : rest.length - ((tag >>> 2) - 59);
}

function library(block: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  snappyUncompress(block, output);
  return output;
}

describe('Snappy', () => {
  it('gives the bytes that the library gives', () => {
    for (let round = 0; round < 300; round++) {
      const { block, length } = made();
      expect(snappyBlock(block, length)).toEqual(library(block, length));
    }
  });

  it('writes no other number of bytes, and ends on damage', () => {
    for (let round = 0; round < 300; round++) {
      const { block, length } = made();
      for (const wrong of [length - 1, length + 1, 0]) {
        expect(() => snappyBlock(block, wrong)).toThrow(RangeError);
      }
      expect(() => snappyBlock(block.subarray(0, below(block.length)), length)).toThrow(RangeError);
      block[below(block.length)]! ^= 1 << below(8);
      let found: Uint8Array | null = null;
      try {
        found = snappyBlock(block, length);
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
      }
      if (found !== null) expect(found).toEqual(library(block, length));
    }
  });
});
