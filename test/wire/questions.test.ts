import { describe, expect, it } from 'vitest';
import { fromUtf8, utf8 } from '../../src/base/bytes.js';
import { canonicalJson, type JsonValue } from '../../src/base/canonical-json.js';
import type { ColumnType } from '../../src/base/columns.js';
import { WireError } from '../../src/base/errors.js';
import { publicParts, questionsFault } from '../../src/base/question-rules.js';
import type { Question } from '../../src/base/questions.js';
import {
  decodeContributorFacts, decodeStudyDocument, encodeStudyDocument,
} from '../../src/wire/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { document as short } from '../support/wire-samples.js';
import { without } from '../support/without.js';

const columns = ['minutes', 'stops', 'late', 'region'];
const types: readonly ColumnType[] = [
  { type: 'number', low: 0, high: 240 }, { type: 'integer', low: 0, high: 20 },
  { type: 'boolean' }, { type: 'category', of: ['north', 'south'], other: true },
];

const base: Question = {
  name: 'delays', estimator: 'robust-mean', parameters: { spread: 40 }, columns: ['minutes'],
  where: [{ column: 'late', is: true }], reduce: 'mean', part: 40,
};
const regions: Question = {
  name: 'regions', estimator: 'count', parameters: {}, columns: [], reduce: 'one', part: 20,
  where: [
    { column: 'minutes', atLeast: 5 }, { column: 'minutes', below: 60 },
    { column: 'region', in: ['north', 'other'] }, { column: 'stops', not: 3 },
    { column: 'late', present: true },
  ],
  by: { columns: ['region', 'late'], groupsMax: 2 },
};
const listed: Question = {
  ...regions, name: 'listed', where: [],
  by: { columns: ['region', 'stops'], groupsMax: 1, groups: [['north', '3'], ['other', '0']] },
};

const shared = without(short, 'wireForm');
const many: StudyDocument = {
  ...shared, version: 2, columns, types, questions: [base, regions, listed],
};

/** The facts with the first question changed. */
const withQuestion = (change: object): Uint8Array => utf8(canonicalJson({
  ...JSON.parse(fromUtf8(encodeStudyDocument(many))) as Record<string, JsonValue>,
  questions: [{ ...base, ...change }] as unknown as JsonValue,
}));

