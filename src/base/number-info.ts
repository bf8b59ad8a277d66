import type { ParameterValues } from './facts.js';

/**
 * The description of one number of an answer: its kind, what it is about, and the values that are
 * possible. Pages, commands, exports and logs read it, and know no estimator.
 * @example
 * import { describeAnswer } from 'keelson/client/words';
 *
 * const asked = {
 *   estimator: 'quantile', columns: ['delay'], columnWords: [{ unit: 'minutes' }],
 *   parameters: { range: [0, 60], probabilities: [0.5] },
 * };
 * const [median] = describeAnswer(asked);
 * if (median?.kind === 'quantile') console.log(median.column, median.probability);   // delay 0.5
 * console.log(median?.unit, median?.least, median?.most);   // minutes 0 60
 */
export type NumberInfo = NumberFacts & NumberKind;

/** The facts that every description may state besides its kind. */
export interface NumberFacts {
  /** The group that it is about, where an answer is split: a part for each column of `by`. */
  readonly group?: readonly string[];
  /** The unit of the number, such as `minutes`. Absent: none is known. */
  readonly unit?: string;
  /**
   * The smallest value that would be possible without noise, which may lead below it. Absent: any
   * value.
   */
  readonly least?: number;
  /** The largest value that would be possible without noise. Absent: any value. */
  readonly most?: number;
}

/** Values on one side of a public threshold. `is`: of true or false, this side is that value. */
export type ThresholdSide =
  | { readonly atLeast: number; readonly is?: boolean }
  | { readonly below: number; readonly is?: boolean };

/**
 * A bin of values, `from` its lower end up to the next one. An end that is absent is open.
 * `name`: the value of a category, or true or false, that the bin counts. The ends are then those
 * of its place among them.
 * `found`: a release finds the bin, and this is its place among those found, from 1. The ends are
 * then those of the outcome, and absent without one or where no bin was found.
 */
export interface BinInfo {
  readonly from?: number;
  readonly below?: number;
  readonly name?: string;
  readonly found?: number;
}

/**
 * The kinds of numbers. `column` is the name of the column in question.
 *
 * - `count`: contributors; with a side, those whose value is on it.
 * - `groups`: how many groups contributors have among them.
 * - `share`: the fraction of the contributors whose value is on a side.
 * - `bin`: contributors with a value in the bin. `bin-start`: the lower end of a bin found.
 * - `below`: contributors with a value below the edge; without an edge, all of them.
 * - `quantile`: the value that this fraction of the contributors is below.
 * - `total`: the sum over contributors of a value within `each`, if bounds are known. `isFound`:
 *   the cap under which values are added up is found by the release, and is at most this. What is
 *   seen above it, up to this, is in the total.
 * - `ratio`: the total of one column over that of another.
 * - `mean`, `median`, `variance`, `covariance`: of the column, or of two. In an answer that has
 *   several components, `component` is the place of one, from 1.
 * - `deviation`, `weight`: the standard deviation of a component, and its fraction.
 * - `projector`, `rank`: an entry of the orthogonal projector onto a subspace, and its dimensions.
 * - `moment`: the central moment of a product of columns, with repetition.
 * - `skewness`, `excess-kurtosis`: along the column, or along the public direction of this place,
 *   from 1.
 * - `choice`: the place in the public list of what fits best, from 0.
 * - `other`: nothing is known but the column, or the part of the answer and the place there,
 *   from 1.
 */
export type NumberKind =
  | { readonly kind: 'count'; readonly column?: string; readonly side?: ThresholdSide }
  | { readonly kind: 'groups' }
  | { readonly kind: 'share'; readonly column: string; readonly side: ThresholdSide }
  | { readonly kind: 'bin'; readonly column: string; readonly bin: BinInfo }
  | { readonly kind: 'bin-start'; readonly column: string; readonly bin: BinInfo }
  | { readonly kind: 'below'; readonly column: string; readonly edge?: number }
  | { readonly kind: 'quantile'; readonly column: string; readonly probability: number }
  | {
    readonly kind: 'total'; readonly column: string; readonly each?: readonly [number, number];
    readonly isFound?: true;
  }
  | { readonly kind: 'ratio'; readonly column: string; readonly per: string }
  | { readonly kind: 'mean'; readonly column: string; readonly component?: number }
  | { readonly kind: 'variance'; readonly column: string; readonly component?: number }
  | { readonly kind: 'median'; readonly column: string }
  | {
    readonly kind: 'covariance'; readonly column: string; readonly other: string;
    readonly component?: number;
  }
  | { readonly kind: 'deviation'; readonly column: string; readonly component: number }
  | { readonly kind: 'weight'; readonly component: number }
  | { readonly kind: 'projector'; readonly column: string; readonly other: string }
  | { readonly kind: 'rank' }
  | { readonly kind: 'moment'; readonly columns: readonly string[] }
  | { readonly kind: 'skewness'; readonly column?: string; readonly direction?: number }
  | { readonly kind: 'excess-kurtosis'; readonly column?: string; readonly direction?: number }
  | { readonly kind: 'choice'; readonly among: readonly unknown[] }
  | {
    readonly kind: 'other'; readonly column?: string; readonly part?: string;
    readonly place: number; readonly of: number;
  };

/** A column as descriptions need it: after the rows of a contributor became one. */
export interface ColumnInfo {
  readonly name: string;
  readonly unit?: string;
  /** The possible values, where public facts bound them. */
  readonly least?: number;
  readonly most?: number;
  /** The names of the values 0, 1, 2 ... of a category, or of true and false. */
  readonly names?: readonly string[];
  /** The column is true or false. */
  readonly isBoolean?: true;
}

/**
 * Describes the numbers of an answer in their order; of an answer that is split, those of each
 * group in turn. Pure.
 * @param parameters - as `parseParameters` returned them.
 * @param outcome - the answer, for what only a release can tell, such as the bins that it found.
 */
export type Describe = (
  parameters: ParameterValues, columns: readonly ColumnInfo[],
  outcome?: { readonly estimate: readonly number[] },
) => readonly NumberInfo[];
