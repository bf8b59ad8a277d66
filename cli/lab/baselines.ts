import { columnOf, pointSet } from '../../src/numerics/points.js';
import { median } from '../../src/numerics/selection.js';
import { robustMean } from '../../src/robust/robust-mean.js';

/** What the lab computes from the rows of its own people, without privacy. */
export interface Baselines {
  /** Mean of the honest people. Every answer is compared with it. */
  readonly truth: readonly number[];
  readonly honest: number;
  readonly hostile: number;
  /** Answers of methods that see all rows but do not know who is hostile. */
  readonly baselines: Readonly<Record<Baseline, readonly number[]>>;
}

/** The answers without privacy, by name. */
export const baselines = ['naive-mean', 'coordinate-median', 'robust-filter'] as const;
export type Baseline = (typeof baselines)[number];

/** The accepted contributions of one epoch. */
export class EpochRows {
  private readonly honest: Float64Array[] = [];
  private readonly hostile: Float64Array[] = [];

  constructor(private readonly scale: readonly number[]) {}

  /** @param reduced a contribution as the server reduces it. */
  add(reduced: Float64Array, isHostile: boolean): void {
    (isHostile ? this.hostile : this.honest).push(reduced);
  }

  /** Null if no honest person took part. */
  compute(): Baselines | null {
    const { honest, hostile, scale } = this;
    if (honest.length === 0) return null;
    const columns = scale.length;
    const all = pointSet(
      [...honest, ...hostile].map((row) => row.map((value, j) => value / scale[j]!)), columns,
    );
    const inUnits = (scaled: ArrayLike<number>): number[] =>
      Array.from(scaled, (value, j) => value * scale[j]!);
    return {
      truth: meanOf(honest, columns),
      honest: honest.length,
      hostile: hostile.length,
      baselines: {
        'naive-mean': meanOf([...honest, ...hostile], columns),
        'coordinate-median': inUnits(scale.map((_, j) => median(columnOf(all, j)))),
        'robust-filter': inUnits(robustMean(all)),
      },
    };
  }
}

function meanOf(rows: readonly Float64Array[], columns: number): number[] {
  const sums = Array<number>(columns).fill(0);
  for (const row of rows) for (let j = 0; j < columns; j++) sums[j]! += row[j]! / rows.length;
  return sums;
}

/** Euclidean distance, with each column divided by its scale. */
export function scaledDistance(
  left: readonly number[], right: readonly number[], scale: readonly number[],
): number {
  return Math.hypot(...left.map((value, j) => (value - right[j]!) / scale[j]!));
}
