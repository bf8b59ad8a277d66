import { expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvariantError } from '../../src/base/errors.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import type { Finding } from '../../src/base/outcome.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';
import { planGroupsCut, withGroupsCut } from '../../src/questions/groups-cut.js';
import { addsUp, QuestionsRun } from '../../src/questions/run.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';

const estimator = findEstimator('count');
const plan = estimator.plan(
  { column: 0, threshold: 0, side: 'at-least' },
  {
    dimension: 1, cohort: 100, participation: 'secret',
    target: privacyTarget({ epsilon: 8, delta: 1e-6 }),
  },
) as Plan;
const [event] = plan.events;
const question = (name: string, changed: Partial<Plan> = {}): PlannedQuestion => ({
  question: {
    name, estimator: 'count', parameters: {}, columns: ['n'], where: [], reduce: 'mean', part: 50,
  },
  estimator, dimension: 1, plan: { ...plan, ...changed },
});

async function released(questions: readonly PlannedQuestion[], rows: readonly number[] = [1]) {
  const run = new QuestionsRun(
    questions, seededRandom(new Uint8Array(32)), seededNoise('questions'),
  );
  rows.forEach((value, i) => {
    run.add(new Uint8Array(32).fill(i), questions.map(() => [Float64Array.of(value)]));
  });
  return run.release(inlineCompute());
}

it('lets a question draw its own events only', async () => {
  const renamed = { ...event!, name: 'of-the-other' };
  const [own, other] = await released([
    question('own', {
      release: async (_, mechanisms) => {
        mechanisms.laplace('of-the-other', Sensitive.of(Float64Array.of(0)));
        throw new Error('it drew what another question was charged for');
      },
    }),
    question('other', { events: [renamed] }),
  ]);
  expect(own).toMatchObject({ kind: 'failed' });
  expect(own?.kind === 'failed' && own.failure).toBeInstanceOf(InvariantError);
  // This one asks for an event under the name that its plan does not have any more.
  expect(other).toMatchObject({ kind: 'failed' });
});

it('keeps a failure while rows arrive to the question that has it', async () => {
  const summary = plan.summary(plan.arms[0]!.name);
  const broken = question('broken', {
    summary: () => ({
      ...summary, table: undefined, add: () => { throw new Error('no memory'); },
    }) as unknown as typeof summary,
  });
  const results = await released([question('first'), broken, question('last')], [1, 2, 3]);
  expect(results.map(({ kind }) => kind)).toEqual(['answered', 'failed', 'answered']);
});

it('names the keys of a split answer', async () => {
  const keys = [['north']];
  const [split, whole] = await released([{ ...question('split'), keys }, question('whole')]);
  expect(split).toMatchObject({ outcome: { kind: 'value', groups: keys } });
  expect(whole?.kind === 'answered' && 'groups' in whole.outcome).toBe(false);
});

it('draws different noise for each question', async () => {
  const results = await released([question('one'), question('two'), question('three')]);
  const answers = results.map((result) =>
    (result.kind === 'answered' && result.outcome.kind === 'value'
      ? result.outcome.estimate[0] : null));
  expect(new Set(answers).size).toBeGreaterThan(1);
});

it('says how many contributors had more keys than count for one, with noise', async () => {
  const target = privacyTarget({ epsilon: 8, delta: 1e-6 });
  const count = planGroupsCut(target, 3);
  const asked = { ...question('cut'), plan: withGroupsCut(plan, count), groupsCut: count };
  const findingsOf = async (cut: number, planned = asked) => {
    const run = new QuestionsRun([planned], seededRandom(new Uint8Array(32)), seededNoise('cut'));
    for (let i = 0; i < 500; i++) {
      run.add(new Uint8Array(32).fill(i), [[Float64Array.of(1)]], [i < cut]);
    }
    const [result] = await run.release(inlineCompute());
    return result?.kind === 'answered' && result.outcome.kind === 'value'
      ? result.outcome.findings : result;
  };
  const [finding, ...others] = (await findingsOf(400)) as readonly Finding[];
  expect(others).toEqual([]);
  expect(finding).toMatchObject({ reason: 'groups-cut', columns: [] });
  const [noisy, half, groupsMax] = finding!.amounts;
  expect(groupsMax).toBe(3);
  expect(half).toBeCloseTo(1.96 * count.standardDeviation, 2);
  // Five deviations: the seed is fixed.
  expect(Math.abs(noisy! - 400)).toBeLessThan(5 * count.standardDeviation);
  // The same noise, and one contributor less: sensitivity 1.
  const [other] = (await findingsOf(399)) as readonly Finding[];
  expect(noisy! - other!.amounts[0]!).toBe(1);
  expect(await findingsOf(0)).toBeUndefined();
  expect(await findingsOf(400, question('cut') as typeof asked)).toBeUndefined();
});

const emptyRun = (questions: readonly PlannedQuestion[]): QuestionsRun =>
  new QuestionsRun(questions, seededRandom(new Uint8Array(32)), seededNoise('questions'));

it('has the bits of one run when several runs are merged, in any order', () => {
  const sums = findEstimator('sum');
  const facts = {
    dimension: 1, cohort: 100, participation: 'secret',
    target: privacyTarget({ epsilon: 8, delta: 1e-6 }),
  } as const;
  const sum: PlannedQuestion = {
    ...question('sum'), estimator: sums, plan: sums.plan({ range: [-3, 7] }, facts) as Plan,
  };
  const asked = [question('count'), sum];
  expect(addsUp(asked)).toBe(true);
  const whole = emptyRun(asked);
  const slices = Array.from({ length: 3 }, () => emptyRun(asked));
  for (let i = 0; i < 300; i++) {
    const rows = [[Float64Array.of(i % 5 - 2)], [Float64Array.of(Math.sin(i) * 9)]];
    for (const run of [whole, slices[i % 3]!]) {
      run.add(new Uint8Array(32).fill(i), rows, [i % 7 === 0, false]);
    }
  }
  const merged = emptyRun(asked);
  for (const slice of slices.toReversed()) merged.merge(slice.encode());
  expect(merged.encode()).toEqual(whole.encode());
  expect(() => merged.merge(whole.encode().subarray(1))).toThrow();
});

it('fails the question alone of which a merged run has no summary', async () => {
  const broken = question('broken', {
    summary: (name) => ({
      ...plan.summary(name), table: undefined, add: () => { throw new Error('no memory'); },
    }) as unknown as ReturnType<Plan['summary']>,
  });
  const slice = emptyRun([broken, question('whole')]);
  slice.add(new Uint8Array(32), [[Float64Array.of(1)], [Float64Array.of(1)]]);
  const merged = emptyRun([question('broken'), question('whole')]);
  merged.merge(slice.encode());
  const results = await merged.release(inlineCompute());
  expect(results.map(({ kind }) => kind)).toEqual(['failed', 'answered']);
});

it('does not add up groups, pools or found keys', () => {
  const pooled = question('pooled', {
    summary: (name) => ({
      ...plan.summary(name), exact: undefined,
    }) as unknown as ReturnType<Plan['summary']>,
  });
  expect(addsUp([question('count'), pooled])).toBe(false);
  expect(addsUp([{ ...question('found'), discovered: {} as never }])).toBe(false);
});
