import type { Released, Sensitive } from '../../src/base/brands.js';
import {
  exponentialEvent, gaussianThresholdEvent,
} from '../../src/privacy/accounting/calibration.js';
import type {
  ExponentialEvent, GaussianThresholdEvent,
} from '../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';

/**
 * Private selection with a promise: the exponential mechanism picks a candidate, and a threshold
 * test shows it only if its score reaches the floor.
 *
 * Claim: (epsilon^2 / 32 + epsilon^2 / 8, delta) in the ledger. A candidate that is returned has a
 * score of at least `floor`, but for a probability that the charged delta bounds.
 * Why: the choice is epsilon/2-DP (epsilon^2 / 32 by bounded range). Given the chosen index, which
 * is public from then on, its score has the same sensitivity, and the test with rho = (epsilon/2)^2
 * / 2 and delta is mechanisms/threshold.
 * Source: after Kothari, Manurangsi, Velingker 2022, theorem 3.34.
 */
export interface SelectionOptions {
  readonly cohort: string;
  readonly candidates: number;
  /** No score changes by more than this between neighbours; the same for all candidates. */
  readonly sensitivity: number;
  readonly epsilon: number;
  readonly delta: number;
  readonly floor: number;
  /**
   * Grid step, a power of two, that every score is a multiple of, when there is one (1 for counts).
   */
  readonly grid?: number;
  /** Prefix of the events' names; default "selection". */
  readonly name?: string;
}

/** The events `<name>/choice` and `<name>/test`. */
export function selectionEvents(
  options: SelectionOptions,
): readonly [ExponentialEvent, GaussianThresholdEvent] {
  const { cohort, candidates, sensitivity, delta, floor, name = 'selection' } = options;
  const epsilon = options.epsilon / 2;
  return [
    exponentialEvent({ name: `${name}/choice`, cohort, candidates, sensitivity, epsilon }),
    gaussianThresholdEvent({
      name: `${name}/test`,
      cohort,
      sensitivity,
      rho: epsilon ** 2 / 2,
      delta,
      floor,
      ...(options.grid === undefined ? {} : { grid: options.grid }),
    }),
  ];
}

/** `failed`: the winner's score did not clear the floor by enough. */
export type Selection =
  { readonly kind: 'selected'; readonly index: number } | { readonly kind: 'failed' };

/** Draws with the events of `selectionEvents`. `scores`: finite, one per candidate. */
export function privateSelection(
  mechanisms: Mechanisms,
  scores: Sensitive<Float64Array>,
  name = 'selection',
): Released<Selection> {
  const chosen = mechanisms.exponential(`${name}/choice`, scores);
  const index = chosen.value;
  const passed = mechanisms.threshold(`${name}/test`, scores.map((all) => all[index]!));
  return passed.map((yes) => (yes ? { kind: 'selected', index } : { kind: 'failed' }));
}
