import { describe, expect, it } from 'vitest';
import { claimOf, eventsAsked } from '../../cli/audit/claim.js';
import { chartOf, curveOf } from '../../cli/audit/curve.js';
import { lawOfCall, noiseOf, type Content } from '../../src/audit/exact/mechanism-laws.js';
import { fraction, toNumber } from '../../src/audit/exact/interval.js';
import {
  audit, inlineTrials, searchPairs, type AuditResult, type Claim, type TrialSubject,
} from '../../src/audit/index.js';
import { callLoss } from '../../src/audit/losses/call-loss.js';
import { shiftOf } from '../../src/audit/losses/shifts.js';
import { deltaBound, leastMean } from '../../src/audit/losses/delta-bounds.js';
import type { ParameterValues, Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { gapEvent } from '../../src/estimators/covariance/subspace/design.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { normalQuantile } from '../../src/numerics/normal.js';
import { smallestPlan, plannerOf } from '../../src/plan.js';
import { analyticGaussianDelta } from '../../src/privacy/accounting/analytic-gaussian.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import { intoCube, smallPlan, sumOf, tightGaussian } from '../planted/build.js';
import { plantedBugs } from '../planted/bugs.js';

const place = { name: 'draw', cohort: 'rows' } as const;
const test = {
  ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 1.25, delta: 0.05, floor: 2, grid: 1,
} as const;
const names = ['b', 'a'];
const keys = {
  size: 2, compare: (left: number, right: number) => (names[left]! < names[right]! ? -1 : 1),
  find: ([name]: readonly string[]) => names.indexOf(name!),
  partsOf: (at: number) => [names[at]!],
};

interface LawCase {
  readonly event: MechanismEvent;
  readonly method: keyof Mechanisms;
  readonly contents: readonly [Content, Content];
  /** Bits of the least likely combination of noise that the exact law has. */
  readonly bits?: bigint;
}

const vectors = (...lists: readonly number[][]): [Float64Array, Float64Array] =>
  lists.map((list) => Float64Array.from(list)) as [Float64Array, Float64Array];
const bins = (...lists: readonly [number, number][][]): ReadonlyMap<number, number>[] =>
  lists.map((list) => new Map(list));

const cases: readonly LawCase[] = [
  {
    event: { ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma: 0.75, grid: 0.25 },
    method: 'gaussian', contents: vectors([0.1], [0.9]),
  },
  {
    event: {
      ...place, kind: 'symmetric-gaussian', dimension: 2, sensitivity: 2, sigma: 1, grid: 1,
    },
    method: 'symmetricGaussian', bits: 45n, contents: vectors([1, 1, 1, 0], [0, 0, 0, 1]),
  },
  {
    event: { ...place, kind: 'laplace', dimension: 2, sensitivity: 1, scale: 0.5, grid: 0.5 },
    method: 'laplace', bits: 45n, contents: vectors([0, 0.5], [0.5, 0.2]),
  },
  {
    event: {
      ...place, kind: 'exponential', candidates: 3, sensitivity: 1, epsilon: 1.5, times: 1,
    },
    method: 'exponential', contents: vectors([0, 0.5, 1], [1, 0.5, 0.5]),
  },
  { event: test, method: 'threshold', contents: [2.2, 3.1] },
  {
    event: { ...test, sensitivity: 2 }, method: 'mode',
    contents: [[...'aaaaaaa'], [...'aaaaaab']],
  },
  {
    event: {
      ...place, kind: 'gaussian-histogram', coordinates: 2, sigma: 0.75, delta: 0.1, grid: 1,
    },
    method: 'histogram', bits: 50n,
    contents: [bins([[0, 2], [1, 1]], [[0, 1]]), bins([[0, 3]], [[0, 1], [4, 1]])],
  },
  {
    event: {
      ...place, kind: 'group-histogram', groupsMax: 2, prefilter: 2, sigma: 1, delta: 0.1, grid: 1,
    },
    method: 'groupHistogram', contents: [{ counts: [2, 3], keys }, { counts: [1, 4], keys }],
  },
  {
    event: { ...place, kind: 'group-weights', groupsMax: 2, sigma: 1, delta: 0.1, grid: 0.5 },
    method: 'groupHistogram', contents: [{ counts: [2, 3.5], keys }, { counts: [1.5, 4], keys }],
  },
  {
    event: {
      ...place, kind: 'group-sums', groupsMax: 1, prefilter: 1, values: 1, sigma: 1,
      sumsSigma: 1.25,
      delta: 0.1, grid: 1, sumsGrid: 1,
    },
    method: 'groupSums', bits: 44n,
    contents: [
      { counts: [2, 1], sums: [[2], [1]], keys }, { counts: [1, 1], sums: [[0], [-1]], keys },
    ],
  },
];

/** As a release gives them: counts or a table, then the keys. */
function given(content: Content): readonly unknown[] {
  if (typeof content !== 'object' || !('counts' in content)) return [content];
  const { counts, sums, keys: found } = content;
  return sums === undefined ? [counts, found]
    : [{ counts, sumsOf: (at: number) => Float64Array.from(sums[at]!) }, found];
}

describe('the loss of a call', () => {
  it('moves no people between keys, also where what a key holds is a list of numbers', () => {
    const [event] = cases.flatMap(({ event: each }) =>
      (each.kind === 'group-weights' ? [each] : []));
    const contents = vectors([2, 3.5], [1.5, 4]).map((weights) => [weights, keys]);
    const call = { ...place, event: event!, method: 'groupHistogram' as const };
    expect(shiftOf({ ...call, contents: contents[0]! }, contents[1]!)).toBeNull();
  });

  it.each(cases)('is that of the exact laws: $event.kind', (each) => {
    const { event, method, contents, bits = 60n } = each;
    const noise = noiseOf(event);
    for (const [left, right] of [contents, [contents[1], contents[0]]] as const) {
      const [one, other] = [left, right].map((content) =>
        lawOfCall(event, content, noise, fraction(1n, 1n << bits)));
      let compared = 0;
      for (const [text, { value, probability }] of one!.outcomes) {
        const chance = toNumber(probability);
        if (chance < 1e-5) continue;
        const found = other!.outcomes.get(text);
        const loss = callLoss({ ...place, event, method, contents: given(left) },
          given(right), value);
        const exact = found === undefined ? Infinity
          : Math.log(chance / toNumber(found.probability));
        if (exact === Infinity) expect(loss).toBe(Infinity);
        else expect(loss).toBeCloseTo(exact, 3);
        compared += 1;
      }
      expect(compared).toBeGreaterThan(1);
    }
  });
});

describe('bounds on delta', () => {
  it('are those of Hoeffding', () => {
    // All trials hit: p^n = failure.
    expect(leastMean(1, 100, 1e-6)).toBeCloseTo(1e-6 ** 0.01, 9);
    expect(leastMean(0, 100, 1e-6)).toBe(0);
    // 0.3 ln(0.3 / p) + 0.7 ln(0.7 / (1 - p)) = ln(1e6) / 200.
    const p = leastMean(0.3, 200, 1e-6);
    expect(0.3 * Math.log(0.3 / p) + 0.7 * Math.log(0.7 / (1 - p)))
      .toBeCloseTo(Math.log(1e6) / 200, 9);
    expect(p).toBeLessThan(0.3);
  });

  it('hold for a Gaussian shift of a known delta, and come near it', () => {
    const [shift, epsilon, multiple] = [0.5, 1.5, 6];
    const truth = analyticGaussianDelta(epsilon, 1, shift);
    const random = seededRandom(new Uint8Array([4]));
    let [above, nearest] = [0, 0];
    for (let run = 0; run < 200; run++) {
      const losses = new Float64Array(2 * 300);
      for (let i = 0; i < 300; i++) {
        const moved = (random.uniform() < 0.5 ? 0 : multiple) * shift;
        const value = normalQuantile((random.uniform() * 2 ** 53 + 0.5) / (2 ** 53 + 1)) + moved;
        // The left side is at 0, the right one at -shift, the proposal half at multiple * shift.
        const far = multiple * shift * value - (multiple * shift) ** 2 / 2;
        losses[2 * i] = -Math.log((1 + Math.exp(far)) / 2);
        losses[2 * i + 1] = shift * value + shift ** 2 / 2;
      }
      const bound = deltaBound(losses, { epsilon, cap: 40 * truth }, 0.05);
      if (bound > truth) above += 1;
      nearest = Math.max(nearest, bound / truth);
    }
    // 200 runs that fail with probability 0.05: more than 28 have a probability below 1e-6.
    expect(above).toBeLessThanOrEqual(28);
    expect(nearest).toBeGreaterThan(0.4);
  });
});

/** Exact losses alone, of a small release or of a registered one. */
async function losses(
  subject: TrialSubject, facts: StudyFacts, claim: Claim, trials: number,
  parameters: ParameterValues = {}, { parts = false } = {},
): Promise<AuditResult> {
  const pool = inlineTrials(subject, (label) => seededNoise(label));
  const { plan } = subject;
  const pairs = await searchPairs(
    { plan, facts, parameters }, pool, { glance: parts ? 40 : 5, parts },
  );
  return audit({
    claim, pairs, pool, trials: 0, coins: seededNoise('coins'), losses: { pool, trials },
  });
}

const target = (epsilon: number) => privacyTarget({ epsilon, delta: 1e-6 });

describe('exact losses', () => {
  it('prove nearly all of a Gaussian sum, at no delta more than is true', async () => {
    const facts: StudyFacts = {
      dimension: 3, cohort: 4, participation: 'secret', target: target(1),
    };
    const event = tightGaussian('sum', 3, 2 * Math.sqrt(3), facts.target);
    const plan = smallPlan({
      facts, length: 3, events: [event],
      release: (rows, mechanisms) => mechanisms.gaussian('sum', rows('rows').map((block) =>
        sumOf(block, 3, (row, sum) => {
          intoCube(row).forEach((entry, j) => (sum[j]! += entry));
        })))
        .map((sum) => Array.from(sum)),
    });
    const claim = { epsilon: 1, delta: 1e-6 };
    const { known, bound } = await losses({ plan, dimension: 3 }, facts, claim, 1000);
    expect(bound).toBeGreaterThan(0.9);
    expect(bound).toBeLessThanOrEqual(1);
    for (const { epsilon, delta } of known!.curve) {
      expect(delta).toBeLessThanOrEqual(
        analyticGaussianDelta(epsilon, event.sigma, event.sensitivity),
      );
    }
    const curve = curveOf(plan, null, claim, known!);
    for (const point of curve) expect(point.proved).toBeLessThanOrEqual(point.claimed);
    expect(curve.find(({ delta }) => delta === 1e-4)!.proved).toBeGreaterThan(0.6);
    expect(chartOf(curve)[0]![0]).toBe('0.1');
  });

  const planFor = (
    name: string, epsilon: number, given: Record<string, unknown> = { spread: 1 },
  ): readonly [Plan, StudyFacts, ParameterValues] => {
    const estimator = findEstimator(name);
    const parameters = parseParameters(estimator.parameters, given, { dimension: 1 });
    const asked = { dimension: 1, target: target(epsilon), participation: 'secret' } as const;
    const planned = plannerOf(estimator, parameters, asked);
    const cohort = smallestPlan(planned)!;
    const plan = planned(cohort);
    if (plan.kind === 'infeasible') throw new Error(plan.reason);
    return [plan, { ...asked, cohort }, parameters];
  };

  it.each([0.5, 1, 4])('prove half of the final release of a mean: epsilon %d', async (epsilon) => {
    const [plan, facts] = planFor('mean', epsilon);
    const events = eventsAsked(plan, ['mean']);
    const alone = { events: new Set(events), noise: () => seededNoise('answers') };
    const claim = claimOf(plan, facts.target, events);
    const { bound } = await losses({ plan, dimension: 1, alone }, facts, claim, 150);
    expect(bound).toBeGreaterThan(0.5 * claim.epsilon);
    expect(bound).toBeLessThanOrEqual(claim.epsilon);
  });

  it('prove a third of a whole mean, whose calls are compared together', async () => {
    const [plan, facts] = planFor('mean', 1);
    const { bound } = await losses(
      { plan, dimension: 1 }, facts, claimOf(plan, facts.target, null), 100,
    );
    expect(bound).toBeGreaterThan(1 / 3);
    expect(bound).toBeLessThanOrEqual(1);
  });

  it('prove a third of a choice, where the others are divided between two', async () => {
    const hypotheses = [0, 3].map((mean) => ({ normal: { mean, deviation: 1 } }));
    const [plan, facts, parameters] = planFor('select', 1, { hypotheses });
    const claim = claimOf(plan, facts.target, null);
    const { bound } = await losses({ plan, dimension: 1 }, facts, claim, 1000, parameters);
    expect(bound).toBeGreaterThan(1 / 3);
    expect(bound).toBeLessThanOrEqual(1);
  });

  it('prove half of the test of a lead, which few of its releases fail', async () => {
    const facts: StudyFacts = {
      dimension: 1, cohort: 114, participation: 'secret', target: target(4),
    };
    const event = { ...gapEvent(facts.target), cohort: 'rows' };
    const plan = smallPlan({
      facts, length: 1, events: [event],
      release: (rows, mechanisms) => mechanisms.mode(event.name, rows('rows').map((block) =>
        Array.from(block.values, (value) => (value < 0.5 ? 'low' : 'high'))))
        .map((label) => [label === null ? 0 : 1]),
    });
    const claim = { epsilon: 4, delta: 1e-6 };
    const { bound } = await losses({ plan, dimension: 1 }, facts, claim, 400);
    expect(bound).toBeGreaterThan(2);
    expect(bound).toBeLessThanOrEqual(4);
  });

  it('prove half of a subspace, where just enough groups agree', { tags: ['long'] }, async () => {
    const [plan, facts, parameters] = planFor('subspace', 4, { unit: 1 });
    const claim = claimOf(plan, facts.target, null);
    const { bound, known } =
      await losses({ plan, dimension: 1 }, facts, claim, 1000, parameters, { parts: true });
    expect(known!.pair).toContain('groups agree');
    expect(bound).toBeGreaterThan(2);
    expect(bound).toBeLessThanOrEqual(4);
  });

  const caught = [
    'half the noise', 'sensitivity of one coordinate for a vector (E1)',
    'selection score with the wrong sensitivity', 'groups scaled by the true largest of them',
    'half the sensitivity of a range',
  ];
  it.each(caught)('catch with few trials: %s', async (name) => {
    const bug = plantedBugs.find((one) => one.name === name)!;
    const { epsilon, delta, dimension, cohort } = bug;
    const facts: StudyFacts = {
      dimension, cohort, participation: 'secret', target: privacyTarget({ epsilon, delta }),
    };
    const claim = { epsilon, delta };
    const planted = await losses(bug.make(facts, true), facts, claim, 300);
    expect(planted.caught).toBe(true);
    const clean = await losses(bug.make(facts, false), facts, claim, 300);
    expect(clean.caught).toBe(false);
    expect(clean.bound).toBeGreaterThan(0);
  });
});
