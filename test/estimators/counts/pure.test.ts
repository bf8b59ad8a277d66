import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeReleaseBody } from '../../../src/wire/index.js';
import { defineStudy } from '../../../server/studies/definition.js';
import { searchPairs, inlineTrials } from '../../../src/audit/index.js';
import type { Plan, StudyFacts } from '../../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../../src/estimators/registry.js';
import { runOffline } from '../../../src/estimators/run.js';
import { amountToNumber } from '../../../src/privacy/accounting/amount.js';
import { createMechanisms } from '../../../src/privacy/mechanisms/index.js';
import { resolvePureTarget } from '../../../src/privacy/accounting/target.js';
import { seededNoise } from '../../../src/random/insecure.js';
import { seededRandom } from '../../../src/random/work.js';
import { Bench, everyMs, studyDocument } from '../../support/hub-bench.js';
import { sensitivityFaults } from '../../support/sensitivity-check.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

/** Standard deviation of whole numbers with odds of exp(-|z| / scale). */
function geometric(scale: number): number {
  const q = Math.exp(-1 / scale);
  return Math.sqrt(2 * q) / (1 - q);
}

const cohort = 2000;
const queries = [
  ['count', { threshold: 0.5, column: 0 }, geometric(1)],
  ['histogram', { edges: [-1, 0, 1], column: 0 }, geometric(2)],
  ['sum', { cap: 2 }, 2 * Math.SQRT2 / 0.95],
  ['quantile', { range: '-5..5', column: 0 }, 0],
] as const;

function planned(
  name: string, raw: Readonly<Record<string, unknown>>, epsilon: number,
): { plan: Plan; facts: StudyFacts } {
  const estimator = findEstimator(name);
  const target = resolvePureTarget({ epsilon, delta: 0 });
  const facts: StudyFacts = { dimension: 1, cohort, participation: 'secret', target };
  const plan = estimator.plan(parseParameters(estimator.parameters, raw, { dimension: 1 }), facts);
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return { plan, facts };
}

const work = () => seededRandom(new Uint8Array([1]));

describe.each(queries)('%s under pure privacy', (name, raw, deviation) => {
  it('costs the epsilon that was asked and nothing else, with no Gaussian noise', () => {
    for (const epsilon of [0.5, 1, 4]) {
      const { plan } = planned(name, raw, epsilon);
      expect(plan.events.every(({ kind }) => kind === 'laplace' || kind === 'exponential'))
        .toBe(true);
      expect(plan.cost.delta).toBe(0n);
      const spent = amountToNumber(plan.cost.epsilon!);
      expect(spent).toBeLessThanOrEqual(epsilon);
      expect(spent).toBeGreaterThan(epsilon * (1 - 1e-5));
    }
  });

  it('asks no query that a neighbour moves by more than was charged', async () => {
    const { plan, facts } = planned(name, raw, 1);
    const subject = { plan, dimension: 1 };
    const pool = inlineTrials(subject, (label) => seededNoise(label));
    const pairs = await searchPairs(
      { plan, facts: { ...facts, cohort: 40 }, parameters: raw }, pool, { glance: 5 },
    );
    for (const pair of pairs) expect(await sensitivityFaults(subject, pair, 'seed')).toEqual([]);
  });

  it('answers as it says', { tags: ['long'] }, async () => {
    const { plan } = planned(name, raw, 1);
    const rows = Float64Array.from({ length: cohort }, (_, i) => (10 * i) / cohort - 5);
    const answers: number[][] = [];
    // A quantile is compared with its truth in every round, others by their spread.
    const rounds = name === 'quantile' ? 30 : 300;
    for (let round = 0; round < rounds; round++) {
      const outcome = await runOffline({
        plan, dimension: 1, rows: Array.from(rows, (value) => Float64Array.of(value)), work: work(),
        mechanisms: createMechanisms(plan.events, seededNoise(`${name} ${round}`)),
        assignmentHashes: seededNoise('tickets'),
      });
      if (outcome.kind === 'refused') throw new Error(outcome.text);
      answers.push([...outcome.estimate]);
    }
    if (name === 'quantile') {
      for (const [low = NaN, middle = NaN, high = NaN] of answers) {
        for (const [value, wanted] of [[low, -2.5], [middle, 0], [high, 2.5]] as const) {
          expect(Math.abs(value - wanted)).toBeLessThan(1);
        }
      }
      return;
    }
    const values = answers.flatMap(([first = NaN]) => [first]);
    const truth = {
      count: rows.filter((value) => value >= 0.5).length,
      histogram: rows.filter((value) => value < -1).length,
      sum: rows.reduce((total, value) => total + Math.min(2, Math.max(0, value)), 0),
    }[name];
    const spread =
      Math.sqrt(values.reduce((sum, value) => sum + (value - truth) ** 2, 0) / values.length);
    // Of 300 squares with the tails of Laplace noise the root mean is within a third but once in a
    // million runs.
    expect(spread / deviation).toBeGreaterThan(0.67);
    expect(spread / deviation).toBeLessThan(1.34);
    const stated = name === 'sum'
      ? 2 * (plan.facts['noiseInBounds'] as number) : plan.facts['noiseInContributors'];
    expect(stated).toBeCloseTo(deviation, 4);
  });

  it('runs live under a budget with the rule pure', async () => {
    const study = defineStudy(studyDocument({
      estimator: name,
      parameters: parseParameters(findEstimator(name).parameters, raw, { dimension: 1 }), cohort,
      columns: ['delay'], privacy: { epsilon: 0.5, delta: 0 },
      budget: { epsilon: 4, delta: 0, rule: 'pure', scope: 'study' },
    }));
    const hub = await bench.start([study]);
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    const { studyId } = hub.studies()[0]!;
    const { cost, ledger } = decodeReleaseBody((await hub.releases(studyId, 1, 1))[0]!.body);
    expect(study.releases).toBe(8);
    expect(cost).toMatchObject({ epsilon: amountToNumber(study.charge.rho), delta: 0 });
    expect(ledger).toMatchObject({ rule: 'pure', epsilonCap: 4 });
    await hub.close();
  });
});
