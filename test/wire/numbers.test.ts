import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numbersByFacts, type Described } from '../../src/answers/describe.js';
import type { WireError } from '../../src/base/errors.js';
import type { NumberInfo } from '../../src/base/number-info.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import {
  contradiction, numbersFromWire, numbersToWire, Places,
} from '../../src/wire/numbers-body.js';
import { decodeReleaseBody, encodeReleaseBody } from '../../src/wire/index.js';
import { numbersOf } from '../support/number-infos.js';
import { releaseOf } from '../support/wire-samples.js';

/** The refusal's message. */
function malformed(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect((error as WireError).code).toBe('malformed');
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

const valueOf = (entries: number, numbers?: readonly NumberInfo[]): ValueOutcome => ({
  kind: 'value', estimate: Array.from({ length: entries }, () => 1), shape: [entries],
  uncertainty: { kind: 'none' }, ...(numbers !== undefined && { numbers }),
});

/** Bytes of a release of these numbers, with and without their description. */
function bytesOf(asked: Described, outcome: ValueOutcome): number {
  const columns = asked.columns;
  const body = (numbers: readonly NumberInfo[]): number =>
    encodeReleaseBody(releaseOf({ ...outcome, numbers }, { columns })).length;
  // One text and one run: a description that says nothing.
  const nothing = outcome.estimate.map((): NumberInfo => ({ kind: 'groups' }));
  return body(numbersByFacts(asked, outcome)) - body(nothing);
}

describe('the description of numbers in a release', () => {
  it('is read as it was written, of every kind', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 30 }).chain(numbersOf), (numbers) => {
      const texts = new Places<string>(['a', 'b']);
      const wire = numbersToWire(valueOf(numbers.length, numbers), texts);
      expect(numbersFromWire(wire, numbers.length, texts.all)).toEqual(numbers);
    }), { numRuns: 500 });
  });

  it('is there for each number, and for no other', () => {
    const [number] = [{ kind: 'mean', column: 'a' }] as const;
    const write = (entries: number, count: number): string => malformed(() => numbersToWire(
      valueOf(entries, Array.from({ length: count }, () => number)), new Places()));
    expect(write(2, 1)).toMatch(/describes 1 numbers, and the answer has 2/);
    expect(write(1, 2)).toMatch(/describes 2 numbers, and the answer has 1/);
    expect(write(1, 0)).toMatch(/describes 0/);
    const texts = new Places<string>();
    const wire = numbersToWire(valueOf(2, [number, number]), texts);
    const read = (entries: number) =>
      malformed(() => numbersFromWire(wire, entries, texts.all));
    expect(read(1)).toMatch(/the runs of kind are not 1 numbers/);
    expect(read(3)).toMatch(/the runs of kind are not 3 numbers/);
    expect(malformed(() => numbersFromWire({ kind: [] }, 1, []))).toMatch(/describes 0 numbers/);
    expect(malformed(() => numbersFromWire({ kind: [1, 2, 0, 2] }, 2, ['mean'])))
      .toMatch(/describes 1 numbers/);
    expect(numbersFromWire(null, 0, [])).toEqual([]);
  });

  it('may be absent, as in releases of servers before it', () => {
    const { answers: [answer] } = decodeReleaseBody(encodeReleaseBody(releaseOf(valueOf(2))));
    expect(answer!.outcome).not.toHaveProperty('numbers');
    // Whoever has the facts explains the numbers.
    expect(contradiction([], [{ kind: 'mean', column: 'a' }])).toBeNull();
  });

  it.each([
    ['a place that is not there', { kind: [2, 2] }, /place 2, where nothing is/],
    ['a run past the last text', { kind: [1, 5] }, /place 2, where nothing is/],
    ['a run of nothing that grows', { kind: [1, 4], column: [0, 5] }, /where nothing is/],
    ['half a run', { kind: [1] }, /the runs of kind are not 2 numbers/],
    ['an empty run', { kind: [1, 0] }, /the runs of kind are not 2 numbers/],
    ['a run of many millions', { kind: [1, 2 ** 32 - 2] }, /are not 2 numbers/],
    ['a short list', { kind: [1, 4], column: [1, 2] }, /runs of column are not 2 numbers/],
    ['a value that is not finite', { kind: [1, 4], values: [Infinity] }, /not finite/],
  ])('refuses %s', (_, wire, why) => {
    expect(malformed(() => numbersFromWire(wire, 2, ['mean']))).toMatch(why);
  });

  it('takes a kind of a newer server for a number that it cannot explain', () => {
    const texts = ['delay', 'mode', 'minutes', 'quantile'];
    expect(numbersFromWire({ kind: [2, 2], column: [1, 2], unit: [3, 2] }, 1, texts))
      .toEqual([{ kind: 'other', column: 'delay', place: 1, of: 1, unit: 'minutes' }]);
    // A quantile of no probability, a choice among no list.
    expect(numbersFromWire({ kind: [4, 2], column: [1, 2] }, 1, texts))
      .toEqual([{ kind: 'other', column: 'delay', place: 1, of: 1 }]);
    for (const text of ['{', '{}', '']) {
      expect(numbersFromWire({ kind: [1, 2], text: [2, 2] }, 1, ['choice', text]))
        .toEqual([{ kind: 'other', place: 1, of: 1 }]);
    }
    expect(numbersFromWire({ kind: [1, 2] }, 1, ['constructor']))
      .toEqual([{ kind: 'other', place: 1, of: 1 }]);
  });

  it('takes few bytes beside the numbers', () => {
    const edges = Array.from({ length: 999 }, (_, i) => 7 * i);
    const columns = Array.from({ length: 50 }, (_, i) => `column ${i}`);
    const large = {
      histogram: bytesOf({ estimator: 'histogram', columns: ['delay'], parameters: { edges } },
        valueOf(1000)),
      covariance: bytesOf({ estimator: 'covariance', columns, parameters: {} }, valueOf(2500)),
      means: bytesOf({ estimator: 'mean', columns, parameters: {} }, valueOf(50)),
      distribution: bytesOf({
        estimator: 'distribution', columns: ['delay'], columnWords: [{ unit: 'minutes' }],
        parameters: {
          range: [0, 600], cells: 150, probabilities: [0.1, 0.25, 0.5, 0.75, 0.9],
        },
      }, valueOf(157)),
    };
    process.stdout.write(`bytes of descriptions: ${JSON.stringify(large)}\n`);
    // An edge is a number of 8 bytes, and of what repeats there is one.
    expect(large.histogram).toBeLessThan(8 * 1000 + 40);
    expect(large.covariance).toBeLessThan(2500);
    expect(large.means).toBeLessThan(20);
    expect(large.distribution).toBeLessThan(8 * 157 + 100);
  });

  it('is once in a release for all keys of an answer', () => {
    const keyed = (count: number): Uint8Array => encodeReleaseBody(releaseOf({
      ...valueOf(count, [{ kind: 'mean', column: 'delay', unit: 'minutes' }]),
      groups: Array.from({ length: count }, (_, i) => [String(10 + i)]),
    }, { columns: ['delay'] }));
    // A key of two letters is 4 bytes, and its number 8.
    expect(keyed(90).length - keyed(80).length).toBe(120);
    const { answers: [answer] } = decodeReleaseBody(keyed(90));
    expect((answer!.outcome as ValueOutcome).numbers)
      .toEqual([{ kind: 'mean', column: 'delay', unit: 'minutes' }]);
  });
});

describe('a description and the facts', () => {
  const mean: NumberInfo = { kind: 'mean', column: 'delay', unit: 'minutes', least: 0 };
  const of = (stated: object, own: NumberInfo = mean): string | null =>
    contradiction([{ ...mean, ...stated }], [own]);

  it.each([
    [{ unit: 'hours' }, /hours as the unit of number 1, which is minutes/],
    [{ column: 'distance' }, /distance as the column/],
    [{ least: 5 }, /5 as the least/],
    [{ kind: 'median' }, /median as the kind/],
    [{ kind: 'other', place: 1, of: 1, column: 'distance' }, /distance as the column/],
  ])('contradict each other: %o', (stated, why) => {
    expect(of(stated)).toMatch(why);
  });

  it('agree where one of them knows more', () => {
    expect(of({})).toBeNull();
    expect(of({ most: 60, component: 2 })).toBeNull();
    expect(contradiction([{ kind: 'mean', column: 'delay' }], [mean])).toBeNull();
    expect(of({ kind: 'other', place: 1, of: 1 })).toBeNull();
    // This version does not know the estimator: it cannot tell what the number is.
    expect(of({}, { kind: 'other', column: 'distance', place: 1, of: 1 })).toBeNull();
  });
});
