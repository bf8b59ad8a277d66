/**
 * Bits of many numbers as planes: plane j has bit j of all of them, 32 to a word. A server does
 * this to its own components; nothing is sent.
 */

/** Words of a plane of `count` bits. */
export function planeWords(count: number): number {
  return Math.ceil(count / 32);
}

/** Transposes 32 words of 32 bits in place: bit j of word i becomes bit i of word j. */
function transposeBlock(block: Uint32Array): void {
  let mask = 0x0000_ffff;
  for (let half = 16; half > 0; half >>>= 1, mask ^= mask << half) {
    for (let at = 0; at < 32; at = ((at | half) + 1) & ~half) {
      const swapped = ((block[at]! >>> half) ^ block[at | half]!) & mask;
      block[at] = block[at]! ^ (swapped << half);
      block[at | half] = block[at | half]! ^ swapped;
    }
  }
}

/**
 * Planes 0 to `bits` - 1 of numbers in pairs of words, one behind the other. Bits past the last
 * number are zeros.
 */
export function planesOfNumbers(numbers: Uint32Array, bits: number): Uint32Array {
  const count = numbers.length / 2;
  const words = planeWords(count);
  const planes = new Uint32Array(bits * words);
  const block = new Uint32Array(32);
  for (let word = 0; word < words; word++) {
    for (let high = 0; 32 * high < bits; high++) {
      block.fill(0);
      for (let i = 0; i < Math.min(32, count - 32 * word); i++) {
        block[i] = numbers[2 * (32 * word + i) + high]!;
      }
      transposeBlock(block);
      for (let bit = 32 * high; bit < Math.min(bits, 32 * high + 32); bit++) {
        planes[bit * words + word] = block[bit & 31]!;
      }
    }
  }
  return planes;
}

/**
 * Rows from planes: bit p of row r is bit r of plane p. There are 32 rows to each word of a plane.
 * @param planes - one behind the other, each of `words` words.
 * @returns rows of `rowWords` words, one behind the other.
 */
export function rowsOfPlanes(
  planes: Uint32Array, words: number, rowWords: number,
): Uint32Array {
  const count = planes.length / words;
  const rows = new Uint32Array(32 * words * rowWords);
  const block = new Uint32Array(32);
  for (let word = 0; word < words; word++) {
    for (let high = 0; high < rowWords; high++) {
      block.fill(0);
      for (let i = 0; i < Math.min(32, count - 32 * high); i++) {
        block[i] = planes[(32 * high + i) * words + word]!;
      }
      transposeBlock(block);
      for (let i = 0; i < 32; i++) rows[(32 * word + i) * rowWords + high] = block[i]!;
    }
  }
  return rows;
}

/** Each bit as a number, 0 or 1, in pairs of words. */
export function numbersOfBits(bits: Uint32Array): Uint32Array {
  const numbers = new Uint32Array(64 * bits.length);
  for (let at = 0; at < bits.length; at++) {
    for (let i = 0; i < 32; i++) numbers[64 * at + 2 * i] = (bits[at]! >>> i) & 1;
  }
  return numbers;
}

/** Numbers where the bit is 1, and 0 elsewhere. */
export function numbersWhere(bits: Uint32Array, numbers: Uint32Array): Uint32Array {
  return numbers.map((word, at) =>
    (((bits[at >>> 6]! >>> ((at >>> 1) & 31)) & 1) === 1 ? word : 0));
}

/** A plane whose first `count` bits are ones. */
export function onesPlane(count: number): Uint32Array {
  return Uint32Array.from({ length: planeWords(count) }, (_, word) =>
    (count - 32 * word >= 32 ? 0xffff_ffff : 2 ** (count - 32 * word) - 1));
}
