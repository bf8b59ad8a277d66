import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A study file, by its name without `.yaml`. */
export interface SampleStudy {
  readonly name: string;
  readonly text: string;
}

const flights = '[delay_minutes, distance_miles]';
const rows = '{ reduce: mean, rowsMax: 64 }';

/** The YAML text of what a study of the list below does not say. */
const usual = {
  columns: flights, cohort: '50000', participation: 'secret', epoch: '{ every: 1m }',
  contribution: '{ reduce: one, rowsMax: 16 }', privacy: '{ epsilon: 1, delta: 1e-6 }',
  budget: '{ epsilon: 8, delta: 1e-5, scope: study }', late: 'next', retention: 'release',
};

/** Studies of estimators and settings that no file of studies/ has: name, estimator, parameters. */
const made: readonly (readonly [string, string, string, Partial<typeof usual>?])[] = [
  ['ballots-gaussian', 'gaussian', '{ variance-low: 1, variance-high: 10000, subspace: affine, '
    + 'local: robust, corruption: 0.01 }', {
    columns: '[first, second, third, fourth]', cohort: '200000',
    privacy: '{ epsilon: 2, delta: 1e-6 }',
  }],
  ['commute-middle', 'tukey-median', '{ spread: [15, 8], radius: 240 }', {
    columns: '[minutes, kilometres]', cohort: '3000', contribution: rows,
    privacy: '{ epsilon: 1, delta: 0 }',
    budget: '{ epsilon: 10, delta: 0, scope: study, rule: pure }',
  }],
  ['delay-histogram', 'histogram', '{ column: 0, edges: [-15, 0, 15, 30, 60, 120] }',
    { cohort: '2000', contribution: '{ reduce: mean, rowsMax: 16 }' }],
  ['delay-mixture', 'mixture-1d', '{ components: 3, resolution: 1 }',
    { columns: '[delay_minutes]' }],
  ['delay-quantiles', 'quantile', '{ column: 0, range: -60..240, '
    + 'probabilities: [0.5, 0.9] }', { cohort: '2000' }],
  ['delay-shape', 'select', '{ alpha: 0.12, hypotheses: [{ normal: { mean: 10, deviation: 40 } }, '
    + '{ laplace: { centre: -5, scale: 20 } }, { student: { centre: -5, scale: 12, freedom: 2 } }, '
    + '{ uniform: { low: -60, high: 240 } }, { histogram: { '
    + 'edges: [-60, -20, 0, 15, 60, 240, 1500], '
    + 'masses: [0.09, 0.52, 0.2, 0.13, 0.05, 0.01] } }] }',
  { columns: '[delay_minutes]', cohort: '5000' }],
  ['delay-tails', 'stable-moments', '{ condition: 100, corruption: 0 }'],
  ['flights-covariance', 'covariance', '{ spread: auto }'],
  ['flights-covariance-robust', 'stable-covariance', '{ corruption: 0.05, condition: 100 }', {
    cohort: '20000', contribution: rows, privacy: '{ epsilon: 2, delta: 1e-6 }',
    budget: '{ epsilon: 16, delta: 1e-5, scope: study }',
  }],
  ['flights-gaussian', 'gaussian', '{ variance-low: 1, variance-high: 10000000 }'],
  ['flights-heavy-tailed', 'heavy-tailed', '{ spread: [40, 600], moment: 2 }',
    { cohort: '3000', contribution: rows }],
  ['flights-mixture', 'mixture', '{ components: 3, resolution: 1 }', { cohort: '100000' }],
  ['flights-populous', 'populous-mean', '{ spread: [20, 300], corruption: 0.1 }', {
    cohort: '3000', contribution: rows, privacy: '{ epsilon: 2, delta: 1e-6 }',
    budget: '{ epsilon: 16, delta: 1e-5, scope: study }',
  }],
  ['flights-prime', 'prime', '{ spread: [20, 300], corruption: 0.05 }',
    { cohort: '3000', contribution: rows }],
  ['flights-prime-heavy', 'prime-heavy', '{ spread: [40, 600], corruption: 0.05 }',
    { cohort: '3000', contribution: rows }],
  ['flights-stable', 'stable-mean', '{ spread: [40, 700], corruption: 0.1 }',
    { cohort: '20000', contribution: rows }],
  ['flights-stable-weights', 'stable-mean', '{ spread: [40, 700], corruption: 0.1, '
    + 'variant: reference }', { contribution: rows }],
  ['movements-subspace', 'subspace', '{ unit: 1, form: linear, corruption: 0.01 }', {
    columns: '[arrivals, departures, movements]', cohort: '3000',
    contribution: '{ reduce: one, rowsMax: 1 }',
  }],
  ['people-count', 'count', '{ column: 0, threshold: 60 }', {
    columns: '[delay_minutes]', cohort: '2000', privacy: '{ epsilon: 0.5, delta: 1e-7 }',
    budget: '{ epsilon: 5, delta: 1e-5, scope: study }',
  }],
  ['sensors-resilient', 'resilience', '{ spread: [3, 10], corruption: 0.05 }',
    { columns: '[celsius, percent]', cohort: '5000', contribution: rows }],
  ['shape-without-bounds', 'subsample-covariance', '{ mask: wishart }', {
    columns: '[first, second, third]', cohort: '100000',
    budget: '{ epsilon: 1.5, delta: 1e-5, scope: study, rule: renyi }',
  }],
];

/**
 * Every study file that people may copy, and studies of all other estimators: what tests of all
 * studies look at, in the order of their names.
 * @param root of the project.
 */
export function sampleStudies(root: string): readonly SampleStudy[] {
  const folders = ['studies', 'bench/real-questions'].map((name) => join(root, name));
  const files = folders.flatMap((folder) => readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({
      name: file.replace('.yaml', ''), text: readFileSync(join(folder, file), 'utf8'),
    })));
  const others = made.map(([name, estimator, parameters, facts = {}]) => ({
    name, text: Object.entries({ study: name, ...usual, ...facts, estimator, parameters })
      .map(([key, value]) => `${key}: ${value}\n`).join(''),
  }));
  return [...files, ...others].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The text of one of them. */
export const sampleStudy = (root: string, wanted: string): string =>
  sampleStudies(root).find(({ name }) => name === wanted)!.text;
