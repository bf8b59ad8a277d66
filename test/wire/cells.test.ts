import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isColumnType, namesOfType, type ColumnType } from '../../src/base/columns.js';
import { InvalidParameterError, WireError } from '../../src/base/errors.js';
import {
  batchRows, cellsPerBatch, decodeBatchBody, encodeBatchBody, encodeCells, viewBatchRows,
  type BatchBody,
} from '../../src/wire/index.js';

const dataType = fc.constantFrom('float32' as const, 'float64' as const);

const columnType: fc.Arbitrary<ColumnType> = fc.oneof(
  fc.constantFrom<ColumnType>({ type: 'number' }, { type: 'integer' }, { type: 'boolean' }),
  fc.tuple(fc.constantFrom(1, 2, 3, 255, 256, 257, 1024), fc.boolean()).map(([size, other]) => ({
    type: 'category' as const, of: Array.from({ length: size }, (_, i) => `n${i}`),
    ...(other && { other: true as const }),
  })),
);

function valueOf(type: ColumnType): fc.Arbitrary<number> {
  switch (type.type) {
    case 'number': return fc.float({ noNaN: true, noDefaultInfinity: true });
    // Whole numbers up to 2^24 are exact in float32.
    case 'integer': return fc.integer({ min: -(2 ** 24), max: 2 ** 24 });
    case 'boolean': return fc.constantFrom(0, 1);
    case 'category': return fc.nat({ max: namesOfType(type)!.length - 1 });
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
  data: new Uint8Array(0), cells: encodeCells(Float64Array.from(values), types, type),
});

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
  let values: Float64Array;
  try {
    values = batchRows(body, types);
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    return;
  }
  expect(encodeCells(values, types, body.dataType)).toEqual(body.cells);
}

describe('cells of typed columns', () => {
  it('read back what was written, through the bytes of a body', () => {
    fc.assert(fc.property(table, ({ types, rows, dataType: type }) => {
      const values = rows.flat();
      const body = decodeBatchBody(encodeBatchBody(bodyOf(values, types, type)));
      expect(batchRows(body, types)).toEqual(Float64Array.from(values));
      expect(viewBatchRows(body, types)).toEqual(Float64Array.from(values));
    }));
  });

  it('have one form: what can be read is what the encoder writes', () => {
    const bytes = fc.uint8Array({ maxLength: 24 });
    const loose = fc.record({
      types: fc.array(columnType, { minLength: 1, maxLength: 3 }), dataType,
      rows: fc.integer({ min: 1, max: 3 }),
      bytes: fc.array(fc.tuple(bytes, bytes), { minLength: 1, maxLength: 3 }),
    });
    fc.assert(fc.property(loose, (found) => {
      const { types, rows } = found;
      const body = {
        rows, columns: types.length, dataType: found.dataType, data: new Uint8Array(0),
        cells: found.bytes.map(([numbers, codes]) => ({ numbers, codes })),
      };
      expectOneForm(body, types);
    }), { numRuns: 2_000 });
  });

  it('have one form even for one flipped bit', () => {
    fc.assert(fc.property(table, fc.nat(), ({ types, rows, dataType: type }, place) => {
      const body = bodyOf(rows.flat(), types, type);
      const all = body.cells!.flatMap(({ numbers, codes }) => [numbers, codes])
        .filter(({ length }) => length > 0);
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
    ['another number of columns', category, { ...one(category, 0), columns: 2 }, 'wrong-dimension'],
    ['another number of cells', category,
      { ...one(category, 0), cells: [] }, 'wrong-dimension'],
    ['more values than memory is kept for', { type: 'boolean' },
      { ...one({ type: 'boolean' }, 1), rows: cellsPerBatch + 1 }, 'too-many-rows'],
  ])('refuse %s', (_, type, body, code) => {
    expect(codeOf(() => batchRows(body, [type]))).toBe(code);
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
