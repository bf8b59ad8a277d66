/**
 * Count, mean and scatter (the sum over rows of (x - mean)(x - mean)^T) of a growing set of rows.
 * It uses Welford's recurrence for whole vectors and the pairwise merge of Chan, Golub and LeVeque.
 * Accurate far from the origin, in one pass, and positive semidefinite up to rounding. O(d^2)
 * memory and time per row.
 */
export interface Scatter {
  count: number;
  readonly mean: Float64Array;
  /** Upper triangle, row by row: d (d + 1) / 2 entries. */
  readonly upper: Float64Array;
}

/** Entries of the upper triangle of a d x d matrix. */
export function triangleSize(dimension: number): number {
  return (dimension * (dimension + 1)) / 2;
}

/** The scatter of zero rows. */
export function emptyScatter(dimension: number): Scatter {
  return {
    count: 0, mean: new Float64Array(dimension), upper: new Float64Array(triangleSize(dimension)),
  };
}

/**
 * Scratch memory for the differences of one row, by dimension. Its contents do not outlive a call.
 */
const scratch = new Map<number, Float64Array>();

function scratchOf(dimension: number): Float64Array {
  let found = scratch.get(dimension);
  if (found === undefined) {
    found = new Float64Array(dimension);
    scratch.set(dimension, found);
  }
  return found;
}

/** Changes `scatter`. */
export function addToScatter(scatter: Scatter, row: Float64Array): void {
  scatter.count += 1;
  const { count, mean, upper } = scatter;
  const gap = scratchOf(mean.length);
  moveMeanKeepingGap(mean, 0, row, count, gap);
  addOuter(upper, 0, gap, (count - 1) / count);
}

/**
 * The scatters of many groups of rows side by side. Each has the same bits as one from
 * `addToScatter` alone.
 */
export class ScatterTable {
  readonly #counts: Uint32Array;
  readonly #means: Float64Array;
  readonly #uppers: Float64Array;
  readonly #gap: Float64Array;
  readonly #size: number;

  constructor(groups: number, private readonly dimension: number) {
    this.#size = triangleSize(dimension);
    this.#counts = new Uint32Array(groups);
    this.#means = new Float64Array(groups * dimension);
    this.#uppers = new Float64Array(groups * this.#size);
    this.#gap = new Float64Array(dimension);
  }

  /** See `addToScatter`. */
  add(group: number, row: Float64Array): void {
    const count = this.#counts[group]! + 1;
    this.#counts[group] = count;
    moveMeanKeepingGap(this.#means, group * this.dimension, row, count, this.#gap);
    addOuter(this.#uppers, group * this.#size, this.#gap, (count - 1) / count);
  }

  /** Returns a copy. */
  state(group: number): Scatter {
    const of = (all: Float64Array, size: number): Float64Array =>
      all.slice(group * size, (group + 1) * size);
    return {
      count: this.#counts[group]!, mean: of(this.#means, this.dimension),
      upper: of(this.#uppers, this.#size),
    };
  }

  /** Replaces the state of the group. */
  put(group: number, { count, mean, upper }: Scatter): void {
    this.#counts[group] = count;
    this.#means.set(mean, group * this.dimension);
    this.#uppers.set(upper, group * this.#size);
  }

  /** See `mergeScatter`. */
  merge(group: number, other: Scatter): void {
    this.put(group, mergeScatter(this.state(group), other));
  }
}

/**
 * Moves the mean at `offset` by row number `count`. Writes the row's distance from the mean before
 * to `gap`.
 */
function moveMeanKeepingGap(
  means: Float64Array, offset: number, row: Float64Array, count: number, gap: Float64Array,
): void {
  for (let i = 0; i < gap.length; i++) {
    const mean = means[offset + i]!;
    const before = row[i]! - mean;
    gap[i] = before;
    means[offset + i] = mean + before / count;
  }
}

/**
 * upper += factor * gap gap^T, for the triangle at `offset` of `upper`. It computes four
 * independent entries at a time, which saves a third of the time.
 */
function addOuter(upper: Float64Array, offset: number, gap: Float64Array, factor: number): void {
  const dimension = gap.length;
  let at = offset;
  for (let i = 0; i < dimension; i++) {
    const scaled = gap[i]! * factor;
    let j = i;
    for (; j + 3 < dimension; j += 4, at += 4) {
      upper[at]! += scaled * gap[j]!;
      upper[at + 1]! += scaled * gap[j + 1]!;
      upper[at + 2]! += scaled * gap[j + 2]!;
      upper[at + 3]! += scaled * gap[j + 3]!;
    }
    for (; j < dimension; j++, at++) upper[at]! += scaled * gap[j]!;
  }
}

/** The scatter of both sets together; neither argument changes. */
export function mergeScatter(left: Scatter, right: Scatter): Scatter {
  const count = left.count + right.count;
  if (count === 0) return emptyScatter(left.mean.length);
  const share = right.count / count;
  const gap = left.mean.map((entry, j) => right.mean[j]! - entry);
  const mean = left.mean.map((entry, j) => entry + gap[j]! * share);
  const upper = left.upper.map((entry, i) => entry + right.upper[i]!);
  addOuter(upper, 0, gap, left.count * share);
  return { count, mean, upper };
}

/** Unbiased covariance, d x d row-major; zeros below two rows. */
export function covarianceOf({ count, mean, upper }: Scatter): Float64Array {
  const dimension = mean.length;
  const covariance = new Float64Array(dimension * dimension);
  if (count < 2) return covariance;
  let at = 0;
  for (let i = 0; i < dimension; i++) {
    for (let j = i; j < dimension; j++) {
      const entry = upper[at]! / (count - 1);
      covariance[i * dimension + j] = entry;
      covariance[j * dimension + i] = entry;
      at += 1;
    }
  }
  return covariance;
}
