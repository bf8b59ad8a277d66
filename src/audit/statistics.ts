import { fitLogistic } from './logistic.js';
import type { OutputBlock } from './contract.js';
import { isAbout } from './outputs.js';

/**
 * One number per output, to distinguish two distributions of outputs. A refused output has no
 * number.
 */
export interface Statistic {
  readonly name: string;
  /**
   * Scores are log-likelihood ratios, left to right, up to a constant. Their model is too simple to
   * fit noise.
   */
  readonly isLikelihood: boolean;
  /** NaN for refused outputs. */
  score(block: OutputBlock): Float64Array;
}

/** Standardised values are clipped here: values beyond it are beyond every threshold anyway. */
const cut = 8;
/** Number of outputs from each side that train a direction, and a classifier of products. */
const trainedOn = { direction: 60_000, products: 12_000 } as const;

/**
 * Brings columns to one scale, fitted to both sides together. Leaves out columns that never change.
 */
class Standardiser {
  readonly columns: readonly number[];
  readonly #medians: Float64Array;
  readonly #width: Float64Array;

  /** @param about - entries of the estimate; null: all columns. */
  constructor(blocks: readonly OutputBlock[], about: ReadonlySet<number> | null) {
    const width = blocks[0]!.width;
    this.#medians = new Float64Array(width);
    this.#width = new Float64Array(width);
    const kept: number[] = [];
    for (let column = 1; column < width; column++) {
      if (about !== null && !isAbout(about, column, width)) continue;
      const entries = blocks.flatMap((block) =>
        Array.from(answered(block), (row) => block.values[row * width + column]!));
      if (entries.length === 0) continue;
      const sorted = Float64Array.from(entries).sort();
      const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
      this.#medians[column] = at(0.5);
      const central = (at(0.84) - at(0.16)) / 2;
      // It changes, but rarely. Any unit works that keeps the rare values distinct.
      this.#width[column] = central > 0 ? central : Math.max(at(1) - at(0.5), at(0.5) - at(0)) / 4;
      if (this.#width[column]! > 0 && Number.isFinite(this.#width[column])) kept.push(column);
    }
    this.columns = kept;
  }

  /** Writes one output's columns, in standard units. */
  write(block: OutputBlock, row: number, target: Float64Array): void {
    this.columns.forEach((column, i) => {
      const value =
        (block.values[row * block.width + column]! - this.#medians[column]!) / this.#width[column]!;
      target[i] = Math.min(cut, Math.max(-cut, value));
    });
  }
}

/** Rows of a block with an answer. */
export function* answered({ count, width, values }: OutputBlock): Generator<number> {
  for (let row = 0; row < count; row++) if (values[row * width] === 0) yield row;
}

/**
 * Two statistics, learned from outputs of both sides by logistic regression. The first is a
 * direction: for two Gaussians that differ by a shift, it is the likelihood ratio. The second is a
 * classifier in products of the most informative columns: it can be the likelihood ratio of any two
 * Gaussians.
 * @param entries - of the estimate, to learn from; absent: all columns of the outputs.
 */
export function learnStatistics(
  left: OutputBlock, right: OutputBlock, entries?: readonly number[],
): readonly Statistic[] {
  const standard =
    new Standardiser([left, right], entries === undefined ? null : new Set(entries));
  if (standard.columns.length === 0) return [];
  return [
    learn('likelihood direction', standard, [left, right], 1),
    learn('trained classifier', standard, [left, right], 3),
  ];
}

function learn(
  name: string,
  standard: Standardiser,
  blocks: readonly [OutputBlock, OutputBlock],
  degree: number,
): Statistic {
  const size = standard.columns.length;
  const chosen = telling(standard, blocks);
  const terms = monomials(chosen, degree);
  const point = new Float64Array(size);
  const features = (block: OutputBlock, row: number, target: Float64Array): void => {
    standard.write(block, row, point);
    terms.forEach((term, i) => {
      let product = 1;
      for (const column of term) product *= point[column]!;
      target[i] = product;
    });
  };
  const samples = blocks.map((block) => {
    const most = degree === 1 ? trainedOn.direction : trainedOn.products;
    const rows = [...answered(block)].slice(0, most);
    const table = new Float64Array(rows.length * terms.length);
    rows.forEach((row, i) =>
      features(block, row, table.subarray(i * terms.length, (i + 1) * terms.length)));
    return table;
  });
  const weights = fitLogistic(samples[0]!, samples[1]!, terms.length);
  const target = new Float64Array(terms.length);
  return {
    name,
    isLikelihood: degree === 1,
    score(block) {
      const scores = new Float64Array(block.count).fill(Number.NaN);
      for (const row of answered(block)) {
        features(block, row, target);
        let sum = 0;
        for (let i = 0; i < target.length; i++) sum += weights[i]! * target[i]!;
        scores[row] = sum;
      }
      return scores;
    },
  };
}

/**
 * Columns for a classifier of higher degree: those whose mean or standard deviation differs most
 * between the sides.
 */
function telling(
  standard: Standardiser, blocks: readonly [OutputBlock, OutputBlock],
): readonly number[] {
  const size = standard.columns.length;
  const sums = blocks.map((block) => {
    const point = new Float64Array(size);
    const first = new Float64Array(size);
    const second = new Float64Array(size);
    let count = 0;
    for (const row of answered(block)) {
      standard.write(block, row, point);
      count += 1;
      for (let i = 0; i < size; i++) {
        first[i]! += point[i]!;
        second[i]! += point[i]! ** 2;
      }
    }
    return {
      first: first.map((sum) => sum / (count || 1)),
      second: second.map((sum) => sum / (count || 1)),
    };
  });
  const [one, two] = sums as [typeof sums[number], typeof sums[number]];
  const gap = (i: number): number =>
    Math.max(
      Math.abs(one.first[i]! - two.first[i]!), Math.abs(one.second[i]! - two.second[i]!) / 2,
    );
  return Array.from({ length: size }, (_, i) => i).sort((i, j) => gap(j) - gap(i) || i - j);
}

/**
 * The constant, the columns, and for higher degrees products: of two among six columns, of three
 * among three columns.
 */
function monomials(columns: readonly number[], degree: number): readonly (readonly number[])[] {
  const terms: number[][] = [[], ...columns.map((column) => [column])];
  if (degree === 1) return terms;
  const few = columns.slice(0, 6);
  few.forEach((column, i) => few.slice(i).forEach((second) => terms.push([column, second])));
  const fewest = columns.slice(0, 3);
  fewest.forEach((column, i) => fewest.slice(i).forEach((second, j) =>
    fewest.slice(i + j).forEach((third) => terms.push([column, second, third]))));
  return terms;
}
