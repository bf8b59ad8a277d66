import {
  answerKeys, cellEdges, partsByName, type Nested, type ValueOutcome,
} from '../../client/index.js';
import { exact } from './format.js';
import { keyedOf, type KeyedPicture } from './keys.js';
import { listIn } from './labels.js';
import { chartsMax, intervalOf, type Asked } from './model.js';

type Value = ValueOutcome;

/** One normal of a mixture. */
export interface Component {
  readonly weight: number;
  readonly mean: number;
  readonly deviation: number;
}

/** One normal of a mixture in several columns. */
export interface Cloud {
  readonly weight: number;
  readonly mean: readonly number[];
  /** Row by row. */
  readonly covariance: readonly (readonly number[])[];
}

/** One bar. `from` is null for values below all edges, `to` is null for values above them. */
export interface Bin {
  /** Of a category or boolean: the name that is counted. */
  readonly name?: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly count: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** A square matrix with one number for every two columns. */
export interface MatrixPicture {
  readonly kind: 'matrix';
  readonly name: string;
  /** True for covariances. Otherwise the entries are shares of directions. */
  readonly isCovariance: boolean;
  readonly size: number;
  readonly entries: readonly number[];
  /** Half of the 95 % interval of each entry; null if the release states none. */
  readonly halves: readonly (number | null)[];
  /** Index of the first entry in the estimate. */
  readonly offset: number;
  /** The mean in front of the matrix; null if there is none. */
  readonly centre: readonly number[] | null;
}

/** Noisy numbers of people below each edge, with their band. */
export interface CurvePicture {
  readonly kind: 'curve';
  readonly edges: readonly number[];
  readonly below: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** The noisy number of all, above 0. */
  readonly all: number;
  /** Number of quantiles in front of the counts. */
  readonly quantiles: number;
}

/** What a page can draw of an estimate besides numbers over time. */
export type Picture =
  | KeyedPicture
  | MatrixPicture
  | CurvePicture
  | { readonly kind: 'mixture'; readonly components: readonly Component[] }
  | { readonly kind: 'clouds'; readonly clouds: readonly Cloud[] }
  | { readonly kind: 'bins'; readonly bins: readonly Bin[] }
  | { readonly kind: 'choice'; readonly chosen: number; readonly names: readonly string[] };

/**
 * The picture of an estimate, and how many of the numbers from `numbersOf` are drawn over epochs.
 */
export function pictureOf(
  asked: Asked, outcome: Value,
): { readonly picture: Picture | null; readonly charts: number } {
  const size = outcome.estimate.length;
  const keyed = keyedOf(asked, outcome);
  if (keyed !== null) {
    // Discovered keys are others in each release, and more charts than this do not fit.
    const isOverTime = asked.by?.discover === undefined && size <= chartsMax;
    return { picture: keyed, charts: isOverTime ? size : 0 };
  }
  const picture = mixtureOf(asked, outcome) ?? cloudsOf(asked, outcome) ?? matrixOf(asked, outcome)
    ?? binsOf(asked, outcome) ?? curveOf(asked, outcome) ?? choiceOf(asked, outcome);
  if (picture === null) return { picture, charts: size };
  if (picture.kind === 'curve') return { picture, charts: picture.quantiles };
  // A mean and variances are drawn over time, like other numbers.
  const isOverTime = picture.kind === 'matrix' && picture.isCovariance;
  return { picture, charts: isOverTime ? (picture.centre?.length ?? 0) + picture.size : 0 };
}

/** Whether the answers to a question may be drawn as a strip over time, of bins that stay. */
export function isDistribution({ estimator, by, parameters }: Asked): boolean {
  const { width, probabilities } = parameters;
  if (by !== undefined) return false;
  if (estimator === 'quantile') return Array.isArray(probabilities) && probabilities.length > 1;
  return estimator === 'distribution' || (estimator === 'histogram' && width === undefined);
}

/** The square matrix that an estimate is or contains; null if there is none. */
function matrixOf({ columns }: Asked, outcome: Value): MatrixPicture | null {
  const { estimate, shape, parts } = outcome;
  const size = columns.length;
  const squareAt = (
    offset: number, name: string, centre: readonly number[] | null,
  ): MatrixPicture => {
    const entries = estimate.slice(offset, offset + size * size);
    const halves = entries.map((_, place) => {
      const interval = intervalOf(outcome, offset + place);
      return interval === null ? null : (interval[1] - interval[0]) / 2;
    });
    return {
      kind: 'matrix', name, isCovariance: name === 'covariance', size, entries, halves, offset,
      centre,
    };
  };
  const isSquare = (lengths: readonly number[]): boolean =>
    lengths.length === 2 && lengths[0] === size && lengths[1] === size;
  if (parts === undefined) {
    // For one column, the matrix is a single number.
    if (!isSquare(shape) || size < 2) return null;
    return squareAt(0, 'matrix', null);
  }
  let offset = 0;
  let centre: readonly number[] | null = null;
  for (const part of parts) {
    if (isSquare(part.shape) && size > 1) return squareAt(offset, part.name, centre);
    const length = part.shape.reduce((product, each) => product * each, 1);
    if (offset === 0 && part.shape.length === 1 && length === size) {
      centre = estimate.slice(0, length);
    }
    offset += length;
  }
  return null;
}

function mixtureOf({ estimator }: Asked, outcome: Value): Picture | null {
  const { weights, means, scales } = partsByName(outcome);
  let components: Component[];
  if (isList(weights) && isList(means) && isList(scales)) {
    components = weights.map((weight, k) => ({ weight, mean: means[k]!, deviation: scales[k]! }));
  } else if (estimator === 'mixture-1d' && outcome.shape[1] === 3) {
    const { estimate, shape } = outcome;
    components = Array.from({ length: shape[0]! }, (_, k) =>
      ({ weight: estimate[3 * k]!, mean: estimate[3 * k + 1]!, deviation: estimate[3 * k + 2]! }));
  } else return null;
  // Fewer components than allowed: the others have no weight.
  return {
    kind: 'mixture',
    components: components.filter(({ weight, deviation }) => weight > 0 && deviation > 0),
  };
}

function cloudsOf({ columns }: Asked, outcome: Value): Picture | null {
  const size = columns.length;
  const { weights, means, covariances } = partsByName(outcome);
  const isOfColumns = (list: Nested | undefined): list is readonly Nested[] =>
    Array.isArray(list) && list.length === size;
  if (!isList(weights) || !Array.isArray(means) || !Array.isArray(covariances)) return null;
  const clouds = weights.flatMap((weight, k): Cloud[] => {
    const [mean, covariance] = [
      means[k] as Nested | undefined, covariances[k] as Nested | undefined,
    ];
    if (!isOfColumns(mean) || !isList(mean) || !isOfColumns(covariance)) return [];
    const rows = covariance.filter((row) => isOfColumns(row) && isList(row));
    const isSpread = rows.length === size && rows.every((row, j) => row[j]! > 0);
    return weight > 0 && isSpread ? [{ weight, mean, covariance: rows }] : [];
  });
  return { kind: 'clouds', clouds };
}

function binsOf(asked: Asked, { estimate, shape, interval95 }: Value): Picture | null {
  const { estimator, parameters: { edges, width } } = asked;
  const keys = answerKeys(asked);
  const bar = (from: number | null, to: number | null, place: number): Bin => ({
    ...(keys !== null && { name: keys[place]! }), from, to, count: estimate[place]!,
    low: interval95?.low[place] ?? null, high: interval95?.high[place] ?? null,
  });
  if (estimator !== 'histogram') return null;
  if (isList(edges) && estimate.length === edges.length + 1) {
    return {
      kind: 'bins', bins: estimate.map((_, i) => bar(edges[i - 1] ?? null, edges[i] ?? null, i)),
    };
  }
  if (typeof width !== 'number' || shape[1] !== 2) return null;
  const found = Array.from({ length: shape[0]! }, (_, k) =>
    bar(estimate[2 * k]!, estimate[2 * k]! + width, 2 * k + 1));
  return { kind: 'bins', bins: found.filter(({ count }) => count !== 0)
    .sort((one, two) => one.from! - two.from!) };
}

function curveOf({ estimator, parameters }: Asked, outcome: Value): Picture | null {
  const { quantiles, below } = partsByName(outcome);
  const edges = cellEdges(parameters);
  if (estimator !== 'distribution' || edges === null || edges.length < 2) return null;
  if (!isList(quantiles) || !isList(below) || below.length !== edges.length + 1) return null;
  const all = below.at(-1)!;
  if (!(all > 0)) return null;
  const { low, high } = outcome.interval95 ?? { low: outcome.estimate, high: outcome.estimate };
  const [from, to] = [quantiles.length, quantiles.length + edges.length];
  return {
    kind: 'curve', edges, below: below.slice(0, -1), low: low.slice(from, to),
    high: high.slice(from, to), all, quantiles: quantiles.length,
  };
}

function choiceOf({ estimator, parameters }: Asked, { estimate }: Value): Picture | null {
  const hypotheses = listIn(parameters['hypotheses']);
  if (estimator !== 'select' || hypotheses === null) return null;
  return { kind: 'choice', chosen: estimate[0]!, names: hypotheses.map(hypothesisInWords) };
}

/** `{ normal: { mean: 10, deviation: 40 } }` as `normal, mean 10, deviation 40`. */
function hypothesisInWords(hypothesis: unknown): string {
  if (typeof hypothesis !== 'object' || hypothesis === null) return String(hypothesis);
  return Object.entries(hypothesis).map(([name, facts]) => {
    if (typeof facts !== 'object' || facts === null) return `${name} ${String(facts)}`;
    const said = Object.entries(facts as object).map(([fact, value]) => {
      if (typeof value === 'number') return `${fact} ${exact(value)}`;
      return Array.isArray(value) ? `${value.length} ${fact}` : fact;
    });
    return [name, ...said].join(', ');
  }).join('; ');
}

function isList(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'number');
}
