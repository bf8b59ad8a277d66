import type { Outcome } from '../../src/base/outcome.js';
import type { Question } from '../../src/base/questions.js';
import { refusal, valueOf, type StageStudy } from './dashboard-stage.js';

/** A study of four questions, and scripted answers to them. */

const plain = {
  estimator: 'count', columns: [], parameters: {}, where: [], reduce: 'one', part: 20,
} satisfies Partial<Question>;

export const ridesQuestions: readonly Question[] = [
  {
    ...plain, name: 'delays', estimator: 'robust-mean', columns: ['minutes'], part: 40,
    parameters: { spread: 40, corruption: 0.05 }, reduce: 'mean',
    where: [{ column: 'late', is: true }, { column: 'minutes', atLeast: 5 }],
  },
  { ...plain, name: 'regions', by: { columns: ['region'], groupsMax: 2 } },
  {
    ...plain, name: 'apps',
    by: { columns: ['app'], groupsMax: 4, discover: { top: 100, prefilter: 2 } },
  },
  {
    ...plain, name: 'change', estimator: 'mean', columns: ['minutes'], reduce: 'mean',
    parameters: { range: [-60, 60] }, by: { columns: ['region', 'late'], groupsMax: 2 },
  },
];

export const ridesStudy: StageStudy = {
  study: 'rides', columns: ['minutes', 'late', 'region', 'app'],
  types: [
    { type: 'number' }, { type: 'boolean' },
    { type: 'category', of: ['north', 'south', 'east', 'west'], other: true },
    { type: 'text', bytes: 64 },
  ],
  questions: ridesQuestions,
};

/** The key with Latin and Cyrillic letters, and one that only capitals divide from another. */
const apps = [
  'maps', 'Maps', 'p\u0430y', '<b>bold</b>', '\u05e9\u05dc\u05d5\u05dd', 'a\u3164b', 'a_b',
  ...Array.from({ length: 7 }, (_, i) => `app ${i + 1}`),
];

const regions = valueOf([402, 251, 198, 149, -9], [26, 26, 26, 26, 26], {
  groups: [['north'], ['south'], ['east'], ['west'], ['other']],
});

const answered = [true, true, false, true, true, true, true, true, true, true];
const halves = [2, 3, 0, 9, 1, 1, 1, 1, 1, 1];
const changes = valueOf([4.25, -12.5, 0, 30, 2, 1, 1, 1, 1, 1], halves, {
  shape: [10], answered,
  groups: ['north', 'south', 'east', 'west', 'other'].flatMap((region) =>
    ['false', 'true'].map((late) => [region, late])),
  interval95: {
    low: [2.25, -15.5, -Infinity, 21, 1, 0, 0, 0, 0, 0],
    high: [6.25, -9.5, Infinity, 39, 3, 2, 2, 2, 2, 2],
  },
});

/** The answers of one release, in the order of the questions; without one to the first if told. */
export function ridesAnswers(shift = 0, refuses = false): readonly Outcome[] {
  const counts = apps.map((_, i) => 400 / (i + 1) + shift);
  return [
    refuses ? refusal : valueOf([21.5 + shift], [1.5]), regions,
    valueOf(counts, counts.map(() => 40), { groups: apps.map((app) => [app]) }), changes,
  ];
}
