import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidInputError, InvalidParameterError } from '../../src/base/errors.js';
import {
  amountOf, capOf, ratioOfDouble, zeroAmount, type Amount, type PureAmount,
} from '../../src/privacy/accounting/amount.js';
import {
  admits, chargeOf, chargeUnder, coversCharge, freshBalance, plusCharge, releasesThatFit,
  remaining, type Charge,
} from '../../src/privacy/accounting/budget.js';
import { costOfEvents, chargeFits } from '../../src/privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../../src/privacy/accounting/conversion.js';
import {
  areSameEvents, eventsFromJson, eventsToJson,
} from '../../src/privacy/accounting/event-codec.js';
import type { PrivacyCost } from '../../src/privacy/accounting/cost.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import {
  capsOf, perReleaseTarget, privacyTarget, shareOf, targetFromRho,
} from '../../src/privacy/accounting/target.js';

const one = 1n << 64n;
const place = { cohort: 'all', grid: 2 ** -10 };
const every: readonly MechanismEvent[] = [
  { ...place, kind: 'gaussian', name: 'a', dimension: 3, sensitivity: 3, sigma: 2 },
  { ...place, kind: 'symmetric-gaussian', name: 'b', dimension: 3, sensitivity: 1, sigma: 2 },
  { ...place, kind: 'laplace', name: 'c', dimension: 1, sensitivity: 1, scale: 4 },
  {
    ...place, kind: 'gaussian-threshold', name: 'f', sensitivity: 2, sigma: 4, delta: 0.0625,
    floor: 0,
  },
  { ...place, kind: 'gaussian-histogram', name: 'g', coordinates: 5, sigma: 4, delta: 0.03125 },
  {
    kind: 'exponential', name: 'i', cohort: 'all', candidates: 7, sensitivity: 1, epsilon: 0.5,
    times: 3,
  },
  {
    ...place, kind: 'group-histogram', name: 'k', groupsMax: 5, prefilter: 2, sigma: 4,
      delta: 0.03125,
  },
  {
    ...place, kind: 'group-sums', name: 'l', groupsMax: 3, prefilter: 2, values: 2, sigma: 4,
    sumsSigma: 8, delta: 0.03125, sumsGrid: 2 ** -20,
  },
];
const costOf = (...events: readonly MechanismEvent[]): PrivacyCost =>
  costOfEvents(events, { disjoint: [] });
const parts = (value: number): bigint => BigInt(value * 2 ** 40) << 24n;