describe('facts with a list of questions', () => {
  it('are read back as they were written, by readers and by contributors', () => {
    const facts = encodeStudyDocument(many);
    expect(decodeStudyDocument(facts)).toEqual(many);
    expect(decodeContributorFacts(facts)).toEqual(many);
    expect(fromUtf8(facts)).toContain('"questions":[{"columns":["minutes"],"estimator":'
      + '"robust-mean","name":"delays","parameters":{"spread":40},"part":40,"reduce":"mean",'
      + '"where":[{"column":"late","is":true}]}');
  });

  it.each<[string, object, string]>([
    ['another member', { extra: 1 }, 'facts.questions[0]."extra"'],
    ['a name with capitals', { name: 'Delays' }, 'facts.questions.Delays'],
    ['an estimator that is no name', { estimator: 7 }, 'facts.questions[0].estimator'],
    ['a part of 0', { part: 0 }, 'facts.questions[0].part'],
    ['a part that is not whole', { part: 1.5 }, 'facts.questions[0].part'],
    ['a column twice', { columns: ['minutes', 'minutes'] }, 'facts.questions.delays.columns'],
    ['a column that is not there', { columns: ['hours'] }, 'facts.questions.delays.columns'],
    ['columns that are no list', { columns: 'minutes' }, 'facts.questions[0].columns'],
    ['a reduction that is none', { reduce: 'median' }, 'facts.questions[0].reduce'],
    ['a mean of a category', { columns: ['region'] }, 'facts.questions.delays.reduce'],
    ['a test of two kinds', { where: [{ column: 'late', is: true, not: false }] },
      'facts.questions[0].where[0]."not"'],
    ['a test of no kind', { where: [{ column: 'late' }] }, 'facts.questions[0].where[0]'],
    ['a bound that is a text', { where: [{ column: 'minutes', below: '5' }] },
      'facts.questions[0].where[0].below'],
    ['a value that is a list', { where: [{ column: 'late', is: [true] }] },
      'facts.questions[0].where[0].is'],
    ['an empty choice', { where: [{ column: 'stops', in: [] }] },
      'facts.questions.delays.where.stops'],
    ['keys in no list', { by: { columns: ['late'], groupsMax: 1, groups: ['true'] } },
      'facts.questions[0].by.groups[0]'],
    ['no bound on keys', { by: { columns: ['late'] } }, 'facts.questions[0].by.groupsMax'],
    ['a discovery without top', { by: { columns: ['late'], groupsMax: 1, discover: {} } },
      'facts.questions[0].by.discover'],
    ['a discovery that remembers nothing', { by: {
      columns: ['late'], groupsMax: 1, discover: { top: 5, prefilter: 2, remember: 0 },
    } }, 'facts.questions[0].by.discover.remember'],
    ['an answer of another kind', { by: {
      columns: ['late'], groupsMax: 1, discover: { top: 5, prefilter: 1, answer: 'counts' },
    } }, 'facts.questions[0].by.discover.answer'],
    ['parameters that nest', { parameters: { a: { b: 1 } } }, 'facts.questions[0].parameters.a'],
  ])('are refused with %s', (_name, change, place) => {
    let caught: unknown;
    try {
      decodeStudyDocument(withQuestion(change));
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(WireError);
    expect((caught as WireError).code).toBe('malformed');
    expect((caught as WireError).message).toContain(place);
    // A contributor does not read the questions.
    expect(decodeContributorFacts(withQuestion(change)).study).toBe(many.study);
  });

  it('are refused in version 1, beside an estimator, or with 17 questions', () => {
    const json = JSON.parse(fromUtf8(encodeStudyDocument(many))) as Record<string, JsonValue>;
    const seventeen = Array.from({ length: 17 }, (_, i) => ({ ...base, part: 1, name: `q${i}` }));
    for (const change of [
      { version: 1, columns: ['minutes'] }, { estimator: 'mean' }, { parameters: {} },
      { contribution: { rowsMax: 64, reduce: 'mean' } }, { questions: [] },
      { questions: seventeen },
    ]) {
      const facts = utf8(canonicalJson({ ...json, ...change } as unknown as JsonValue));
      expect(() => decodeStudyDocument(facts)).toThrow(WireError);
    }
  });

  it('are refused in any form but the canonical one, by contributors too', () => {
    const text = fromUtf8(encodeStudyDocument(many));
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const form of [
      text.replace('"part":40', '"part":4e1'), text.replace('"is":true', '"is": true'),
      text.replace('{"column":"late","is":true}', '{"is":true,"column":"late"}'),
      `\ufeff${text}`, text.replace('"part":40', `"part":${deep}`),
      text.replace('"part":40', '"part":1e999'),
    ]) {
      expect(form).not.toBe(text);
      expect(() => decodeStudyDocument(utf8(form))).toThrow(WireError);
      expect(() => decodeContributorFacts(utf8(form))).toThrow(/canonical|UTF-8/);
    }
  });
});

