import type { Dice } from '../dice.js';
import {
  bytesField, encodeFields, extreme, flipped, mutateFields, numberField, resized, type Field,
} from './protobuf.js';
import { columns, rowsMax } from './study.js';

/** What the body of a batch is made for. */
export interface BodyContext {
  readonly studyId: Uint8Array;
  readonly otherStudyId: Uint8Array;
  readonly sequence: bigint;
  readonly epoch: bigint;
}

const doubles = [
  Number.NaN, Infinity, -Infinity, -0, 5e-324, -2.2e-308, Number.MAX_VALUE, -Number.MAX_VALUE,
  2 ** 41, 1e39,
];

/** A body, the name of what is wrong with it, and whether an honest server settles its sequence. */
export interface MadeBody {
  readonly recipe: string;
  readonly body: Uint8Array;
}

type Recipe = (context: BodyContext, dice: Dice) => Field[] | Uint8Array;

function fieldsOf({ studyId, sequence, epoch }: BodyContext, dice: Dice): Field[] {
  const rows = 1 + dice.below(2);
  return [
    bytesField(1, studyId), numberField(2, sequence), numberField(3, epoch),
    numberField(4, dice.happens(0.1) ? 1n : 0n),
    numberField(5, BigInt(rows)), numberField(6, BigInt(columns)), numberField(7, 2n),
    bytesField(8, numbers(rows * columns, dice)),
  ];
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
