/** What the end-to-end tests change of a study; values are YAML text. */
export type StudyFacts = Readonly<Record<string, string>>;

/**
 * Few people and much privacy spent: what a test can wait for, and what no real study should copy.
 */
const small: StudyFacts = {
  columns: '[delay_minutes, distance_miles]',
  cohort: '200',
  epoch: '{ every: 1s }',
  contribution: '{ reduce: mean, rowsMax: 64 }',
  estimator: 'mean',
  parameters: '{ spread: [20, 300] }',
  privacy: '{ epsilon: 8, delta: 1e-6 }',
  budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
  late: 'next',
  retention: 'release',
};

/** A study file: the private mean of few people in epochs of a second. */
export function meanStudy(name: string, facts: StudyFacts = {}): string {
  return Object.entries({ study: name, ...small, ...facts })
    .map(([key, value]) => `${key}: ${value}\n`).join('');
}

/** The same question, not believing a minority. */
export function populousStudy(name: string, facts: StudyFacts = {}): string {
  return meanStudy(name, {
    cohort: '300',
    estimator: 'populous-mean',
    parameters: '{ spread: [20, 300], corruption: 0.05 }',
    privacy: '{ epsilon: 12, delta: 1e-6 }',
    budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
    ...facts,
  });
}
