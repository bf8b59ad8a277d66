import { ln } from '../../base/elementary.js';
import { normalUpperTail } from '../../numerics/normal.js';
import type { GaussianThresholdEvent } from '../../privacy/accounting/events.js';
import {
  keepingSteps, keyKeepingSteps, leastOfKey, showsKeys, thresholdSteps,
} from '../../privacy/mechanisms/bounds.js';
import type {
  FoundKeys, KeptBin, KeptKey, KeptSums, PlaceTable, Scores,
} from '../../privacy/mechanisms/contract.js';
import { runsOf } from '../../privacy/mechanisms/exponential.js';
import { leadOf } from '../../privacy/mechanisms/mode.js';
import type { ObservedCall } from '../../privacy/mechanisms/observed.js';
import { scoreAt, sharedRuns } from '../../privacy/mechanisms/score-runs.js';

type Bins = readonly ReadonlyMap<number, number>[];
type Contents = ObservedCall['contents'];

/**
 * The privacy loss of one call: log P(released | left) - log P(released | right), where the
 * contents of the call are given. Infinity if the right contents cannot release the value.
 *
 * Why: noise has the law that its event states. test/audit/exact/walk shows this of the samplers.
 * The logarithms are computed in doubles. A sum over the tail of discrete Gaussian noise is
 * replaced by an integral where the deviation is above 64 steps; its relative error is below 1e-3.
 * @param left - a call whose contents give the upper probability; its event is that of both.
 * @returns null for masks: their law is not computed here.
 * Cost: O(entries); for histograms O(occupied bins).
 */
export function callLoss(left: ObservedCall, right: Contents, released: unknown): number | null {
  const { event } = left;
  const [one] = left.contents;
  const [other] = right;
  switch (event.kind) {
    case 'gaussian':
      return squares(one as Float64Array, other as Float64Array, released as Float64Array,
        event.grid) / (2 * event.sigma ** 2);
    case 'symmetric-gaussian':
      // An entry off the diagonal is counted twice, and its variance is half as large.
      return squares(one as Float64Array, other as Float64Array, released as Float64Array,
        event.grid, event.dimension) / (2 * event.sigma ** 2);
    case 'laplace': {
      const values = released as Float64Array;
      return values.reduce((sum, value, i) => sum
        + Math.abs(value - onGrid((other as Float64Array)[i]!, event.grid))
        - Math.abs(value - onGrid((one as Float64Array)[i]!, event.grid)), 0) / event.scale;
    }
    case 'gaussian-threshold':
      return left.method === 'mode'
        ? modeLoss(event, one as readonly string[], other as readonly string[], released)
        : thresholdLoss(event, one as number, other as number, released === true);
    case 'gaussian-histogram':
      return (one as Bins).reduce((sum, bins, i) => sum + countsLoss(
        { ...event, least: 1, keeping: Number(keepingSteps(event)) }, bins, (other as Bins)[i]!,
        new Map((released as readonly (readonly KeptBin[])[])[i]!
          .map(({ bin, noisyCount }) => [bin, noisyCount])),
      ), 0);
    case 'group-histogram':
    case 'group-weights':
    case 'group-sums':
      return keysLoss(left, right, released as readonly KeptKey[]);
    case 'exponential': {
      const rate = event.epsilon / (2 * event.sensitivity);
      const chosen = released as number;
      return logShare(one as Scores, chosen, rate)
        - logShare(other as Scores, chosen, rate);
    }
    case 'wishart-mask':
    case 'affine-mask':
      return null;
  }
}

/**
 * The part of a cost in rho that two contents of a call use, where delta pays for nothing: the
 * squared shift over twice the variance. It ranks pairs and scales proposals, and no bound rests on
 * it. Sums of keys and masks count as 0. src/audit/exact/call-cost has exact costs of all.
 */
