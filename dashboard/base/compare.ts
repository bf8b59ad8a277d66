import type { Series } from './model.js';
import type { NumberWords } from './number-words.js';

/**
 * Numbers with the same key share one axis. Those without a unit do so only if they have the same
 * name: nothing else shows that they measure the same quantity.
 */
export function axisKey({ name, unit, format }: NumberWords): string {
  return unit === '' && format === 'plain' ? `name ${name}` : `${format} ${unit}`;
}

/** Lists of the elements that have the same key, in the order of the first ones. */
export function groupedBy<T>(list: readonly T[], keyOf: (each: T) => string): readonly T[][] {
  const groups = new Map<string, T[]>();
  for (const each of list) {
    const group = groups.get(keyOf(each));
    if (group === undefined) groups.set(keyOf(each), [each]);
    else group.push(each);
  }
  return [...groups.values()];
}

/** All places on an axis where one of several lines has a release, increasing and each once. */
export function stopsOf(places: readonly (readonly number[])[]): readonly number[] {
  const [first] = places;
  if (first !== undefined && places.every((each) => each === first)) return first;
  return [...new Set(places.flat())].sort((one, two) => one - two);
}

/** The newest release that is not after a place on the axis; -1 if there is none. O(log n). */
export function releaseAt(along: readonly number[], at: number): number {
  let [low, high] = [0, along.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (along[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The first and the last place of all lines; null where there is no release. */
export function spanOf(places: readonly (readonly number[])[]): readonly [number, number] | null {
  const known = places.filter((each) => each.length > 0);
  return known.length === 0 ? null
    : [Math.min(...known.map((each) => each[0]!)), Math.max(...known.map((each) => each.at(-1)!))];
}

/** The place of each release of a series on the axis. */
export function alongOf({ epochs, times }: Series, axis: 'time' | 'epoch'): readonly number[] {
  return axis === 'time' ? times : epochs;
}
