import { describe, expect, it } from 'vitest';
import { parseStudyText, rewriteStudyText } from '../../server/study-file/index.js';

const rest = `cohort: 3000
epoch: { every: 1h }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`;
const head = '# a study\nstudy: a\ncolumns: [a]\n';
const written = (text: string): string => rewriteStudyText(text, 'a.yaml').text;

describe('a study file with old names', () => {
  it.each([
    ['an estimator', 'estimator: stable-mean-dual   # why', 'estimator: stable-mean   # why'],
    ['one with a parameter beside it', 'estimator: spectral-filter   # why',
      'estimator: prime\nparameters: { directions: one }   # why'],
    ['one in a list of questions',
      'questions:\n  one:\n    # before\n    estimator: "spectral-filter"\n    columns: [a]',
      'questions:\n  one:\n    # before\n    estimator: prime\n'
        + '    parameters: { directions: one }\n    columns: [a]'],
    ['one on a line', 'questions: { one: { estimator: spectral-filter, columns: [a] } }',
      'questions: { one: { estimator: prime, parameters: { directions: one }, columns: [a] } }'],
    ['parameters on a line', 'estimator: spectral-filter\nparameters: { corruption: 0.1 }',
      'estimator: prime\nparameters: { directions: one, corruption: 0.1 }'],
    ['parameters below each other',
      'estimator: spectral-filter\nparameters:\n  corruption: 0.1 # few',
      'estimator: prime\nparameters:\n  directions: one\n  corruption: 0.1 # few'],
    ['a guess of a deviation', 'estimator: mean\nparameters: { scale: [40] }   # why',
      'estimator: mean\nparameters: { spread: [40] }   # why'],
    ['two ends on a line', 'estimator: quantile\nparameters: { low: -1e3, high: 20 }   # why',
      'estimator: quantile\nparameters: { range: -1e3..20 }   # why'],
    ['two ends below each other',
      'estimator: quantile\nparameters:\n  high: 20\n  low: 0\n  probabilities: [0.5]',
      'estimator: quantile\nparameters:\n  range: 0..20\n  probabilities: [0.5]'],
  ])('gets the new ones, and all else stays: %s', (_what, before, after) => {
    const wanted = `${head}${after}\n${rest}`;
    expect(written(`${head}${before}\n${rest}`)).toBe(wanted);
    expect(parseStudyText(wanted, { name: 'a.yaml' }).document.study).toBe('a');
    // A second time there is nothing to do.
    expect(rewriteStudyText(wanted, 'a.yaml').found).toEqual([]);
  });

  it('keeps two ends with a comment between them, and says so', () => {
    const { text, found } = rewriteStudyText(
      `${head}estimator: quantile\nparameters:\n  low: 0  # least\n  high: 20\n${rest}`, 'a.yaml',
    );
    expect(text).toContain('low: 0  # least\n  high: 20');
    expect(found.map(({ isRewritten }) => isRewritten)).toEqual([false, false]);
  });

  /** Columns that can split an answer. */
  const split = 'study: a\ncolumns: { a: number, b: boolean, c: { type: text, bytes: 8 } }\n';
  it.each([
    ['questions.one.by.keysMax is now groupsMax', split,
      'questions:\n  one: { estimator: count, by: { column: b, keysMax: 1 } }   # why',
      'questions:\n  one: { estimator: count, by: { column: b, groupsMax: 1 } }   # why'],
    ['questions.one.by.keys is now groups', split,
      'questions:\n  one:\n    estimator: count\n    by: { column: c, groupsMax: 1, keys: [x] }',
      'questions:\n  one:\n    estimator: count\n    by: { column: c, groupsMax: 1, groups: [x] }'],
    ['questions.one.by.answer is "keys": keys is now groups', split,
      'questions:\n  one:\n    estimator: count\n    by:\n      column: c\n      groupsMax: 1\n'
        + '      discover: true\n      answer: keys',
      'questions:\n  one:\n    estimator: count\n    by:\n      column: c\n      groupsMax: 1\n'
        + '      discover: true\n      answer: groups'],
    ['questions.one.share is now part', split,
      'questions:\n  one: { estimator: count, share: 40 }',
      'questions:\n  one: { estimator: count, part: 40 }'],
    ['admission.keys is now contributorKeys', `${head}estimator: mean\nparameters: { spread: 1 }\n`,
      `admission: { keys: ["${'1f'.repeat(32)}"] }`,
      `admission: { contributorKeys: ["${'1f'.repeat(32)}"] }`],
    ['admission.rate.keys is now contributorKeys',
      `${head}estimator: mean\nparameters: { spread: 1 }\nparticipation: public\n`,
      'admission: { rate: { keys: 9, per: 1h } }',
      'admission: { rate: { contributorKeys: 9, per: 1h } }'],
  ])('refuses an old key by its new one, and rewrites it: %s', (refusal, begin, before, after) => {
    const [old, wanted] = [`${begin}${before}\n${rest}`, `${begin}${after}\n${rest}`];
    expect(() => parseStudyText(old, { name: 'a.yaml' })).toThrow(refusal);
    expect(written(old)).toBe(wanted);
    expect(parseStudyText(wanted, { name: 'a.yaml' }).document.study).toBe('a');
  });

  it('says the line of each, and what it cannot rewrite', () => {
    const text = 'study: a\nestimator: heavy-tailed-1d\nparameters:\n  scale: 1\n  privacy: pure\n';
    const { text: now, found } = rewriteStudyText(text, 'a.yaml');
    expect(now)
      .toBe(text.replace('heavy-tailed-1d', 'heavy-tailed').replace('scale', 'spread'));
    expect(found).toEqual([
      { line: 2, text: 'heavy-tailed-1d is now heavy-tailed with one column', isRewritten: true },
      { line: 4, text: 'scale is now spread', isRewritten: true },
      {
        line: 5, text: 'privacy is gone: a delta of 0 asks for pure privacy', isRewritten: false,
      },
    ]);
  });

  it.each([
    '', '[1, 2]', 'estimator: [1]', 'questions: 5', 'estimator: meen\nparameters: { a: 1 }',
  ])('is left as it is where there is nothing to rewrite: %j', (text) => {
    expect(rewriteStudyText(text, 'a.yaml')).toEqual({ text, found: [] });
  });

  it('is refused where it is not YAML', () => {
    expect(() => written('a: [')).toThrow(/a\.yaml.*is not YAML/);
  });
});
