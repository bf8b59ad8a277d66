import { log2 } from '../../base/elementary.js';
import type { GaussianEvent } from '../../privacy/accounting/events.js';
import type {
  Look, ProjectedRows, RoundsDesign, RowsLeft,
} from '../../estimators/mean/robust-mean/filter-rounds.js';
import type { RobustRound } from '../../estimators/mean/robust-mean/design.js';
import {
  placementIn, sumsPlaced, type NoisySums,
} from '../../estimators/mean/robust-mean/reallocation.js';
import { roundMoments } from '../../estimators/mean/filters/weights.js';
import {
  fitHistogram, leastThresholdAlongAxes, leastThresholdInDistance,
} from '../../estimators/pooled/projected-histogram.js';
import { chiSquareAt, chiSquareDeviations } from '../../numerics/chi-square.js';
import type { ClipBall } from '../../privacy/stages/clip.js';
import type { SealedEvent } from '../../privacy/accounting/sealed-cost.js';
import type { SealedMechanisms } from '../../privacy/mechanisms/sealed-noise.js';
import { number } from '../steps/convert.js';
import { dot } from '../steps/multiply.js';
import type { Party } from '../steps/party.js';
import {
  constant, joined, parts, sumOf, xorOf, type Bits, type Numbers,
} from '../steps/shares.js';
import { tally } from '../steps/tally.js';
import type { Inside } from './ball.js';
import {
  binPlanes, columnBins, columnSums, combinationOf, totalOf, type BinRange,
} from './columns.js';
import type { Layout } from './rows.js';

/** Histograms along an axis reach this far on either side of the centre, in spreads. */
const axisReach = 6;
const axisBinWidth = (2 * axisReach) / columnBins;
/** An axis is in whole multiples of 2^-8 bins for each step of a column. */
const axisBits = 8;
/** A projection in steps is a bin's width after 2^width / factorOfUnit of them. */
const factorOfUnit = 2 ** axisBits / axisBinWidth;
/** The histogram of distances reaches this many standard deviations of normal rows. */
const distanceDeviations = 4.4;

interface Held extends Inside {
  /** Rows about the centre, in steps: column after column, padded. */
  readonly about: Numbers;
  readonly layout: Layout;
}

/**
 * Rows that three servers hold in shares, of which some are left.
 *
 * Claim. Each call opens the events that it is given, at their cost.
 * Neighbours. One contributor's row replaced by any other: at any time the rows left differ in one
 * row at most.
 * Why. Rows about the centre are whole steps, and those left are at most R long. So sensitivities
 * are those of pooled/query-events. Whether a row is left is a function of this row and of released
 * numbers: its distance and its projection are compared in whole numbers, and each is in exactly
 * one bin.
 */
export class SealedRows implements RowsLeft {
  readonly #party: Party;
  readonly #mechanisms: SealedMechanisms;
  readonly #design: RoundsDesign;
  readonly #held: Held;
  #alive: Bits;
  /** `#alive` as numbers, until rows are removed. */
  #numbers: Numbers | null = null;

  constructor(
    { party, mechanisms }: { readonly party: Party; readonly mechanisms: SealedMechanisms },
    design: RoundsDesign, held: Held,
  ) {
    this.#party = party;
    this.#mechanisms = mechanisms;
    this.#design = design;
    this.#held = held;
    this.#alive = held.alive;
  }

