import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concatBytes, utf8 } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import { factsLimits } from '../../src/base/facts-limits.js';
import type { Question } from '../../src/base/questions.js';
import type { Dictionaries } from '../../src/questions/columns.js';
import { KeyTable } from '../../src/questions/key-table.js';
import { KeptKeys, keyBytesMax, keyListOf, keyRanks } from '../../src/questions/keys.js';
import { StudyReduction } from '../../src/questions/reduction.js';
import { rowFilter } from '../../src/questions/where.js';

const types = [
  { type: 'number' },
  { type: 'integer', low: -1, high: 2 },
  { type: 'boolean' },
  { type: 'category', of: ['north', 'south', 'east'], other: true },
  { type: 'text' } as unknown as ColumnType,
] as const satisfies readonly ColumnType[];
const study = { columns: ['minutes', 'stops', 'late', 'region', 'app'], types };
const texts: Dictionaries = [undefined, undefined, undefined, undefined, ['a', 'b', 'c', 'd']];

const textBytes = {
  count: 2, bytes: Uint8Array.of(1, 97, 2, 195, 169), starts: Uint32Array.of(0, 2),
};

const question = (given: Partial<Question> = {}): Question => ({
  name: 'q', estimator: 'count', parameters: {}, columns: ['minutes'], where: [], reduce: 'sum',
  part: 100, ...given,
});

type Row = readonly number[];
const sentOf = (rows: readonly Row[]) =>
  ({ values: Float64Array.from(rows.flat()), rows: rows.length, texts });

/** The rows of one contributor, sent in batches that are cut at random. */
function reduced(
  questions: readonly Question[], rows: readonly Row[], ranks: readonly number[],
  cuts: readonly number[] = [], secret = 7,
): number[][][] {
  const reduction = new StudyReduction(questions, study);
  const contribution = reduction.empty();
  const ends = [...cuts.map((cut) => cut % (rows.length + 1)), rows.length].sort((a, b) => a - b);
  let from = 0;
  for (const end of ends) {
    reduction.add(
      contribution,
      { ...sentOf(rows.slice(from, end)), ranks: Float64Array.from(ranks.slice(from, end)) },
      { keySecret: () => new Uint8Array(32).fill(secret) },
    );
    from = end;
  }
  return reduction.rowsOf(contribution).map((own) => own.map((row) => [...row]));
}

// Sixteenths of whole numbers: sums of them are exact in any order.
const cell = fc.oneof(fc.integer({ min: -1_000, max: 1_000 }).map((n) => n / 16), fc.constant(NaN));
const place = (values: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: values - 1 }) }, fc.constant(NaN));
const row = fc.tuple(cell, fc.integer({ min: -3, max: 4 }), place(2), place(4), place(4));
const ranked = fc.array(fc.tuple(row, fc.double({ min: 0, max: 1, noNaN: true })), {
  minLength: 1, maxLength: 40,
});
const questions: readonly Question[] = [
  question(),
  question({ reduce: 'mean', where: [{ column: 'late', is: true }] }),
  question({ reduce: 'one', columns: ['stops', 'minutes'] }),
  question({ by: { columns: ['region'], groupsMax: 2 }, columns: [] }),
  question({ by: { columns: ['region', 'stops'], groupsMax: 3 }, reduce: 'mean' }),
  question({
    by: { columns: ['app'], groupsMax: 1, groups: [['d'], ['a'], ['c']] }, reduce: 'one',
    where: [{ column: 'minutes', atLeast: 0 }],
  }),
];

