import { describe, expect, it } from 'vitest';
import { toHex, utf8 } from '../../src/base/bytes.js';
import { canonicalJson, type JsonValue } from '../../src/base/canonical-json.js';
import { WireError } from '../../src/base/errors.js';
import { signing } from '../../src/signing/browser.js';
import {
  decodeStudyDocument, encodeStudyDocument, ofShortFacts, studyId, type ShortFacts,
  type StudyDocument,
} from '../../src/wire/index.js';
import { document, facts, factsId, shortFacts } from '../support/wire-samples.js';

const tokens = {
  kind: 'tokens', issuer: 'tokens.example.org:8443', fromMs: 1_000, perMs: 86_400_000,
  keys: ['ab'.repeat(32), 'cd'.repeat(32)],
} as const;

const others: readonly StudyDocument[] = ([
  { ...shortFacts, participation: 'public', epoch: { contributors: 3000 } },
  {
    ...shortFacts,
    budget: { ...shortFacts.budget, scope: 'population', population: 'travellers', rule: 'pure' },
  },
  { ...shortFacts, budget: { ...shortFacts.budget, perMs: 2_592_000_000 } },
  { ...shortFacts, peopleMax: document.cohort },
  { ...shortFacts, admission: { kind: 'contributorKeys', digest: 'ab'.repeat(32) }, late: 'drop' },
  { ...shortFacts, admission: { kind: 'enrolment', issuer: 'ab'.repeat(32) } },
  { ...shortFacts, admission: tokens, late: 'drop' },
  { ...shortFacts, participation: 'public',
    admission: { kind: 'rate', contributorKeys: 10, perMs: 60_000 } },
  { ...shortFacts, retention: { kind: 'duration', keepMs: 86_400_000 }, parameters: {} },
  { ...shortFacts, parameters: { local: 'robust', exact: true, spread: 3 }, columns: ['größe'] },
] satisfies readonly ShortFacts[]).map(ofShortFacts);

/** The sample with one place changed; undefined removes it. */
function changed(path: string, value: unknown): Uint8Array {
  const copy = structuredClone(shortFacts) as unknown as Record<string, unknown>;
  const names = path.split('.');
  let place = copy;
  for (const name of names.slice(0, -1)) place = place[name] as Record<string, unknown>;
  if (value === undefined) delete place[names.at(-1)!];
  else place[names.at(-1)!] = value;
  return utf8(canonicalJson(copy as JsonValue));
}

