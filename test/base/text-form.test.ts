import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8 } from '../../src/base/bytes.js';
import { textBytesFault, textFault, textForm } from '../../src/base/text-form.js';

/**
 * The ranges as the protocol states them, and by a loop: another way than the code has. Between two
 * Latin letters the joiners are refused, too.
 */
const refusedRanges: readonly (readonly [number, number])[] = [
  [0x00, 0x1f], [0x7f, 0x9f], [0xad, 0xad], [0x61c, 0x61c], [0x180e, 0x180e], [0x200b, 0x200f],
  [0x2028, 0x202e], [0x2060, 0x206f], [0xd800, 0xdfff], [0xe000, 0xf8ff], [0xfdd0, 0xfdef],
  [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xfff0, 0xfffb], [0xe0000, 0xe0fff], [0xf0000, 0x10ffff],
];

function isRefused(code: number): boolean {
  return (code & 0xffff) >= 0xfffe
    || refusedRanges.some(([from, to]) => code >= from && code <= to);
}

interface TextPair { readonly what: string; readonly written: string; readonly form: string }

/** The pairs that the clients in other languages read, too. */
function readTexts(): readonly TextPair[] {
  const url = new URL('../vectors/texts.json', import.meta.url);
  return JSON.parse(readFileSync(fileURLToPath(url), 'utf8')) as readonly TextPair[];
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary-ascii', maxLength: 20 }),
);

describe('the one form of a text', () => {
  it('refuses exactly the characters that the protocol lists', () => {
    // The whole first plane, then the ends of planes and ranges.
    const planes = Array.from({ length: 17 }, (_, plane) => plane << 16);
    const ends = [...planes, ...refusedRanges.flat()];
    const codes = [
      ...Array.from({ length: 0x10000 }, (_, code) => code),
      ...ends.flatMap((end) => [-3, -2, -1, 0, 1, 2].map((step) => end + step))
        .filter((code) => code >= 0x10000 && code <= 0x10ffff),
    ];
    const wrong = codes.filter((code) =>
      (textFault(`a${String.fromCodePoint(code)}b`, 255) === 'character') !== isRefused(code));
    expect(wrong).toEqual([]);
  });

  it.each([
    ['', 'empty'],
    [' a', 'outer-space'],
    ['a\u3000', 'outer-space'],
    ['a\u00a0', 'outer-space'],
    ['e\u0301', 'not-normal'],
    ['\u212b', 'not-normal'],
    ['\ud800', 'character'],
    ['a\ufeff', 'character'],
    ['a\nb', 'character'],
    ['\u00e9\u00e9', null],
    ['a b', null],
    ['\u{1f600}', null],
  ] as const)('judges %j', (text, fault) => {
    expect(textFault(text, 255)).toBe(fault);
  });

  it('counts bytes of UTF-8, not characters', () => {
    const two = '\u00e9\u00e9';
    expect([textFault(two, 4), textFault(two, 3)]).toEqual([null, 'too-long']);
    expect([textFault('abcd', 4), textFault('abcd', 3)]).toEqual([null, 'too-long']);
  });

  it('judges bytes as the text that they spell', () => {
    fc.assert(fc.property(anyText, fc.integer({ min: 1, max: 255 }), (text, bytesMax) => {
      fc.pre(text.isWellFormed());
      expect(textBytesFault(utf8(text), bytesMax)).toBe(textFault(text, bytesMax));
    }));
  });

  it.each([
    ['cut short', [0xc3]],
    ['overlong', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['past the last character', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte order mark in front', [0xef, 0xbb, 0xbf, 0x61]],
    ['ASCII and then no UTF-8', [0x61, 0xff]],
  ])('refuses bytes that are %s', (_what, bytes) => {
    expect(textBytesFault(Uint8Array.from(bytes), 255)).toBe('character');
  });

  it('is what the client makes, and making it again changes nothing', () => {
    fc.assert(fc.property(anyText, (text) => {
      const made = textForm(text);
      expect(textForm(made)).toBe(made);
      expect(['outer-space', 'not-normal']).not.toContain(textFault(made, 255));
    }));
  });

  it.each(readTexts())('has no character that nobody sees: $what', ({ written, form }) => {
    expect(textForm(written)).toBe(form);
    expect(textFault(form, 255)).toBeNull();
    expect(textFault(written, 255) === null).toBe(written === form);
  });

  it('stays what it is among joiners, viramas, marks and letters', () => {
    const unit = fc.constantFrom(
      '\u200c', '\u200d', '\ufe0f', '\u094d', '\u093c', '\u0915', '\u0951', '\u0dca', '\u0dbb',
      '\u0645', '\u062f', '\u064e', '\u0654', '\u0301', 'e', '\u2764', ' ',
    );
    fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      const made = textForm(text);
      expect(textForm(made)).toBe(made);
      expect([null, 'empty']).toContain(textFault(made, 255));
    }), { numRuns: 3_000 });
  });

  it('gives equal bytes to equal texts', () => {
    expect(utf8(textForm(' e\u0301\t'))).toEqual(utf8('\u00e9'));
  });
});