export function callRho(left: ObservedCall, right: Contents): number {
  const { event } = left;
  const [one, other] = [left.contents[0], right[0]];
  switch (event.kind) {
    case 'gaussian':
    case 'symmetric-gaussian':
      return callLoss(left, right, one) ?? 0;
    case 'laplace':
      return (callLoss(left, right, one) ?? 0) ** 2 / 2;
    case 'exponential': {
      const gaps = sharedRuns(one as Scores, other as Scores)
        .map((run) => run.left - run.right);
      const [most, least] = [Math.max, Math.min].map((extreme) => gaps.reduce((x, y) =>
        extreme(x, y)));
      return ((event.epsilon * (most! - least!)) / (2 * event.sensitivity)) ** 2 / 8;
    }
    case 'gaussian-threshold': {
      const [value, second] = [one, other].map((content) =>
        (typeof content === 'number' ? content : leadOf(content as readonly string[]).lead));
      return Math.min(value!, second!) >= event.floor
        ? (value! - second!) ** 2 / (2 * event.sigma ** 2) : 0;
    }
    case 'gaussian-histogram':
      return (one as Bins).reduce((sum, bins, i) =>
        sum + countsRho(bins, (other as Bins)[i]!, 1), 0) / (2 * event.sigma ** 2);
    case 'group-histogram':
    case 'group-weights':
    case 'group-sums':
      return countsRho(countsByKey(left.contents), countsByKey(right), leastOfKey(event))
        / (2 * event.sigma ** 2);
    case 'wishart-mask':
    case 'affine-mask':
      return 0;
  }
}

/** Squared gaps of counts that both sides may show. */
function countsRho<Key>(
  left: ReadonlyMap<Key, number>, right: ReadonlyMap<Key, number>, least: number,
): number {
  let sum = 0;
  for (const [key, count] of left) {
    const other = right.get(key) ?? 0;
    if (count >= least && other >= least) sum += (count - other) ** 2;
  }
  return sum;
}

/** A value rounded as mechanisms round contents. */
function onGrid(value: number, grid: number): number {
  return Math.round(value / grid) * grid;
}

/**
 * Sum of (value - right)^2 - (value - left)^2.
 * @param matrix - order of a symmetric matrix, of which entries above the diagonal count twice.
 */
function squares(
  left: Float64Array, right: Float64Array, released: Float64Array, grid: number, matrix?: number,
): number {
  let sum = 0;
  for (let at = 0; at < released.length; at++) {
    const [row, column] = matrix === undefined ? [0, 0] : [Math.floor(at / matrix), at % matrix];
    if (row > column) continue;
    const [one, other] = [onGrid(left[at]!, grid), onGrid(right[at]!, grid)];
    if (one === other) continue;
    sum += (row < column ? 2 : 1) * (one - other) * (released[at]! - one + (released[at]! - other));
  }
  return sum;
}

const exactBelow = 64;

/** P(z >= steps) for discrete Gaussian noise of this deviation, in steps. */
export function tailFrom(steps: number, deviation: number): number {
  if (deviation >= exactBelow) return normalUpperTail((steps - 0.5) / deviation);
  const weight = (step: number): number => Math.exp(-(step ** 2) / (2 * deviation ** 2));
  const reach = Math.ceil(40 * deviation);
  let [tail, all] = [0, 0];
  for (let step = -reach; step <= reach; step++) {
    const mass = weight(step);
    all += mass;
    if (step >= steps) tail += mass;
  }
  return tail / all;
}

function logOf(probability: number): number {
  return probability > 0 ? ln(probability) : -Infinity;
}

/** The logarithm of a ratio of two probabilities; 0 where both are 0. */
function logRatio(left: number, right: number): number {
  return left === right ? 0 : logOf(left) - logOf(right);
}

/** The probability that a test passes, or fails. Both are precise where they are small. */
function outcome(event: GaussianThresholdEvent, value: number, isPass: boolean): number {
  const { sigma, grid } = event;
  const needed = Number(thresholdSteps(event)) - Math.floor(value / grid);
  return tailFrom(isPass ? needed : 1 - needed, sigma / grid);
}

function thresholdLoss(
  event: GaussianThresholdEvent, left: number, right: number, isPass: boolean,
): number {
  if (left === right) return 0;
  return logRatio(outcome(event, left, isPass), outcome(event, right, isPass));
}

