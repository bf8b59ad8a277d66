import { describe, expect, it } from 'vitest';
import { parseStudyText, study, type StudyInput } from '../../server/index.js';
import { encodeStudyDocument } from '../../src/wire/index.js';
import { refusalOf } from '../support/refusal.js';

const commutes = {
  study: 'commutes', cohort: 3000, epoch: { every: '1d' },
  columns: {
    minutes: { type: 'number', low: 0, high: 240, optional: true }, late: 'boolean',
    region: { type: 'category', of: ['north', 'south'] },
  },
  questions: {
    late: { estimator: 'count', where: { late: true }, by: { column: 'region', groupsMax: 1 } },
    travel: { estimator: 'mean', columns: ['minutes'], parameters: { spread: 20 } },
  },
  privacy: { epsilon: 1, delta: 1e-6 }, budget: { epsilon: 8, delta: 1e-5 },
} as const;

describe('a study in code', () => {
  it('has the facts, and so the id, of the same file', () => {
    // JSON is YAML.
    const file = parseStudyText(JSON.stringify(commutes), { name: 'commutes.yaml' });
    const facts = encodeStudyDocument(study(commutes).document);
    expect(facts).toEqual(encodeStudyDocument(file.document));
  });

  it('is refused by the name of the study, without a line', () => {
    const error = refusalOf(() => study({ ...commutes, cohort: 0 }));
    expect(error).toMatchObject({ code: 'invalid-study' });
    expect(error.message).toMatch(/^commutes: cohort is 0: /);
    expect(error.message).not.toMatch(/line/);
  });

  it.each([
    ['nothing', undefined], ['null', null], ['a text', 'study: a'], ['a list', []],
    ['no name', {}], ['a name that is none', { study: 5 }],
    ['a function as a column', { ...commutes, columns: { minutes: () => 0 } }],
    ['a list that is none', { ...commutes, columns: { length: 3 } }],
    ['a parameter that is no number',
      { ...commutes, questions: { a: { estimator: 'mean', parameters: { spread: NaN } } } }],
  ])('is refused for %s', (_what, given) => {
    expect(refusalOf(() => study(given as unknown as StudyInput)).code).toBe('invalid-study');
  });

  it('keeps nothing that its caller may change later', () => {
    const names = ['minutes', 'km'];
    const { study: name, cohort, epoch, privacy, budget } = commutes;
    const made = study({
      study: name, cohort, epoch, privacy, budget, columns: names, estimator: 'mean',
      parameters: { spread: 1 },
    });
    names.push('later');
    expect(made.document.columns).toEqual(['minutes', 'km']);
  });
});
