import type { Outcome } from '../../src/base/outcome.js';
import type { Plan } from '../../src/estimators/contract/estimator.js';
import { columnOf, pointSet } from '../../src/numerics/points.js';
import { median } from '../../src/numerics/selection.js';
import { geometricMedian } from '../../src/robust/geometric-median.js';
import { hardSpectralPass, type SpectralPass } from '../../src/robust/spectral-pass.js';

/** The answers that the lab computes from the rows of its own people, without privacy. */
export interface Baselines {
  /**
   * Mean of the honest people. Every answer is compared with it. Empty where answers are by key.
   */
  readonly truth: readonly number[];
  readonly honest: number;
  readonly hostile: number;
  /** Answers of methods that see all rows but do not know who is hostile, by name. */
  readonly baselines: Readonly<Record<string, Compared>>;
  /** Null where answers are by key. */
  readonly picture: RowPicture | null;
  /** A private answer beside the truth. */
  judge(answer: JudgedAnswer): Judgement;
}

/** An answer without privacy. */
export interface Compared {
  readonly estimate: readonly number[];
  readonly error: number;
}

/** Rows of the lab's people, and the robust filter's verdict on them. */
export interface RowPicture {
  /** At most `picturedMax` rows: each kind by its share. */
  readonly rows: readonly PicturedRow[];
  /** The number of rows that the filter left out, of all. */
  readonly leftOut: { readonly honest: number; readonly hostile: number };
  /** The filter leaves out every row that is farther than this from the centre, in spreads. */
  readonly centre: readonly number[];
  readonly reach: number;
}

export interface PicturedRow {
  readonly values: readonly number[];
  readonly isHostile: boolean;
  /** True if the filter's mean uses it. */
  readonly isKept: boolean;
}

const picturedMax = 800;

/** A release, and the public facts about it. */
export interface JudgedAnswer {
  readonly plan: Plan;
  readonly cohort: number;
  readonly outcome: Outcome;
  readonly corruption: number;
}

/** The error of a private answer, null if it was refused, and the one that its plan promised. */
export interface Judgement {
  readonly error: number | null;
  readonly promised: number;
}

/** The accepted contributions of one epoch of a study. */
export interface EpochPeople {
  /**
   * @param reduced a contribution as the server reduces it.
   * @param sent its rows.
   */
  add(reduced: Float64Array, isHostile: boolean, sent: Float64Array): void;
  /** Null if no honest person took part. */
  compute(): Baselines | null;
}

/** The accepted contributions of one epoch, where answers are means of columns. */
export class EpochRows implements EpochPeople {
  private readonly honest: Float64Array[] = [];
  private readonly hostile: Float64Array[] = [];

  constructor(private readonly spread: readonly number[]) {}

  add(reduced: Float64Array, isHostile: boolean): void {
    (isHostile ? this.hostile : this.honest).push(reduced);
  }

  compute(): Baselines | null {
    const { honest, hostile, spread } = this;
    if (honest.length === 0) return null;
    const columns = spread.length;
    const all = pointSet(
      [...honest, ...hostile].map((row) => row.map((value, j) => value / spread[j]!)), columns,
    );
    const inUnits = (scaled: ArrayLike<number>): number[] =>
      Array.from(scaled, (value, j) => value * spread[j]!);
    const truth = meanOf(honest, columns);
    const compared = (estimate: readonly number[]): Compared =>
      ({ estimate, error: scaledDistance(estimate, truth, spread) });
    // As `robustMean`, and with the rows that it left out.
    const centre = geometricMedian(all);
    const pass = hardSpectralPass(all, centre);
    return {
      truth,
      honest: honest.length,
      hostile: hostile.length,
      baselines: {
        'naive-mean': compared(meanOf([...honest, ...hostile], columns)),
        'coordinate-median': compared(inUnits(spread.map((_, j) => median(columnOf(all, j))))),
        'robust-filter': compared(inUnits(pass.mean)),
      },
      picture: this.#picture(inUnits(centre), pass),
      judge: ({ plan, outcome, corruption }) => ({
        error: outcome.kind === 'value' ? scaledDistance(outcome.estimate, truth, spread) : null,
        promised: plan.expectedError(corruption).total,
      }),
    };
  }

  /** Every n-th row, so that both kinds are as frequent as they are. */
  #picture(centre: readonly number[], { kept, reach }: SpectralPass): RowPicture {
    const { honest, hostile } = this;
    const step = Math.ceil(kept.length / picturedMax);
    const rows: PicturedRow[] = [];
    for (let i = 0; i < kept.length; i += step) {
      const values = honest[i] ?? hostile[i - honest.length]!;
      rows.push({ values: [...values], isHostile: i >= honest.length, isKept: kept[i] === 1 });
    }
    const leftOut = (marks: Uint8Array): number => marks.filter((mark) => mark === 0).length;
    return {
      rows, centre, reach,
      leftOut: {
        honest: leftOut(kept.subarray(0, honest.length)),
        hostile: leftOut(kept.subarray(honest.length)),
      },
    };
  }
}

function meanOf(rows: readonly Float64Array[], columns: number): number[] {
  const sums = Array<number>(columns).fill(0);
  for (const row of rows) for (let j = 0; j < columns; j++) sums[j]! += row[j]! / rows.length;
  return sums;
}

/** Euclidean distance, with each column divided by its spread. */
export function scaledDistance(
  left: readonly number[], right: readonly number[], spread: readonly number[],
): number {
  return Math.hypot(...left.map((value, j) => (value - right[j]!) / spread[j]!));
}
