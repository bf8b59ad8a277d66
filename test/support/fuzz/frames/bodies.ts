import type { Dice } from '../dice.js';
import {
  bytesField, encodeFields, extreme, flipped, mutateFields, numberField, resized, type Field,
} from './protobuf.js';
import { columns, kinds, rowsMax } from './study.js';

/** What the body of a batch is made for. */
export interface BodyContext {
  readonly studyId: Uint8Array;
  readonly otherStudyId: Uint8Array;
  readonly sequence: bigint;
  readonly epoch: bigint;
  /** True if the study has typed columns: its batches have cells. */
  readonly typed: boolean;
}

const doubles = [
  Number.NaN, Infinity, -Infinity, -0, 5e-324, -2.2e-308, Number.MAX_VALUE, -Number.MAX_VALUE,
  2 ** 41, 2 ** 64, 2 ** 64 + 4096, 1e39,
];

/** A body, the name of what is wrong with it, and whether an honest server settles its sequence. */
export interface MadeBody {
  readonly recipe: string;
  readonly body: Uint8Array;
}

type Recipe = (context: BodyContext, dice: Dice) => Field[] | Uint8Array;

function fieldsOf({ studyId, sequence, epoch, typed }: BodyContext, dice: Dice): Field[] {
  const rows = 1 + dice.below(2);
  return [
    bytesField(1, studyId), numberField(2, sequence), numberField(3, epoch),
    numberField(4, dice.happens(0.1) ? 1n : 0n),
    numberField(5, BigInt(rows)), numberField(6, BigInt(columns)), numberField(7, 2n),
    ...(typed ? cellsFields(rows, dice) : [bytesField(8, numbers(rows * columns, dice))]),
  ];
}

/** The first five are in the form of texts. */
const words = [
  'hello', 'a', 'zebra', 'ß', '\u{1f600}', 'e\u0301', ' a', 'a\u0000', '', 'way too long',
];

/** The cells of a column with each row's place in a dictionary that is in order. */
function textCells(rows: number, dice: Dice): Field[] {
  const chosen = Array.from({ length: rows }, () =>
    (dice.happens(0.9) ? dice.pick(words.slice(0, 5)) : dice.pick(words)));
  const sorted = [...new Set(chosen)].map((word) => Buffer.from(word))
    .sort((one, other) => Buffer.compare(one, other));
  const codes = chosen.map((word) => sorted.findIndex((one) => one.toString() === word));
  return [
    bytesField(3, Uint8Array.from(codes)),
    bytesField(4, new Uint8Array(
      Buffer.concat(sorted.flatMap((word) => [Buffer.of(word.length), word])),
    )),
  ];
}

/** The fields of the cells of each column of the typed study, as a client makes them. */
function cellsOf(rows: number, dice: Dice): Field[][] {
  const there = Array.from({ length: rows }, () => dice.happens(0.8));
  const count = there.filter(Boolean).length;
  const bits = there.reduce((sum, isThere, row) => sum + (isThere ? 2 ** row : 0), 0);
  return [
    [
      ...(count === rows ? [] : [bytesField(1, Uint8Array.of(bits))]),
      ...(count === 0 ? [] : [bytesField(2, numbers(count, dice))]),
    ],
    [bytesField(3, Uint8Array.from({ length: rows }, () => dice.below(kinds)))],
    textCells(rows, dice),
  ];
}

const cellsFields = (rows: number, dice: Dice): Field[] =>
  cellsOf(rows, dice).map((cells) => bytesField(9, encodeFields(cells)));

/** Cells of which one column has something wrong. */
function brokenCells(context: BodyContext, dice: Dice): Field[] {
  const rows = 1 + dice.below(3);
  const all = cellsOf(rows, dice);
  const column = dice.below(all.length);
  const cells = all[column]!;
  const field = dice.below(Math.max(1, cells.length));
  const change = dice.below(5);
  const changed = cells.map((one, i) => {
    if (i !== field || change > 2) return one;
    const bytes = one.value as Uint8Array;
    if (change === 0) return bytesField(one.number, resized(bytes, dice));
    if (change === 1) return bytesField(one.number, flipped(bytes, dice));
    return bytesField(1 + dice.below(5), bytes);
  });
  const made = change === 3 ? encodeFields(mutateFields(cells, dice))
    : change === 4 ? dice.bytes(dice.below(30)) : encodeFields(changed);
  const fields = all.map((one, i) => bytesField(9, i === column ? made : encodeFields(one)));
  const honest = fieldsOf(context, dice).filter(({ number }) => number < 8);
  const sized = having(honest, numberField(5, BigInt(rows)));
  // One column too few, too many, in another order, or beside the numbers of an untyped study.
  const how = dice.below(12);
  if (how === 0) fields.pop();
  if (how === 1) fields.push(fields[0]!);
  if (how === 2) fields.reverse();
  if (how === 3) sized.push(bytesField(8, numbers(rows * columns, dice)));
  return [...sized, ...fields];
}

