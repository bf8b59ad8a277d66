import { describe, expect, it } from 'vitest';
import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { planWithin } from '../../src/plan.js';
import { privacyTarget, resolvePureTarget } from '../../src/privacy/accounting/target.js';
import { planQuestions, type QuestionsPlan } from '../../src/questions/plan.js';
import { StudyReduction } from '../../src/questions/reduction.js';
import { QuestionsRun } from '../../src/questions/run.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';

/** Eight places, and what was paid there. */
const places = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const study = {
  columns: ['place', 'paid'],
  types: [{ type: 'category', of: places }, { type: 'number' }] as readonly ColumnType[],
};
const people = 250;

function question(
  estimator: string, given: Readonly<Record<string, unknown>>, by: Partial<Question['by']> = {},
): Question {
  const hasColumns = estimator !== 'count';
  return {
    name: 'asked', estimator, columns: hasColumns ? ['paid'] : [], where: [], part: 100,
    parameters: parseParameters(findEstimator(estimator).parameters, given, { dimension: 1 }),
    reduce: hasColumns ? 'sum' : 'one', by: { columns: ['place'], groupsMax: 4, ...by },
  };
}

const targets = {
  zcdp: privacyTarget({ epsilon: 2, delta: 1e-6 }),
  pure: resolvePureTarget({ epsilon: 2, delta: 0 }),
};

function plannedOf(asked: Question, target = targets.zcdp): QuestionsPlan {
  const plan = planQuestions([asked], {
    ...study, cohort: people, participation: 'secret', target, rowsMax: 64,
  }, { find: findEstimator, plan: planWithin });
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return plan;
}

const everywhere = (): number => 8;
const some = (person: number): number => (person % 3 === 0 ? 8 : 2);
const few = (person: number): number => 1 + (person % 4);

/** A run about people who each paid 2 in so many places, the first ones of the list. */
function filled(
  plan: QuestionsPlan, placesOf: (person: number) => number, seed: string,
): QuestionsRun {
  const reduction = new StudyReduction([plan.questions[0].question], study);
  const run = new QuestionsRun(plan.questions, seededRandom(new Uint8Array(32)), seededNoise(seed));
  for (let person = 0; person < people; person++) {
    const own = reduction.empty();
    const count = placesOf(person);
    const values = Float64Array.from({ length: 2 * count }, (_, k) => (k % 2 === 0 ? k / 2 : 2));
    const secret = new Uint8Array(16);
    new DataView(secret.buffer).setUint32(0, person);
    reduction.add(own, { values, rows: count, ranks: null }, { keySecret: () => secret });
    const hash = new Uint8Array(32).fill(person);
    run.add(hash, reduction.rowsOf(own, run.tables), reduction.cutsOf(own));
  }
  return run;
}

interface Held { readonly held: number; readonly told: number; readonly open: number }

/** Shares of the numbers whose interval holds the truth, of answers that say it, of open ends. */
async function heldOf(
  plan: QuestionsPlan, placesOf: (person: number) => number, each: number, runs = 150,
): Promise<Held> {
  const right = places.map((_, place) =>
    each * Array.from({ length: people }, (_v, i) => Number(placesOf(i) > place))
      .reduce((sum, one) => sum + one, 0));
  let [held, told, open, numbers] = [0, 0, 0, 0];
  const { keys: listed } = plan.questions[0];
  for (let i = 0; i < runs; i++) {
    const [result] = await filled(plan, placesOf, `cut ${i}`).release(inlineCompute());
    if (result?.kind !== 'answered' || result.outcome.kind !== 'value') throw new Error('refused');
    const { interval95, findings, groups = listed } = result.outcome;
    told += Number(findings?.some(({ reason }) => reason === 'groups-cut') === true);
    groups!.forEach(([key], i) => {
      const { low, high } = { low: interval95!.low[i]!, high: interval95!.high[i]! };
      const truth = right[places.indexOf(key!)]!;
      numbers += 1;
      held += Number(low <= truth && truth <= high);
      open += Number(low === -Infinity || high === Infinity);
    });
  }
  return { held: held / numbers, told: told / runs, open: open / numbers };
}

describe('people with more keys than count', { tags: ['long'] }, () => {
  it.each([
    ['count', {}, 1], ['sum', { cap: 4 }, 2], ['sum', { range: '-4..4' }, 2],
  ] as const)('move the ends of a %s, which hold for all pairs', async (name, given, each) => {
    for (const placesOf of [everywhere, some]) {
      const { held, told, open } =
        await heldOf(plannedOf(question(name, given)), placesOf, each);
      expect({ told, open }).toEqual({ told: 1, open: 0 });
      // Of 1,200 numbers, at 95 %: below .92 once in a million.
      expect(held).toBeGreaterThan(0.92);
    }
  });

  it('do so for pure privacy and for keys that are found', async () => {
    const pure = await heldOf(plannedOf(question('count', {}), targets.pure), everywhere, 1);
    expect(pure.told).toBeGreaterThan(0.98);
    expect(pure.held).toBeGreaterThan(0.92);
    const discover = { top: 8, prefilter: 1 };
    const found = await heldOf(plannedOf(question('count', {}, { discover })), everywhere, 1);
    expect(found.told).toBe(1);
    expect(found.held).toBeGreaterThan(0.92);
  });

  it('open the ends of a mean by key', async () => {
    const { told, open } =
      await heldOf(plannedOf(question('mean', { range: '0..4' })), everywhere, 0, 20);
    expect({ told, open }).toEqual({ told: 1, open: 1 });
  });

  it('are reported in one of 1,000 releases where there are none', async () => {
    const { held, told } = await heldOf(plannedOf(question('count', {})), few, 1, 1_000);
    // Eleven of 1,000, where one is due, come once in a million.
    expect(told).toBeLessThan(0.011);
    expect(held).toBeGreaterThan(0.93);
  });
});

it('moves the ends of a running total also in later epochs', { tags: ['long'] }, async () => {
  const plan = planQuestions([question('count', {})], {
    ...study, cohort: people, participation: 'secret', target: targets.zcdp, rowsMax: 64,
    running: { separation: 2, questions: ['asked'] },
  }, { find: findEstimator, plan: planWithin }) as QuestionsPlan;
  const sealing = {
    seal: (_name: string, plain: Uint8Array) => plain,
    open: (_name: string, text: Uint8Array) => text,
  };
  let left: Uint8Array | undefined;
  const epochs = [everywhere, few, few];
  for (const [epoch, placesOf] of epochs.entries()) {
    const run = filled(plan, placesOf, `epoch ${epoch}`);
    const series = left === undefined ? [] : [{ question: 'asked', sealed: left }];
    const [result] = await run.release(inlineCompute(), { sealing, series });
    if (result?.kind !== 'answered' || result.outcome.kind !== 'value') throw new Error('refused');
    ({ left } = result);
    const { interval95, findings, running } = result.outcome;
    expect(running!.position).toBe(epoch);
    const [noisy, half] = findings!.find(({ reason }) => reason === 'groups-cut')!.amounts;
    // Six deviations. In the later epochs nobody loses keys.
    expect(Math.abs(noisy! - people)).toBeLessThan(3.1 * half!);
    places.forEach((_, place) => {
      const truth = epochs.slice(0, epoch + 1).reduce((sum, of) => sum
        + Array.from({ length: people }, (_v, i) => Number(of(i) > place))
          .reduce((all, one) => all + one, 0), 0);
      expect(interval95!.high[place]!).toBeGreaterThan(truth);
    });
  }
});
