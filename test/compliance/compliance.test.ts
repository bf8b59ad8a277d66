import { describe, expect, it } from 'vitest';
import { estimators } from '../../src/estimators/registry.js';
import { everydaySamples } from './everyday-samples.js';
import { complianceSuite, locationSample, type ComplianceSample } from './suite.js';

/** One entry for each estimator, so that a new one cannot be forgotten. */
const samples: Readonly<Record<string, ComplianceSample>> = {
  mean: locationSample,
  'populous-mean': locationSample,
  ...everydaySamples,
};

describe('compliance', () => {
  it('covers every estimator of the registry', () => {
    expect(estimators.map(({ name }) => name).sort()).toEqual(Object.keys(samples).sort());
  });
});

for (const estimator of estimators) {
  const sample = samples[estimator.name];
  if (sample !== undefined) complianceSuite(estimator, sample);
}
