import { describe, expect, it } from 'vitest';
import { isName } from '../../src/base/facts-limits.js';
import { parsePopulationsText, parseStudyText } from '../../server/study-file/index.js';
import { decodeStudyDocument, encodeStudyDocument, ofShortFacts } from '../../src/wire/index.js';
import { meanStudy } from '../support/study-files.js';
import { shortFacts } from '../support/wire-samples.js';

const good = [
  'a', 'flight-delays', 'Annual income (EUR)', 'ملف <b>', 'é', '日本', 'x/y:z', 'क्षि', '64',
  'f'.repeat(63), 'g'.repeat(64),
];

const bad: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a blank', ' '],
  ['a blank at the end', 'a '],
  ['a blank at the start', ' a'],
  ['two blanks', 'a  b'],
  ['a no-break space', 'a\u00a0b'],
  ['an ideographic space', 'a\u3000b'],
  ['a line end', 'a\nb'],
  ['a line separator', 'a\u2028b'],
  ['a control character', 'a\u0007'],
  ['a zero-width space', 'a\u200bb'],
  ['a word joiner', 'a\u2060'],
  ['a soft hyphen', 'a\u00adb'],
  ['a right-to-left override', 'a\u202eb'],
  ['a byte order mark', '\ufeffa'],
  ['a grapheme joiner', 'a\u034fb'],
  ['a variation selector', 'a\ufe0f'],
  ['a Hangul filler', '\u3164'],
  ['a blank Braille cell', '\u2800'],
  ['a tag character', 'a\u{e0061}'],
  ['half a pair', 'a\ud800'],
  ['an accent of its own', 'e\u0301'],
  ['an accent on nothing', '\u0301a'],
  ['an id', 'ab'.repeat(32)],
  ['an id in capitals', 'AB'.repeat(32)],
  ['too many characters', 'x'.repeat(65)],
];

describe('names', () => {
  it.each(good)('may be %j', (name) => expect(isName(name)).toBe(true));

  it.each(bad)('are not %s', (_what, name) => {
    expect(isName(name)).toBe(false);
    const quoted = JSON.stringify(name);
    const read = (facts: Record<string, string>) =>
      () => parseStudyText(meanStudy('s', facts), { name: 'f.yaml' });
    expect(read({ study: quoted }))
      .toThrow(/study is [^]*give a name of 1 to 64 visible characters/);
    expect(read({ columns: `[a, ${quoted}]` })).toThrow(/columns\[1\] is [^]*give a name/);
    const populations = `populations: { ${quoted}: { epsilon: 8, delta: 1e-5 } }`;
    expect(() => parsePopulationsText(populations, 'p.yaml')).toThrow(/give a name/);
    // What a server signs is no better: a client takes none of these from it.
    for (const change of [{ study: name }, { columns: ['a', name] }]) {
      const changed = ofShortFacts({ ...shortFacts, ...change });
      expect(() => decodeStudyDocument(encodeStudyDocument(changed)))
        .toThrow('a name of 1 to 64 visible characters');
    }
  });
});