describe('costOfEvents', () => {
  it.each<readonly [string, number, number, number | null]>([
    ['a', 9 / 8, 0, null],
    ['b', 1 / 8, 0, null],
    ['f', 1 / 8, 1 / 16, null],
    ['g', 5 / 16, 1 / 32, null],
    ['i', 3 / 32, 0, 3 / 2],
    ['k', 5 / 16, 1 / 32, null],
    // 3 (2 / 64 + the larger of 2 / 64 and 1 / 16).
    ['l', 9 / 32, 1 / 32, null],
  ])('charges event %s exactly: rho %d, delta %d, epsilon %s', (name, rho, delta, epsilon) => {
    const cost = costOf(every.find((event) => event.name === name)!);
    expect(cost).toMatchObject({
      rho: parts(rho), delta: parts(delta), epsilon: epsilon === null ? null : parts(epsilon),
    });
  });

  it('charges Laplace noise its mean loss', () => {
    const { rho, delta, epsilon } = costOf(every[2]!);
    expect(Number(rho) / 2 ** 64).toBeCloseTo(0.25 - 1 + Math.exp(-0.25), 7);
    expect({ delta, epsilon }).toEqual({ delta: 0n, epsilon: parts(0.25) });
  });

  it('has half a squared mu of Gaussian noise that is its rho, but for the grid', () => {
    for (const event of every.slice(0, 2)) {
      const { rho, gaussian } = costOf(event);
      expect(gaussian! > rho).toBe(true);
      expect(Number(gaussian) / Number(rho)).toBeLessThan(1.01);
    }
  });

  it('adds within a cohort, takes the largest over disjoint ones, and adds what is pooled', () => {
    const gaussian = (name: string, cohort: string, sigma: number): MechanismEvent =>
      ({ kind: 'gaussian', name, cohort, dimension: 1, sensitivity: 1, sigma, grid: 1 });
    const events = [
      gaussian('1', 'x', 1), gaussian('2', 'x', 1), gaussian('3', 'y', 0.5), gaussian('4', 'z', 2),
    ];
    expect(costOfEvents(events, { disjoint: [] }).rho).toBe(parts(1 + 2 + 0.125));
    expect(costOfEvents(events, { disjoint: ['x', 'y'] }).rho).toBe(parts(2 + 0.125));
    expect(costOfEvents(events, { disjoint: ['x', 'y', 'z'] }).rho).toBe(parts(2));
    // Largest rho and largest delta may come from different cohorts.
    const mixed = [gaussian('1', 'x', 1), { ...every[4]!, cohort: 'y' } as MechanismEvent];
    expect(costOfEvents(mixed, { disjoint: ['x', 'y'] })).toEqual({
      rho: parts(0.5), delta: parts(1 / 32), epsilon: null, gaussian: null,
    });
  });

  it('rounds once, up: nothing vanishes and a sum of many is not inflated', () => {
    const tiny = (name: string): MechanismEvent => ({
      ...every[0]!, name, sensitivity: 2 ** -40, sigma: 1,
    } as MechanismEvent);
    expect(costOf(tiny('1')).rho).toBe(1n);
    expect(costOf(...Array.from({ length: 100 }, (_, i) => tiny(String(i)))).rho).toBe(1n);
    const third = { ...every[0]!, sensitivity: 1, sigma: Math.sqrt(1.5) } as MechanismEvent;
    expect(Number(costOf(third).rho) / Number(one)).toBeCloseTo(1 / 3, 12);
  });

  it('is pure only when every event is', () => {
    expect(costOf(every[2]!, every[5]!).epsilon).toBe(parts(1.75));
    expect(costOf(every[2]!, every[0]!).epsilon).toBeNull();
    expect(costOf()).toEqual({ rho: 0n, delta: 0n, epsilon: 0n, gaussian: 0n });
  });

  it('refuses repeated names and numbers out of range, and names the event', () => {
    expect(() => costOf(every[0]!, every[0]!)).toThrow(/called a/);
    const bad: readonly [number, Readonly<Record<string, unknown>>][] = [
      [0, { sigma: 0 }], [0, { sigma: NaN }], [0, { sigma: Infinity }], [0, { grid: 3 }],
      [0, { grid: 0.75 }], [0, { dimension: 1.5 }],
      [0, { dimension: 0 }], [0, { sensitivity: -1 }], [0, { surplus: 1 }], [0, { kind: 'magic' }],
      [0, { cohort: '' }], [3, { delta: 0 }], [3, { delta: 0.6 }], [5, { epsilon: 1000 }],
      [3, { floor: NaN }], [4, { grid: 2 }], [5, { times: 0 }],
      [6, { groupsMax: 0 }], [6, { prefilter: 0 }], [6, { grid: 2 }], [5, { candidates: 2 ** 53 }],
      [0, { sigma: '2' }], [0, { kind: 'toString' }],
    ];
    for (const [index, change] of bad) {
      expect(() => costOf({ ...every[index]!, ...change }), JSON.stringify(change))
        .toThrow(InvalidParameterError);
    }
  });
});

