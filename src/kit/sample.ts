import { utf8 } from '../base/bytes.js';
import { ln } from '../base/elementary.js';
import { assignmentHashBytes } from '../estimators/summaries/assignment.js';
import { seededRandom } from '../random/work.js';

/** Made-up data that a seed repeats. Never noise. */
export interface SampleData {
  /** A number in [0, 1). */
  uniform(): number;
  /** A number with mean 0 and standard deviation 1. */
  normal(): number;
  /** So many normal numbers. */
  normals(count: number): Float64Array;
  /** A whole number in [0, `below`). */
  below(below: number): number;
}

/**
 * An example of honest rows, for the compliance suite. Everything it says is in the units of the
 * data.
 */
export interface ComplianceSample {
  /** Parameters as a program gives them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Columns of a row. */
  readonly dimension: number;
  /** Contributors of a release. */
  readonly cohort: number;
  /** One unit of the plan's errors: a standard deviation of honest rows, if they are in these. */
  readonly unit: number;
  /** A row of one honest contributor. */
  honest(data: SampleData): Float64Array;
  /**
   * The answer for honest rows without noise.
   * @param rows - those of this release, for answers that are about them.
   */
  truth(dimension: number, rows: readonly Float64Array[]): readonly number[];
  /** True if adding a constant to every row adds it to the answer. */
  readonly location: boolean;
  /**
   * Counts: nobody is an answer like any other, so there is a plan for any cohort, and no refusal.
   */
  readonly answersAnyCohort?: true;
  /** So few contributors are too few for a plan. Default 50. */
  readonly hopelessCohort?: number;
  /**
   * The answer is one of a few exact ones, without noise: no error of its own, and the same from
   * every seed.
   */
  readonly exact?: true;
  /** A release takes a second: the cases that make several count as slow. */
  readonly isLarge?: true;
  /**
   * The answer is one number with normal noise, which is shared among those who came. The mean of
   * few squared errors then varies much, so more releases are made. An estimator that errs exactly
   * as it says fails a check with the chance of chi-squared: 3e-7 with 100 degrees of freedom below
   * 44.4 or above 225, and 3e-8 with 250 above 390.6, where half of the cohort doubles the error.
   */
  readonly isOneNumber?: true;
  /** Releases for the error on honest rows, where few of them err much more. Default 16. */
  readonly honestRounds?: number;
}

/** Made-up data, and what the suite needs besides. */
export interface SeededData extends SampleData {
  assignmentHash(): Uint8Array;
}

export function seededData(seed: string): SeededData {
  const work = seededRandom(utf8(seed));
  const uniform = (): number => work.uniform();
  const normal = (): number =>
    Math.sqrt(-2 * ln(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    normal,
    normals: (count) => Float64Array.from({ length: count }, normal),
    below: (below) => Math.floor(uniform() * below),
    assignmentHash() {
      const bytes = new Uint8Array(assignmentHashBytes);
      work.fill(bytes);
      return bytes;
    },
  };
}

/** The same items in another order. */
export function shuffled<Item>(items: readonly Item[], data: SampleData): readonly Item[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = data.below(i + 1);
    [copy[i], copy[j]] = [copy[j]!, copy[i]!];
  }
  return copy;
}
