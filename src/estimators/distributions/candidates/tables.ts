import type { LineDistribution } from './line.js';

/**
 * A distribution function as straight lines between knots, within about 1e-5 of it; 0 before the
 * first, 1 past the last.
 */
export interface LineTable {
  /** Ascending. */
  readonly knots: Float64Array;
  /** From 0 to 1, not descending. */
  readonly masses: Float64Array;
}

/**
 * How far the lines may be off where that is looked for, and what may lie beyond the ends together.
 */
const tolerance = 1e-5;
/**
 * Halvings of one stretch; past them its ends are neighbouring doubles or nearly so, and hold a
 * jump.
 */
const depthMaximum = 200;

/**
 * The table of a public distribution, for private selection: many cheap looks at few exact values.
 * Stretches are halved until the function is a line at three places of each. Privacy rests on the
 * table being a function of the distribution only, not on how near it comes.
 */
export function tableOf({ cdf }: LineDistribution): LineTable {
  let reach = 1e-300;
  while (cdf(reach) - cdf(-reach) < 1 - tolerance && reach < 1e300) reach *= 16;
  const [knots, masses] = [[-reach], [0]];
  const add = (x: number, mass: number): void => {
    knots.push(x);
    masses.push(Math.min(1, Math.max(masses.at(-1)!, mass)));
  };
  const cut = (
    low: number, lowMass: number, high: number, highMass: number, depth: number,
  ): void => {
    const at = (share: number): number => low * (1 - share) + high * share;
    const isLine = highMass - lowMass < tolerance || [0.23, 0.5, 0.71].every((share) =>
      Math.abs(cdf(at(share)) - lowMass - share * (highMass - lowMass)) < tolerance);
    const middle = at(0.5);
    if (isLine || depth === depthMaximum || !(middle > low && middle < high)) {
      add(high, highMass);
      return;
    }
    const mass = cdf(middle);
    cut(low, lowMass, middle, mass, depth + 1);
    cut(middle, mass, high, highMass, depth + 1);
  };
  cut(-reach, 0, reach, 1, 0);
  return { knots: Float64Array.from(knots), masses: Float64Array.from(masses) };
}

/** The mass at most `x`. O(log knots). */
export function massAt({ knots, masses }: LineTable, x: number): number {
  let [low, high] = [0, knots.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (knots[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return between(knots, masses, low, x);
}

/** Writes the masses at ascending points. O(points + knots). */
export function massesAt(
  { knots, masses }: LineTable, points: Float64Array, into: Float64Array,
): void {
  let next = 0;
  for (let i = 0; i < points.length; i++) {
    const x = points[i]!;
    while (next < knots.length && knots[next]! < x) next += 1;
    into[i] = between(knots, masses, next, x);
  }
}

/** @param next - the first knot at or past x. */
function between(knots: Float64Array, masses: Float64Array, next: number, x: number): number {
  if (next === 0) return 0;
  if (next === knots.length) return 1;
  const [low, high] = [knots[next - 1]!, knots[next]!];
  return masses[next - 1]! + (masses[next]! - masses[next - 1]!) * ((x - low) / (high - low));
}

/**
 * Points below which about k / parts of the mass lie, k = 1..parts-1, ascending, doubled ones left
 * out.
 */
export function thresholdsOf({ knots, masses }: LineTable, parts: number): Float64Array {
  const points: number[] = [];
  let next = 1;
  for (let k = 1; k < parts; k++) {
    while (next < masses.length - 1 && masses[next]! < k / parts) next += 1;
    const [low, high] = [masses[next - 1]!, masses[next]!];
    const share = high > low ? Math.min(1, Math.max(0, (k / parts - low) / (high - low))) : 1;
    const point = knots[next - 1]! * (1 - share) + knots[next]! * share;
    if (points.length === 0 || point > points.at(-1)!) points.push(point);
  }
  return Float64Array.from(points);
}