describe('events on disk', () => {
  it('read back the same, in one text for one list', () => {
    const odd = {
      ...every[0]!, name: 'odd', sigma: 0.1 + 0.2, sensitivity: 5e-100,
    } as MechanismEvent;
    const text = eventsToJson([...every, odd]);
    expect(eventsFromJson(text)).toEqual([...every, odd]);
    expect(eventsToJson(eventsFromJson(text))).toBe(text);
    expect(text.startsWith('[{"cohort":"all","dimension":3,"grid":0.0009765625,"kind":"gaussian"'))
      .toBe(true);
  });

  it('reads the kinds of events that ledgers of before have', () => {
    const kept = every.filter(({ kind }) => kind.startsWith('group-'));
    expect(kept.length).toBeGreaterThan(1);
    const text = eventsToJson(kept);
    const before = text.replaceAll('"group-', '"key-').replaceAll('"groupsMax"', '"keysMax"');
    expect(eventsFromJson(before)).toEqual(kept);
    expect(areSameEvents(before, text)).toBe(true);
    expect(areSameEvents(before, eventsToJson(every))).toBe(false);
    // A name may be what a kind was.
    const named = eventsToJson([{ ...kept[0]!, name: 'key-sums' }]);
    expect(eventsToJson(eventsFromJson(named))).toBe(named);
  });

  it('reads the groups of ledgers that say keysMax', () => {
    const [choice] = every.filter(({ kind }) => kind === 'exponential');
    const kept = [
      ...every.filter((event) => 'groupsMax' in event),
      { ...choice!, name: 'by@1/i', keyed: { keys: 4, groupsMax: 2 } },
    ];
    expect(kept.length).toBeGreaterThan(1);
    const text = eventsToJson(kept);
    expect(eventsFromJson(text.replaceAll('"groupsMax"', '"keysMax"'))).toEqual(kept);
  });

  it('refuses other texts', () => {
    for (const text of ['', '{', '{}', '[1]', '[null]']) {
      expect(() => eventsFromJson(text)).toThrow(InvalidInputError);
    }
    expect(() => eventsFromJson('[{}]')).toThrow(InvalidParameterError);
    expect(() => eventsFromJson(eventsToJson(every).replace('"sigma":2', '"sigma":-2')))
      .toThrow(InvalidParameterError);
  });
});

