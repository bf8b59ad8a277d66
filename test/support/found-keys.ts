import type { FoundKeys } from '../../src/privacy/mechanisms/contract.js';

/** Keys of one part, at the places of the list. They are ordered as texts. */
export function foundKeys(names: readonly string[]): FoundKeys {
  return {
    size: names.length,
    compare: (left, right) => (names[left]! < names[right]! ? -1 : 1),
    find: ([name]) => names.indexOf(name!),
    partsOf: (place) => [names[place]!],
  };
}

/** As many keys, named by their places. */
export function numberedKeys(size: number): FoundKeys {
  return {
    size, compare: (left, right) => left - right, partsOf: (place) => [String(place)],
    find: ([name]) => (Number(name) < size ? Number(name) : -1),
  };
}
