import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import {
  amountOf, amountToNumber, zeroAmount, type Amount,
} from '../../src/privacy/accounting/amount.js';
import { chargeUnder } from '../../src/privacy/accounting/budget.js';
import { chargeFits } from '../../src/privacy/accounting/composition.js';
import type { PrivacyCost } from '../../src/privacy/accounting/cost.js';
import { decodeReleaseBody, type StudyDocument } from '../../src/wire/index.js';
import { questionsPlanOf } from '../../server/epochs/engine.js';
import { defineStudy } from '../../server/studies/definition.js';
import { Bench, contribute, define, everyMs, studyDocument } from '../support/hub-bench.js';
import { pureEstimator } from '../support/pure-estimator.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const budget = (overrides: Partial<StudyDocument['budget']>): Pick<StudyDocument, 'budget'> =>
  ({ budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study', ...overrides } });

describe('rule pure', () => {
  const document = (delta: number): StudyDocument =>
    studyDocument({
      privacy: { epsilon: 0.5, delta }, ...budget({ rule: 'pure', epsilon: 4, delta }),
    });

  it('draws what was charged where a pure plan takes several rounds', () => {
    const find = (): Estimator => pureEstimator(3);
    const study = defineStudy(document(0), null, find);
    expect(questionsPlanOf(study, find).events).toEqual(study.events);
    expect(questionsPlanOf(study, find).cost).toEqual(study.cost);
  });

  it('is planned once for a document and its estimators', () => {
    let plans = 0;
    const estimator = pureEstimator(1);
    const counted: Estimator = {
      ...estimator,
      plan: (...asked) => {
        plans += 1;
        return estimator.plan(...asked);
      },
    };
    const find = (): Estimator => counted;
    const facts = document(0);
    const study = defineStudy(facts, null, find);
    const first = plans;
    expect(defineStudy(facts, null, find).events).toBe(study.events);
    expect(plans).toBe(first);
    defineStudy({ ...facts }, null, find);
    expect(plans).toBe(2 * first);
    defineStudy(facts, null, () => counted);
    expect(plans).toBe(3 * first);
  });

  it.each([1, 3])(
    'plans %d pure mechanisms within the epsilon of a release, and epsilon adds up', (parts) => {
      const study = defineStudy(document(0), null, () => pureEstimator(parts));
      const epsilon = amountToNumber(study.charge.rho);
      expect(epsilon).toBeLessThanOrEqual(0.5 * (1 + 2 ** -39));
      expect(epsilon).toBeGreaterThan(0.5 * (1 - 1e-6));
      expect(study.charge.delta).toBe(zeroAmount);
      expect(study.budget).toMatchObject({ rule: { rule: 'pure' }, deltaCap: 0n });
      expect(study.releases === 8 || study.releases === 7).toBe(true);
    },
  );

  it.each([0, 1e-6])('refuses noise that is not pure, with a remedy, when delta is %d', (delta) => {
    expect(() => defineStudy(document(delta))).toThrow(expect.objectContaining({
      code: 'plan-infeasible', message: expect.stringMatching(/not pure.*"zcdp"/) as string,
    }) as Error);
  });

  it('is charged through a store: a running study of pure noise is refused nothing but what does '
    + 'not fit', async () => {
    const study = defineStudy(document(0), null, () => pureEstimator(1));
    const hub = await bench.start([study]);
    await bench.clock.advance(3 * everyMs);
    await hub.settled();
    const balance = (await hub.balances())[0]!;
    expect(balance.rhoSpent).toBe(3n * study.charge.rho);
    const { studyId } = hub.studies()[0]!;
    const { cost, ledger, guarantee } =
      decodeReleaseBody((await hub.releases(studyId, 2, 1))[0]!.body);
    expect(cost).toMatchObject({ epsilon: amountToNumber(study.charge.rho), delta: 0 });
    expect(ledger).toMatchObject({ rule: 'pure', epsilonCap: 4 });
    expect(guarantee).toContain('at most epsilon 4,');
    await hub.close();
  });
});

describe('rule renyi', () => {
  it('charges the divergence at the order that was fixed when the budget was made', async () => {
    const study = define(budget({ rule: 'renyi' }));
    const { rule } = study.budget;
    const order = rule.rule === 'renyi' ? rule.order : 0;
    expect(order).toBeGreaterThan(1);
    expect(amountToNumber(study.charge.rho) / (amountToNumber(study.cost.rho) * order))
      .toBeCloseTo(1, 12);
    expect(study.binds).toBe('rho');
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await contribute(hub, studyId, 30, 1n);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const { cost, ledger } = decodeReleaseBody((await hub.releases(studyId, 0, 1))[0]!.body);
    // The release's own statement is what the study promises, not what the budget's order would say
    // of one release.
    expect(cost.epsilon).toBeLessThanOrEqual(study.document.privacy.epsilon);
    expect(cost.epsilon).toBeGreaterThan(0.9 * study.document.privacy.epsilon);
    expect(ledger).toMatchObject({ rule: 'renyi', rhoSpent: study.charge.rho });
    await hub.close();
  });

  it('keeps the order when the budget shrinks, though a new one would choose another', async () => {
    const wide = define(budget({ rule: 'renyi', epsilon: 12 }));
    const narrow = define(budget({ rule: 'renyi', epsilon: 6 }));
    expect(narrow.budget.rule).not.toEqual(wide.budget.rule);
    let hub = await bench.start([wide]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    hub = await bench.start([narrow]);
    const [balance] = await hub.balances();
    expect(balance).toMatchObject({ rule: wide.budget.rule, epsilon: 6 });
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    expect(bench.failures).toEqual([]);
    expect((await hub.balances())[0]!.rhoSpent <= (await hub.balances())[0]!.rhoCap).toBe(true);
    await hub.close();
  });

  it('pays for noise that has a divergence at its order only, and no other rule does', () => {
    const masked: PrivacyCost = {
      rho: zeroAmount, delta: amountOf(1e-8), epsilon: null, gaussian: null,
      renyi: { order: 12, amount: 77n as Amount },
    };
    expect(chargeUnder({ rule: 'renyi', order: 12 }, masked))
      .toEqual({ rho: 77n, delta: masked.delta, pure: null });
    for (const rule of [
      { rule: 'zcdp' }, { rule: 'pure' }, { rule: 'gaussian' }, { rule: 'renyi', order: 13 },
    ] as const) {
      expect(() => chargeUnder(rule, masked))
        .toThrow(/order 12 only.*give the budget the rule "renyi"/);
    }
    expect(chargeFits(masked, { rho: 100, delta: 0.1 })).toBe(false);
  });
});
