import { describe, expect, it } from 'vitest';
import { parseStudyText, rewriteStudyText } from '../../server/study-file/index.js';

const rest = `cohort: 3000
epoch: { every: 1h }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5 }
`;
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
  ])('gets the new ones, and all else stays: %s', (_what, before, after) => {
    const head = '# a study\nstudy: a\ncolumns: [a]\n';
    const wanted = `${head}${after}\n${rest}`;
    expect(written(`${head}${before}\n${rest}`)).toBe(wanted);
    expect(parseStudyText(wanted, { name: 'a.yaml' }).document.study).toBe('a');
    // A second time there is nothing to do.
    expect(rewriteStudyText(wanted, 'a.yaml').found).toEqual([]);
  });

  it('says the line of each, and what it cannot rewrite', () => {
    const text = 'study: a\nestimator: heavy-tailed-1d\nparameters:\n  scale: 1\n  privacy: pure\n';
    const { text: now, found } = rewriteStudyText(text, 'a.yaml');
    expect(now).toBe(text.replace('heavy-tailed-1d', 'heavy-tailed'));
    expect(found).toEqual([
      { line: 2, text: 'heavy-tailed-1d is now heavy-tailed with one column', isRewritten: true },
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
