import type { Mechanisms } from './contract.js';

/**
 * Mechanisms that call an event by another name: a part of a plan whose events were renamed draws
 * through them as before.
 * @param nameOf - from the name that the part uses to the name that was charged.
 */
export function renamed(inner: Mechanisms, nameOf: (event: string) => string): Mechanisms {
  return {
    gaussian: (event, value) => inner.gaussian(nameOf(event), value),
    symmetricGaussian: (event, value) => inner.symmetricGaussian(nameOf(event), value),
    laplace: (event, value) => inner.laplace(nameOf(event), value),
    threshold: (event, value) => inner.threshold(nameOf(event), value),
    histogram: (event, counts) => inner.histogram(nameOf(event), counts),
    groupHistogram: (event, counts, keys, known) =>
      inner.groupHistogram(nameOf(event), counts, keys, known),
    groupSums: (event, table, keys, known) => inner.groupSums(nameOf(event), table, keys, known),
    mode: (event, labels) => inner.mode(nameOf(event), labels),
    mask: (event, value) => inner.mask(nameOf(event), value),
    exponential: (event, scores) => inner.exponential(nameOf(event), scores),
  };
}