describe('the rows that an estimator sees', () => {
  it('are the same under any cut into batches, and in any order', () => {
    fc.assert(fc.property(
      ranked, fc.array(fc.nat()), fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
      (given, cuts, order) => {
        // Two rows of one rank would be a choice by order; ranks are distinct but for 2^-53.
        const distinct = [...new Map(given.map((entry) => [entry[1], entry])).values()];
        const shuffled = distinct.map((entry, i) => [order[i]!, entry] as const)
          .sort(([left], [right]) => left - right).map(([, entry]) => entry);
        const of = (entries: typeof distinct, at: readonly number[]): number[][][] =>
          reduced(questions, entries.map(([own]) => own), entries.map(([, rank]) => rank), at);
        const whole = of(distinct, []);
        expect(of(distinct, cuts)).toEqual(whole);
        expect(of(shuffled, cuts)).toEqual(whole);
      },
    ));
  });

  it('are the same to the last bit, whether a batch is added whole or row after row', () => {
    const number = fc.oneof(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.constant(NaN));
    const plain = question({ columns: ['minutes', 'stops'], reduce: 'mean' });
    const tested = { ...plain, where: [{ column: 'region', is: 'north' }] };
    fc.assert(fc.property(fc.array(fc.tuple(number, number)), fc.array(fc.nat()), (given, cuts) => {
      const rows = given.map(([minutes, stops]) => [minutes, stops, 0, 0, 0]);
      const of = (asked: Question): number[][][] => reduced([asked], rows, [], cuts);
      expect(of(plain)).toEqual(of(tested));
    }));
  });

  it('are at most one, or one for each of at most groupsMax different keys', () => {
    fc.assert(fc.property(ranked, (given) => {
      const found = reduced(questions, given.map(([own]) => own), given.map(([, rank]) => rank));
      found.forEach((rows, i) => {
        const { by, columns } = questions[i]!;
        expect(rows.length).toBeLessThanOrEqual(by?.groupsMax ?? 1);
        if (by === undefined) return;
        expect(new Set(rows.map(([key]) => key)).size).toBe(rows.length);
        for (const own of rows) expect(own.length).toBe(1 + columns.length);
      });
    }));
  });

  it('leave keys out of a contributor exactly where it has more than groupsMax', () => {
    const split = questions.filter(({ by }) => by !== undefined);
    const wide = split.map((each) => ({ ...each, by: { ...each.by!, groupsMax: 64 } }));
    const of = (asked: readonly Question[], given: readonly (readonly [Row, number])[]) => {
      const reduction = new StudyReduction(asked, study);
      const contribution = reduction.empty();
      for (const [own, rank] of given) {
        reduction.add(contribution, { ...sentOf([own]), ranks: Float64Array.of(rank) }, {
          keySecret: () => new Uint8Array(32).fill(7),
        });
      }
      return { cuts: reduction.cutsOf(contribution), rows: reduction.rowsOf(contribution) };
    };
    fc.assert(fc.property(ranked, (given) => {
      const all = of(wide, given);
      expect(of(split, given).cuts)
        .toEqual(all.rows.map((rows, i) => rows.length > split[i]!.by!.groupsMax));
      expect(all.cuts).toEqual(split.map(() => false));
    }));
  });

  it('come from the rows that pass: tests look at rows, not at what they add up to', () => {
    const rows = [[5, 0, 0, 0, 0], [7, 0, 1, 0, 0], [9, 0, 1, 0, 0]];
    const late = question({ where: [{ column: 'late', is: true }], reduce: 'mean' });
    // After a reduction the column late would be 2/3, and no row would pass.
    expect(reduced([late], rows, [0, 0, 0])).toEqual([[[8]]]);
    const long = question({ where: [{ column: 'minutes', atLeast: 8 }] });
    // The sum, 21, would pass too.
    expect(reduced([long], rows, [0, 0, 0])).toEqual([[[9]]]);
    const none = question({ where: [{ column: 'minutes', below: 0 }] });
    expect(reduced([none], rows, [0, 0, 0])).toEqual([[]]);
  });

  it('leave out rows without a value in a column that the question uses', () => {
    const rows = [[NaN, 0, 1, 0, NaN], [4, 0, 1, NaN, 1]];
    expect(reduced([
      question({ reduce: 'mean' }),
      question({ columns: [] }),
      question({ columns: [], by: { columns: ['region'], groupsMax: 4 } }),
      question({ by: { columns: ['region'], groupsMax: 4 } }),
    ], rows, [0, 0])).toEqual([[[4]], [[0]], [[0]], []]);
  });

  it('are taken in full, up to the largest number that a row holds', () => {
    const { valueMax } = factsLimits;
    const far = [valueMax, 0, 0, 0, 0];
    expect(reduced([question()], [far, far], [0, 0])).toEqual([[[2 * valueMax]]]);
    const late = [1_751_328_000_123, 0, 0, 0, 0];
    expect(reduced([question({ reduce: 'one' })], [late], [0])).toEqual([[[1_751_328_000_123]]]);
  });
});