describe('budgets', () => {
  const balance = {
    ...freshBalance({ rhoCap: 100n as Amount, deltaCap: 10n as Amount, pureCap: 40n as Amount }),
    rhoSpent: 30n as Amount, rhoReserved: 50n as Amount, pureSpent: 12n as Amount,
    pureReserved: 8n as Amount,
  };
  const asked = (rho: bigint, delta: bigint, pure: bigint | null = null): Charge => ({
    rho: rho as Amount, delta: delta as Amount, pure: pure as PureAmount,
  });

  it('admits what one of the two sums allows, to the last unit', () => {
    const caps = { rho: 100n as Amount, delta: 10n as Amount, pure: 40n as Amount };
    expect(admits(caps, asked(100n, 10n))).toBe(true);
    expect(admits(caps, asked(101n, 0n))).toBe(false);
    expect(admits(caps, asked(0n, 11n))).toBe(false);
    expect(admits(caps, asked(101n, 0n, 40n))).toBe(true);
    expect(admits(caps, asked(101n, 0n, 41n))).toBe(false);
    expect(admits(caps, asked(100n, 0n, 41n))).toBe(true);
  });

  it('adds up amounts, and none absorbs', () => {
    expect(plusCharge(asked(1n, 2n, 3n), asked(4n, 5n, 6n))).toEqual(asked(5n, 7n, 9n));
    expect(plusCharge(asked(1n, 2n), asked(4n, 5n, 6n))).toEqual(asked(5n, 7n));
  });

  it('knows what is left of each sum', () => {
    expect(remaining(balance)).toEqual(asked(20n, 10n, 20n));
    expect(remaining({ ...balance, rhoCap: 10n as Amount, pureSpent: null }))
      .toEqual(asked(0n, 10n));
  });

  it('says how many more fit and what stops the next one', () => {
    expect(releasesThatFit(balance, asked(3n, 1n))).toEqual({ count: 6, binds: 'rho' });
    expect(releasesThatFit(balance, asked(1n, 3n))).toEqual({ count: 3, binds: 'delta' });
    expect(releasesThatFit(balance, asked(0n, 0n)).count).toBe(Infinity);
    expect(releasesThatFit(balance, asked(3n, 0n, 2n))).toEqual({ count: 10, binds: 'epsilon' });
    expect(releasesThatFit(balance, asked(3n, 0n, 4n))).toEqual({ count: 6, binds: 'rho' });
    expect(releasesThatFit({ ...balance, pureSpent: null }, asked(3n, 0n, 2n)).count).toBe(6);
  });

  it('lets a reservation pay for no more than it holds in each sum', () => {
    expect(coversCharge(asked(2n, 1n, 3n), asked(2n, 1n, 3n))).toBe(true);
    expect(coversCharge(asked(2n, 1n), asked(2n, 1n, 3n))).toBe(true);
    for (const charge of [asked(3n, 1n, 3n), asked(2n, 2n, 3n), asked(2n, 1n, 4n), asked(2n, 1n)]) {
      expect(coversCharge(asked(2n, 1n, 3n), charge)).toBe(false);
    }
  });

  it('charges in the unit of the rule', () => {
    const cost = costOf(every[2]!, every[5]!);
    expect(chargeUnder({ rule: 'zcdp' }, cost))
      .toEqual({ rho: cost.rho, delta: 0n, pure: cost.epsilon });
    expect(chargeUnder({ rule: 'zcdp' }, costOf(every[0]!))).toMatchObject({ pure: null });
    expect(chargeUnder({ rule: 'pure' }, cost))
      .toEqual({ rho: cost.epsilon, delta: 0n, pure: cost.epsilon });
    expect(chargeUnder({ rule: 'renyi', order: 2.5 }, cost))
      .toEqual({ rho: (cost.rho * 5n + 1n) / 2n, delta: 0n, pure: null });
    expect(() => chargeUnder({ rule: 'pure' }, costOf(every[0]!))).toThrow(/rule "pure"/);
    expect(() => chargeUnder({ rule: 'pure' }, costOf(every[3]!))).toThrow(InvalidParameterError);
  });
});

