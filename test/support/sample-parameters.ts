/**
 * Parameters with which an estimator can be planned in two columns; those that take a spread need
 * nothing else.
 */
const samples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  covariance: { 'variance-low': 0.01, 'variance-high': 100 },
  gaussian: { 'variance-low': 0.01, 'variance-high': 100 },
  count: { column: 0, threshold: 0.5 },
  histogram: { column: 0, edges: '-1,0,1' },
  distribution: { column: 0, range: '-5..5', cells: 16 },
  sum: { cap: 5 },
  share: { column: 0 },
  ratio: { cap: 5 },
  median: { range: '-5..5' },
  quantile: { column: 1, range: '-5..5' },
  'mixture-1d': { column: 0, components: 1 },
  mixture: { components: 1 },
  select: {
    hypotheses:
      '[{"columns":[{"normal":{"mean":0,"deviation":1}},{"normal":{"mean":0,"deviation":1}}]},'
        + '{"normal":{"mean":[3,0],"covariance":[[1,0],[0,1]]}}]',
  },
  subspace: { unit: 1 },
  'subsample-covariance': {},
};

export function sampleParameters(estimator: string): Readonly<Record<string, unknown>> {
  return samples[estimator] ?? { spread: 1 };
}

/** The same as a command line takes them. */
export function sampleSettings(estimator: string): readonly string[] {
  return Object.entries(sampleParameters(estimator))
    .flatMap(([name, value]) => ['--set', `${name}=${String(value)}`]);
}
