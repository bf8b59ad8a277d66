import { describe, expect, it } from 'vitest';
import { readNdjson } from '../../cli/input/ndjson.js';
import type { RowOptions } from '../../cli/input/rows.js';
import { utf8 } from '../../src/base/bytes.js';
import { dataSource, type DataSource } from '../support/data.js';
import { lineOptions, rowsRead } from '../support/rows-read.js';

const read = (text: string, options: RowOptions, chunk: number): Promise<unknown> =>
  rowsRead(readNdjson, utf8(text), options, chunk);

const digits = (data: DataSource, most: number): string =>
  Array.from({ length: 1 + data.below(most) }, () => String(data.below(10))).join('');

const plain = (data: DataSource): string => {
  const sign = data.below(3) === 0 ? '-' : '';
  const whole = String(Number(digits(data, 11)));
  return data.below(2) === 0 ? sign + whole : `${sign}${whole}.${digits(data, 8)}`;
};

const odd = [
  'null', 'true', '"5"', '""', '-0', '0.0', '1e3', '-1.5E-3', '1e400', '0.1234567890123456',
  '123456789012345', '1234567890123456', '9007199254740993', '012', '-012', '.5', '5.', '-', '+3',
  '0.30000000000000004', '1.7976931348623157e308', '1.0', '{}', '[1]', '{"a":1}', ' 7 ', '7\t',
  '', 'NaN', '00', '-.5', '1.e3', 'nul', '1 2', '0x1', '"a', '1.2.3',
];

const ids = [
  '"p1"', '"p2"', '"x y"', '17', '-4', '""', '" a "', '"é"', '"\\u0061"', '"a\\"b"', 'null',
  'true', '9007199254740993', '9007199254740992', '017', '1e2', '-0', '"a,b"', '"\\n"', '"a\tb"',
  '1.50', '{"a":1}', '"]"', '"}"',
];

const shapes = [
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"b":${b}}`,
  (id: string, a: string, b: string) => `{"id": ${id}, "a": ${a}, "b": ${b}}`,
  (id: string, a: string, b: string) => ` { "id" :${id} ,"a":${a},"b":${b} } `,
];
const oddShapes = [
  (id: string, a: string, b: string) => `{"a":${a},"id":${id},"b":${b}}`,
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"b":${b},"c":1}`,
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"a":${b}}`,
  (id: string, a: string) => `{"id":${id},"a":${a}}`,
  (id: string, a: string, b: string) => `[${id},${a},${b}]`,
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"b":${b}`,
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"b":${b}}}`,
  (id: string, a: string, b: string) => `{"id":${id},"a":${a},"b":${b}} 1`,
  () => '', () => '  ',
];

function lines(data: DataSource, isOdd: boolean): readonly string[] {
  const shape = shapes[data.below(shapes.length)]!;
  return Array.from({ length: 1 + data.below(60) }, (_, row) => {
    const chance = isOdd && row > 0 ? data.below(30) : -1;
    const cells: [string, string, string] = [ids[data.below(5)]!, plain(data), plain(data)];
    if (chance === 0) cells[1 + data.below(2)] = odd[data.below(odd.length)]!;
    if (chance === 1) cells[0] = ids[data.below(ids.length)]!;
    const of = chance === 2 ? oddShapes[data.below(oddShapes.length)]! : shape;
    return of(...cells);
  });
}

describe('NDJSON that is read from its bytes', () => {
  // An escape in a key of the first line leaves all lines to JSON.parse, which is the oracle.
  it('gives what JSON.parse gives', async () => {
    const data = dataSource('ndjson lines');
    let refused = 0;
    for (let i = 0; i < 1500; i++) {
      const text = lines(data, i % 4 !== 0).join(data.below(2) === 0 ? '\n' : '\r\n')
        + '\n'.repeat(data.below(3));
      const of = lineOptions[data.below(lineOptions.length)]!;
      const found = await read(text, of, 1 + data.below(i % 2 === 0 ? 40 : 4000));
      expect(found, text)
        .toEqual(await read(text.replace('"id"', String.raw`"i\u0064"`), of, 1 << 20));
      refused += Number('message' in (found as object));
    }
    expect(refused).toBeGreaterThan(200);
    expect(refused).toBeLessThan(1200);
  });

  it('gives what JSON.parse gives for lines of arrays', async () => {
    const data = dataSource('ndjson arrays');
    for (let i = 0; i < 500; i++) {
      const rows = Array.from({ length: 1 + data.below(30) }, (_, row) => {
        const a = row > 0 && data.below(20) === 0 ? odd[data.below(odd.length)]! : plain(data);
        return `[${a},"p${data.below(3)}",${plain(data)}]`;
      });
      const of = { source: 'f', missing: 'null', columns: ['0'], group: '1' } as const;
      const found = await read(rows.join('\n'), of, 1 + data.below(100));
      // An escape in a text of the first line does the same.
      const oracle = rows.map((row, at) => (at === 0 ? row.replace('"p', String.raw`"\u0070`) : row));
      expect(found, rows.join('\n')).toEqual(await read(oracle.join('\n'), of, 1 << 20));
    }
  });
});