function modeLoss(
  event: GaussianThresholdEvent, left: readonly string[], right: readonly string[],
  released: unknown,
): number {
  const [one, other] = [leadOf(left), leadOf(right)];
  if (released === null) return thresholdLoss(event, one.lead, other.lead, false);
  if (other.label !== released) return Infinity;
  return thresholdLoss(event, one.lead, other.lead, true);
}

interface CountsLaw {
  readonly sigma: number;
  readonly grid: number;
  /** Counts below it are hidden. */
  readonly least: number;
  /** A noisy count above it is shown. In steps. */
  readonly keeping: number;
}

/** The loss of counts that are shown if they are above a threshold after noise. */
function countsLoss<Key>(
  { sigma, grid, least, keeping }: CountsLaw, left: ReadonlyMap<Key, number>,
  right: ReadonlyMap<Key, number>, kept: ReadonlyMap<Key, number>, known?: ReadonlySet<Key>,
): number {
  const hidden = (count: number): number => (count < least ? 1
    : tailFrom(Math.round(count / grid) - keeping, sigma / grid));
  let loss = 0;
  const addKey = (key: Key): void => {
    const [one, other] = [left.get(key) ?? 0, right.get(key) ?? 0];
    if (one === other) return;
    const noisy = kept.get(key);
    if (noisy === undefined) loss += logRatio(hidden(one), hidden(other));
    else if (known?.has(key) !== true && other < least) loss = Infinity;
    else {
      const gap = (onGrid(one, grid) - onGrid(other, grid));
      loss += gap * (2 * noisy - onGrid(one, grid) - onGrid(other, grid)) / (2 * sigma ** 2);
    }
  };
  for (const key of left.keys()) addKey(key);
  for (const key of right.keys()) if (!left.has(key)) addKey(key);
  return loss;
}

/** Contributors of each key, by the text of the key. */
function countsByKey([content, keys]: Contents): ReadonlyMap<string, number> {
  const counts = 'counts' in (content as object)
    ? (content as PlaceTable).counts : content as ArrayLike<number>;
  return new Map(Array.from(counts, (count, place) =>
    [JSON.stringify((keys as FoundKeys).partsOf(place)), count]));
}

function keysLoss(
  { event, contents }: ObservedCall, right: Contents, released: readonly KeptKey[],
): number | null {
  if (!showsKeys(event)) return null;
  const law = { ...event, least: leastOfKey(event), keeping: Number(keyKeepingSteps(event)) };
  const known = new Set(((contents[2] ?? []) as readonly unknown[]).map((key) =>
    JSON.stringify(key)));
  const kept = new Map(released.map(({ key, noisyCount }) => [JSON.stringify(key), noisyCount]));
  const counts =
    countsLoss(law, countsByKey(contents), countsByKey(right), kept, known);
  if (event.kind !== 'group-sums' || counts === Infinity) return counts;
  const nothing = new Float64Array(event.values);
  const sumsIn = ([table, keys]: Contents, key: readonly string[]): Float64Array => {
    const place = (keys as FoundKeys).find(key);
    const { counts: all, sumsOf } = table as PlaceTable;
    return (all[place] ?? 0) > 0 ? sumsOf(place) : nothing;
  };
  return (released as readonly KeptSums[]).reduce((sum, { key, noisySums }) =>
    sum + squares(sumsIn(contents, key), sumsIn(right, key), noisySums, event.sumsGrid)
      / (2 * event.sumsSigma ** 2), counts);
}

/** The logarithm of the probability of one candidate. */
function logShare(content: Scores, chosen: number, rate: number): number {
  const { lengths, scores } = runsOf(content);
  const best = scores.reduce((most, score, i) =>
    (lengths[i]! > 0 ? Math.max(most, score) : most), -Infinity);
  const all = scores.reduce((sum, score, i) =>
    sum + lengths[i]! * Math.exp(rate * (score - best)), 0);
  return rate * (scoreAt(content, chosen) - best) - ln(all);
}
