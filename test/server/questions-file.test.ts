import { describe, expect, it } from 'vitest';
import { KeelsonError } from '../../src/base/errors.js';
import { decodeStudyDocument, encodeStudyDocument } from '../../src/wire/index.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { fileWith } from '../support/wrong-studies.js';

const columns = `columns:
  minutes: { type: number, low: 0, high: 240 }
  stops: { type: integer, low: 0, high: 20 }
  late: boolean
  region: { type: category, of: [north, south], other: true }`;

const parse = (questions: string, changes: Readonly<Record<string, string>> = {}) =>
  parseStudyText(
    fileWith({ columns, estimator: '', parameters: '', questions, ...changes }),
    { name: 'study.yaml' },
  ).document;

function refusalOf(questions: string, changes: Readonly<Record<string, string>> = {}): string {
  try {
    parse(questions, changes);
  } catch (error) {
    if (error instanceof KeelsonError) return error.message;
    throw error;
  }
  return 'nothing was refused';
}

/** A file with one question, `q`. */
const asked = (...members: readonly string[]): string =>
  `questions:\n  q: { ${members.join(', ')} }`;
const count = (...members: readonly string[]): string => asked('estimator: count', ...members);
const mean = (...members: readonly string[]): string =>
  asked('estimator: robust-mean', 'columns: [minutes]', 'parameters: { spread: 40 }', ...members);

