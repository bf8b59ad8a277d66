import type { Stage } from '../live-command.js';
import { meanStudy, type StudyFacts } from '../study-files.js';

export const columns = 24;

const facts: StudyFacts = {
  columns: `[${Array.from({ length: columns }, (_, i) => `c${i}`).join(', ')}]`,
  cohort: '5000', epoch: '{ every: 1s }', parameters: '{ spread: 1 }',
  privacy: '{ epsilon: 2, delta: 1e-9 }', contribution: '{ reduce: mean, rowsMax: 60000 }',
  retention: '30d',
};
const counting: StudyFacts = {
  estimator: 'count', parameters: '{ column: 0, threshold: 0, side: at-least }',
};

/**
 * Every scope and rule, renewing and not. Some caps are never reached; the others are passed within
 * some twenty seconds, so that servers start again before, at and past them.
 */
const studies: Readonly<Record<string, StudyFacts>> = {
  // Lasts for more than an hour, longer than any run.
  crash: {
    privacy: '{ epsilon: 1, delta: 1e-9 }',
    budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
  },
  pure: {
    ...counting, privacy: '{ epsilon: 2, delta: 0 }',
    budget: '{ epsilon: 20, delta: 0, rule: pure }',
  },
  renewing: { budget: '{ epsilon: 12, delta: 1e-5, per: 12s }' },
  'shared-mean': { budget: '{ population: everybody }' },
  'shared-count': { ...counting, budget: '{ population: everybody }' },
  'shared-renewing': { budget: '{ population: others }' },
  own: { budget: '{ epsilon: 8, delta: 1e-5, scope: contributor }' },
  'own-pure': {
    ...counting, privacy: '{ epsilon: 2, delta: 0 }',
    budget: '{ epsilon: 8, delta: 0, rule: pure, scope: contributor }',
  },
  'own-renewing': {
    budget: '{ epsilon: 8, delta: 1e-5, rule: renyi, scope: contributor, per: 8s }',
  },
  // Its summaries add up exactly, so several servers share an epoch.
  sums: {
    estimator: 'sum', parameters: '{ range: -1..1 }',
    privacy: '{ epsilon: 0.5, delta: 1e-9 }',
    budget: '{ epsilon: 100, delta: 1e-5, scope: study }',
  },
};

export const studyNames: readonly string[] = Object.keys(studies);

/** @returns what `keelson serve` is given. */
export function writeStudies(stage: Stage): readonly string[] {
  const files = Object.entries(studies).map(([name, own]) =>
    stage.write(`${name}.yaml`, meanStudy(name, { ...facts, ...own })));
  const populations = stage.write('populations.yaml',
    'populations:\n  everybody: { epsilon: 20, delta: 1e-5, rule: renyi }\n'
    + '  others: { epsilon: 12, delta: 1e-5, per: 15s }\n');
  return [...files, '--populations', populations];
}
