import { ln, pow } from '../../../base/elementary.js';
import type { WorkRandom } from '../../../random/source.js';
import type { Box } from './boxes.js';
import { normalOf, standardise, type Normal } from './normals.js';

/** A mixture fitted to boxes. */
export interface Start {
  readonly normals: readonly Normal[];
  /** Half of Bayes's criterion; less is better. */
  readonly misfit: number;
}

const rounds = 40;

interface Part {
  readonly weight: number;
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
}

/** Boxes of one spread, which are seen through the same blur. */
interface Sort {
  readonly spread: Float64Array;
  readonly boxes: readonly Box[];
}

/** Boxes by their spread. */
export function sortsOf(boxes: readonly Box[]): readonly Sort[] {
  const sorts = new Map<string, { spread: Float64Array; boxes: Box[] }>();
  for (const box of boxes) {
    const key = box.spread.join(' ');
    const sort = sorts.get(key) ?? { spread: box.spread, boxes: [] };
    sorts.set(key, sort);
    sort.boxes.push(box);
  }
  return [...sorts.values()];
}

/**
 * Fits a mixture of `parts` normals to the boxes: expectation and maximisation, a box standing for
 * points at its centre that were blurred by its spread. Null when it comes to nothing.
 * Post-processing: it reads released numbers only.
 */
export function fitBoxes(
  sorts: readonly Sort[], smallest: Float64Array, parts: number, work: WorkRandom,
): Start | null {
  const dimension = smallest.length;
  const total = sorts.reduce((sum, { boxes }) =>
    boxes.reduce((all, { mass }) => all + mass, sum), 0);
  let list = startFrom(sorts.flatMap(({ boxes }) => boxes), parts, work);
  let likelihood = -Infinity;
  for (let round = 0; round <= rounds; round++) {
    const step = climb(sorts, list, dimension);
    if (step === null) return null;
    likelihood = step.likelihood;
    if (round === rounds) break;
    list = step.sums.map((sum, k) =>
      partFrom(sum, list[k]!, total, smallest) ?? { ...list[k]!, weight: 1e-6 });
  }
  const normals = list.map(({ weight, mean, covariance }) => normalOf(weight, mean, covariance));
  if (!normals.every((one) => one !== null)) return null;
  const numbers = parts * (1 + dimension + (dimension * (dimension + 1)) / 2) - 1;
  return { normals, misfit: (numbers * ln(total)) / 2 - likelihood };
}

interface Sums {
  mass: number;
  readonly first: Float64Array;
  readonly second: Float64Array;
}

/** One step: what each part explains of the boxes, and the log likelihood before it. */
function climb(
  sorts: readonly Sort[], list: readonly Part[], dimension: number,
): { readonly sums: readonly Sums[]; readonly likelihood: number } | null {
  const sums = list.map((): Sums =>
    ({ mass: 0, first: new Float64Array(dimension), second: new Float64Array(dimension ** 2) }));
  const logs = new Float64Array(list.length);
  const z = new Float64Array(dimension);
  let likelihood = 0;
  for (const { spread, boxes } of sorts) {
    const seen = list.map((part) => seenThrough(part, spread));
    if (!seen.every((one) => one !== null)) return null;
    for (const { centre, mass } of boxes) {
      for (const [k, { blurred, factor }] of seen.entries()) {
        logs[k] = factor - standardise(blurred, centre, 0, z, 0) / 2;
      }
      const most = Math.max(...logs);
      const all = logs.reduce((sum, log) => sum + Math.exp(log - most), 0);
      if (!(all > 0)) return null;
      likelihood += mass * (most + ln(all));
      for (const [k, sum] of sums.entries()) {
        const own = (mass * Math.exp(logs[k]! - most)) / all;
        if (own > 1e-9 * mass) addPoint(sum, own, list[k]!, seen[k]!, centre);
      }
    }
  }
  return { sums, likelihood };
}

interface Seen {
  readonly blurred: Normal;
  readonly factor: number;
  /** Maps (centre - mean) to where the unblurred point is expected, from the mean. */
  readonly gain: Float64Array;
  /** Covariance of that point. */
  readonly left: Float64Array;
}