describe('the rules of questions', () => {
  const faultOf = (change: Partial<Question>, more: readonly Question[] = []): string | null => {
    const fault = questionsFault([{ ...base, ...change }, ...more], { columns, types });
    return fault === null ? null : `${fault.path} ${fault.rule}; ${fault.remedy}`;
  };
  const tests = (...where: Question['where']) => ({ where });

  it('let the samples pass', () => expect(faultOf({}, [regions, listed])).toBeNull());

  it.each<[string, Partial<Question>, string]>([
    ['a column that was misspelt', { columns: ['minuts'] },
      'questions.delays.columns names minuts, and the study has no such column; did you mean '
      + 'minutes?'],
    ['an order among names', tests({ column: 'region', below: 3 }),
      'questions.delays.where.region is a category, which is not compared by size; use is, not'],
    ['a name that is not listed', tests({ column: 'region', is: 'nort' }),
      'where.region is compared with "nort", which it can never be; give one of north, south, '
      + 'other'],
    ['a number for a boolean', tests({ column: 'late', is: 1 }),
      'where.late is compared with 1, which it can never be; give true or false'],
    ['a fraction for a whole number', tests({ column: 'stops', in: [1, 2.5] }),
      'where.stops is compared with 2.5, which it can never be; give a whole number'],
    ['a value twice', tests({ column: 'stops', in: [1, 1] }), 'where.stops is no list to choose'],
    ['an absent cell that cannot be', tests({ column: 'late', present: false }),
      'where.late can never hold, so that no row would count'],
    ['opposite tests', tests({ column: 'late', is: true }, { column: 'late', not: true }),
      'where.late can never hold'],
    ['all names excluded', tests(...['north', 'south', 'other'].map((not) =>
      ({ column: 'region', not }))), 'where.region can never hold'],
    ['an empty interval', tests({ column: 'minutes', atLeast: 5 }, { column: 'minutes', below: 5 }),
      'where.minutes can never hold'],
    ['an interval without whole numbers',
      tests({ column: 'stops', atLeast: 2.2 }, { column: 'stops', below: 3 }),
      'where.stops can never hold'],
    ['a value outside the interval',
      tests({ column: 'minutes', is: 3 }, { column: 'minutes', atLeast: 5 }),
      'where.minutes can never hold'],
    ['whole numbers that are all excluded', tests({ column: 'stops', atLeast: 2 },
      { column: 'stops', below: 4 }, { column: 'stops', not: 2 }, { column: 'stops', not: 3 }),
    'where.stops can never hold'],
    ['a split by numbers', { by: { columns: ['minutes'], groupsMax: 1 } },
      'questions.delays.by cannot split by minutes, which is a number'],
    ['no column to split by', { by: { columns: [], groupsMax: 1 } },
      'by has 0 columns; name 1 to 3'],
    ['no key at all', { by: { columns: ['late'], groupsMax: 0 } }, 'by.groupsMax is 0'],
    ['a list and a search', { by: {
      columns: ['late'], groupsMax: 1, groups: [['true']], discover: { top: 5, prefilter: 2 },
    } }, 'by has both groups and discover; leave one of them out'],
    ['a discovery that remembers all', { by: {
      columns: ['late'], groupsMax: 1, discover: { top: 5, prefilter: 2, remember: 5 },
    } }, 'by.remember is 5, and top is 5; give a whole number from 1 that is smaller than top'],
    ['a key that cannot be', { by: { columns: ['stops'], groupsMax: 1, groups: [['21']] } },
      'by.groups[0] has "21" for stops, which it can never be'],
    ['a key with another spelling', { by: { columns: ['stops'], groupsMax: 1, groups: [['+3']] } },
      'by.groups[0] has "+3" for stops'],
    ['a short key', { by: { columns: ['stops', 'late'], groupsMax: 1, groups: [['3']] } },
      'by.groups[0] is ["3"]; give one value for each of stops, late'],
    ['a key twice', { by: { columns: ['late'], groupsMax: 1, groups: [['true'], ['true']] } },
      'by.groups[1] stands in the list twice; list it once'],
    ['keys for none', { by: { columns: ['late'], groupsMax: 1, groups: [] } },
      'by.groups is empty'],
    ['a mean without columns', { columns: [] },
      'questions.delays.reduce is mean, and the question has no columns; write reduce: one'],
  ])('find %s', (_name, change, message) => expect(faultOf(change)).toContain(message));

  it('find what only all questions break together', () => {
    expect(faultOf({}, [base])).toContain('questions.delays has the name of an earlier question');
    expect(faultOf({ part: 90 }, [regions, listed])).toContain(
      'questions.regions.part parts add up to 130; make them at most 100 in all');
    const wide: ColumnType = { type: 'integer', low: 1, high: 1_024 };
    const wideColumns = { columns: ['a', 'b'], types: [wide, wide] };
    const by = { ...regions, where: [], by: { columns: ['a', 'b'], groupsMax: 1 } };
    expect(questionsFault([by], wideColumns)).toMatchObject({
      path: 'questions.regions.by', rule: 'has 1,050,625 groups: 4,096 groups at most',
    });
    const discover = { top: 3_500, prefilter: 2 };
    const one = { ...by, name: 'one', by: { columns: ['a'], groupsMax: 1 } };
    const found = { ...by, name: 'two', by: { columns: ['a'], groupsMax: 1, discover } };
    expect(questionsFault([one, found], wideColumns)).toMatchObject({
      path: 'questions.two.by',
      rule: 'brings the groups of all questions to 4,525: 4,096 groups at most',
    });
    const wider: ColumnType = { type: 'integer', low: 0, high: 1_024 };
    expect(questionsFault([one], { columns: ['a'], types: [wider] })).toMatchObject({
      rule: 'needs a range of at most 1024 whole numbers for a',
    });
  });

  it('know the public values of a column', () => {
    expect(types.map(publicParts)).toEqual([
      null, [...Array.from({ length: 21 }, (_, i) => `${i}`), 'other'], ['false', 'true'],
      ['north', 'south', 'other'],
    ]);
    expect(publicParts({ type: 'integer', low: -1, high: 1 })).toEqual(['-1', '0', '1', 'other']);
    expect(publicParts({ type: 'integer' })).toBeNull();
  });
});