describe('where', () => {
  const passes = (test: Question['where'][number], of: Row): boolean =>
    rowFilter([test], study)(sentOf([of]), 0);
  const here = [3, 1, 1, 2, 1];
  const absent = [NaN, NaN, NaN, NaN, NaN];

  it.each([
    [{ column: 'minutes', is: 3 }, true], [{ column: 'minutes', not: 3 }, false],
    [{ column: 'stops', in: [0, 1] }, true], [{ column: 'late', is: false }, false],
    [{ column: 'region', is: 'east' }, true], [{ column: 'region', not: 'other' }, true],
    [{ column: 'region', in: ['north', 'south'] }, false], [{ column: 'app', is: 'b' }, true],
    [{ column: 'app', not: 'b' }, false], [{ column: 'app', in: ['x', 'b'] }, true],
    [{ column: 'minutes', atLeast: 3 }, true], [{ column: 'minutes', below: 3 }, false],
    [{ column: 'app', present: true }, true], [{ column: 'app', present: false }, false],
  ] as const)('%j gives %s', (test, expected) => {
    expect(passes(test, here)).toBe(expected);
    const isAbsence = 'present' in test && !test.present;
    expect(passes(test, absent)).toBe(isAbsence);
  });

  it('reads texts that are strings, or bytes as they came over the wire', () => {
    const of = (value: string, code: number): boolean => rowFilter(
      [{ column: 'app', is: value }], study,
    )({ ...sentOf([[0, 0, 0, 0, code]]), texts: [null, null, null, null, textBytes] }, 0);
    expect([of('a', 0), of('\u00e9', 1), of('a', 1), of('a', NaN)])
      .toEqual([true, true, false, false]);
  });

  it('refuses columns that are not there, and values of another type', () => {
    for (const test of [
      { column: 'speed', is: 1 }, { column: 'region', is: 'west' }, { column: 'late', is: 1 },
      { column: 'minutes', is: 'north' }, { column: 'region', atLeast: 1 },
      { column: 'app', below: 1 },
    ] as const) {
      expect(() => rowFilter([test], study)).toThrow(/column|value/);
    }
  });
});

describe('public keys', () => {
  it('are all combinations of the values that a column can have', () => {
    const list = keyListOf({ columns: ['region', 'stops', 'late'], groupsMax: 1 }, study);
    expect(list.names.length).toBe(4 * 5 * 2);
    const keyOf = (stops: number): readonly string[] =>
      list.names[list.placeOf(sentOf([[0, stops, 1, 3, 0]]), 0)]!;
    expect(keyOf(1)).toEqual(['other', '1', 'true']);
    expect(list.names[0]).toEqual(['north', '-1', 'false']);
    // Beyond the public range of the integer on both sides, and an absent cell.
    for (const beyond of [3, 1e15, -2, -1e15]) {
      expect(keyOf(beyond)).toEqual(['other', 'other', 'true']);
    }
    expect(list.placeOf(sentOf([[0, 1, 1, NaN, 0]]), 0)).toBe(-1);
  });

  it('are those of a list; a key that is not in it does not count', () => {
    const list = keyListOf({
      columns: ['app', 'late'], groupsMax: 1, groups: [['b', 'true'], ['a', 'false']],
    }, study);
    expect(list.placeOf(sentOf([[0, 0, 1, 0, 1]]), 0)).toBe(0);
    expect(list.placeOf(sentOf([[0, 0, 0, 0, 0]]), 0)).toBe(1);
    expect(list.placeOf(sentOf([[0, 0, 1, 0, 0]]), 0)).toBe(-1);
  });

  it('refuses columns without public values, and too many keys', () => {
    const of = (columns: readonly string[]) => () => keyListOf({ columns, groupsMax: 1 }, study);
    expect(of(['minutes'])).toThrow(/no public list of values/);
    expect(of(['app'])).toThrow(/give discover, or a list/);
    const wide = { columns: ['n', 'm'], types: [
      { type: 'integer', low: 0, high: 1_023 }, { type: 'integer', low: 0, high: 4 },
    ] as const };
    expect(() => keyListOf({ columns: ['n', 'm'], groupsMax: 1 }, wide)).toThrow(/6150 combinations/);
  });
});