describe('the questions of a study file', () => {
  it('become facts of version 2, with every default written out', () => {
    const document = parse(`questions:
  delays: { estimator: robust-mean, columns: [minutes], where: { late: true }, part: 40,
    parameters: { spread: 40 } }
  regions: { estimator: count, by: { column: region, groupsMax: 2 }, where: {
    minutes: { at-least: 5, below: 60 }, region: { in: [north, other] }, stops: { not: 3 } } }
  busy: { estimator: histogram, columns: [minutes, region], parameters: { column: region } }
  time: { estimator: sum, columns: [minutes, stops] }
  spread: { estimator: distribution, columns: [minutes], parameters: { cells: 64 } }`);
    expect(document).toMatchObject({ version: 2, contribution: { rowsMax: 64 } });
    expect(document).not.toHaveProperty('estimator');
    expect(document.questions).toMatchObject([
      {
        name: 'delays', estimator: 'robust-mean', columns: ['minutes'], part: 40, reduce: 'mean',
        where: [{ column: 'late', is: true }], parameters: { spread: [40] },
      },
      {
        name: 'regions', estimator: 'count', columns: [], part: 15, reduce: 'one',
        by: { columns: ['region'], groupsMax: 2 },
        where: [
          { column: 'minutes', atLeast: 5 }, { column: 'minutes', below: 60 },
          { column: 'region', in: ['north', 'other'] }, { column: 'stops', not: 3 },
        ],
      },
      { name: 'busy', reduce: 'one', parameters: { column: 1, edges: [1, 2] }, part: 15 },
      { name: 'time', reduce: 'sum', parameters: { range: [0, 240, 0, 20] }, part: 15 },
      { name: 'spread', reduce: 'mean', parameters: { range: [0, 240] }, part: 15 },
    ]);
    expect(decodeStudyDocument(encodeStudyDocument(document))).toEqual(document);
  });

  it('may be about a list of columns, which are all numbers', () => {
    const document = parse(mean('reduce: sum'), { columns: 'columns: [minutes, miles]' });
    expect(document).toMatchObject({
      version: 2, columns: ['minutes', 'miles'], types: [{ type: 'number' }, { type: 'number' }],
      questions: [{ reduce: 'sum', part: 100 }],
    });
  });

  it('take the reduction of the file, but where people are counted', () => {
    const { questions } = parse(`${mean()}\n  people: { estimator: count }`, {
      contribution: 'contribution: { reduce: sum, rowsMax: 8 }',
    });
    expect(questions.map(({ reduce }) => reduce)).toEqual(['sum', 'one']);
  });

  it('divide what no share takes, as evenly as whole per cent allow', () => {
    const partsOf = (text: string) => parse(text).questions.map(({ part }) => part);
    const three = 'a: { estimator: count }\n  b: { estimator: count }\n  c: { estimator: count';
    expect(partsOf(`questions:\n  ${three} }`)).toEqual([34, 33, 33]);
    expect(partsOf(`questions:\n  ${three}, part: 50 }`)).toEqual([25, 25, 50]);
    expect(partsOf('questions:\n  a: { estimator: count, part: 20 }')).toEqual([20]);
  });

  it('may have keys of several columns, each written as it is in the file', () => {
    const { questions } = parse(count('by: { columns: [region, late, stops], groupsMax: 3, '
      + 'groups: [[north, true, 3], [other, false, 0]] }'));
    expect(questions[0]!.by!.groups).toEqual([['north', 'true', '3'], ['other', 'false', '0']]);
  });

  it.each<[string, string, string]>([
    ['an estimator beside them', `${count()}\nestimator: mean`,
      'estimator is given beside questions; write it in a question'],
    ['parameters beside them', `${count()}\nparameters: { spread: 1 }`,
      'parameters is given beside questions; write it in a question'],
    ['a quarantine', `${count()}\nquarantine: { beyond: 3 }`,
      'quarantine compares rows with answers, and an answer of count is not one number for each '
        + 'column; leave it out, or ask for one that is and is not split'],
    ['no question', 'questions: {}', 'questions is {}: give a map of 1 to 16 names and questions'],
    ['a name with capitals', 'questions: { Delays: { estimator: count } }',
      'questions.Delays is "Delays": give a name of a to z, digits and hyphens, at most 32'],
    ['the name of an object\'s own', 'questions: { constructor: { estimator: count } }',
      'no question is named constructor, prototype, __proto__'],
    ['a test of an object\'s own name', count('where: { constructor: 3 }'),
      'a column named constructor, prototype, __proto__ cannot be tested'],
    ['a name twice', 'questions:\n  a: { estimator: count }\n  a: { estimator: count }',
      'the key "a" stands there twice'],
    ['a misspelt key', count('pat: 5'),
      'questions.q.pat is not a key that is known here; did you mean part?'],
    ['no estimator', asked('part: 5'), 'questions.q.estimator is missing; give a name'],
    ['an estimator that is none', asked('estimator: cuont'),
      'questions.q.estimator cannot be used: there is no estimator "cuont": did you mean "count"?'],
    ['a common word for one', asked('estimator: percentile'),
      'questions.q.estimator cannot be used: there is no estimator "percentile": write quantile'],
    ['a wrong parameter', mean('part: 5').replace('spread: 40', 'spread: 40, spred: 3'),
      'questions.q.parameters.spred cannot be used'],
    ['a parameter that is missing', asked('estimator: histogram', 'columns: [minutes]'),
      'questions.q.parameters.'],
    ['a misspelt column', count('where: { minuts: 3 }'),
      'questions.q.where names minuts, and the study has no such column; did you mean'],
    ['a category in a mean', asked('estimator: mean', 'columns: [region]',
      'parameters: { spread: 1 }'),
    'columns.region is a category, and mean works out numbers'],
    ['no columns for a mean', asked('estimator: mean', 'parameters: { spread: 1 }'),
      'questions.q.columns are missing, and mean works out numbers; name the columns'],
    ['a threshold without a column', count('parameters: { threshold: 3 }'),
      'questions.q.columns are missing'],
    ['a sum of names', asked('estimator: histogram', 'columns: [region]', 'reduce: sum'),
      'questions.q.reduce is sum, and a person is counted under one name; write reduce: one'],
    ['a part of 0', count('part: 0'),
      'questions.q.part is 0: give a whole number from 1 to 100'],
    ['parts above 100', 'questions:\n  a: { estimator: count, part: 80 }\n'
      + '  b: { estimator: count, part: 50 }',
    'questions.b.part parts add up to 130; make them at most 100 in all'],
    ['nothing left to share', 'questions:\n  a: { estimator: count, part: 99 }\n'
      + '  b: { estimator: count }\n  c: { estimator: count }',
    'questions.b.part is missing, and the other parts leave 1 per cent; make the others smaller'],
    ['a test without a condition', count('where: { late: {} }'),
      'questions.q.where.late is {}: give a value, or a map of is, not, in, at-least, below'],
    ['a test of a list', count('where: { region: [north] }'), 'questions.q.where.region'],
    ['a test that never holds', count('where: { late: { is: true, not: true } }'),
      'questions.q.where.late can never hold, so that no row would count'],
    ['a value of another type', count('where: { late: 3 }'),
      'questions.q.where.late is compared with 3, which it can never be; give true or false'],
    ['keys to discover for a robust mean',
      mean('by: { column: late, groupsMax: 1, discover: true }'),
      'questions.q.by robust-mean is not split by groups that are discovered'],
    ['a split by nothing', count('by: { groupsMax: 1 }'),
      'questions.q.by is {"groupsMax":1}: give column: a column, or columns: up to 3 of them'],
    ['no bound on keys', count('by: { column: late }'), 'questions.q.by.groupsMax is missing'],
    ['a split by numbers', count('by: { column: minutes, groupsMax: 1 }'),
      'questions.q.by cannot split by minutes, which is a number'],
    ['a bound on keys that nobody discovers', count('by: { column: late, groupsMax: 1, top: 3 }'),
      'questions.q.by.top is for groups that are discovered; leave it out, or write discover'],
    ['memory of keys that nobody discovers',
      count('by: { column: late, groupsMax: 1, remember: 3 }'),
      'questions.q.by.remember is for groups that are discovered; leave it out, or write discover'],
    ['memory of as many keys as are shown',
      count('by: { column: late, groupsMax: 1, discover: true, top: 3, remember: 3 }'),
      'questions.q.by.remember is 3, and top is 3; give a whole number from 1 that is smaller'],
    ['memory of keys that are only counted',
      count('parameters: { of: groups }',
        'by: { column: late, groupsMax: 1, discover: true, remember: 3 }'),
      'by.remember is for groups that are shown, and parameters.of is groups, which shows none'],
    ['an answer of keys that nobody discovers',
      count('by: { column: late, groupsMax: 1, answer: groups }'),
      'questions.q.by.answer is for groups that are discovered; leave it out, or write discover'],
    ['a prefilter for keys alone',
      count('by: { column: late, groupsMax: 1, discover: true, answer: groups, prefilter: 2 }'),
      'questions.q.by.prefilter is 2, and answer: groups has no prefilter; leave it out'],
    ['keys alone that are only counted',
      count('parameters: { of: groups }',
        'by: { column: late, groupsMax: 1, discover: true, answer: groups }'),
      'by.answer is groups, which shows groups, and parameters.of is groups, which counts them'],
    ['a number for the name of a key', count('by: { column: region, groupsMax: 1, groups: [3] }'),
      'questions.q.by.groups[0] is 3, which is no text; write it in quotes'],
    ['a key that cannot be', count('by: { column: region, groupsMax: 1, groups: [west] }'),
      'questions.q.by.groups[0] has "west" for region, which it can never be; give one of north'],
  ])('refuse %s with its place and a remedy', (_name, text, message) => {
    expect(refusalOf(text)).toContain(message);
  });

  it('need keys for a text, and a delta where the keys are discovered', () => {
    const text = 'columns: { app: { type: text } }';
    expect(refusalOf(count('by: { column: app, groupsMax: 1 }'), { columns: text }))
      .toContain('questions.q.by has a text; give discover: true, or a list in groups');
    expect(refusalOf(count('by: { column: app, groupsMax: 1, discover: true }'), {
      columns: text, budget: 'budget: { epsilon: 8, delta: 0, rule: pure }',
      privacy: 'privacy: { epsilon: 1, delta: 0 }',
    })).toContain('questions.q: showing discovered groups needs a delta, and the budget asks');
  });

  it('bound the keys of all answers', () => {
    const wide = 'columns: { a: { type: integer, low: 1, high: 999 }, '
      + 'b: { type: integer, low: 1, high: 12 } }';
    expect(refusalOf(count('by: { columns: [a, b], groupsMax: 1 }'), { columns: wide }))
      .toContain('questions.q.by has 13,000 groups: 4,096 groups at most');
  });

  it('name the line', () => {
    expect(refusalOf('questions:\n  a: { estimator: count }\n  b: { estimator: count,\n'
      + '    where: { late: 7 } }')).toMatch(/^study\.yaml, line 14: questions\.b\.where\.late is/);
  });

  it('must be there where no estimator is', () => {
    expect(refusalOf('')).toContain(
      'estimator is missing; give the name of one, or several questions');
  });
});

