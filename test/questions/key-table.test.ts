import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyTableBytes, keyMemory, KeyTable } from '../../src/questions/key-table.js';

const secret = Uint8Array.from({ length: 16 }, (_, i) => 3 * i + 1);
const tableOf = (bytesMax = 2 ** 24): KeyTable => new KeyTable({ secret, bytesMax });
const bytesOf = (key: readonly string[]): Buffer =>
  Buffer.concat(key.flatMap((part) =>
    [Buffer.of(Buffer.byteLength(part)), Buffer.from(part)]));

const part = fc.oneof(
  fc.string({ maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('a', 'ab', 'b', 'ü', 'x'.repeat(255)),
).filter((text) => text.isWellFormed() && Buffer.byteLength(text) <= 255);

describe('a table of keys', () => {
  it('numbers distinct keys in the order in which they come, and gives them back', () => {
    fc.assert(fc.property(fc.array(fc.tuple(part, part), { maxLength: 300 }), (keys) => {
      const table = tableOf();
      const model = new Map<string, number>();
      for (const key of keys) {
        const text = JSON.stringify(key);
        const expected = model.get(text) ?? model.size;
        model.set(text, expected);
        expect(table.placeOf(key)).toBe(expected);
      }
      expect(table.size).toBe(model.size);
      for (const [text, place] of model) expect(JSON.stringify(table.partsOf(place))).toBe(text);
    }));
  });

  it('finds every key again however often it grew', () => {
    const table = tableOf();
    const names = Array.from({ length: 30_000 }, (_, i) => `${i}`);
    const places = names.map((name) => table.placeOf([name]));
    expect(names.map((name) => table.placeOf([name]))).toEqual(places);
    expect(names.map((name) => table.find([name]))).toEqual(places);
    expect(table.find(['none'])).toBe(-1);
    expect(tableOf().find(['none'])).toBe(-1);
    expect(table.size).toBe(names.length);
  });

  it('orders keys by their bytes', () => {
    fc.assert(fc.property(fc.uniqueArray(part, { maxLength: 50 }), (names) => {
      const table = tableOf();
      const places = names.map((name) => table.placeOf([name]));
      places.sort((left, right) => table.compare(left, right));
      const sorted = places.map((place) => bytesOf(table.partsOf(place)));
      expect(sorted).toEqual(sorted.slice().sort((one, other) => Buffer.compare(one, other)));
    }));
  });

  it('keeps keys apart whose parts make the same text', () => {
    const table = tableOf();
    const keys = [['a', 'bc'], ['ab', 'c'], ['abc', ''], ['', 'abc']];
    expect(keys.map((key) => table.placeOf(key))).toEqual([0, 1, 2, 3]);
  });

  it('refuses a key past its memory, keeps all that it has, and says nothing of keys', () => {
    const table = tableOf(200_000);
    const names = Array.from({ length: 20_000 }, (_, i) => `name ${i}`);
    let taken = 0;
    expect(() => {
      for (const name of names) {
        table.placeOf([name]);
        taken += 1;
      }
    }).toThrow(expect.objectContaining({
      code: 'overloaded', message: expect.not.stringContaining('name') as string,
    }));
    expect(table.bytes).toBeLessThanOrEqual(200_000);
    expect(table.size).toBe(taken);
    names.slice(0, taken).forEach((name, place) => {
      expect(table.placeOf([name])).toBe(place);
      expect(table.partsOf(place)).toEqual([name]);
    });
  });

  it.each([[1, 7], [900, 1], [1_000, 255], [5_000, 13], [70_000, 254]])(
    'takes no more memory for %d keys of %d bytes than a caller reserves',
    (count, length) => {
      const reserved = emptyTableBytes + count * keyMemory(length + 1);
      const table = tableOf(reserved);
      for (let i = 0; i < count; i++) table.placeOf([i.toString(36).padStart(length, '0')]);
      expect(table.bytes).toBeLessThanOrEqual(reserved);
    },
  );
});
