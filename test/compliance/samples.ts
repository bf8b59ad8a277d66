import type { ComplianceSample } from '../../src/kit/sample.js';
import { countsSamples } from './counts-samples.js';

/** Rows of two columns about zero: all that most estimators of a location need. */
const locationSample: ComplianceSample = {
  parameters: { spread: 3 },
  dimension: 2,
  cohort: 4_000,
  unit: 3,
  honest: (data) => data.normals(2).map((entry) => 3 * entry),
  truth: (dimension) => new Array<number>(dimension).fill(0),
  location: true,
};

/** One entry for each estimator, so that a new one cannot be forgotten. */
export const samples: Readonly<Record<string, ComplianceSample>> = {
  mean: locationSample,
  'stable-mean': locationSample,
  'populous-mean': locationSample,
  'robust-mean': locationSample,
  prime: locationSample,
  'prime-heavy': locationSample,
  'heavy-tailed': locationSample,
  resilience: locationSample,
  'tukey-median': locationSample,
  subspace: {
    parameters: {},
    dimension: 2,
    cohort: 4_000,
    unit: 1,
    // Rows of the line through (1, 2), on whole numbers.
    honest: (data) => {
      const step = 1 + data.below(50);
      return Float64Array.of(step, 2 * step);
    },
    truth: () => [0.2, 0.4, 0.4, 0.8, 1],
    location: false,
    exact: true,
  },
  covariance: {
    parameters: { 'variance-low': 1, 'variance-high': 100 },
    dimension: 2,
    cohort: 4_000,
    unit: 9,
    honest: (data) => data.normals(2).map((entry) => 3 * entry),
    truth: () => [9, 0, 0, 9],
    location: false,
  },
  'subsample-covariance': {
    parameters: {},
    dimension: 2,
    cohort: 3_000,
    unit: 9,
    honest: (data) => data.normals(2).map((entry) => 3 * entry),
    truth: () => [9, 0, 0, 9],
    location: false,
  },
  gaussian: {
    parameters: { 'variance-low': 0.1, 'variance-high': 10 },
    dimension: 2,
    cohort: 8_000,
    // Total variation is at most sqrt(|m|^2 + |F|^2 / 2) / 2: between 2 and 2.8 times smaller than
    // the distance of the vectors, for rows of variance 1.
    unit: 2.4,
    honest: (data) => data.normals(2),
    truth: () => [0, 0, 1, 0, 0, 1],
    location: false,
  },
  'stable-covariance': {
    parameters: {},
    dimension: 2,
    cohort: 6_000,
    unit: 9,
    honest: (data) => data.normals(2).map((entry) => 3 * entry),
    truth: () => [9, 0, 0, 9],
    location: false,
  },
  'stable-moments': {
    parameters: {},
    honestRounds: 40,
    dimension: 2,
    cohort: 24_000,
    unit: 1,
    honest: (data) => data.normals(2),
    truth: () => [
      ...new Array<number>(8).fill(0), 3, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 3, 0, 0, 0, 0,
    ],
    location: false,
  },
  'mixture-1d': {
    parameters: { components: 1 },
    dimension: 1,
    cohort: 6_000,
    unit: 3,
    honest: (data) => Float64Array.of(3 * data.normal()),
    truth: () => [1, 0, 3],
    location: false,
    // Its error is that of fits, of which the plan states a bound.
    exact: true,
  },
  mixture: {
    parameters: { components: 1 },
    dimension: 2,
    cohort: 10_000,
    // Total variation again, as for gaussian.
    unit: 2.4,
    honest: (data) => data.normals(2),
    truth: () => [1, 0, 0, 1, 0, 0, 1],
    location: false,
    // As above.
    exact: true,
    isLarge: true,
  },
  select: {
    parameters: {
      hypotheses: [0, 1, 2].map((place) => ({ normal: { mean: 3 * place - 3, deviation: 3 } })),
      alpha: 0.12,
    },
    dimension: 1,
    cohort: 4_000,
    unit: 1,
    honest: (data) => Float64Array.of(3 * data.normal()),
    truth: () => [1],
    location: false,
    exact: true,
  },
  ...countsSamples,
};

/** Other forms of the same estimators. */
export const forms: readonly (readonly [string, ComplianceSample, form?: string])[] = [
  ['robust-mean', {
    ...locationSample, parameters: { spread: 3, shape: 'light' },
  }, ' for normal rows'],
  ['stable-mean', { ...locationSample, parameters: { spread: 3, variant: 'reference' } }],
  ['heavy-tailed', {
    ...locationSample, parameters: { spread: 3, variant: 'groups' }, dimension: 1,
    honest: (data) => Float64Array.of(3 * data.normal()),
  }, ' from groups'],
  ['heavy-tailed', {
    ...locationSample, parameters: { spread: 3, radius: 100, variant: 'candidates' }, dimension: 1,
    cohort: 6_000, honest: (data) => Float64Array.of(3 * data.normal()), location: false,
  }, ' by candidates'],
  ['prime', {
    ...locationSample, parameters: { spread: 3, directions: 'one' },
  }, ' in one direction'],
  ...['all', 'one'].map((directions): readonly [string, ComplianceSample, string] => ['prime', {
    ...locationSample,
    parameters: { spread: 3, corruption: 0.2, rounds: 2, variant: 'reference', directions },
  }, ` in its reference variant${directions === 'one' ? ', in one direction' : ''}`]),
  // The bound on what clipping does allows for heavy tails, of which normal rows have none: a high
  // moment says so.
  ['prime-heavy', {
    ...locationSample, cohort: 20_000,
    parameters: { spread: 3, corruption: 0.1, rounds: 2, moment: 8, variant: 'reference' },
  }],
];