  /** One product for each entry of a row, and one sum of products for each pair of columns. */
  async look({ count, sum, square }: RobustRound): Promise<Look> {
    const { facts: { dimension, cohort }, ball: { grid, radius } } = this.#design;
    const { about, layout: { padded } } = this.#held;
    const alive = await this.#aliveNumbers();
    const left = await dot(this.#party, alive, about, {
      count: dimension * padded,
      runs: Array.from({ length: dimension }, (_, j) => (
        { left: 0, right: j * padded, sum: j * padded, isOneSum: false, length: padded })),
    });
    const pairs = upperPairs(dimension);
    const products = await dot(this.#party, about, left, {
      count: pairs.length,
      runs: pairs.map(([i, j], pair) => (
        { left: i * padded, right: j * padded, sum: pair, isOneSum: true, length: padded })),
    });
    const columns = parts(left, 2 * padded, dimension);
    const present = await this.#mechanisms.open(count.name, totalOf(alive), 1);
    const sums = await this.#mechanisms.open(sum.name, joined(columns.map(totalOf)), grid);
    const squares = await this.#mechanisms.open(square.name, products, grid ** 2);
    const moments =
      roundMoments(present.value[0]!, sums.value, squares.value, radius, cohort / 2);
    return { moments, sums: sums.value };
  }

  /** Squared distances in 64 bins of equal width; the fit is of their cube root. */
  async byDistance(event: GaussianEvent, mean: Float64Array): Promise<ProjectedRows> {
    const { ball: { grid } } = this.#design;
    const { about, squares, layout: { padded } } = this.#held;
    const dimension = mean.length;
    const from = Array.from(mean, (entry) => Math.round(entry / grid));
    const constantPart = from.reduce((sum, entry) => sum + entry ** 2, 0);
    const distances = sumOf(
      squares, combinationOf(about, from.map((entry) => -2 * entry), this.#held.layout),
      constant(this.#party.server, padded, constantPart),
    );
    const wide = 2 ** distanceExponent(dimension);
    const edges = Float64Array.from({ length: columnBins + 1 }, (_, bin) =>
      chiSquareDeviations(bin * wide, dimension));
    const range = distanceRange(this.#design.ball, dimension, Math.hypot(...from));
    return this.#projected(event, distances, leastThresholdInDistance, edges, range);
  }

  async along(
    event: GaussianEvent, axis: Float64Array,
  ): Promise<ProjectedRows & { readonly axis: Float64Array }> {
    const factors = Array.from(axis, (entry) => Math.round(entry * factorOfUnit));
    const length = Math.hypot(...factors);
    const range = alongRange(this.#design.ball, length);
    const middle = (columnBins / 2) * 2 ** range.width;
    const projections = sumOf(
      combinationOf(this.#held.about, factors, this.#held.layout),
      constant(this.#party.server, this.#held.layout.padded, middle),
    );
    const edges = Float64Array.from({ length: columnBins + 1 }, (_, bin) =>
      (bin * axisBinWidth - axisReach) * (factorOfUnit / length));
    const projected =
      await this.#projected(event, projections, leastThresholdAlongAxes, edges, range);
    return { ...projected, axis: Float64Array.from(factors, (factor) => factor / length) };
  }

  /** Opens the mean's events, each on the sums of the rows left where it has room for them. */
  async sums(
    events: readonly SealedEvent[],
  ): Promise<{ readonly drawn: readonly NoisySums[]; readonly present: number }> {
    const { facts: { dimension }, ball, count } = this.#design;
    const { about, layout } = this.#held;
    const alive = await this.#aliveNumbers();
    const sums = await dot(this.#party, alive, about, columnSums(dimension, layout));
    const drawn: NoisySums[] = [];
    for (const event of events) {
      const placement = placementIn(event, ball, dimension);
      if (placement === null) continue;
      const placed = placedOn(event, sums, dimension);
      const opened = await this.#mechanisms.open(event.name, placed, placement.unit);
      drawn.push(sumsPlaced(event, opened.value, placement, ball, dimension));
    }
    const present = await this.#mechanisms.open(count.name, totalOf(alive), 1);
    return { drawn, present: present.value[0]! };
  }

  async #aliveNumbers(): Promise<Numbers> {
    return this.#numbers ??= await number(this.#party, this.#alive);
  }

  async #projected(
    event: GaussianEvent, entries: Numbers, leastThreshold: number, edges: Float64Array,
    range: BinRange,
  ): Promise<ProjectedRows> {
    const { words } = this.#held.layout;
    const bins = await binPlanes(this.#party, entries, this.#alive, words, range);
    const counts =
      await this.#mechanisms.open(event.name, await tally(this.#party, bins, words), 1);
    return {
      fit: fitHistogram(counts.value, event.sigma, leastThreshold, edges),
      // Thresholds are edges of bins, so nothing is sent.
      removeOutside: (low, high) => {
        if (low === -Infinity && high === Infinity) return;
        const from = low === -Infinity ? 0 : edges.indexOf(low);
        const to = high === Infinity ? columnBins : edges.indexOf(high);
        this.#alive = xorOf(...bins.slice(from, to));
        this.#numbers = null;
      },
    };
  }
}

/** The width of a bin of squared distances, in squared spreads: this power of two. */
function distanceExponent(dimension: number): number {
  return Math.ceil(log2(chiSquareAt(distanceDeviations, dimension) / columnBins));
}

/** Bins of squared distances. @param mean - how far from the centre they are measured, in steps. */
export function distanceRange(
  { grid, steps }: ClipBall, dimension: number, mean: number,
): BinRange {
  return {
    width: distanceExponent(dimension) + 2 * spreadBitsOf(grid),
    reach: bitsFor((steps + mean) ** 2),
  };
}

/** Bins along an axis. @param length - of the axis, whose entries are whole. */
export function alongRange({ grid, steps }: ClipBall, length: number): BinRange {
  const width = axisBits + spreadBitsOf(grid);
  return { width, reach: bitsFor((columnBins / 2) * 2 ** width + steps * length) };
}

/** The length of an axis whose entries were rounded, at most. */
export function axisLengthMost(dimension: number): number {
  return factorOfUnit + Math.sqrt(dimension) / 2;
}

/** The entries i <= j of a matrix, row by row. */
function upperPairs(dimension: number): readonly (readonly [number, number])[] {
  return Array.from({ length: dimension }, (_, i) =>
    Array.from({ length: dimension - i }, (__, k) => [i, i + k] as const)).flat();
}

/** Sums where `placementIn` has them, among the numbers that are opened, and zeros elsewhere. */
function placedOn(event: SealedEvent, sums: Numbers, dimension: number): Numbers {
  const places = event.kind === 'gaussian'
    ? Array.from({ length: event.dimension }, (_, i) => (i < dimension ? i : null))
    : upperPairs(event.dimension).map(([i, j]) => (i === j ? i : null));
  const place = (component: Uint32Array): Uint32Array => {
    const placed = new Uint32Array(2 * places.length);
    places.forEach((from, to) => {
      if (from !== null) placed.set(component.subarray(2 * from, 2 * from + 2), 2 * to);
    });
    return placed;
  };
  return sums.map(({ kind, own, next }) => ({ kind, own: place(own), next: place(next) }));
}

/** Steps to a spread, as a power of two. */
function spreadBitsOf(grid: number): number {
  return Math.round(-log2(grid));
}

/** The number of bits of whole numbers up to `size`. */
function bitsFor(size: number): number {
  let bits = 1;
  while (2 ** bits <= size) bits += 1;
  return bits;
}