describe('study document', () => {
  it('reads back its canonical facts', () => {
    for (const study of [document, ...others]) {
      expect(decodeStudyDocument(encodeStudyDocument(study))).toEqual(study);
    }
  });

  it('holds words for people, and a study without them keeps its bytes', () => {
    const typed: ShortFacts = {
      ...shortFacts, version: 2, types: [{ type: 'number' }, { type: 'integer' }],
    };
    const worded: readonly ShortFacts[] = [
      { ...shortFacts, title: 'How late planes are', description: 'Of all flights. Each day.' },
      { ...typed, columnWords: [{ label: 'Delay', unit: 'minutes' }, {}] },
      { ...typed, columnWords: [{ format: 'percent' }, { format: 'compact', unit: 'miles' }] },
    ];
    for (const study of worded.map(ofShortFacts)) {
      expect(decodeStudyDocument(encodeStudyDocument(study))).toEqual(study);
    }
    // Two forms of one study would be two ids.
    expect(encodeStudyDocument(ofShortFacts({ ...typed, columnWords: [{}, {}] })))
      .toEqual(encodeStudyDocument(ofShortFacts(typed)));
    expect(decodeStudyDocument(encodeStudyDocument(ofShortFacts(typed))))
      .not.toHaveProperty('columnWords');
  });

  it.each<[string, JsonValue]>([
    ['title', ''], ['title', 'x'.repeat(121)], ['title', 'two\nlines'], ['title', 7],
    ['title', '\u202Eright to left'], ['title', 'a\u0000b'], ['description', 'x'.repeat(1001)],
    ['description', ' blank'], ['description', 'e\u0301'],
  ])('refuses a %s that people cannot read: %j', (name, value) => {
    expect(() => decodeStudyDocument(changed(name, value))).toThrow(WireError);
  });

  const typedFacts = (columns: readonly JsonValue[]) =>
    utf8(canonicalJson({ ...shortFacts, version: 2, columns } as unknown as JsonValue));
  const onlyForQuestions = /without texts and optional columns/;

  it.each<[JsonValue, RegExp]>([
    [{ name: 'a', type: 'text', bytes: 64 }, onlyForQuestions],
    [{ name: 'a', type: 'text', bytes: 255, optional: true }, onlyForQuestions],
    [{ name: 'a', type: 'boolean', optional: true }, onlyForQuestions],
    [{ name: 'a', type: 'integer', low: 0, optional: true }, onlyForQuestions],
    [{ name: 'a', type: 'category', of: ['b'], other: true, optional: true }, onlyForQuestions],
    [{ name: 'a', type: 'text' }, /a column of its type/],
    [{ name: 'a', type: 'text', bytes: 0 }, /a column of its type/],
    [{ name: 'a', type: 'text', bytes: 256 }, /a column of its type/],
    [{ name: 'a', type: 'text', bytes: '9' }, /a column of its type/],
    [{ name: 'a', type: 'text', bytes: 9, low: 1 }, /a fact that this version has/],
    [{ name: 'a', type: 'number', bytes: 9 }, /a fact that this version has/],
    [{ name: 'a', type: 'number', optional: false }, /one of true/],
    [{ name: 'a', type: 'number', label: 'x'.repeat(65) }, /1 to 64 visible/],
    [{ name: 'a', type: 'number', unit: 'x'.repeat(25) }, /1 to 24 visible/],
    [{ name: 'a', type: 'number', unit: '%', format: 'percent' }, /without format: percent/],
    [{ name: 'a', type: 'number', format: 'euro' }, /one of percent, compact/],
    [{ name: 'a', type: 'boolean', unit: 'people' }, /for a number or an integer only/],
    [{ name: 'a', type: 'boolean', format: 'percent' }, /for a number or an integer only/],
  ])('judges a column of texts or without values: %j', (column, rule) => {
    expect(() => decodeStudyDocument(typedFacts([column]))).toThrow(rule);
  });

  it('has one id for one set of facts', async () => {
    const shuffled =
      Object.fromEntries(Object.entries(document).reverse()) as unknown as StudyDocument;
    expect(await studyId(encodeStudyDocument(shuffled), signing)).toBe(toHex(factsId));
    const ids =
      await Promise.all(others.map((study) => studyId(encodeStudyDocument(study), signing)));
    expect(new Set([...ids, toHex(factsId)]).size).toBe(others.length + 1);
  });

  it.each<[string, unknown]>([
    ['version', 3],
    ['study', ''],
    ['study', 'x'.repeat(65)],
    ['study', 'red\u001b[31m'],
    ['columns', []],
    ['columns', ['a', 'a']],
    ['columns', ['a', 7]],
    ['columns', Array.from({ length: 1025 }, (_, i) => `c${i}`)],
    ['cohort', 0],
    ['cohort', 2.5],
    ['cohort', 10_000_001],
    ['cohort', '3000'],
    ['participation', 'hidden'],
    ['epoch', { everyMs: 0 }],
    ['epoch', { contributors: 10 }],
    ['epoch', { everyMs: 10, contributors: 10 }],
    ['epoch', {}],
    ['contribution.reduce', 'median'],
    ['contribution.rowsMax', 0],
    ['estimator', 5],
    ['parameters', []],
    ['parameters.spread', [1, '2']],
    ['parameters.corruption', null],
    ['parameters.deep', { a: 1 }],
    ['privacy.epsilon', 0],
    ['privacy.epsilon', undefined],
    ['privacy.delta', 1],
    ['privacy.delta', -1e-9],
    ['budget.rule', 'basic'],
    ['peopleMax', document.cohort - 1],
    ['peopleMax', 16 * document.cohort],
    ['peopleMax', 160_000_001],
    ['budget.scope', 'population'],
    ['budget.population', 'travellers'],
    ['admission', { kind: 'contributorKeys' }],
    ['admission', { kind: 'enrolment' }],
    ['admission', { kind: 'rate', contributorKeys: 10, perMs: 60_000 }],
    ['admission', { kind: 'rate', contributorKeys: 0, perMs: 60_000 }],
    ['admission', tokens],
    ['admission', { ...tokens, issuer: 'Tokens' }],
    ['admission', { ...tokens, keys: [] }],
    ['admission', { ...tokens, keys: ['ab'.repeat(32), 'ab'.repeat(32)] }],
    ['admission', { ...tokens, fromMs: 2 ** 50 }],
    ['admission', { kind: 'enrolment', issuer: 'ab' }],
    ['admission', { kind: 'contributorKeys', digest: 'AB'.repeat(32) }],
    ['admission', { kind: 'open', digest: 'ab'.repeat(32) }],
    ['late', 'never'],
    ['retention', { kind: 'duration' }],
    ['retention', null],
    ['extra', 1],
    ['privacy.extra', 1],
  ])('refuses %s = %j and names the place', (path, value) => {
    let caught: unknown;
    try {
      decodeStudyDocument(changed(path, value));
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(WireError);
    expect((caught as WireError).code).toBe('malformed');
    expect((caught as WireError).message).toContain(path.split('.')[0]);
  });

  it('refuses every form but the canonical one', () => {
    const text = new TextDecoder().decode(facts);
    for (const form of [
      ` ${text}`,
      `${text}\n`,
      text.replace('"cohort":3000', '"cohort":3e3'),
      text.replace('"cohort":3000', '"cohort": 3000'),
      text.replace('"cohort":3000', '"cohort":2000,"cohort":3000'),
      text.replace('"prime"', '"\\u0070rime"'),
    ]) {
      expect(form).not.toBe(text);
      expect(() => decodeStudyDocument(utf8(form))).toThrow(/canonical/);
    }
  });

  it('refuses deep nesting and broken text without another error', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const bytes of [
      utf8(deep), utf8(`{"parameters":${deep}}`), Uint8Array.of(0xff), utf8('null'), utf8('7'),
    ]) {
      expect(() => decodeStudyDocument(bytes)).toThrow(WireError);
    }
  });
});
