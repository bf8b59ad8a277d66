import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidParameterError, WireError } from '../../src/base/errors.js';
import {
  batchRows, decodeBatchBody, decodeClientFrame, encodeBatchBody, encodeClientFrame, encodeRows,
  firstUnusable, viewBatchRows, type SignedBatch,
} from '../../src/wire/index.js';
import { readNumbers, writeNumbers } from '../../src/wire/numbers.js';

const usable = { noNaN: true, min: -(2 ** 64), max: 2 ** 64, minLength: 1, maxLength: 40 } as const;
const finite = fc.float64Array(usable);

describe('rows', () => {
  it('reads float64 back bit by bit, from any offset', () => {
    fc.assert(fc.property(finite, fc.nat({ max: 9 }), (values, offset) => {
      const encoded = encodeRows(values, 'float64');
      const slab = new Uint8Array(encoded.length + 20);
      slab.set(encoded, offset);
      const data = slab.subarray(offset, offset + encoded.length);
      const rows = batchRows({ rows: values.length, columns: 1, dataType: 'float64', data });
      expect(rows).toEqual(values);
      expect(rows.buffer.byteLength).toBe(8 * values.length);
    }));
  });

  it('views the numbers of a received batch where they are, at any length of the fields before '
    + 'them', () => {
    const uint64 = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
    fc.assert(fc.property(finite, uint64, fc.nat(), (values, sequence, channel) => {
      const body = encodeBatchBody({
        studyId: new Uint8Array(32).fill(3), sequence, epoch: sequence, last: channel % 2 === 0,
        rows: values.length, columns: 1, dataType: 'float64', data: encodeRows(values, 'float64'),
      });
      const frame =
        encodeClientFrame({ kind: 'batch', channel, body, signature: new Uint8Array(64) });
      const received = (decodeClientFrame(frame) as SignedBatch).body;
      const rows = viewBatchRows(decodeBatchBody(received));
      expect(rows).toEqual(values);
      expect(rows.buffer).toBe(received.buffer);
    }));
  });

  it('copies what cannot be viewed: other offsets, and float32', () => {
    fc.assert(fc.property(finite, fc.nat({ max: 9 }), (values, offset) => {
      const slab = new Uint8Array(8 * values.length + 20);
      slab.set(encodeRows(values, 'float64'), offset);
      const data = slab.subarray(offset, offset + 8 * values.length);
      expect(viewBatchRows({ rows: values.length, columns: 1, dataType: 'float64', data }))
        .toEqual(values);
    }));
    const data = encodeRows(Float64Array.of(1.5, -2), 'float32');
    expect(viewBatchRows({ rows: 2, columns: 1, dataType: 'float32', data }))
      .toEqual(Float64Array.of(1.5, -2));
  });

  it('widens float32 exactly', () => {
    const singles = fc.float32Array(usable);
    fc.assert(fc.property(singles, (narrow) => {
      const values = Float64Array.from(narrow);
      const data = encodeRows(values, 'float32');
      expect(data.length).toBe(4 * values.length);
      expect(batchRows({ rows: 1, columns: values.length, dataType: 'float32', data }))
        .toEqual(values);
    }));
  });

  it('is little-endian whatever the machine', () => {
    expect(encodeRows(Float64Array.of(1), 'float64'))
      .toEqual(Uint8Array.of(0, 0, 0, 0, 0, 0, 0xf0, 0x3f));
    expect(encodeRows(Float64Array.of(1), 'float32')).toEqual(Uint8Array.of(0, 0, 0x80, 0x3f));
    fc.assert(fc.property(
      finite, fc.constantFrom('float32' as const, 'float64' as const), (values, dataType) => {
        const bytes = writeNumbers(values, dataType, true);
        expect(writeNumbers(values, dataType, false)).toEqual(bytes);
        expect(readNumbers(bytes, dataType, false)).toEqual(readNumbers(bytes, dataType, true));
      },
    ));
  });

  it('encodes a window of a larger array', () => {
    const values = Float64Array.of(1, 2, 3, 4).subarray(1, 3);
    expect(encodeRows(values, 'float64').length).toBe(16);
  });

  it.each([
    [2, 2, 24], [2, 2, 40], [0, 2, 0], [2, 0, 0], [2 ** 32 - 1, 2 ** 32 - 1, 8],
    [2 ** 31, 2 ** 30, 0], [1, 1, 7],
  ])('refuses %d rows of %d columns in %d bytes', (rows, columns, length) => {
    const data = new Uint8Array(length);
    expect(() => batchRows({ rows, columns, dataType: 'float64', data })).toThrow(WireError);
    expect(() => viewBatchRows({ rows, columns, dataType: 'float64', data })).toThrow(WireError);
  });

  it('finds the first value that no row holds', () => {
    expect(firstUnusable(Float64Array.of(0, -0, 2 ** 64, -(2 ** 64), -1e-320))).toBe(-1);
    expect(firstUnusable(Float64Array.of(0, 2 ** 64 + 4096))).toBe(1);
    expect(firstUnusable(Float64Array.of(-1e300, 0))).toBe(0);
    expect(firstUnusable(Float64Array.of(1, NaN, Infinity))).toBe(1);
    expect(firstUnusable(Float64Array.of(1, 2, -Infinity))).toBe(2);
    expect(firstUnusable(new Float64Array(0))).toBe(-1);
  });

  it('refuses to encode what no server takes, by position', () => {
    for (const [values, type, index] of [
      [[1, NaN], 'float64', 1],
      [[Infinity], 'float64', 0],
      [[1, 2, 1e39], 'float32', 2],
      [[2 ** 64, 1e20], 'float32', 1],
      [[-1e20], 'float64', 0],
    ] as const) {
      expect(() => encodeRows(Float64Array.from(values), type)).toThrow(InvalidParameterError);
      try {
        encodeRows(Float64Array.from(values), type);
      } catch (error) {
        expect((error as InvalidParameterError).details['index']).toBe(index);
      }
    }
  });
});
