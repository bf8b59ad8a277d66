import { npyMagic } from '../../../../cli/input/npy-header.js';
import { arrowBytes, parquetBytes, type TestColumn } from '../../table-files.js';
import type { Dice } from '../dice.js';
import { flipped, resized } from '../frames/protobuf.js';
import { editText } from './texts.js';

const cells = [
  '1', '-2.5', '3e5', '', ' 7 ',
  '"8"', '"a ""b"""', 'x', 'NaN', 'inf', '1e999', '"1\n2"', '0x1', '+4', '.5', '5.', '1,5',
  '"open', '\u00a01', '1\u0000', '1e-999', '-', '9'.repeat(400), '"', '""',
];
const number = (dice: Dice): string => String(dice.below(2_000) / 100 - 10);
const list = (length: number, make: (i: number) => string): string[] =>
  Array.from({ length }, (_, i) => make(i));

/** CSV that may begin with a header, and may be ragged. */
export function makeCsv(dice: Dice): Uint8Array {
  const columns = 1 + dice.below(4);
  const strange = dice.happens(0.7) ? 0 : 0.1;
  const cell = (): string => (dice.happens(strange) ? dice.pick(cells) : number(dice));
  const rows =
    list(dice.below(9), () => list(dice.happens(0.03) ? dice.below(7) : columns, cell).join(','));
  const header = list(columns, (i) => dice.pick([`c${i}`, `c${i}`, `c${i}`, '', '"q,"', 'c0']))
    .join(',');
  const lines = [...(dice.happens(0.5) ? [header] : []), ...rows];
  const text = lines.join(dice.pick(['\n', '\n', '\r\n'])) + dice.pick(['', '\n', '\n\n']);
  return bytesOf(dice.happens(0.5) ? text : editText(text, dice), dice);
}

/** Lines of JSON, objects or lists. */
export function makeNdjson(dice: Dice): Uint8Array {
  const strange = ['"1"', 'null', 'true', '{}', '[]', '1e400', '-0', '1E5', '01'];
  const value = (): string => (dice.happens(0.05) ? dice.pick(strange) : number(dice));
  const lists = dice.happens(0.5);
  const line = (): string =>
    (lists ? `[${value()},${value()}]` : `{"a":${value()},"b":${value()}}`);
  const text = list(dice.below(8), line).join('\n');
  return bytesOf(dice.happens(0.4) ? text : editText(text, dice), dice);
}

const sizes = [
  '4000000000', '9007199254740991', '99999999999999999999', '-1', '1L', '0', '1048577', '65536', '',
];

/** A .npy file, its header right or wrong, with as many numbers as it promises or not. */
export function makeNpy(dice: Dice): Uint8Array {
  const size = (): string => (dice.happens(0.9) ? String(dice.below(5)) : dice.pick(sizes));
  const [rows, columns] = [size(), size()];
  const type = dice.pick(dice.happens(0.8)
    ? ['<f8', '<f4', '>f8', '>f4'] : ['|O', '<i8', '<f2', '=f8', '<f8,<f8', '']);
  const shapes = [`(${rows},)`, '()', `(${rows}, ${columns}, 1)`, '(,)', '1'];
  const shape = dice.happens(0.8) ? `(${rows}, ${columns})` : dice.pick(shapes);
  const order = dice.happens(0.9) ? 'False' : dice.pick(['True', 'None', '']);
  const honest = `{'descr': '${type}', 'fortran_order': ${order}, 'shape': ${shape}, }`;
  const header = dice.happens(0.8) ? honest : editText(honest, dice);
  const promised =
    Math.min(4_096, Number(rows) * Number(columns) * (type.endsWith('4') ? 4 : 8) || 0);
  const count = Math.max(0, dice.happens(0.8) ? promised : dice.below(200));
  const data = dice.happens(0.8) ? new Uint8Array(count) : dice.bytes(count);
  const whole = Buffer.concat([npyStart(header, dice), data]);
  if (dice.happens(0.8)) return whole;
  return dice.happens(0.5) ? flipped(whole, dice) : resized(whole, dice);
}