describe('running totals in a study file', () => {
  const own = { budget: 'budget: { epsilon: 4, delta: 1e-5, scope: contributor }' };
  const two = `questions:
  regions: { estimator: count, by: { column: region, groupsMax: 2 } }
  delays: { estimator: robust-mean, columns: [minutes], parameters: { spread: 40 } }`;
  const running = (text: string) => ({ ...own, running: `running: ${text}` });

  it('become facts, and are read back', () => {
    const document = parse(two, running('{ separation: 7, questions: [regions] }'));
    expect(document.running).toEqual({ separation: 7, questions: ['regions'] });
    expect(decodeStudyDocument(encodeStudyDocument(document))).toEqual(document);
  });

  it.each([
    ['{ separation: 1, questions: [regions] }', 'from 2 to 3653'],
    ['{ separation: 7 }', 'running.questions is missing'],
    ['{ separation: 7, questions: [speeds] }', 'is no question of this study'],
    ['{ separation: 7, questions: [delays] }', 'questions.delays: robust-mean with these settings '
      + 'has no running total'],
  ])('are refused as %s', (text, message) => {
    expect(refusalOf(two, running(text))).toContain(message);
  });

  it.each([
    ['budget', 'budget: { epsilon: 4, delta: 1e-5 }', 'running needs a budget of each contributor'],
    ['budget', 'budget: { epsilon: 4, delta: 1e-5, scope: contributor, per: 30d }',
      'needs a budget that does not renew'],
    ['budget', 'budget: { epsilon: 4, delta: 1e-5, scope: contributor, rule: pure }',
      'not pure'],
    ['participation', 'participation: public', 'running needs secret participation'],
  ])('are refused with another %s', (name, text, message) => {
    const changes = { ...running('{ separation: 7, questions: [regions] }'), [name]: text };
    expect(refusalOf(two, changes)).toContain(message);
    if (name === 'participation') return;
    const document = parse(two, running('{ separation: 7, questions: [regions] }'));
    const { budget } = document;
    const worse = { ...document, budget: { ...budget, scope: 'study' as const } };
    expect(() => decodeStudyDocument(encodeStudyDocument(worse))).toThrow('facts.running');
  });

  it('keep a bounded number of exact values', () => {
    const document = parse(two, running('{ separation: 3653, questions: [regions] }'));
    expect(document.running!.separation).toBe(3_653);
    const bins = Array.from({ length: 80 }, (_, i) => i).join(', ');
    expect(refusalOf(`questions:\n  bins: { estimator: histogram, columns: [minutes], parameters: { `
      + `edges: [${bins}] } }`, running('{ separation: 3653, questions: [bins] }')))
      .toContain('262144 are the most');
  });
});
