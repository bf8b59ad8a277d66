import { afterEach, describe, expect, it, vi } from 'vitest';
import { fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { RandomBits } from '../../src/random/bits.js';
import {
  ChachaStream, chachaBlock, chachaState, foldKey, foldPart,
} from '../../src/random/chacha20.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import { seededRandom } from '../../src/random/work.js';
import { tapeNoise } from '../support/tape-noise.js';

const bytesOf = (source: { fill(bytes: Uint8Array): void }, length: number): string => {
  const bytes = new Uint8Array(length);
  source.fill(bytes);
  return toHex(bytes);
};

describe('ChaCha20', () => {
  it('gives the block of RFC 8439, section 2.3.2', () => {
    const state = new Uint32Array([
      0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, 0x03020100, 0x07060504, 0x0b0a0908,
      0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 0x00000001, 0x09000000,
      0x4a000000, 0x00000000,
    ]);
    const block = new Uint32Array(16);
    chachaBlock(state, block);
    expect([...block]).toEqual([
      0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033, 0x9aaa2204,
      0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9, 0xd19c12b5, 0xb94e16de,
      0xe883d0cb, 0x4e3c50a2,
    ]);
  });

  it('gives the zero-key keystream of RFC 8439, appendix A.1, block after block', () => {
    const stream = new ChachaStream(new Uint8Array(32));
    expect(bytesOf(stream, 16)).toBe('76b8e0ada0f13d90405d6ae55386bd28');
    bytesOf(stream, 48);
    expect(bytesOf(stream, 16)).toBe('9f07e7be5551387a98ba977c732d080d');
  });

  it('does not depend on how the stream is cut', () => {
    const whole = bytesOf(new ChachaStream(new Uint8Array(32)), 200);
    const stream = new ChachaStream(new Uint8Array(32));
    expect([7, 64, 1, 0, 100, 28].map((length) => bytesOf(stream, length)).join('')).toBe(whole);
  });

  it('folds different texts and different cuts into different keys', () => {
    const keys = [
      [''], ['a'], ['', ''], ['a', ''], ['', 'a'], ['aa'], ['a'.repeat(32)], ['a'.repeat(33)],
    ]
      .map((parts) => toHex(foldKey(...parts.map(utf8))));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('folds texts into the same keys in every version', () => {
    const parts = ['', 'a', 'b'.repeat(24), 'c'.repeat(25), 'd'.repeat(200)].map(utf8);
    expect(parts.map((part) => toHex(foldKey(part)).slice(0, 16))).toEqual([
      '76b8e0ada0f13d90', '32f7285ffd9db587', '778e33d347769c99', '6df336a3ef4df7e1',
      'c3f932dda135bce0',
    ]);
    expect(toHex(foldKey(...parts)))
      .toBe('a51ffb16b86512976e89129ab99e6466a2c6d3cae2d497a6af4d8389d484420a');
    const state = chachaState(foldKey(parts[1]!, parts[2]!));
    for (const part of parts.slice(3)) foldPart(state, part, part.length);
    expect(state).toEqual(chachaState(foldKey(...parts.slice(1))));
  });
});

describe('seededRandom', () => {
  const seed = fromHex('00112233');

  it('replays, and forks by label only', () => {
    const work = seededRandom(seed);
    const before = work.fork('group/1').uniform();
    work.uniform();
    expect(work.fork('group/1').uniform()).toBe(before);
    expect(work.fork('group/2').uniform()).not.toBe(before);
    expect(seededRandom(seed).uniform()).toBe(seededRandom(seed).uniform());
    expect(seededRandom(fromHex('00112234')).uniform()).not.toBe(seededRandom(seed).uniform());
  });

  it('is uniform in [0, 1) with 53 bits', () => {
    const work = seededRandom(seed);
    const draws = Array.from({ length: 20_000 }, () => work.uniform());
    expect(draws.every((u) => u >= 0 && u < 1 && Number.isInteger(u * 2 ** 53))).toBe(true);
    expect(draws.some((u) => !Number.isInteger(u * 2 ** 52))).toBe(true);
    // Mean of 20,000 uniforms: deviation .00204; five of them.
    expect(Math.abs(draws.reduce((sum, u) => sum + u, 0) / draws.length - 0.5))
      .toBeLessThan(0.0102);
  });
});

describe('noise sources', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('says which one is secure', () => {
    expect(secureNoise().secure).toBe(true);
    expect(seededNoise('x').secure).toBe(false);
  });

  it('repeats the seeded one and never the secure one', () => {
    expect(bytesOf(seededNoise('x'), 64)).toBe(bytesOf(seededNoise('x'), 64));
    expect(bytesOf(seededNoise('x'), 64)).not.toBe(bytesOf(seededNoise('y'), 64));
    expect(bytesOf(secureNoise(), 32)).not.toBe(bytesOf(secureNoise(), 32));
  });

  it('hands out every byte of a chunk once, across chunks', () => {
    let call = 0;
    vi.stubGlobal('crypto', {
      getRandomValues: (bytes: Uint8Array) => {
        call += 1;
        return bytes.fill(call);
      },
    });
    const noise = secureNoise();
    const bytes = new Uint8Array(65_540);
    noise.fill(bytes.subarray(0, 3));
    noise.fill(bytes.subarray(3));
    expect(bytes.subarray(0, 65_536).every((byte) => byte === 1)).toBe(true);
    expect(bytes.subarray(65_536).every((byte) => byte === 2)).toBe(true);
  });

  it('fails when the system gives no random bytes', () => {
    vi.stubGlobal('crypto', {
      getRandomValues: () => {
        throw new Error('no entropy');
      },
    });
    expect(() => secureNoise().fill(new Uint8Array(1))).toThrow(KeelsonError);
  });
});

describe('RandomBits', () => {
  const words = (...values: readonly number[]): RandomBits => {
    const tape =
      new Uint8Array(new Uint32Array([...values, ...new Uint32Array(256 - values.length)]).buffer);
    return new RandomBits(tapeNoise(tape));
  };

  it('draws again for a value past the bound, instead of folding it', () => {
    // Two bits for a bound of 3: the top bits of each word. 3 is refused, then 2 is kept.
    expect(words(0xc0000000, 0x80000000).below(3)).toBe(2);
    expect(words(5).below(1)).toBe(0);
    expect(words(0xffffffff).below(2 ** 32)).toBe(0xffffffff);
    expect(words(0x80000000, 7).below(2 ** 33)).toBe(2 ** 32 + 7);
    expect(words(0xffffffff, 0xffffffff).below(2 ** 53)).toBe(2 ** 53 - 1);
  });

  it('agrees with itself on numbers of any size', () => {
    expect(words(0xc0000000, 0x80000000).belowBig(3n)).toBe(2n);
    // 2^70: 6 bits of the first word, then two whole words.
    expect(words(0xfc000000, 1, 2).belowBig(1n << 70n)).toBe((63n << 64n) + (1n << 32n) + 2n);
    // 2^64 + 1 takes 65 bits; 2^64 + 1 itself is refused, what follows is kept.
    expect(words(0x80000000, 0, 1, 0, 1, 2).belowBig((1n << 64n) + 1n)).toBe((1n << 32n) + 2n);
  });

  it('spends a word of 32 coins, lowest first', () => {
    const bits = words(0b1011, 0);
    expect(Array.from({ length: 5 }, () => bits.bit())).toEqual([true, true, false, true, false]);
  });
});
