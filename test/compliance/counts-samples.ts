import type { ComplianceSample } from '../../src/kit/sample.js';

const cohort = 4_000;

/** Errors of counts are in shares of the cohort, and the truth is who came. */
const counted = {
  dimension: 1, cohort, unit: cohort, location: false, answersAnyCohort: true,
  honest: (data) => Float64Array.of(data.normal()),
} as const satisfies Partial<ComplianceSample>;

/** Values spread evenly over the range, which is what a quantile's expected error assumes. */
const [low, high] = [-5, 45];
const probabilities = [0.25, 0.5, 0.8];

/** Samples of the counting queries and of quantiles. */
export const countsSamples: Readonly<Record<string, ComplianceSample>> = {
  count: {
    ...counted,
    parameters: { threshold: 0.5 },
    truth: (_, rows) => [rows.filter(([value = NaN]) => value >= 0.5).length],
  },
  histogram: {
    ...counted,
    parameters: { edges: [-1, 0, 1, 2.5] },
    truth: (_, rows) => [-Infinity, -1, 0, 1, 2.5].map((edge, i, edges) =>
      rows.filter(([value = NaN]) => value >= edge && value < (edges[i + 1] ?? Infinity)).length),
  },
  sum: {
    dimension: 2, cohort, unit: cohort, location: false, answersAnyCohort: true,
    parameters: { range: ['-0.25..0.75', '0..1'] },
    honest: (data) => data.normals(2),
    truth: (_, rows) => [-0.25, 0].map((least, j) => rows.reduce((total, row) =>
      total + Math.min(least + 1, Math.max(least, row[j]!)), 0)),
  },
  share: {
    parameters: { threshold: -1, side: 'below' },
    // Its errors are in half widths of the range 0..1.
    dimension: 1, cohort, unit: 0.5, location: false, hopelessCohort: 8, isOneNumber: true,
    honest: (data) => Float64Array.of(data.normal()),
    truth: (_, rows) => [rows.filter(([value = NaN]) => value < -1).length / rows.length],
  },
  ratio: {
    parameters: { cap: [2, 4] },
    dimension: 2, cohort, unit: 0.5, location: false, hopelessCohort: 8,
    // Its expected error is that of people who are nearly all at both caps.
    honest: (data) => Float64Array.of(2 + 3 * data.uniform(), 4 + data.uniform()),
    truth: () => [0.5],
  },
  distribution: {
    parameters: { range: '0..1', cells: 20, probabilities: [0.25, 0.5, 0.8] },
    // Its errors are those of a typical edge, of 21 and the number of all.
    dimension: 1, cohort, unit: cohort * Math.sqrt(22), location: false,
    honest: (data) => Float64Array.of(data.uniform()),
    truth: (_, rows) => [0.25, 0.5, 0.8, ...Array.from({ length: 21 }, (__, i) =>
      rows.filter(([value = NaN]) => value < i / 20).length), rows.length],
  },
  median: {
    parameters: { range: `${low}..${high}` },
    dimension: 2, cohort, unit: high - low, location: false,
    honest: (data) => Float64Array.from({ length: 2 }, () => low + (high - low) * data.uniform()),
    truth: () => [(low + high) / 2, (low + high) / 2],
  },
  quantile: {
    parameters: { range: `${low}..${high}`, probabilities },
    dimension: 1, cohort, unit: high - low, location: false,
    honest: (data) => Float64Array.of(low + (high - low) * data.uniform()),
    truth: () => probabilities.map((probability) => low + (high - low) * probability),
  },
};
