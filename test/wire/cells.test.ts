import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromUtf8, utf8 } from '../../src/base/bytes.js';
import { isColumnType, namesOfType, type ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError, WireError } from '../../src/base/errors.js';
import {
  batchCells, batchRows, cellsPerBatch, decodeBatchBody, encodeBatchBody, encodeCells, textAt,
  textsPerBatch, viewBatchRows, type BatchBody, type BatchCells,
} from '../../src/wire/index.js';
import { checkTexts, readCodes, readTexts } from '../../src/wire/text-cells.js';

const dataType = fc.constantFrom('float32' as const, 'float64' as const);

const typeAlone: fc.Arbitrary<ColumnType> = fc.oneof(
  fc.constantFrom<ColumnType>(
    { type: 'number' }, { type: 'integer' }, { type: 'boolean' }, { type: 'text', bytes: 8 },
  ),
  fc.tuple(fc.constantFrom(1, 2, 3, 255, 256, 257, 1024), fc.boolean()).map(([size, other]) => ({
    type: 'category' as const, of: Array.from({ length: size }, (_, i) => `n${i}`),
    ...(other && { other: true as const }),
  })),
);

const columnType: fc.Arbitrary<ColumnType> = fc.tuple(typeAlone, fc.boolean())
  .map(([type, optional]) => (optional ? { ...type, optional } : type));

/** Texts that values are places in. Two are equal. Their order in UTF-16 is not that in UTF-8. */
const texts = ['b', 'a', 'a', '\u00e9', '\uff5e', '\u{1f600}', 'z z'];

function valueOf(type: ColumnType): fc.Arbitrary<number> {
  const value = presentValueOf(type);
  return type.optional === true
    ? fc.oneof({ weight: 3, arbitrary: value }, fc.constant(Number.NaN)) : value;
}

function presentValueOf(type: ColumnType): fc.Arbitrary<number> {
  switch (type.type) {
    case 'number': return fc.float({ noNaN: true, min: -(2 ** 64), max: 2 ** 64 });
    // Whole numbers up to 2^24 are exact in float32.
    case 'integer': return fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    case 'boolean': return fc.constantFrom(0, 1);
    case 'category': return fc.nat({ max: namesOfType(type)!.length - 1 });
    case 'text': return fc.nat({ max: texts.length - 1 });
  }
}

const table = fc.tuple(fc.array(columnType, { minLength: 1, maxLength: 4 }), fc.nat({ max: 19 }))
  .chain(([types, more]) => fc.record({
    types: fc.constant(types), dataType,
    rows: fc.array(fc.tuple(...types.map(valueOf)), { minLength: 1 + more, maxLength: 1 + more }),
  }));

const bodyOf = (
  values: readonly number[], types: readonly ColumnType[], type: BatchBody['dataType'] = 'float64',
): BatchBody => ({
  studyId: new Uint8Array(32).fill(7), sequence: 1n, epoch: 1n, last: true,
  rows: values.length / types.length, columns: types.length, dataType: type,
  data: new Uint8Array(0), cells: encodeCells(Float64Array.from(values), types, type, texts),
});

/** What rows say: each value, null where there is none, a text as it is. */
function saying(
  values: Float64Array | readonly number[], types: readonly ColumnType[],
  textOf: (place: number, column: number) => string,
): readonly (number | string | null)[] {
  return Array.from(values, (value, i) => {
    const column = i % types.length;
    if (Number.isNaN(value)) return null;
    // Bits have no -0.
    return types[column]!.type === 'text' ? textOf(value, column) : value;
  });
}

function readBack({ values, texts: tables }: BatchCells, types: readonly ColumnType[]) {
  return saying(values, types, (place, column) => fromUtf8(textAt(tables[column]!, place)));
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof WireError) return error.code;
    throw error;
  }
  return 'accepted';
}

/** What can be read is what the encoder writes; anything else is refused. */
function expectOneForm(body: Parameters<typeof batchRows>[0], types: readonly ColumnType[]): void {
  let read: BatchCells;
  try {
    read = batchCells(body, types);
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    return;
  }
  // Each column has its own texts: they are put into one list.
  const all = read.texts.map((table) => (table === null ? []
    : Array.from({ length: table.count }, (_, place) => fromUtf8(textAt(table, place)))));
  const starts = all.map((_, column) => all.slice(0, column).flat().length);
  const values = read.values.map((value, i) => {
    const column = i % types.length;
    return types[column]!.type === 'text' ? value + starts[column]! : value;
  });
  expect(encodeCells(values, types, body.dataType, all.flat())).toEqual(body.cells);
}