describe('keys that nobody listed', () => {
  it('count as they would in a public list of all keys, whatever the cut and the order', () => {
    const by = { columns: ['region', 'app', 'stops'], groupsMax: 3 };
    const all = ['north', 'south', 'east', 'other'].flatMap((region) =>
      ['a', 'b', 'c', 'd'].flatMap((app) =>
        ['-1', '0', '1', '2', 'other'].map((stops) => [region, app, stops])));
    const own = { reduce: 'one', columns: ['minutes'] } as const;
    const asked = [
      question({ ...own, by: { ...by, groups: all } }),
      question({ ...own, by: { ...by, discover: { top: 5, prefilter: 1 } } }),
    ];
    fc.assert(fc.property(ranked, fc.nat({ max: 40 }), (given, cut) => {
      const reduction = new StudyReduction(asked, study);
      const contribution = reduction.empty();
      const table = new KeyTable({ secret: new Uint8Array(16), bytesMax: 2 ** 20 });
      for (const part of [given.slice(0, cut), given.slice(cut)]) {
        const ranks = Float64Array.from(part, ([, rank]) => rank);
        reduction.add(contribution, { ...sentOf(part.map(([cells]) => cells)), ranks }, {
          keySecret: () => new Uint8Array(32).fill(3),
        });
      }
      const [listed, found] = reduction.rowsOf(contribution, [null, table]);
      const named = (rows: readonly Float64Array[], nameOf: (at: number) => readonly string[]) =>
        rows.map(([at, value]) => `${nameOf(at!).join()} ${value}`).sort();
      expect(named(found!, (at) => table.partsOf(at))).toEqual(named(listed!, (at) => all[at]!));
      // No other key came into the table.
      expect(table.size).toBe(found!.length);
    }));
  });

  it('have the number of their contributor\'s keys where the answer is keys alone', () => {
    const by = {
      columns: ['app'], groupsMax: 2, discover: { top: 5, prefilter: 1, answer: 'groups' as const },
    };
    const reduction =
      new StudyReduction([question({ reduce: 'one', columns: [], by })], study);
    const rowsOf = (...apps: readonly number[]): number[][] => {
      const table = new KeyTable({ secret: new Uint8Array(16), bytesMax: 2 ** 20 });
      const contribution = reduction.empty();
      const rows = sentOf(apps.map((app) => [0, 0, 0, 0, app]));
      reduction.add(contribution, { ...rows, ranks: null }, {
        keySecret: () => new Uint8Array(32).fill(3),
      });
      const [found] = reduction.rowsOf(contribution, [table]);
      return found!.map((row) => Array.from(row));
    };
    expect(reduction.questions[0]!.dimension).toBe(2);
    expect(rowsOf(1, 1, 1)).toEqual([[0, 1]]);
    expect(rowsOf(1, 2, 1)).toEqual([[0, 2], [1, 2]]);
    // Two of four keys count, so the contributor has two.
    expect(rowsOf(0, 1, 2, 3)).toEqual([[0, 2], [1, 2]]);
    expect(rowsOf(NaN)).toEqual([]);
  });

  it('are the same from the bytes of a batch as from strings', () => {
    const bytes = {
      count: 4, bytes: Uint8Array.of(1, 97, 1, 98, 1, 99, 1, 100),
      starts: Uint32Array.of(0, 2, 4, 6),
    };
    const found = { columns: ['app'], discover: { top: 5, prefilter: 1 } };
    const asked = [
      question({ by: { ...found, groupsMax: 1 } }),
      question({ by: { ...found, groupsMax: 2 }, reduce: 'one' }),
      question({ by: { ...found, groupsMax: 2 }, columns: [] }),
      question({ by: { columns: ['app'], groupsMax: 1, groups: [['d'], ['a'], ['c']] } }),
    ];
    const [cuts, secrets] = [fc.nat({ max: 40 }), fc.nat({ max: 99 })];
    fc.assert(fc.property(ranked, cuts, secrets, (given, cut, secret) => {
      const rowsOf = (dictionaries: Dictionaries): readonly string[][] => {
        const reduction = new StudyReduction(asked, study);
        const contribution = reduction.empty();
        for (const part of [given.slice(0, cut), given.slice(cut)]) {
          const sent = sentOf(part.map(([cells]) => cells));
          const ranks = Float64Array.from(part, ([, rank]) => rank);
          reduction.add(contribution, { ...sent, texts: dictionaries, ranks }, {
            keySecret: () => new Uint8Array(32).fill(secret),
          });
        }
        const table = new KeyTable({ secret: new Uint8Array(16), bytesMax: 2 ** 20 });
        const rows = reduction.rowsOf(contribution, [table, table, table, null]);
        return rows.map((own, i) => own.map(([at, ...values]) =>
          `${i < 3 ? table.partsOf(at!).join() : at} ${values.join()}`));
      };
      expect(rowsOf([undefined, undefined, undefined, undefined, bytes])).toEqual(rowsOf(texts));
    }));
  });

  it('need texts or columns with public values, and have a most number of bytes', () => {
    const discover = { top: 5, prefilter: 1 };
    const of = (columns: readonly string[]) =>
      keyBytesMax({ columns, groupsMax: 1, discover }, { ...study, types: [
        ...types.slice(0, 4), { type: 'text', bytes: 9 },
      ] });
    expect(of(['region', 'late', 'stops', 'app'])).toBe(1 + 5 + 1 + 5 + 1 + 5 + 1 + 9);
    expect(() => of(['minutes'])).toThrow(/no public list of values/);
  });
});

