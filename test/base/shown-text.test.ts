import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  csvText, keyDoubts, lookAlikes, mixesScripts, quotedText,
} from '../../src/base/shown-text.js';

const escapes = /\\(?:u\{([0-9a-f]+)\}|(["\\]))/g;

describe('a text in a terminal', () => {
  it.each([
    ['north', '"north"'],
    ['caf\u00e9 \u2013 100 \u20ac', '"caf\u00e9 \u2013 100 \u20ac"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u001b[2J', '"\\u{1b}[2J"'],
    ['a\nb\r', '"a\\u{a}b\\u{d}"'],
    ['a\u202eb', '"a\\u{202e}b"'],
    ['a\u00a0b\u3000', '"a\\u{a0}b\\u{3000}"'],
    ['\u0301a', '"\\u{301}a"'],
    ['x\u0301\u0302', '"x\u0301\u0302"'],
    ['a \u0301', '"a \u0301"'],
    ['\u3164', '"\\u{3164}"'],
    ['a\u034fb', '"a\\u{34f}b"'],
    ['\u2800', '"\\u{2800}"'],
    ['\ud800', '"\\u{d800}"'],
    ['\u{1f600}', '"\u{1f600}"'],
    ['\u{e000}', '"\\u{e000}"'],
  ])('shows %j', (text, shown) => {
    expect(quotedText(text)).toBe(shown);
  });

  it('shows nothing that is invisible or a control, and can be read back', () => {
    const code = fc.integer({ min: 0, max: 0x10ffff });
    const character = code.map((each) => String.fromCodePoint(each));
    const texts = fc.oneof(fc.string({ unit: character, maxLength: 12 }), fc.string());
    fc.assert(fc.property(texts, (text) => {
      const shown = quotedText(text);
      expect(shown).not.toMatch(/[\p{C}\p{DI}\u2028\u2029]/u);
      const back = shown.slice(1, -1)
        .replace(escapes, (_all, code: string | undefined, same: string) =>
          (code === undefined ? same : String.fromCodePoint(Number.parseInt(code, 16))));
      expect(back).toBe(text);
    }));
  });
});

describe('a text in a CSV file', () => {
  it.each([
    ['north', '"north"'],
    ['a,"b"', '"a,""b"""'],
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-1', '"\'-1"'],
    ['@a', '"\'@a"'],
    ['\uff1d1', '"\'\uff1d1"'],
    ['\uff0b1', '"\'\uff0b1"'],
    ['\uff0d1', '"\'\uff0d1"'],
    ['\uff20a', '"\'\uff20a"'],
    ['\t=1', '"\'\t=1"'],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['a=1', '"a=1"'],
  ])('is written safely: %j', (text, cell) => {
    expect(csvText(text)).toBe(cell);
  });
});

describe('texts that look alike', () => {
  it.each([
    ['pay', false],
    ['p\u0430y', true],
    ['\u03b1lpha', true],
    ['\u041c\u043e\u0441\u043a\u0432\u0430 2', false],
    ['\u6771\u4eac Tower', false],
    ['\u6771\u4eac\u30bf\u30ef\u30fc', false],
    ['\u6771\u0430', true],
    ['\u0e01\u0e02', false],
    ['a\u0e01', true],
    ['1.5 \u20ac', false],
  ])('finds whether %j mixes writing systems', (text, mixes) => {
    expect(mixesScripts(text)).toBe(mixes);
  });

  it('finds those that are equal after NFKC and in lower case', () => {
    expect(lookAlikes(['Chat', 'chat', 'mail', '\uff43hat', 'K', '\u212a', '\ufb01n', 'fin']))
      .toEqual([1, 0, null, 0, 5, 4, 7, 6]);
    expect(lookAlikes([])).toEqual([]);
    expect(keyDoubts([['maps', 'a'], ['Maps', 'a'], ['Maps', 'b'], ['b', 'p\u0430y']]))
      .toEqual(['look-alike', 'look-alike', null, 'mixed letters']);
  });
});
