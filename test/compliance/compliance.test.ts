import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../src/answers/words.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { descriptions } from '../../src/estimators/generated/descriptions.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { complianceCases, type ComplianceCase } from '../../src/kit/compliance.js';
import type { ComplianceSample } from '../../src/kit/sample.js';
import { Trial } from '../../src/kit/trial.js';
import { forms, samples } from './samples.js';

const tags: Readonly<Record<ComplianceCase['effort'], string[]>> = {
  short: [], long: ['long'], slow: ['long', 'slow'],
};

/** The cases of the kit, and what holds for Keelson's own estimators. */
function comply(estimator: Estimator, sample: ComplianceSample): void {
  for (const { name, effort, run } of complianceCases(estimator, sample)) {
    it(name, { tags: tags[effort] }, run);
  }

  it('states an interval, or why there is none', { tags: ['long'] }, async () => {
    const trial = new Trial(estimator, sample);
    const list = trial.entries(trial.data('interval'), sample.cohort);
    const outcome = await trial.release(trial.filled(list), 'interval');
    if (outcome.kind === 'refused') throw new Error(outcome.text);
    const why = trial.plan.facts['interval'];
    if (outcome.interval95 === undefined) expect(why).toMatch(/^none: /);
    else expect(String(why)).not.toMatch(/^none: /);
  });

  it('has the description that pages load, and these labels', () => {
    const columns = ['first', 'second', 'third'].slice(0, sample.dimension);
    const parameters = parseParameters(estimator.parameters, sample.parameters, sample);
    const numbers = estimator.describe(parameters, columns.map((name) => ({ name })));
    expect(labelsOf(numbers).join('\n')).toMatchSnapshot();
    expect(descriptions[estimator.name]).toBe(estimator.describe);
  });
}

describe('compliance', () => {
  it('covers every estimator of the registry', () => {
    expect(estimators.map(({ name }) => name).sort()).toEqual(Object.keys(samples).sort());
  });
});

for (const [name, sample] of forms) {
  const { variant, shape, directions } = sample.parameters;
  const words = [variant, shape, directions]
    .filter((word): word is string => typeof word === 'string');
  describe(`${[name, 'variant', ...words].join(' ')}`, () => comply(findEstimator(name), sample));
}

for (const estimator of estimators) {
  const sample = samples[estimator.name];
  if (sample === undefined) continue;
  // As long as all others together; mixture-1d is like it.
  const tags = estimator.name === 'mixture' ? ['slow'] : [];
  describe(estimator.name, { tags }, () => comply(estimator, sample));
}