function npyStart(header: string, dice: Dice): Uint8Array {
  const text = Buffer.from(`${header.padEnd(dice.below(3) * 64)}\n`, 'latin1');
  const version = dice.happens(0.9) ? 1 + dice.below(3) : dice.below(256);
  const start = Buffer.alloc(version === 1 ? 10 : 12);
  start.set(npyMagic);
  start[6] = version;
  const claimed = dice.happens(0.95)
    ? text.length : dice.pick([0, 1, 65_535, 2 ** 32 - 1, text.length + 1]);
  if (version === 1) start.writeUInt16LE(Math.min(claimed, 65_535), 8);
  else start.writeUInt32LE(claimed, 8);
  return Buffer.concat([start, text]);
}

/** Columns of every type. */
function makeColumns(dice: Dice): TestColumn[] {
  const rows = dice.below(12);
  const cells = <Value>(make: () => Value): (Value | null)[] =>
    Array.from({ length: rows }, () => (dice.happens(0.1) ? null : make()));
  const kinds: readonly TestColumn[] = [
    { name: 'a', type: 'double', values: cells(() => dice.below(2_000) / 100) },
    { name: 'b', type: 'int64', values: cells(() => BigInt(dice.below(100))) },
    { name: 'c0', type: 'text', values: cells(() => dice.pick(['1', '-2.5', 'x'])) },
    { name: 'c1', type: 'dictionary', values: cells(() => dice.pick(['1', '2', '3e5'])) },
    { name: 'd', type: 'boolean', values: cells(() => dice.happens(0.5)) },
  ];
  return kinds.slice(dice.below(3), 3 + dice.below(3));
}

const changed = (whole: Uint8Array, dice: Dice): Uint8Array => {
  if (dice.happens(0.2)) return whole;
  return dice.happens(0.7) ? flipped(whole, dice) : resized(whole, dice);
};

/** A Parquet file, whole or damaged. */
export function makeParquet(dice: Dice): Uint8Array {
  const codec = dice.pick(['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI'] as const);
  const rowGroupSize = 1 + dice.below(12);
  return changed(parquetBytes(makeColumns(dice), { codec, rowGroupSize }), dice);
}

/** An Arrow file or stream, whole or damaged. */
export function makeArrow(dice: Dice): Uint8Array {
  const format = dice.pick(['file', 'stream'] as const);
  return changed(arrowBytes(makeColumns(dice), { format, batchRows: 1 + dice.below(12) }), dice);
}

/** A study file of the samples, changed in a few places. */
export function makeStudy(samples: readonly string[], dice: Dice): string {
  return editText(dice.pick(samples), dice);
}

/**
 * A signed log, changed in its lines, in one line's members, or in its bytes; now and then not at
 * all.
 */
export function makeLog(lines: readonly string[], dice: Dice): Uint8Array {
  const text = `${lines.join('\n')}\n`;
  const changed = [...lines];
  const at = dice.below(changed.length);
  switch (dice.below(6)) {
    case 0: return bytesOf(editText(text, dice), dice);
    case 1: return Uint8Array.from(flipped(Buffer.from(text), dice));
    case 2: {
      const [line] = changed.splice(at, 1);
      if (dice.happens(0.7)) changed.splice(dice.below(lines.length), 0, line!);
      if (dice.happens(0.3)) changed.push(line!);
      return Buffer.from(changed.join('\n'));
    }
    case 3: {
      const line = JSON.parse(changed[at]!) as Record<string, string>;
      const name = dice.pick(Object.keys(line));
      const donor = JSON.parse(dice.pick(lines)) as Record<string, string>;
      line[name] = dice.happens(0.5) ? editText(line[name]!, dice) : (donor[name] ?? '');
      changed[at] = JSON.stringify(line);
      return Buffer.from(changed.join('\n'));
    }
    case 4: return Buffer.from(lines.slice(0, dice.below(lines.length + 1)).join('\n'));
    default: return Buffer.from(dice.happens(0.5) ? text : lines.join('\n'));
  }
}

function bytesOf(text: string, dice: Dice): Uint8Array {
  const bytes = Buffer.from(text, dice.happens(0.95) ? 'utf8' : 'latin1');
  return dice.happens(0.95) ? bytes : flipped(bytes, dice);
}
