import { inlineCompute } from '../../src/estimators/contract/compute.js';
import type { Compute } from '../../src/estimators/contract/estimator.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';

/**
 * Mechanisms with seeded noise of its own for every event: what one event draws does not change
 * what others draw, so that neighbours are answered with the same noise.
 */
export function mechanismsByEvent(events: readonly MechanismEvent[], seed: string): Mechanisms {
  const byName = new Map(events.map((event) => [
    event.name, createMechanisms([event], seededNoise(`${seed} ${event.name}`)),
  ]));
  return new Proxy(createMechanisms([], seededNoise(seed)), {
    get: (_, method: keyof Mechanisms) =>
      (event: string, value: never, keys: never) =>
        byName.get(event)![method](event, value, keys),
  });
}

/** A pass over rows: its kernel, and how many rows it went over. */
export interface Pass {
  readonly kernel: string;
  readonly rows: number;
}

/** Computes in place, and notes every pass over rows. */
export function countedCompute(): { readonly compute: Compute; readonly passes: readonly Pass[] } {
  const passes: Pass[] = [];
  return {
    passes,
    compute: { ...inlineCompute(), onPass: (kernel, rows) => { passes.push({ kernel, rows }); } },
  };
}

type MathFunction = (...given: number[]) => number;

/** One argument each, but for those of `ofMany`. */
const counted = [
  'abs', 'ceil', 'exp', 'floor', 'hypot', 'log', 'log2', 'max', 'min', 'round', 'sqrt', 'trunc',
] as const;
const ofMany: ReadonlySet<string> = new Set(['hypot', 'max', 'min']);

/**
 * A function that counts its calls. It is called many million times: a call of one or two numbers
 * makes no list of them.
 */
function counting(name: string, original: MathFunction) {
  let calls = 0;
  const ofOne = (value: number): number => {
    calls += 1;
    return original(value);
  };
  const ofSome = function count(left: number, right: number): number {
    calls += 1;
    // eslint-disable-next-line prefer-rest-params
    return arguments.length === 2 ? original(left, right) : original(...arguments);
  };
  return { counted: ofMany.has(name) ? ofSome : ofOne, calls: () => calls };
}

/**
 * Runs `work` and counts its calls of functions of `Math`: a measure of the work of loops that make
 * no pass over rows. Time is no measure here, because tests run beside other work.
 */
export async function countingMath<Result>(
  work: () => Promise<Result> | Result,
): Promise<{ readonly result: Result; readonly calls: Readonly<Record<string, number>> }> {
  const functions = Math as unknown as Record<string, MathFunction>;
  const originals = counted.map((name) => [name, functions[name]!] as const);
  const counters = originals.map(([name, original]) => [name, counting(name, original)] as const);
  for (const [name, counter] of counters) functions[name] = counter.counted;
  try {
    const result = await work();
    const calls = counters.map(([name, counter]) => [name, counter.calls()] as const);
    return { result, calls: Object.fromEntries(calls) };
  } finally {
    for (const [name, original] of originals) functions[name] = original;
  }
}
