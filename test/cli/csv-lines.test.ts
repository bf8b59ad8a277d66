import { describe, expect, it } from 'vitest';
import { readCsv } from '../../cli/input/csv.js';
import type { RowOptions } from '../../cli/input/rows.js';
import { utf8 } from '../../src/base/bytes.js';
import { dataSource, type DataSource } from '../support/data.js';
import { lineOptions, rowsRead } from '../support/rows-read.js';

const read = (bytes: Uint8Array, options: RowOptions, chunk: number): Promise<unknown> =>
  rowsRead(readCsv, bytes, options, chunk);

const digits = (data: DataSource, most: number): string =>
  Array.from({ length: 1 + data.below(most) }, () => String(data.below(10))).join('');

const plain = (data: DataSource): string => {
  const sign = data.below(3) === 0 ? '-' : '';
  const whole = digits(data, 12);
  return data.below(2) === 0 ? sign + whole : `${sign}${whole}.${digits(data, 8)}`;
};

const odd = [
  '', ' 5', '7 ', '+3', '.5', '-.5', '5.', '-5.', '-', '.', '-.', '-0', '0.0', '1e3', '-1.5E-3',
  '1e400', '0.1234567890123456', '123456789012345', '1234567890123456', '9007199254740993',
  '00000000000000012', '0.30000000000000004', '1.7976931348623157e308', 'NaN', 'x', '1;2',
  '1 000', 'é', '1\t', '12x',
];

const oddIds = ['', ' a ', 'é', 'a\rb', '\u212b', 'x"y', '"x,y"', '"a\nb"'];

/** A body of a CSV file with three columns, most of it plain. */
function body(data: DataSource, isOdd: boolean): string {
  const ending = data.below(2) === 0 ? '\n' : '\r\n';
  const rows = 1 + data.below(60);
  let text = '';
  for (let row = 0; row < rows; row++) {
    const cells = [`p${data.below(20)}`, plain(data), plain(data)];
    const chance = isOdd ? data.below(40) : -1;
    if (chance === 0) cells[1 + data.below(2)] = odd[data.below(odd.length)]!;
    if (chance === 1) cells[0] = oddIds[data.below(oddIds.length)]!;
    if (chance === 2) cells.pop();
    if (chance === 3) cells.push('1');
    text += cells.join(',') + (chance === 4 ? '\n' : chance === 5 ? '\r' : ending);
    if (chance === 6) text += ending;
  }
  return data.below(4) === 0 ? text.trimEnd() : text + ending.repeat(data.below(3));
}

describe('CSV that is read from its bytes', () => {
  /** A quote in the first line sends the whole file to the parser, which is the oracle. */
  const compare = (files: number): Promise<unknown> => {
    const data = dataSource(`csv lines ${files}`);
    return Promise.all(Array.from({ length: files }, async (_, i) => {
      const text = body(data, i % 4 !== 0);
      const of = lineOptions[data.below(lineOptions.length)]!;
      const chunk = 1 + data.below(i % 2 === 0 ? 40 : 4000);
      const ending = text.includes('\r\n') ? '\r\n' : '\n';
      const found = await read(utf8(`id,a,b${ending}${text}`), of, chunk);
      expect(found, JSON.stringify(text))
        .toEqual(await read(utf8(`"id",a,b${ending}${text}`), of, 1 << 20));
    }));
  };
  it('gives what the parser gives', { tags: ['long'] }, () => compare(200));
  it('gives what the parser gives for many files', { tags: ['slow'] }, () => compare(1000));

  it('gives what the parser gives where lines have one cell', async () => {
    const data = dataSource('one cell');
    for (let i = 0; i < 200; i++) {
      const cells = Array.from({ length: 1 + data.below(20) }, () =>
        (data.below(6) === 0 ? odd[data.below(odd.length)]! : plain(data)));
      const text = cells.join('\n') + '\n'.repeat(data.below(4));
      for (const columns of [['a'], []]) {
        for (const missing of ['refuse', 'null'] as const) {
          const of = { source: 'f', missing, columns, header: 'yes' } as const;
          expect(await read(utf8(`a\n${text}`), of, 1 + data.below(30)), JSON.stringify(text))
            .toEqual(await read(utf8(`"a"\n${text}`), of, 1000));
        }
      }
    }
  });

  it('gives what the parser gives where bytes are not UTF-8', async () => {
    for (const wrong of [[0xff], [0xe2, 0x2c], [0xc3]]) {
      const text = Buffer.concat([utf8('p,1,2\nq'), Uint8Array.from(wrong), utf8(',3,4\n')]);
      for (const of of lineOptions) {
        expect(await read(Buffer.concat([utf8('id,a,b\n'), text]), of, 7))
          .toEqual(await read(Buffer.concat([utf8('"id",a,b\n'), text]), of, 100));
      }
    }
  });

  it.each([
    ['a byte order mark', '\ufeffid,a,b\np,1,2\n'],
    ['carriage returns alone', 'id,a,b\rp,1,2\rq,3,4\r'],
    ['no line break', 'id,a,b'],
    ['one line break', '\n'],
  ])('reads a file with %s as the parser does', async (_, text) => {
    const quoted = text.replace('id', '"id"');
    for (const chunk of [1, 2, 3, 1000]) {
      expect(await read(utf8(text), lineOptions[0]!, chunk))
        .toEqual(await read(utf8(quoted), lineOptions[0]!, 1000));
    }
  });

  it('names the line of a quote that stands inside a cell, far down in a file', async () => {
    const text = `id,a,b\n${'p,1,2\n'.repeat(5000)}p,1,2"\n`;
    expect(await read(utf8(text), lineOptions[0]!, 4096)).toEqual({
      message: expect.stringContaining('f, line 5002: a quote stands inside a cell') as string,
    });
  });

  it('rounds 15 digits as Number does', async () => {
    const data = dataSource('digits');
    const cells = Array.from({ length: 20_000 }, () => {
      const all = digits(data, 15);
      const at = data.below(all.length + 1);
      return `${all.slice(0, at)}.${all.slice(at)}`;
    });
    const { values } = await read(
      utf8(`a\n${cells.join('\n')}\n`), { source: 'f', missing: 'refuse' }, 1000,
    ) as { values: number[] };
    expect(values).toEqual(cells.map(Number));
  });
});
