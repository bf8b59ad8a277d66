/** Study files with one thing wrong, and a right one to begin with. */
const lines = {
  study: 'study: delays',
  columns: 'columns: [minutes, miles]',
  cohort: 'cohort: 3000',
  epoch: 'epoch: { every: 10s }',
  estimator: 'estimator: mean',
  parameters: 'parameters: { spread: [40, 600] }',
  privacy: 'privacy: { epsilon: 1, delta: 1e-6 }',
  budget: 'budget: { epsilon: 8, delta: 1e-5 }',
};

/** The file with single lines replaced, removed (empty text) or added. */
export const fileWith = (changes: Record<string, string> = {}): string =>
  Object.values({ ...lines, ...changes }).filter((line) => line !== '').join('\n');

/** What is written, the path that is named, and words of the message. */
export const wrongStudies: readonly (readonly [
  name: string, changes: Record<string, string>, path: string, words: readonly string[],
])[] = [
  [
    'an unknown key', { cohort: 'cohrt: 3000' }, 'cohrt',
    ['not a key', 'did you mean cohort?', 'line 3'],
  ],
  [
    'an unknown key with no near one', { extra: 'colour: red' }, 'colour',
    ['the keys are study, title', 'line 9'],
  ],
  [
    'an unknown key inside', { epoch: 'epoch: { evry: 10s }' }, 'epoch.evry',
    ['did you mean every?'],
  ],
  ['a missing key', { cohort: '' }, 'cohort', ['is missing', 'a whole number from 1 to']],
  [
    'a missing group', { privacy: '' }, 'privacy',
    ['is missing', 'epsilon and delta of each release'],
  ],
  [
    'a missing key inside', { privacy: 'privacy: { epsilon: 1 }' }, 'privacy.delta',
    ['is missing', 'such as 1e-6'],
  ],
  ['a wrong type', { cohort: 'cohort: many' }, 'cohort', ['is "many"', 'a whole number']],
  ['a number that is not whole', { cohort: 'cohort: 2.5' }, 'cohort', ['is 2.5', 'a whole number']],
  ['a number out of range', { cohort: 'cohort: 0' }, 'cohort', ['is 0']],
  ['a value that is not finite', {
    privacy: 'privacy: { epsilon: .inf, delta: 1e-6 }',
  }, 'privacy.epsilon', ['a number above 0']],
  [
    'a negative epsilon', { privacy: 'privacy: { epsilon: -1, delta: 1e-6 }' }, 'privacy.epsilon',
    ['is -1'],
  ],
  ['an epsilon past all sense', {
    privacy: 'privacy: { epsilon: 1000, delta: 1e-6 }',
  }, 'privacy.epsilon', ['at most 100']],
  ['a budget above what can be counted', {
    budget: 'budget: { epsilon: 150, delta: 1e-5, scope: study }',
  }, 'budget.epsilon', ['at most 100']],
  ['a delta of the budget that is none', {
    budget: 'budget: { epsilon: 8, delta: 0.5, scope: study }',
  }, 'budget.delta', ['delta']],
  [
    'a delta of 1', { privacy: 'privacy: { epsilon: 1, delta: 1 }' }, 'privacy.delta',
    ['is 1', '[0, 0.5)'],
  ],
  ['a delta of 0', { privacy: 'privacy: { epsilon: 1, delta: 0 }' }, 'privacy.delta', ['1e-100']],
  ['no columns', { columns: 'columns: []' }, 'columns', ['a list of 1 to']],
  ['a column twice', { columns: 'columns: [a, a]' }, 'columns', ['different names']],
  [
    'a column that cannot be printed', { columns: 'columns: [a, "b\\n"]' }, 'columns[1]',
    ['visible'],
  ],
  [
    'a name that is too long', { study: `study: ${'x'.repeat(65)}` }, 'study',
    ['a name of 1 to 64'],
  ],
  ['no unit in a duration', { epoch: 'epoch: { every: 10 }' }, 'epoch.every', ['such as 10s']],
  [
    'an unknown unit', { epoch: 'epoch: { every: 10w }' }, 'epoch.every',
    ['is "10w"', 'ms, s, m, h, d'],
  ],
  ['an epoch that is too short', { epoch: 'epoch: { every: 1ms }' }, 'epoch.every', ['from 100ms']],
  [
    'an epoch of both kinds', { epoch: 'epoch: { every: 10s, contributors: 5 }' }, 'epoch',
    ['either every'],
  ],
  ['an epoch of neither kind', { epoch: 'epoch: {}' }, 'epoch', ['either every']],
  [
    'a count with secret participation', { epoch: 'epoch: { contributors: 500 }' },
    'epoch.contributors',
      ['show when people come', 'participation: public', 'line 4'],
  ],
  [
    'an unknown choice', { participation: 'participation: private' }, 'participation',
    ['one of secret, public'],
  ],
  ['an unknown way to reduce', {
    contribution: 'contribution: { reduce: median }',
  }, 'contribution.reduce', ['one of mean, sum, one']],
  ['no rows at all', {
    contribution: 'contribution: { rowsMax: 0 }',
  }, 'contribution.rowsMax', ['a whole number from 1']],
  ['an unknown estimator', {
    estimator: 'estimator: meen',
  }, 'estimator', ['there is no estimator "meen"', 'mean', 'line 5']],
  [
    'an unknown parameter', { parameters: 'parameters: { spread: 40, trim: 1 }' },
      'parameters.trim',
    ['line 6'],
  ],
  [
    'a parameter out of range', { parameters: 'parameters: { spread: -1 }' }, 'parameters.spread',
    ['positive'],
  ],
  ['a spread of another dimension', {
    parameters: 'parameters: { spread: [1, 2, 3] }',
  }, 'parameters.spread', ['2 of them']],
  [
    'a budget without delta', { budget: 'budget: { epsilon: 8 }' }, 'budget',
    ['epsilon and delta, or population'],
  ],
  ['a budget smaller than a release', {
    budget: 'budget: { epsilon: 0.5, delta: 1e-5 }',
  }, 'budget.epsilon', ['does not pay for one release', 'raise budget.epsilon']],
  [
    'a budget that is twice stated', { budget: 'budget: { population: p, epsilon: 8 }' }, 'budget',
    ['or population'],
  ],
  ['an unknown population', {
    budget: 'budget: { population: p }',
  }, 'budget.population', ['no populations file defines it']],
  ['an unknown admission', { admission: 'admission: closed' }, 'admission',
    ['open; or contributorKeys']],
  ['a late rule that is none', { late: 'late: never' }, 'late', ['one of next, drop']],
  ['a promise that no sealed study gives', {
    sealed: 'sealed: { against: cheating }',
  }, 'sealed.against', ['a server that runs changed code, so cheating is refused']],
  [
    'a retention that is none', { retention: 'retention: forever' }, 'retention',
    ['release', 'duration'],
  ],
];