describe('cells of typed columns', () => {
  it('read back what was written, through the bytes of a body', () => {
    fc.assert(fc.property(table, ({ types, rows, dataType: type }) => {
      const values = rows.flat();
      const body = decodeBatchBody(encodeBatchBody(bodyOf(values, types, type)));
      const said = saying(values, types, (place) => texts[place]!);
      expect(readBack(batchCells(body, types), types)).toEqual(said);
      expect(readBack(batchCells(body, types, 'accepted'), types)).toEqual(said);
      expect(batchRows(body, types)).toEqual(batchCells(body, types).values);
      expect(viewBatchRows(body, types)).toEqual(batchCells(body, types).values);
    }));
  });

  it('have one form: what can be read is what the encoder writes', () => {
    const bytes = fc.uint8Array({ maxLength: 24 });
    // Small bytes are more often lengths and codes that fit.
    const few = fc.option(fc.array(fc.constantFrom(0, 1, 2, 97, 98), { maxLength: 8 })
      .map((each) => Uint8Array.from(each)), { nil: undefined });
    const loose = fc.record({
      types: fc.array(columnType, { minLength: 1, maxLength: 3 }), dataType,
      rows: fc.integer({ min: 1, max: 3 }),
      bytes: fc.array(fc.tuple(fc.oneof(bytes, few.map((each) => each ?? new Uint8Array(0))),
        fc.oneof(bytes, few.map((each) => each ?? new Uint8Array(0))), few, few),
      { minLength: 1, maxLength: 3 }),
    });
    fc.assert(fc.property(loose, (found) => {
      const { types, rows } = found;
      const body = {
        rows, columns: types.length, dataType: found.dataType, data: new Uint8Array(0),
        cells: found.bytes.map(([numbers, codes, present, dictionary]) => ({
          numbers, codes, ...(present?.length && { present }),
          ...(dictionary?.length && { dictionary }),
        })),
      };
      expectOneForm(body, types);
    }), { numRuns: 2_000 });
  });

  it('have one form even for one flipped bit', () => {
    fc.assert(fc.property(table, fc.nat(), ({ types, rows, dataType: type }, place) => {
      const body = bodyOf(rows.flat(), types, type);
      const none = new Uint8Array(0);
      const all = body.cells!
        .flatMap(({ numbers, codes, present = none, dictionary = none }) =>
          [numbers, codes, present, dictionary])
        .filter(({ length }) => length > 0);
      if (all.length === 0) return;
      const bytes = all[place % all.length]!;
      bytes[(place >> 3) % bytes.length]! ^= 1 << (place & 7);
      expectOneForm(body, types);
    }));
  });

  const category: ColumnType = { type: 'category', of: ['a', 'b', 'c'] };
  const changed = (body: BatchBody, cells: Partial<NonNullable<BatchBody['cells']>[number]>) =>
    ({ ...body, cells: [{ ...body.cells![0]!, ...cells }] });
  const one = (type: ColumnType, ...values: number[]) => bodyOf(values, [type]);
  const doubles = (...values: number[]) => new Uint8Array(Float64Array.from(values).buffer);

  it.each<[string, ColumnType, BatchBody, string]>([
    ['a code past the list', category,
      changed(one(category, 0, 1), { codes: Uint8Array.of(0, 3) }), 'wrong-type'],
    ['a broken integer', { type: 'integer' },
      changed(one({ type: 'integer' }, 1), { numbers: doubles(0.5) }), 'wrong-type'],
    ['an integer past 2^53 - 1', { type: 'integer' },
      changed(one({ type: 'integer' }, 1), { numbers: doubles(2 ** 53) }), 'wrong-type'],
    ['a number past 2^64', { type: 'number' },
      changed(one({ type: 'number' }, 1), { numbers: doubles(-1e20) }), 'wrong-type'],
    ['NaN', { type: 'number' },
      changed(one({ type: 'number' }, 1), { numbers: doubles(Number.NaN) }), 'not-finite'],
    ['an infinite integer', { type: 'integer' },
      changed(one({ type: 'integer' }, 1), { numbers: doubles(Infinity) }), 'not-finite'],
    ['an unused bit', { type: 'boolean' },
      changed(one({ type: 'boolean' }, 1, 0), { codes: Uint8Array.of(0b101) }), 'malformed'],
    ['too few codes', category, changed(one(category, 0, 1), { codes: Uint8Array.of(0) }),
      'malformed'],
    ['numbers for a category', category,
      changed(one(category, 0), { numbers: doubles(1) }), 'malformed'],
    ['codes for a number', { type: 'number' },
      changed(one({ type: 'number' }, 1), { codes: Uint8Array.of(1) }), 'malformed'],
    ['data beside cells', category, { ...one(category, 0), data: doubles(1) }, 'malformed'],
    ['no row', category, { ...one(category, 0), rows: 0 }, 'malformed'],
    ['another number of columns', category, { ...one(category, 0), columns: 2 }, 'wrong-columns'],
    ['another number of cells', category,
      { ...one(category, 0), cells: [] }, 'wrong-columns'],
    ['more values than memory is kept for', { type: 'boolean' },
      { ...one({ type: 'boolean' }, 1), rows: cellsPerBatch + 1 }, 'too-many-rows'],
  ])('refuse %s', (_, type, body, code) => {
    expect(codeOf(() => batchRows(body, [type]))).toBe(code);
  });

  const text: ColumnType = { type: 'text', bytes: 4 };
  const optional: ColumnType = { type: 'number', optional: true };
  const bytesOf = (...words: readonly string[]) => Uint8Array.from(words.flatMap((word) => {
    const bytes = utf8(word);
    return [bytes.length, ...bytes];
  }));
  const textBody = (codes: readonly number[], dictionary: Uint8Array): BatchBody => ({
    ...one(text, 0), rows: codes.length,
    cells: [{ numbers: new Uint8Array(0), codes: Uint8Array.from(codes), dictionary }],
  });

  it.each<[string, ColumnType, BatchBody, string]>([
    ['texts in their form', text, textBody([1, 0, 1], bytesOf('a', 'b')), 'accepted'],
    ['a code past the dictionary', text, textBody([0, 1], bytesOf('a')), 'malformed'],
    ['a text that no row has', text, textBody([0, 0], bytesOf('a', 'b')), 'malformed'],
    ['texts in descending order', text, textBody([0, 1], bytesOf('b', 'a')), 'malformed'],
    ['a text twice', text, textBody([0, 1], bytesOf('a', 'a')), 'malformed'],
    ['a dictionary cut short', text, textBody([0], Uint8Array.of(2, 97)), 'malformed'],
    ['no dictionary', text, textBody([0], new Uint8Array(0)), 'malformed'],
    ['wide codes for few texts', text,
      { ...textBody([0, 0], bytesOf('a')), rows: 1 }, 'malformed'],
    ['a dictionary of a category', category,
      changed(one(category, 0), { dictionary: bytesOf('a') }), 'malformed'],
    ['an empty text', text, textBody([0], bytesOf('')), 'bad-text'],
    ['a text longer than its column takes', text, textBody([0], bytesOf('abcde')), 'bad-text'],
    ['a text that is not in NFC', text, textBody([0], bytesOf('e\u0301')), 'bad-text'],
    ['white space at an end', text, textBody([0], bytesOf('a ')), 'bad-text'],
    ['a control character', text, textBody([0], bytesOf('a\u0007')), 'bad-text'],
    ['bytes that are no UTF-8', text, textBody([0], Uint8Array.of(1, 0xff)), 'bad-text'],
    ['bits of presence in a column that needs a value', { type: 'number' },
      changed(one({ type: 'number' }, 1, 2), { present: Uint8Array.of(0b01), numbers: doubles(1) }),
      'malformed'],
    ['a row without a value', optional,
      changed(one(optional, 1, 2), { present: Uint8Array.of(0b10), numbers: doubles(1) }),
      'accepted'],
    ['bits where every row is present', optional,
      changed(one(optional, 1, 2), { present: Uint8Array.of(0b11) }), 'malformed'],
    ['too many bytes of presence', optional,
      changed(one(optional, 1), { present: Uint8Array.of(0, 0), numbers: new Uint8Array(0) }),
      'malformed'],
    ['an unused bit of presence', optional,
      changed(one(optional, 1), { present: Uint8Array.of(0b10), numbers: new Uint8Array(0) }),
      'malformed'],
    ['a value for a row that has none', optional,
      changed(one(optional, 1), { present: Uint8Array.of(0) }), 'malformed'],
    ['NaN for a row that has a value', optional,
      changed(one(optional, 1), { numbers: doubles(Number.NaN) }), 'not-finite'],
  ])('judge %s', (_, type, body, code) => {
    expect(codeOf(() => batchCells(body, [type]))).toBe(code);
  });

  it('read texts the fast way exactly as the general one', () => {
    // Many letters are ASCII that may stand anywhere in a text; some are not.
    const letter = fc.oneof({ weight: 12, arbitrary: fc.constantFrom(97, 98) },
      fc.constantFrom(0, 0x20, 0x7f, 0xc3, 0xa9, 0xff));
    const text = fc.array(letter, { minLength: 1, maxLength: 4 });
    const rows = 3;
    let read = 0;
    fc.assert(fc.property(
      fc.array(text, { minLength: 1, maxLength: 3 }), fc.boolean(),
      fc.constantFrom('new', 'accepted'),
      fc.array(fc.nat({ max: 2 }), { minLength: rows - 1, maxLength: rows + 1 }),
      (list, isSorted, judge, codes) => {
        const sorted = isSorted ? [...list].sort((a, b) => Buffer.compare(
          Buffer.from(a), Buffer.from(b))) : list;
        const dictionary = Uint8Array.from(sorted.flatMap((bytes) => [bytes.length, ...bytes]));
        const cells = { numbers: new Uint8Array(0), codes: Uint8Array.from(codes), dictionary };
        const type = { type: 'text', bytes: 3 } as const;
        let general: string;
        let values: Float64Array = new Float64Array(0);
        try {
          const table = readTexts(dictionary, type, 0)!;
          if (codes.length !== rows) throw new WireError('malformed', 'another size');
          values = readCodes(cells.codes, rows, table.count);
          checkTexts(values, table, type.bytes, { column: 0, there: null, judge });
          general = `${table.starts.join()} ${table.count}`;
        } catch (error) {
          general = (error as WireError).code;
        }
        let found: string;
        try {
          const { values: all, texts: [table] } = batchCells({
            rows, columns: 1, dataType: 'float64', data: new Uint8Array(0), cells: [cells],
          }, [type], judge);
          expect(all).toEqual(values);
          found = `${table!.starts.join()} ${table!.count}`;
          read += 1;
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
          found = error.code;
        }
        expect(found).toBe(general);
      },
    ), { seed: 7, numRuns: 3_000 });
    expect(read).toBeGreaterThan(50);
  });

  it('name column, row and rule of a bad text, and never the text', () => {
    const body = {
      ...textBody([0, 1, 0], bytesOf('abcd', 'b\u200b')), columns: 2,
      cells: [
        encodeCells(Float64Array.of(1, 2, 3), [{ type: 'number' }], 'float64')[0]!,
        textBody([0, 1, 0], bytesOf('abcd', 'b\u200b')).cells![0]!,
      ],
    };
    const read = () => batchCells(body, [{ type: 'number' }, text]);
    expect(read).toThrow(/^column 1, row 1: the text has a control character, an invisible/);
    expect(read).not.toThrow(/b\u200b/);
  });

  it('do not judge texts again that were accepted', () => {
    const body = textBody([0], bytesOf('a '));
    expect(codeOf(() => batchCells(body, [text], 'accepted'))).toBe('accepted');
  });

  it('take as many texts as a code can say, and no more', () => {
    const words = Array.from({ length: textsPerBatch + 1 }, (_, i) =>
      i.toString(36).padStart(4, '0')).sort();
    const bodyWith = (count: number) => ({
      ...one(text, 0), rows: count, cells: [{
        numbers: new Uint8Array(0),
        codes: new Uint8Array(Uint16Array.from({ length: count }, (_, i) => i).buffer),
        dictionary: utf8(words.slice(0, count).map((word) => `\u0004${word}`).join('')),
      }],
    });
    const { values, texts: [table] } = batchCells(bodyWith(textsPerBatch), [text]);
    expect([values.at(-1), fromUtf8(textAt(table!, 300))]).toEqual([65_534, words[300]]);
    expect(codeOf(() => batchCells(bodyWith(textsPerBatch + 1), [text]))).toBe('malformed');
  });

  it('are only for studies with typed columns', () => {
    const body = one(category, 0);
    expect(codeOf(() => batchRows(body))).toBe('malformed');
    expect(codeOf(() => viewBatchRows({ ...body, data: doubles(1) }))).toBe('malformed');
  });

  it('are checked before they are sent, with the place and without the value', () => {
    const types: readonly ColumnType[] = [{ type: 'integer' }, category];
    const refusal = (values: readonly number[], type: BatchBody['dataType']): unknown => {
      try {
        return bodyOf(values, types, type);
      } catch (error) {
        return error;
      }
    };
    for (const [values, type, place] of [
      [[1, 0, 2.5, 1], 'float64', { row: 1, column: 0 }],
      [[1, 0, 2, 7], 'float64', { row: 1, column: 1 }],
      [[1, 0, 2 ** 24 + 1, 1], 'float32', { row: 1, column: 0 }],
    ] as const) {
      const error = refusal(values, type) as InvalidParameterError;
      expect(error).toBeInstanceOf(InvalidParameterError);
      expect(error.details).toEqual(place);
      expect(error.message).not.toMatch(/2\.5|7|16777217/);
    }
  });

  it('have types that are checked', () => {
    expect(isColumnType({ type: 'category', of: ['a', 'a'] })).toBe(false);
    expect(isColumnType({ type: 'integer', low: 0.5 })).toBe(false);
    expect(isColumnType(category)).toBe(true);
  });
});