describe('the choice of keys', () => {
  it('keeps those with the smallest ranks, and all that their rows gave', () => {
    fc.assert(fc.property(
      fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.nat({ max: 6 }), { minLength: 13, maxLength: 13 }),
      (places, groupsMax, ranks) => {
        const kept = new KeptKeys<{ rows: number }>(groupsMax);
        for (const at of places) {
          const held = kept.at(at, (other) => ranks[other]!, () => ({ rows: 0 }));
          if (held !== undefined) held.rows += 1;
        }
        const expected = [...new Set(places)]
          .sort((left, right) => ranks[left]! - ranks[right]! || left - right).slice(0, groupsMax)
          .map((at) => [at, { rows: places.filter((other) => other === at).length }]);
        expect(new Map(kept.entries())).toEqual(new Map(expected as [number, { rows: number }][]));
      },
    ));
  });

  it('ranks the bytes of a text as the text', () => {
    const anyText = fc.string({ unit: 'binary', minLength: 1, maxLength: 63 });
    fc.assert(fc.property(fc.array(anyText, { minLength: 1 }), fc.nat(), (all, secret) => {
      const ranks = keyRanks(Uint8Array.of(...utf8(`secret ${secret}`.padEnd(16))), ['app']);
      const parts = all.map(utf8);
      const bytes = concatBytes(...parts.flatMap((part) => [Uint8Array.of(part.length), part]));
      const starts = new Uint32Array(all.length);
      for (let i = 1; i < all.length; i++) starts[i] = starts[i - 1]! + 1 + parts[i - 1]!.length;
      const table = { count: all.length, bytes, starts };
      expect(all.map((_, place) => ranks.ofText(table, place)))
        .toEqual(all.map((text) => ranks.of([text])));
    }));
  });

  it('is even, differs between contributors, and is the same for the same columns', () => {
    const by = { columns: ['region'], groupsMax: 1 };
    const rows = [[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 2, 0], [0, 0, 0, 3, 0]];
    const chosen = Array.from({ length: 1_000 }, (_, i) => {
      const ranks = keyRanks(new Uint8Array(32).fill(i & 255).fill(i >> 8, 16), ['region']);
      return ['north', 'south', 'east', 'other'].map((name) => ranks.of([name]))
        .reduce((best, rank, at, all) => (rank < all[best]! ? at : best), 0);
    });
    for (const at of [0, 1, 2, 3]) {
      const share = chosen.filter((one) => one === at).length / chosen.length;
      // Six standard deviations of a fair choice.
      expect(Math.abs(share - 0.25)).toBeLessThan(6 * Math.sqrt(0.1875 / 1_000));
    }
    const [counts, sums] = reduced([
      question({ by, columns: [] }), question({ by, columns: ['minutes'] }),
    ], rows, [0, 0, 0, 0]);
    expect(counts![0]![0]).toBe(sums![0]![0]);
    const keys = new Set(Array.from({ length: 20 }, (_, secret) =>
      reduced([question({ by, columns: [] })], rows, [0, 0, 0, 0], [], secret)[0]![0]![0]));
    expect(keys.size).toBeGreaterThan(1);
  });

  it('depends on the contributor\'s own rows alone, not on which came first', () => {
    const by = { columns: ['region'], groupsMax: 1 };
    const of = (regions: readonly number[]): number =>
      reduced([question({ by, columns: [] })], regions.map((at) => [0, 0, 0, at, 0]),
        regions.map(() => 0))[0]![0]![0]!;
    expect(new Set([of([0, 1, 2, 3]), of([3, 2, 1, 0]), of([1, 3, 0, 2])]).size).toBe(1);
  });
});

it('refuses a question about a column that is not there', () => {
  expect(() => new StudyReduction([question({ columns: ['speed'] })], study))
    .toThrow(/no column speed/);
});
