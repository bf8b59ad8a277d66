// @module-tag long
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import { contributionBytes, StudyReduction } from '../../src/questions/reduction.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Kind {
  readonly people: number;
  readonly groupsMax: number;
  readonly parts: number;
  readonly sums: number;
  /** A text of this number, of at most `bytes` bytes. */
  readonly textOf: (number: number) => string;
  readonly bytes: number;
}

const text = (bytes: number): ColumnType => ({ type: 'text', bytes });
const filled = (begin: string, bytes: number, filler: string): string =>
  begin + filler.repeat(bytes - Buffer.byteLength(begin));

function tableOf(texts: readonly string[]) {
  const encoded = texts.map((each) => Buffer.from(each));
  const starts = new Uint32Array(texts.length + 1);
  encoded.forEach(({ length }, i) => { starts[i + 1] = starts[i]! + length + 1; });
  const bytes = Buffer.concat(encoded.flatMap((each) => [Buffer.of(each.length), each]));
  return { bytes: new Uint8Array(bytes), starts, count: texts.length };
}

function questionOf({ groupsMax, parts, sums }: Kind): Question {
  const name = (kind: string) => (_: unknown, i: number) => `${kind}${i}`;
  return {
    name: 'q', estimator: 'any', where: [], reduce: 'mean', part: 1, parameters: {},
    columns: Array.from({ length: sums }, name('sum')),
    by: {
      columns: Array.from({ length: parts }, name('part')), groupsMax,
      discover: { top: 1, prefilter: 1 },
    },
  } as unknown as Question;
}

/** Bytes of the heap that one incomplete contribution takes, with a key more than counts. */
function measured(kind: Kind): number {
  const { people, groupsMax, parts, textOf, bytes } = kind;
  const columns = [...questionOf(kind).by!.columns, ...questionOf(kind).columns];
  const types = columns.map((_, i): ColumnType =>
    (i < parts ? text(bytes) : { type: 'number', low: 0, high: 1 }));
  const reduction = new StudyReduction([questionOf(kind)], { columns, types });
  const open = new Map<string, unknown>();
  const rows = groupsMax + 1;
  const used = (): number => {
    collect();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let person = 0; person < people; person++) {
    const contribution = reduction.empty();
    const name = Buffer.alloc(32);
    name.writeUInt32LE(person);
    open.set(name.toString('latin1'), contribution);
    const values = Float64Array.from({ length: rows * columns.length }, (_, i) =>
      (i % columns.length < parts ? Math.floor(i / columns.length) : 0.1 + i / 7));
    const table = tableOf(Array.from({ length: rows }, (_, i) => textOf(person * rows + i)));
    const texts = columns.map((_, i) => (i < parts ? table : null));
    reduction.add(contribution, { values, rows, texts, ranks: null }, {
      keySecret: () => name,
    });
  }
  const taken = (used() - before) / people;
  expect(open.size).toBe(people);
  return taken;
}

const latin = (number: number): string => filled(`${number}`, 16, 'x');
const wide = (number: number): string => filled(`${number}й`, 255, 'x');
const quotes = (number: number): string => filled(`${number}й`, 255, '"');

it.each<[string, Kind]>([
  ['a short key', { people: 20_000, groupsMax: 1, parts: 1, sums: 0, textOf: latin, bytes: 16 }],
  ['a long key', { people: 8_000, groupsMax: 1, parts: 1, sums: 0, textOf: wide, bytes: 255 }],
  ['a key and sums', { people: 20_000, groupsMax: 1, parts: 1, sums: 8, textOf: latin, bytes: 16 }],
  // A map has just doubled.
  ['some keys', { people: 500, groupsMax: 65, parts: 1, sums: 1, textOf: latin, bytes: 16 }],
  ['some sums', { people: 300, groupsMax: 65, parts: 1, sums: 8, textOf: wide, bytes: 255 }],
  ['many keys', { people: 20, groupsMax: 1_100, parts: 1, sums: 0, textOf: wide, bytes: 255 }],
  ['parts', { people: 2_000, groupsMax: 1, parts: 3, sums: 0, textOf: quotes, bytes: 255 }],
  ['many parts', { people: 10, groupsMax: 1_100, parts: 3, sums: 2, textOf: quotes, bytes: 255 }],
])('a contribution takes no more memory than was planned for it, with %s', (_, kind) => {
  const discovered = { keyBytes: kind.parts * (kind.bytes + 1) };
  const planned = contributionBytes([{ question: questionOf(kind), discovered }], 4_096);
  const taken = measured(kind);
  expect(taken).toBeLessThan(planned);
  // The plan is not far from it, so it refuses few studies that would run.
  expect(taken).toBeGreaterThan(planned / 3);
});

it('plans for no more keys than a contributor has rows, and for questions without keys', () => {
  const kind = { people: 1, groupsMax: 64, parts: 1, sums: 0, textOf: latin, bytes: 16 };
  const one = [{ question: questionOf(kind), discovered: { keyBytes: 17 } }];
  expect(contributionBytes(one, 2)).toBe(128 + 400 + 2 * (170 + 2 * 17));
  const { columns } = questionOf({ ...kind, sums: 1 });
  const both = [...one, { question: { columns } }];
  expect(contributionBytes(both, 2) - contributionBytes(one, 2))
    .toBe(400 + 170 + 140);
});
