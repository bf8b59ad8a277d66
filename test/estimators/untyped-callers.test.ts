import { describe, expect, it } from 'vitest';
import * as library from '../../src/advanced.js';
import {
  filteredMean, multiplicativeFilter, pointSet, robustMeanWithoutPrivacy,
} from '../../src/robust/index.js';
import { KeelsonError } from '../../src/base/errors.js';

const {
  createGroups, createMechanisms, findEstimator, parseParameters, privacyTarget, runOffline,
  secureNoise, seededRandom,
} = library;

type Call = (...args: unknown[]) => unknown;
/** As JavaScript sees a function, or a class that is made: without types. */
const untyped = (callable: unknown): Call => (String(callable).startsWith('class ')
  ? (...args) => new (callable as new (...args: unknown[]) => unknown)(...args) : callable as Call);

async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(KeelsonError);
    expect((error as KeelsonError).code).not.toBe('invariant');
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

const target = privacyTarget({ epsilon: 2, delta: 1e-6 });
const facts = { dimension: 2, cohort: 5_000, participation: 'secret', target } as const;
const mean = findEstimator('mean');
const parameters = parseParameters(mean.parameters, { spread: 1 }, facts);
const plan = mean.plan(parameters, facts);
const planOf = (estimator: library.Estimator): Call =>
  untyped((...args: Parameters<typeof estimator.plan>) => estimator.plan(...args));
const run = () => {
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  return {
    plan, dimension: 2, rows: [[1, 2], [3, 4]],
    mechanisms: createMechanisms(plan.events, secureNoise()), assignmentHashes: secureNoise(),
    work: seededRandom(new Uint8Array(32)),
  };
};

describe('callers without types', () => {
  const wrong: readonly (readonly unknown[])[] = [
    [], [undefined], [null], ['x'], [NaN], [[[null]]], [{}], [[1]], [-1], [{}, {}], [{}, {}, {}],
  ];
  /** Nothing that is given to these can be wrong. */
  const harmless = ['inlineCompute', 'secureNoise'];
  const functions = Object.entries(library)
    .filter(([name, value]) =>
      typeof value === 'function' && !name.endsWith('Error') && !harmless.includes(name));

  it.each(functions)('%s answers wrong arguments by a typed error or a '
    + 'result', async (_, callable) => {
    for (const args of wrong) {
      try {
        await untyped(callable)(...args);
      } catch (error) {
        expect(error, `${JSON.stringify(args)}: ${String(error)}`).toBeInstanceOf(KeelsonError);
        expect((error as KeelsonError).code).not.toBe('invariant');
        expect((error as KeelsonError).message).not.toMatch(/undefined (rows|columns)|NaN values/);
      }
    }
  });
});

describe('points', () => {
  it('are told from rows, with how to make them', async () => {
    const text = 'points are what pointSet(rows) returns: this is a list';
    for (const callable of [robustMeanWithoutPrivacy, filteredMean, multiplicativeFilter]) {
      expect(await refusal(() => untyped(callable)([[1, 2]]))).toBe(text);
    }
    const values = { count: 1, dimension: 1, values: [1] };
    expect(await refusal(() => untyped(robustMeanWithoutPrivacy)(values)))
      .toContain('make them of rows with pointSet(rows)');
  });

  it('hold numbers only: null is not taken for 0', async () => {
    expect(await refusal(() => untyped(pointSet)([[1, 2], [3, null]])))
      .toBe('row 1 holds something else than a number in column 1 (both from 0): '
        + 'give each row as a list of numbers');
    expect(await refusal(() => untyped(pointSet)([5]))).toContain('row 0 is a number');
    expect(pointSet([[1, NaN], Float64Array.of(2, 3)]).count).toBe(2);
  });

  it('come with options that are known', async () => {
    const points = pointSet([[1, 2], [3, 4]]);
    expect(await refusal(() => untyped(robustMeanWithoutPrivacy)(points, { spraed: 1 })))
      .toBe('the robust mean has no option spraed: did you mean "spread"?');
    expect(await refusal(() => untyped(filteredMean)(points, { corrupton: 0.1 })))
      .toBe('the filter has no option corrupton: did you mean "corruption"?');
    expect(await refusal(() => untyped(multiplicativeFilter)(points, { zzz: 0.1 })))
      .toBe('the filter has no option zzz: there are corruption, spread');
    expect(await refusal(() => untyped(filteredMean)(points, 0.1))).toContain('are an object');
  });
});

describe('plans and offline runs', () => {
  it.each([
    [
      'dimension', undefined,
      'dimension, the number of columns, is missing: give a whole number from 1',
    ],
    ['dimension', 1.5, 'is 1.5: give a whole number'],
    ['dimension', NaN, 'is NaN: give a whole number'],
    ['rows', undefined, 'rows is missing: give a list of rows'],
    [
      'mechanisms', undefined,
      'mechanisms is missing: give createMechanisms(plan.events, secureNoise())',
    ],
    ['assignmentHashes', null, 'assignmentHashes is null: give secureNoise()'],
    ['work', 'seed', 'work is a string: give seededRandom(seed)'],
    [
      'plan', { kind: 'infeasible', reason: 'few', remedy: 'more' },
      'the plan is infeasible: few; more',
    ],
    ['rows', [[1, 2, 3]], 'a row has 3 entries, and dimension is 2'],
    ['rows', [5], 'a row is a number, and dimension is 2'],
  ])('a run with %s %s is refused by name', async (name, value, text) => {
    expect(await refusal(() => untyped(runOffline)({ ...run(), [name]: value }))).toContain(text);
  });

  it.each([
    ['dimension', undefined, 'dimension, the number of columns, is missing'],
    ['cohort', NaN, 'is NaN: give a whole number from 1 to 10000000'],
    ['cohort', 1e9, 'give a whole number from 1 to 10000000'],
    ['participation', 'all', 'neither "secret" nor "public"'],
    ['target', { epsilon: 1, delta: 1e-6 }, 'make it with privacyTarget({ epsilon, delta })'],
  ])('every plan with %s %s is refused by name', async (name, value, text) => {
    for (const estimator of library.allEstimators) {
      const call = () => planOf(estimator)(parameters, { ...facts, [name]: value });
      expect(await refusal(call), estimator.name).toContain(text);
    }
  });

  it('parameters that were not parsed are refused by name', async () => {
    const remedy =
      'give what parseParameters(estimator.parameters, { ... }, { dimension }) returns';
    expect(await refusal(() => planOf(mean)({ spread: 1 }, facts)))
      .toBe(`parameters.spread of mean is not parsed: ${remedy}`);
    expect(await refusal(() => planOf(mean)(undefined, facts))).toContain(remedy);
    expect(await refusal(() => untyped(parseParameters)(mean.parameters, { spread: 1 })))
      .toContain('the third argument is { dimension }');
  });

  it('a row of groups that has another width is refused', async () => {
    const groups = createGroups(run().plan, 2);
    expect(await refusal(() => groups.add(new Uint8Array(32), Float64Array.of(1, 2, 3))))
      .toContain('a row has 3 entries, and dimension is 2');
  });
});
