import { describe, expect, it } from 'vitest';
import { KnownTexts } from '../../cli/input/known-texts.js';
import { dataSource } from '../support/data.js';

describe('texts that are known by their bytes', () => {
  it('are those of the bytes, also of so many that hashes and room run out', () => {
    const data = dataSource('known texts');
    let made = 0;
    const texts = new KnownTexts((bytes, from, to) => {
      made += 1;
      return bytes.toString('latin1', from, to);
    });
    const all = Array.from({ length: 6_000 }, (_, i) =>
      `${i % 7 === 0 ? 'x'.repeat(data.below(40)) : ''}${String(data.below(1e6))}`);
    const of = (text: string): string => {
      const bytes = Buffer.from(`,${text},`, 'latin1');
      return texts.textOf(bytes, 1, bytes.length - 1);
    };
    for (const text of all) expect(of(text)).toBe(text);
    const before = made;
    for (const text of all.slice(0, 3_000)) expect(of(text)).toBe(text);
    // None of the first ones is made again.
    expect(made).toBe(before);
    for (const text of all) expect(of(text)).toBe(text);
  });
});