function seenThrough({ weight, mean, covariance }: Part, spread: Float64Array): Seen | null {
  const d = mean.length;
  const sum = covariance.slice();
  for (let i = 0; i < d; i++) sum[i * d + i]! += spread[i]!;
  const blurred = normalOf(weight, mean, sum);
  if (blurred === null) return null;
  const inverse = inverseOf(blurred.root, d);
  let factor = ln(weight);
  for (let i = 0; i < d; i++) factor -= ln(blurred.root[i * d + i]!);
  const [gain, left] = [new Float64Array(d * d), covariance.slice()];
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) {
      for (let k = 0; k < d; k++) gain[i * d + j]! += covariance[i * d + k]! * inverse[k * d + j]!;
    }
  }
  for (let i = 0; i < d; i++) {
    for (let j = 0; j < d; j++) {
      for (let k = 0; k < d; k++) left[i * d + j]! -= gain[i * d + k]! * covariance[k * d + j]!;
    }
  }
  return { blurred, factor, gain, left };
}

function inverseOf(root: Float64Array, d: number): Float64Array {
  const lower = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    lower[i * d + i] = 1 / root[i * d + i]!;
    for (let j = 0; j < i; j++) {
      let sum = 0;
      for (let k = j; k < i; k++) sum -= root[i * d + k]! * lower[k * d + j]!;
      lower[i * d + j] = sum / root[i * d + i]!;
    }
  }
  return lower.map((_, at) => {
    let sum = 0;
    for (let k = 0;
        k < d; k++) sum += lower[k * d + Math.floor(at / d)]! * lower[k * d + (at % d)]!;
    return sum;
  });
}

/** Moments about the old mean, so that places far from zero cost no digits. */
function addPoint(
  sum: Sums, own: number, { mean }: Part, { gain, left }: Seen, centre: Float64Array,
): void {
  const d = mean.length;
  const moved = new Float64Array(d);
  for (let i = 0; i < d;
      i++) for (let j = 0; j < d; j++) moved[i]! += gain[i * d + j]! * (centre[j]! - mean[j]!);
  sum.mass += own;
  for (let i = 0; i < d; i++) {
    sum.first[i]! += own * moved[i]!;
    for (let j = 0;
        j < d; j++) sum.second[i * d + j]! += own * (moved[i]! * moved[j]! + left[i * d + j]!);
  }
}

/** The part that maximises; null when it explains nothing. */
function partFrom(
  { mass, first, second }: Sums, { mean }: Part, total: number, smallest: Float64Array,
): Part | null {
  if (!(mass > 1e-6 * total)) return null;
  const d = mean.length;
  const shift = first.map((entry) => entry / mass);
  const covariance = second.map((_, at) => {
    const [i, j] = [Math.floor(at / d), at % d];
    const floor = i === j ? (smallest[i]! / 16) ** 2 : 0;
    return (second[at]! + second[j * d + i]!) / (2 * mass) - shift[i]! * shift[j]! + floor;
  });
  return { weight: mass / total, mean: mean.map((entry, j) => entry + shift[j]!), covariance };
}

/**
 * Places drawn by mass, those far from the ones before rather; as wide as the box there, or up to
 * four times.
 */
function startFrom(boxes: readonly Box[], parts: number, work: WorkRandom): readonly Part[] {
  const list: Part[] = [];
  const nearest = new Float64Array(boxes.length).fill(1);
  while (list.length < parts) {
    const chances = boxes.map(({ mass }, b) => mass * nearest[b]!);
    let rest = work.uniform() * chances.reduce((sum, chance) => sum + chance, 0);
    const { centre, spread } = boxes[Math.max(0, chances.findIndex((chance) =>
      (rest -= chance) < 0))]!;
    const d = centre.length;
    const wider = 3 * pow(16, work.uniform());
    const covariance = new Float64Array(d * d);
    for (const [j, variance] of spread.entries()) covariance[j * d + j] = wider * variance;
    list.push({ weight: 1 / parts, mean: centre, covariance });
    for (const [b, box] of boxes.entries()) {
      const square = centre.reduce((sum, entry, j) =>
        sum + (box.centre[j]! - entry) ** 2 / (wider * spread[j]! + box.spread[j]!), 0);
      nearest[b] = Math.min(nearest[b]!, square / (square + 9 * d));
    }
  }
  return list;
}
