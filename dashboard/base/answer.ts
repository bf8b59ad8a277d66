import type { ValueOutcome } from '../../client/index.js';
import type { NumberInfo } from '../../client/words.js';
import { describeNumbers } from '../../src/answers/describe.js';
import { intervalOf, shownInterval } from '../../src/answers/intervals.js';
import { exact } from './format.js';
import { keyedOf, type KeyedPicture } from './keys.js';
import { chartsMax, type Asked } from './model.js';

type Value = ValueOutcome;
type Placed = NumberInfo & { readonly place: number };

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
  /** For a category or a boolean: the name that is counted. */
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

/** A drawing of an estimate, for estimates that are more than numbers over time. */
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
  const numbers = describeNumbers(asked, outcome).map((each, place) => ({ ...each, place }));
  const picture = mixtureOf(numbers, outcome) ?? cloudsOf(asked, numbers, outcome)
    ?? matrixOf(asked, numbers, outcome) ?? binsOf(numbers, outcome) ?? curveOf(numbers, outcome)
    ?? choiceOf(numbers, outcome);
  if (picture === null) return { picture, charts: size };
  if (picture.kind === 'curve') return { picture, charts: picture.quantiles };
  // A mean and variances are drawn over time, like other numbers.
  const isOverTime = picture.kind === 'matrix' && picture.isCovariance;
  return { picture, charts: isOverTime ? (picture.centre?.length ?? 0) + picture.size : 0 };
}

/** True if the answers to a question may be drawn as a strip over time, of bins that stay. */
export function isDistribution(asked: Asked): boolean {
  const numbers = describeNumbers(asked);
  if (asked.by !== undefined || numbers.length < 2) return false;
  return numbers.every((number) => number.kind === 'quantile' || number.kind === 'below'
    || (number.kind === 'bin' && number.bin.found === undefined));
}

function ofKind<K extends NumberInfo['kind']>(
  numbers: readonly Placed[], kind: K,
): readonly Extract<Placed, { readonly kind: K }>[] {
  return numbers.filter((number): number is Extract<Placed, { readonly kind: K }> =>
    number.kind === kind);
}

/** The square matrix that an answer is or contains; null if there is none. */
function matrixOf(
  { columns: { length: size } }: Asked, numbers: readonly Placed[], outcome: Value,
): MatrixPicture | null {
  const isCovariance = ofKind(numbers, 'covariance').length > 0;
  const own = numbers.filter(({ kind }) => (isCovariance
    ? kind === 'variance' || kind === 'covariance' : kind === 'projector'));
  // For one column, the matrix is a single number.
  if (size < 2 || own.length !== size * size) return null;
  const means = ofKind(numbers, 'mean');
  const [{ place: offset }] = own as [Placed];
  return {
    kind: 'matrix', isCovariance, size, offset,
    entries: own.map(({ place }) => outcome.estimate[place]!),
    halves: own.map(({ place }) => {
      const interval = intervalOf(outcome, place);
      return interval === null ? null : (interval[1] - interval[0]) / 2;
    }),
    centre: means.length === size ? means.map(({ place }) => outcome.estimate[place]!) : null,
  };
}

function mixtureOf(numbers: readonly Placed[], { estimate }: Value): Picture | null {
  const [weights, means] = [ofKind(numbers, 'weight'), ofKind(numbers, 'mean')];
  const deviations = ofKind(numbers, 'deviation');
  if (deviations.length === 0) return null;
  const components = deviations.map(({ place }, k): Component => ({
    weight: estimate[weights[k]!.place]!, mean: estimate[means[k]!.place]!,
    deviation: estimate[place]!,
  }));
  // Fewer components than allowed: the others have no weight.
  return {
    kind: 'mixture',
    components: components.filter(({ weight, deviation }) => weight > 0 && deviation > 0),
  };
}

function cloudsOf(
  { columns: { length: size } }: Asked, numbers: readonly Placed[], { estimate }: Value,
): Picture | null {
  const weights = ofKind(numbers, 'weight');
  if (weights.length === 0) return null;
  const clouds = weights.flatMap(({ place, component }): Cloud[] => {
    const own = numbers.filter((number) =>
      'component' in number && number.component === component && number.kind !== 'weight');
    const values = own.map((number) => estimate[number.place]!);
    const covariance = Array.from({ length: size }, (_, i) =>
      values.slice(size * (i + 1), size * (i + 2)));
    const weight = estimate[place]!;
    const isSpread = covariance.every((row, j) => row[j]! > 0);
    return weight > 0 && isSpread ? [{ weight, mean: values.slice(0, size), covariance }] : [];
  });
  return { kind: 'clouds', clouds };
}

function binsOf(numbers: readonly Placed[], outcome: Value): Picture | null {
  const { estimate } = outcome;
  const interval = shownInterval(outcome);
  const counts = ofKind(numbers, 'bin');
  if (counts.length === 0) return null;
  const bins = counts.flatMap(({ place, bin: { name, found, from, below } }): Bin[] => {
    if (found !== undefined && from === undefined) return [];
    return [{
      ...(name !== undefined && { name }), from: from ?? null, to: below ?? null,
      count: estimate[place]!, low: interval?.low[place] ?? null,
      high: interval?.high[place] ?? null,
    }];
  });
  const isFound = counts[0]!.bin.found !== undefined;
  return { kind: 'bins', bins: isFound ? bins.sort((one, two) => one.from! - two.from!) : bins };
}

function curveOf(numbers: readonly Placed[], outcome: Value): Picture | null {
  const { estimate } = outcome;
  const interval = shownInterval(outcome);
  const below = ofKind(numbers, 'below');
  const edged = below.filter(({ edge }) => edge !== undefined);
  const total = below.find(({ edge }) => edge === undefined);
  const all = total === undefined ? 0 : estimate[total.place]!;
  if (!(all > 0)) return null;
  const at = (list: readonly number[]): readonly number[] => edged.map(({ place }) => list[place]!);
  return {
    kind: 'curve', edges: edged.map(({ edge }) => edge!), below: at(estimate),
    low: at(interval?.low ?? estimate), high: at(interval?.high ?? estimate), all,
    quantiles: ofKind(numbers, 'quantile').length,
  };
}

function choiceOf(numbers: readonly Placed[], { estimate }: Value): Picture | null {
  const [choice] = ofKind(numbers, 'choice');
  return choice === undefined ? null : {
    kind: 'choice', chosen: estimate[choice.place]!, names: choice.among.map(hypothesisInWords),
  };
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