function numbers(
  count: number, dice: Dice, make = (): number => dice.below(2_000) / 500 - 2,
): Uint8Array {
  return new Uint8Array(Float64Array.from({ length: count }, make).buffer);
}

/** The fields with those of one number replaced. */
function having(fields: readonly Field[], ...changes: readonly Field[]): Field[] {
  return fields.map((field) => changes.find(({ number }) => number === field.number) ?? field);
}

const honest: Recipe = fieldsOf;
/**
 * By name, with their weights. Signed as they stand, so that everything behind the signature meets
 * them.
 */
const recipes: Readonly<Record<string, readonly [number, Recipe]>> = {
  honest: [30, honest],
  'any double': [6, (context, dice) => having(fieldsOf(context, dice), numberField(5, 1n),
    bytesField(
      8, numbers(columns, dice, () => (dice.happens(0.4) ? dice.pick(doubles) : dice.below(9) - 4)),
    ))],
  'any bits': [4, (context, dice) => having(fieldsOf(context, dice), numberField(5, 1n),
    bytesField(8, dice.bytes(8 * columns)))],
  'float32': [
    5, (context, dice) => having(fieldsOf(context, dice), numberField(5, 1n), numberField(7, 1n),
      bytesField(8, dice.happens(0.7)
        ? new Uint8Array(Float32Array.from({ length: columns }, () => dice.below(9)).buffer)
          : dice.bytes(4 * columns))),
  ],
  'sequence': [8, (context, dice) =>
    having(fieldsOf(context, dice), numberField(2, dice.happens(0.5) ? extreme(dice)
      : context.sequence + BigInt(dice.below(140) - 70) & (2n ** 64n - 1n)))],
  'epoch': [6, (context, dice) =>
    having(fieldsOf(context, dice), numberField(3, dice.happens(0.4) ? extreme(dice)
      : context.epoch + BigInt(dice.below(5) - 2) & (2n ** 64n - 1n)))],
  'rows': [5, (context, dice) => having(fieldsOf(context, dice),
    numberField(5, dice.happens(0.5) ? extreme(dice) : BigInt(dice.below(5))))],
  'columns': [4, (context, dice) => having(fieldsOf(context, dice),
    numberField(6, dice.happens(0.5) ? extreme(dice) : BigInt(dice.below(5))))],
  'swapped shape': [
    2, (context, dice) => having(fieldsOf(context, dice), numberField(5, BigInt(columns)),
      numberField(6, 2n), bytesField(8, numbers(2 * columns, dice))),
  ],
  'many rows': [2, (context, dice) => {
    const rows = rowsMax - 1 + dice.below(4);
    return having(fieldsOf(context, dice), numberField(5, BigInt(rows)), bytesField(
      8, numbers(rows * columns, dice),
    ));
  }],
  'data type': [
    2, (context, dice) => having(fieldsOf(context, dice), numberField(7, BigInt(dice.below(5)))),
  ],
  'data size': [5, (context, dice) => {
    const fields = fieldsOf(context, dice);
    return having(fields, bytesField(8, resized(fields.at(-1)!.value as Uint8Array, dice)));
  }],
  'cells': [6, brokenCells],
  'other study': [
    3, (context, dice) => having(fieldsOf(context, dice), bytesField(1, context.otherStudyId)),
  ],
  'last': [4, (context, dice) => having(fieldsOf(context, dice),
    numberField(4, dice.happens(0.8) ? 1n : extreme(dice)))],
  'fields': [8, (context, dice) => mutateFields(fieldsOf(context, dice), dice)],
  'many faults': [3, (context, dice) => {
    let fields = fieldsOf(context, dice);
    for (let i = dice.below(5); i >= 0; i--) fields = mutateFields(fields, dice);
    return fields;
  }],
  'many fields': [1, (context, dice) => Array.from({ length: 1 + dice.below(200) },
    () => dice.pick(fieldsOf(context, dice)))],
  'bits': [5, (context, dice) => flipped(encodeFields(fieldsOf(context, dice)), dice)],
  'cut': [2, (context, dice) => resized(encodeFields(fieldsOf(context, dice)), dice)],
  'noise': [1, (_context, dice) => dice.bytes(dice.below(200))],
};

export const bodyRecipes = Object.keys(recipes);
const wheel = bodyRecipes.flatMap((name) => new Array<string>(recipes[name]![0]).fill(name));

/** The bytes of one body, honest or not. @param name which; chosen by its weight when absent. */
export function makeBody(context: BodyContext, dice: Dice, name = dice.pick(wheel)): MadeBody {
  const made = recipes[name]![1](context, dice);
  return { recipe: `body: ${name}`, body: made instanceof Uint8Array ? made : encodeFields(made) };
}