describe('targets', () => {
  it('spends half of delta on events and the rest on the conversion', () => {
    const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
    expect(target).toMatchObject({ delta: 5e-7, epsilon: 1, deltaTotal: 1e-6 });
    expect(target.rho).toBeCloseTo(0.022937, 6);
    expect(epsilonOfApproximateZcdp(target.rho, 5e-7, 1e-6)).toBeLessThanOrEqual(1);
    expect(privacyTarget({ epsilon: 1, delta: 1e-6, deltaChargeable: 0 }).rho)
      .toBeCloseTo(0.024356, 6);
    expect(targetFromRho(target.rho, 1e-6).epsilon).toBeCloseTo(1, 9);
  });

  it('refuses epsilons and deltas out of range', () => {
    for (const [epsilon, delta] of [
      [0, 1e-6], [-1, 1e-6], [NaN, 1e-6], [101, 1e-6], [5e-324, 1e-6], [9e-7, 1e-6], [1, 0], [1, 1],
      [1, NaN],
    ] as const) {
      expect(() => privacyTarget({ epsilon, delta })).toThrow(InvalidParameterError);
    }
    expect(() => privacyTarget({ epsilon: 1, delta: 1e-6, deltaChargeable: 1e-6 }))
      .toThrow(InvalidParameterError);
    for (const rho of [0, 1e-300]) {
      expect(() => targetFromRho(rho, 1e-6)).toThrow(InvalidParameterError);
    }
  });

  it('gives every rule its caps', () => {
    const caps = capsOf({ epsilon: 1, delta: 1e-6, rule: 'zcdp' });
    expect(caps.rhoCap).toBe(capOf(privacyTarget({ epsilon: 1, delta: 1e-6 }).rho));
    expect(caps.deltaCap).toBe(capOf(5e-7));
    expect(caps.pureCap).toBe(one);
    expect(capsOf({ epsilon: 2, delta: 0, rule: 'pure' })).toEqual({
      rule: { rule: 'pure' }, rhoCap: 2n * one, deltaCap: 0n, pureCap: 2n * one,
    });
    expect(() => capsOf({ epsilon: 2, delta: 0, rule: 'zcdp' })).toThrow(InvalidParameterError);
  });

  it.each([
    [1, 23.2, 0.0229], [2, 13, 0.0834],
  ])('epsilon %d has its best Renyi order %d with rho %d', (epsilon, order, rho) => {
    const caps = capsOf({ epsilon, delta: 1e-6, rule: 'renyi' });
    const best = caps.rule.rule === 'renyi' ? caps.rule.order : 0;
    expect(Math.abs(best / order - 1)).toBeLessThan(0.01);
    expect(Math.abs(Number(caps.rhoCap) / 2 ** 64 / best / rho - 1)).toBeLessThan(0.01);
    expect(capsOf({ epsilon, delta: 1e-6, rule: caps.rule }).rhoCap).toBe(caps.rhoCap);
    expect(() => capsOf({ epsilon, delta: 1e-6, rule: { rule: 'renyi', order: 1.001 } }))
      .toThrow(/nothing to spend/);
  });

  it('never lets delta run out before rho', () => {
    const statement = (low: number, high: number): fc.Arbitrary<{
      epsilon: number; delta: number;
    }> =>
      fc.record({
        epsilon: fc.double({ min: low, max: high, noNaN: true }),
        delta: fc.double({ min: 1e-9, max: 1e-5, noNaN: true }),
      });
    fc.assert(fc.property(statement(0.05, 2), statement(2, 20), (privacy, budget) => {
      const { target, epochs, binds } = perReleaseTarget(privacy, budget);
      fc.pre(epochs > 0);
      expect(binds).toBe('rho');
      expect(target.delta).toBeLessThanOrEqual(privacy.delta / 2);
      expect(epsilonOfApproximateZcdp(target.rho, target.delta, privacy.delta))
        .toBeLessThanOrEqual(privacy.epsilon);
      const caps = capsOf({ ...budget, rule: 'zcdp' });
      const charge = chargeOf(target.rho, target.delta);
      expect(BigInt(epochs) * charge.delta <= caps.deltaCap
        && BigInt(epochs) * charge.rho <= caps.rhoCap).toBe(true);
      expect(BigInt(epochs + 1) * charge.rho > caps.rhoCap).toBe(true);
    }), { seed: 2, numRuns: 60 });
    expect(perReleaseTarget({ epsilon: 2, delta: 1e-6 }, { epsilon: 1, delta: 1e-5 }).epochs)
      .toBe(0);
  });

  it('splits so that the parts never pass the whole', () => {
    fc.assert(fc.property(fc.double({ min: 1e-9, max: 10, noNaN: true }), fc.double({
      min: 0.01, max: 0.99, noNaN: true,
    }), (total, share) => {
      const [whole, left, right] = [total, shareOf(total, share), shareOf(total, 1 - share)]
        .map(ratioOfDouble);
      // Exact: a/b + c/d <= e/f.
      const sum = left!.numerator * right!.denominator + right!.numerator * left!.denominator;
      expect(sum * whole!.denominator <= whole!.numerator * left!.denominator * right!.denominator)
        .toBe(true);
    }), { seed: 3 });
    const whole = { delta: zeroAmount, epsilon: null, gaussian: null };
    expect(
      chargeFits({ ...whole, rho: amountOf(0.1) }, { rho: 0.1, delta: 0 }),
    ).toBe(true);
    expect(chargeFits(
      { ...whole, rho: (amountOf(0.1) + 1n) as Amount },
      { rho: 0.1, delta: 0 },
    )).toBe(false);
    expect(() => shareOf(1, 1.1)).toThrow(InvalidParameterError);
  });
});
