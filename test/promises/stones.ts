import { randomOf } from '../../bench/accuracy/data.js';

const columns = 7;
/** Weights of cut stones crowd just above round ones: each mark with its share of all stones. */
const marks: readonly (readonly [number, number])[] = [
  [0.3, 0.25], [0.4, 0.1], [0.5, 0.12], [0.7, 0.15], [0.9, 0.06], [1, 0.16], [1.2, 0.05],
  [1.5, 0.07], [2, 0.04],
];

/** Exponential excess over a mark, as a part of it. */
const excess = 0.05;

function weightOf({ uniform }: ReturnType<typeof randomOf>): number {
  let left = uniform();
  const [mark] = marks.find(([, share]) => {
    left -= share;
    return left < 0;
  }) ?? marks[0]!;
  return Math.round(100 * mark * (1 - excess * Math.log(uniform()))) / 100;
}

/**
 * Made-up stones, as public tables of such things are: weight, depth and top in percent of the
 * width, price, and three lengths. Columns are skewed, most of them nearly tell each other, all are
 * rounded to what is printed on a label, and weights have gaps below round ones. Every column is
 * divided by its deviation.
 */
export function stones(
  people: number, seed: number,
): { readonly values: Float64Array; readonly mean: Float64Array } {
  const random = randomOf(`stones ${seed}`);
  const { normal } = random;
  const round = (value: number, steps: number): number => Math.round(value * steps) / steps;
  const values = new Float64Array(people * columns);
  for (let i = 0; i < people; i++) {
    const weight = weightOf(random);
    const depth = round(61.8 + 1.4 * normal(), 10);
    const long = round(6.43 * Math.cbrt(weight) * (1 + 0.008 * normal()), 100);
    const wide = round(long * (1 + 0.004 * normal()), 100);
    values.set([
      weight, depth, round(57.4 + 2.2 * normal(), 1),
      round(3900 * weight ** 1.7 * Math.exp(0.25 * normal()), 1),
      long, wide, round((depth / 200) * (long + wide), 100),
    ], i * columns);
  }
  return inDeviations(values);
}

function inDeviations(
  values: Float64Array,
): { readonly values: Float64Array; readonly mean: Float64Array } {
  const mean = new Float64Array(columns);
  for (let j = 0; j < columns; j++) {
    const own = values.filter((_, at) => at % columns === j);
    const middle = own.reduce((sum, value) => sum + value, 0) / own.length;
    const square = own.reduce((sum, value) => sum + (value - middle) ** 2, 0) / own.length;
    for (let at = j; at < values.length; at += columns) values[at]! /= Math.sqrt(square);
    mean[j] = middle / Math.sqrt(square);
  }
  return { values, mean };
}
