import { binBits } from '../shares/column-grid.js';
import { andAll, bits, componentSum } from '../steps/adder.js';
import { number } from '../steps/convert.js';
import type { Dots } from '../steps/multiply.js';
import type { Party } from '../steps/party.js';
import { onesPlane } from '../steps/planes.js';
import {
  differenceOf, doubledOf, eachComponent, joined, parts, publicBits, publicNumbers, sumOf,
  xorOf, type Bits, type Numbers,
} from '../steps/shares.js';
import { oneHot, tally } from '../steps/tally.js';
import { addInto, addScaledInto, wordsOf } from '../steps/words.js';
import type { Layout } from './rows.js';

/** Bins of a histogram of a column. */
export const columnBins = 2 ** binBits;

/** Columns of rows as numbers modulo p, and their highest bits. */
export interface Lifted {
  /** Whole steps from the low end of the range; column after column, padded. */
  readonly numbers: Numbers;
  /** The six highest bits of each, lowest first. */
  readonly topBits: readonly Bits[];
}

/**
 * Turns components that add up modulo 2^bits into numbers modulo p: the integer u_0 + u_1 + u_2
 * less 2^bits for each of two carries.
 */
export async function lifted(
  party: Party, components: Numbers, bitsOfValue: number, count: number,
): Promise<Lifted> {
  const { planes, carries } = await componentSum(
    party, components, { from: bitsOfValue - binBits, width: bitsOfValue },
  );
  const both = await number(party, joined(carries));
  const over = doubledOf(sumOf(...parts(both, 2 * count, 2)), bitsOfValue);
  return { numbers: differenceOf(components, over), topBits: planes };
}

/** A public whole number for each column, as shares: column after column, padded. */
export function perColumn(
  party: Party, values: readonly number[], { padded }: Layout,
): Numbers {
  const words = new Uint32Array(2 * values.length * padded);
  values.forEach((value, j) => {
    const [low, high] = wordsOf(value);
    for (let i = j * padded; i < (j + 1) * padded; i++) {
      words[2 * i] = low;
      words[2 * i + 1] = high;
    }
  });
  return publicNumbers(party.server, words);
}

/** How many contributors are in each bin of each column: column after column. */
async function columnTally(
  party: Party, hot: readonly Bits[], dimension: number, { words }: Layout,
): Promise<Numbers> {
  const byBin = hot.map((plane) => parts(plane, words, dimension));
  const planes = Array.from({ length: dimension }, (_, j) => byBin.map((columns) => columns[j]!));
  return tally(party, planes.flat(), words);
}

/** The plane of everybody: public, in a question that each contributor has a row in. */
export function everybody(party: Party, { people }: Layout): Bits {
  return publicBits(party.server, onesPlane(people));
}

/** A plane, once for each column. */
function forColumns(plane: Bits, dimension: number): Bits {
  return joined(new Array<Bits>(dimension).fill(plane));
}

/** A histogram of each column with 64 bins over its range. @param present - who has a row. */
export async function coarseCounts(
  party: Party, topBits: readonly Bits[], present: Bits, dimension: number, layout: Layout,
): Promise<Numbers> {
  const mask = forColumns(present, dimension);
  const hot = await oneHot(party, topBits, mask, dimension * layout.words);
  return columnTally(party, hot, dimension, layout);
}

/** 64 bins of equal width: bits `width` to `width` + 5 of a number are its bin. */
export interface BinRange {
  /** A bin has 2^width steps. */
  readonly width: number;
  /** |number| < 2^reach. */
  readonly reach: number;
}

/** Past the highest bit that says which bin a number is in: that of its sign. */
export function endOf({ width, reach }: BinRange): number {
  return Math.max(reach, width + binBits) + 1;
}

/**
 * For each of 64 bins, who is in it. Negative numbers are in the first bin, and numbers past the
 * last bin in that one. Who is not in the mask is in no bin.
 */
export async function binPlanes(
  party: Party, numbers: Numbers, mask: Bits, words: number, range: BinRange,
): Promise<readonly Bits[]> {
  const planes = await bits(party, numbers, { from: range.width, end: endOf(range) });
  const sign = planes.at(-1)!;
  const outside = await anyOf(party, planes.slice(binBits), words);
  // Everybody outside is on one side: the sign is one of the bits outside.
  const [out, below] = await andAll(party, [[outside, mask], [sign, mask]], words);
  const hot = [...await oneHot(party, planes.slice(0, binBits), xorOf(mask, out!), words)];
  hot[0] = xorOf(hot[0]!, below!);
  hot[columnBins - 1] = xorOf(hot[columnBins - 1]!, out!, below!);
  return hot;
}

/**
 * A histogram of each column with 64 bins from a public start on: `binPlanes` of those who have a
 * row. @param about - numbers less the start of their column. @param present - who has a row.
 */
export async function fineCounts(
  party: Party, about: Numbers, present: Bits, dimension: number, layout: Layout, range: BinRange,
): Promise<Numbers> {
  const mask = forColumns(present, dimension);
  const hot = await binPlanes(party, about, mask, dimension * layout.words, range);
  return columnTally(party, hot, dimension, layout);
}

/** The lanes in which any of the planes is 1. log2 of their number rounds. */
async function anyOf(party: Party, planes: readonly Bits[], words: number): Promise<Bits> {
  let level = planes;
  while (level.length > 1) {
    const pairs = Array.from({ length: level.length >> 1 }, (_, i) =>
      [level[2 * i]!, level[2 * i + 1]!] as const);
    const both = await andAll(party, pairs, words);
    level = [
      ...pairs.map(([left, right], i) => xorOf(left, right, both[i]!)),
      ...level.length % 2 === 1 ? [level.at(-1)!] : [],
    ];
  }
  return level[0]!;
}

/**
 * Sums of columns times public whole numbers, contributor by contributor. Local.
 * @param factors - one for each column.
 */
export function combinationOf(
  numbers: Numbers, factors: readonly number[], { padded }: Layout,
): Numbers {
  return eachComponent(numbers, (component) => {
    const sum = new Uint32Array(2 * padded);
    factors.forEach((factor, j) =>
      addScaledInto(sum, component.subarray(2 * j * padded, 2 * (j + 1) * padded), factor));
    return sum;
  });
}

/** The sum of each column over the contributors whose number on the left is 1. */
export function columnSums(dimension: number, { padded }: Layout): Dots {
  return {
    count: dimension,
    runs: Array.from({ length: dimension }, (_, j) =>
      ({ left: 0, right: j * padded, sum: j, isOneSum: true, length: padded })),
  };
}

/** The sum of a list of numbers. Local. */
export function totalOf(numbers: Numbers): Numbers {
  return eachComponent(numbers, total);
}

function total(component: Uint32Array): Uint32Array {
  const sum = new Uint32Array(2);
  for (let at = 0; at < component.length; at += 2) {
    addInto(sum, component.subarray(at, at + 2));
  }
  return sum;
}
