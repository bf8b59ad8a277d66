import { describe, expect, it } from 'vitest';
import { fromUtf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { type Question } from '../../src/base/questions.js';
import { decodeStudyDocument, encodeStudyDocument } from '../../src/wire/index.js';
import { defineStudy } from '../../server/studies/definition.js';
import { readColumns } from '../../server/study-file/columns.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { fileWith } from '../support/wrong-studies.js';

const parse = (changes: Readonly<Record<string, string>>) =>
  parseStudyText(fileWith(changes), { name: 'study.yaml' }).document;

/** The only question of a file in the short form. */
const asked = (changes: Readonly<Record<string, string>>) =>
  parse(changes).questions as [Question];

const count = { estimator: 'estimator: count', parameters: '' };
const inBins = {
  estimator: 'estimator: histogram', parameters: 'parameters: { column: region }',
};
const regions = 'columns:\n  minutes: { type: number, low: 0, high: 240 }\n  late: boolean\n'
  + '  region: { type: category, of: [north, south, east], other: true }';

function refusalOf(changes: Readonly<Record<string, string>>): string {
  try {
    parse(changes);
  } catch (error) {
    if (error instanceof KeelsonError) return error.message;
    throw error;
  }
  return 'nothing was refused';
}

describe('typed columns of a study file', () => {
  it('become facts of version 2, with a list of columns in the order of the file', () => {
    const document = parse({ ...inBins, columns: regions });
    expect(document).toMatchObject({
      version: 2, columns: ['minutes', 'late', 'region'],
      types: [
        { type: 'number', low: 0, high: 240 }, { type: 'boolean' },
        { type: 'category', of: ['north', 'south', 'east'], other: true },
      ],
    });
    const facts = encodeStudyDocument(document);
    expect(fromUtf8(facts)).toContain('"columns":[{"high":240,"low":0,"name":"minutes","type":'
      + '"number"},{"name":"late","type":"boolean"},{"name":"region","of":["north","south","east"],'
      + '"other":true,"type":"category"}]');
    expect(fromUtf8(facts)).toContain('"version":2');
    expect(decodeStudyDocument(facts)).toEqual(document);
  });

  it('have words for people, which may stand on several lines of the file', () => {
    const columns = 'columns:\n  minutes: { type: number, label: Delay, unit: minutes }\n'
      + '  miles: { type: number, format: compact }';
    const description = 'title: Late planes\ndescription: >\n  Of all flights.\n\n  Each day.\n';
    const document = parse({ columns, description });
    expect(document).toMatchObject({
      version: 2, title: 'Late planes', description: 'Of all flights. Each day.',
      columnWords: [{ label: 'Delay', unit: 'minutes' }, { format: 'compact' }],
    });
    expect(decodeStudyDocument(encodeStudyDocument(document))).toEqual(document);
    expect(parse({ columns: 'columns: { minutes: number, miles: number }' }))
      .not.toHaveProperty('columnWords');
    expect(refusalOf({ columns: columns.replace('format: compact', 'unit: m, format: percent') }))
      .toContain('columns.miles.unit');
    expect(refusalOf({ columns: 'columns: { a: { type: boolean, unit: m } }', ...count }))
      .toContain('columns.a.unit is for a number or an integer only');
    expect(refusalOf({ title: `title: ${'x'.repeat(121)}` })).toContain('1 to 120 visible');
  });

  it('leave a list of names as it was: version 1, and no types', () => {
    const document = parse({});
    expect(document.version).toBe(1);
    expect('types' in document).toBe(false);
  });

  it('give a histogram of a category or boolean a bin for each name, and one row of a person',
    () => {
      const [{ parameters, reduce }] = asked({ ...inBins, columns: regions });
      expect(parameters).toMatchObject({ column: 2, edges: [1, 2, 3] });
      expect(reduce).toBe('one');
      const [late] = asked({ ...inBins, columns: 'columns: { late: boolean }', parameters: '' });
      expect(late.parameters).toMatchObject({ edges: [1] });
      expect(late.reduce).toBe('one');
    });

  it('give sum, quantile and distribution their range, unless the file states one', () => {
    const columns = 'columns: { stops: { type: integer, low: 0, high: 20 }, late: boolean }';
    const sum = { columns, estimator: 'estimator: sum' };
    expect(asked({ ...sum, parameters: '' })[0].parameters).toEqual({ range: [0, 20, 0, 1] });
    expect(asked({ ...sum, parameters: 'parameters: { cap: 5 }' })[0].parameters)
      .toEqual({ cap: [5, 5] });
    const [spread] = asked({
      columns, estimator: 'estimator: distribution', parameters: 'parameters: { column: stops }',
    });
    expect(spread.parameters).toMatchObject({ column: 0, range: [0, 20, 0, 20] });
    const middle = 'column: stops, probabilities: [0.5]';
    const quantile = (more: string) => asked({
      columns, estimator: 'estimator: quantile', parameters: `parameters: { ${middle}${more} }`,
    })[0].parameters;
    expect(quantile('')).toMatchObject({ column: 0, range: [0, 20, 0, 20] });
    expect(quantile(', range: 0..9')).toMatchObject({ column: 0, range: [0, 9, 0, 9] });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a text', { columns: 'columns: { app: { type: text, bytes: 64 } }' },
      'columns.app is a text, which only a question uses, in by or where; write questions, '
      + 'or list its values with type: category'],
    ['a text without room', { columns: 'columns: { app: { type: text, bytes: 0 } }' },
      'columns.app.bytes is 0: give a whole number from 1 to 255'],
    ['a text longer than a byte can say', { columns: 'columns: { a: { type: text, bytes: 256 } }' },
      'columns.a.bytes is 256: give a whole number from 1 to 255'],
    ['bytes of a number', { columns: 'columns: { app: { type: number, bytes: 3 } }' },
      'columns.app.bytes is not for type: number; leave it out'],
    ['a type that is none', { columns: 'columns: { late: bool }' },
      'columns.late is "bool": give one of number, integer, boolean, category, text'],
    ['a misspelt key', { columns: 'columns: { late: { type: number, hihg: 3 } }' },
      'columns.late.hihg is not a key that is known here; did you mean high?'],
    ['a missing type', { columns: 'columns: { late: { low: 3 } }' },
      'columns.late.type is missing; give one of number'],
    ['a key of another type', { columns: 'columns: { late: { type: boolean, low: 3 } }' },
      'columns.late.low is not for type: boolean; leave it out'],
    ['a category without names', { ...count, columns: 'columns: { region: category }' },
      'columns.region is a category without names; give of: a list of its names'],
    ['a name twice', { columns: 'columns: { r: { type: category, of: [a, a] } }' },
      'columns.r cannot be used; of has 1 to 1024 different names, not other beside other: true'],
    ['names that are numbers', { columns: 'columns: { r: { type: category, of: [1, 2] } }' },
      'columns.r.of[0] is 1: give a name of 1 to 64'],
    ['the name other beside other: true',
      { columns: 'columns: { r: { type: category, of: [other], other: true } }' },
      'columns.r cannot be used; of has 1 to 1024 different names, not other beside other: true'],
    ['bounds upside down', { columns: 'columns: { r: { type: number, low: 3, high: 2 } }' },
      'columns.r cannot be used; low is below high'],
    ['an integer with a broken bound', { columns: 'columns: { r: { type: integer, low: 0.5 } }' },
      'columns.r cannot be used; low is below high, both are at most 2^64 (1.8e19) in size, and '
        + 'whole for an integer'],
    ['no column', { columns: 'columns: {}' }, 'columns is {}: give a map of 1 to 1024 names'],
    ['a name that JavaScript would move', { columns: 'columns: { b: number, 2024: number }' },
      'a name that is a whole number, constructor or prototype needs the list form'],
    ['a name of every object', { columns: 'columns: { b: number, constructor: number }' },
      'a name that is a whole number, constructor or prototype needs the list form'],
    ['a mean of a category', { columns: regions },
      'columns.region is a category, and mean works out numbers; choose the estimator histogram'],
    ['a threshold on a category', { ...count, columns: regions,
      parameters: 'parameters: { column: region, threshold: 1 }' },
    'columns.region is a category, and count works out numbers'],
    ['edges for names', { ...inBins, columns: regions,
      parameters: 'parameters: { column: region, edges: [1] }' },
    'parameters.edges is not for region, which has names; leave it out: each name has a bin'],
    ['a mean of names', { ...inBins, columns: regions,
      contribution: 'contribution: { reduce: mean, rowsMax: 4 }' },
    'contribution.reduce is mean, and a person is counted under one name; write reduce: one'],
    ['a sum of a category', { ...count, columns: regions,
      contribution: 'contribution: { reduce: sum, rowsMax: 4 }' },
    'contribution.reduce is sum, and a category has no sum and no mean; write reduce: one'],
  ])('refuse %s with its place and a remedy', (_, changes, message) => {
    expect(refusalOf(changes)).toContain(message);
  });

  it('read texts and optional columns, with defaults written out', () => {
    const columns = {
      app: 'text' as const, ip: { type: 'text' as const, bytes: 39, optional: true },
      stops: { type: 'integer' as const, low: 0, optional: true },
      late: { type: 'boolean' as const, optional: false },
      region: { type: 'category' as const, of: ['a'], other: true, optional: true },
    };
    const refuse = (path: string, rule: string) => new Error(`${path} ${rule}`);
    expect(readColumns({ columns }, refuse).types).toEqual([
      { type: 'text', bytes: 64 }, { type: 'text', bytes: 39, optional: true },
      { type: 'integer', low: 0, optional: true }, { type: 'boolean' },
      { type: 'category', of: ['a'], other: true, optional: true },
    ]);
  });

  it('never reach an estimator as texts or absent values: such a study is not defined', () => {
    const document = parse({ ...inBins, columns: regions });
    for (const type of [{ type: 'text', bytes: 8 }, { type: 'number', optional: true }] as const) {
      const types = [type, ...document.types!.slice(1)];
      expect(() => defineStudy({ ...document, types })).toThrow(KeelsonError);
      expect(() => defineStudy({ ...document, types })).toThrow(/list questions/);
    }
    expect(() => defineStudy(document)).not.toThrow();
  });

  it('name the line', () => {
    const text = 'columns:\n  a: number\n  b: { type: text }';
    expect(refusalOf({ columns: text })).toMatch(/study\.yaml, line \d+: columns\.b is a text/);
  });
});
