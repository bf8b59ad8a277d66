import type { Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import type { Released } from '../../src/base/brands.js';
import type { MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { seededNoise } from '../../src/random/insecure.js';

/** One value as a mechanism was given it. */
export interface Recorded {
  readonly event: string;
  readonly content: unknown;
}

/**
 * Real mechanisms that also write down what they were given before noise, so that a test can
 * compare neighbours. The noise depends on the seed only, so that equal released values keep later
 * steps comparable.
 */
export function recordingMechanisms(
  events: readonly MechanismEvent[],
  seed = 'recording',
): { readonly mechanisms: Mechanisms; readonly recorded: readonly Recorded[] } {
  const inner = createMechanisms(events, seededNoise(seed));
  const recorded: Recorded[] = [];
  const note = <T, R, More extends readonly unknown[]>(
    call: (event: string, value: Sensitive<T>, ...more: More) => Released<R>,
  ) =>
    (event: string, value: Sensitive<T>, ...more: More): Released<R> => {
      recorded.push({ event, content: openSensitive(value) });
      return call(event, value, ...more);
    };
  return {
    recorded,
    mechanisms: {
      gaussian: note(inner.gaussian.bind(inner)),
      symmetricGaussian: note(inner.symmetricGaussian.bind(inner)),
      laplace: note(inner.laplace.bind(inner)),
      threshold: note(inner.threshold.bind(inner)),
      mode: note(inner.mode.bind(inner)),
      histogram: note(inner.histogram.bind(inner)),
      groupHistogram: note(inner.groupHistogram.bind(inner)),
      groupSums: note(inner.groupSums.bind(inner)),
      exponential: note(inner.exponential.bind(inner)),
      mask: note(inner.mask.bind(inner)),
    },
  };
}
