import type { Outcome } from '../../base/outcome.js';
import type { GaussianHistogramEvent } from '../../privacy/accounting/events.js';
import {
  pairingFor, pairsInFullestBin, scaleEvent, type Pairing,
} from '../../privacy/stages/scale.js';
import { shareOf } from '../../privacy/accounting/target.js';
import type {
  Infeasible, ParameterValues, PrivacyTarget, StudyFacts,
} from '../contract/estimator.js';
import { optionalNumberOf, scaleOf } from '../contract/values.js';
import { countToBeSeen } from './fullest-bin.js';

/** Part of rho and of delta that finding the scale takes. */
const scaleShare = 0.1;

/** How a plan gets its units: given, or found privately for a tenth of the cost. */
export type ScaleChoice =
  | { readonly kind: 'given'; readonly scale: Float64Array; readonly facts: StudyFacts }
  /** `facts`: what is left to spend on everything else. */
  | {
    readonly kind: 'auto';
    readonly event: GaussianHistogramEvent;
    readonly pairing: Pairing;
    readonly facts: StudyFacts;
  };

/** Planned share of hostile rows where an estimator does not ask for one. */
const usualCorruption = 0.05;

/** @param cohort - name of the pooled cohort whose rows tell the scale. */
export function chooseScale(
  values: ParameterValues, facts: StudyFacts, cohort: string,
): ScaleChoice | Infeasible {
  const scale = scaleOf(values, facts.dimension);
  if (scale !== 'auto') return { kind: 'given', scale, facts };
  const { target, dimension } = facts;
  if (!(target.rho > 0 && target.delta > 0)) {
    return {
      kind: 'infeasible',
      reason: 'finding the scale needs a positive rho and a positive delta',
      remedy: 'give scale, or ask for (epsilon, delta) with delta > 0',
    };
  }
  const rho = shareOf(target.rho, scaleShare);
  const event = scaleEvent({ cohort, dimension, rho, delta: shareOf(target.delta, scaleShare) });
  const cohortNeeded = Math.ceil(countToBeSeen(event, dimension) / pairsInFullestBin);
  if (facts.cohort < cohortNeeded) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${dimension} columns and rho `
        + `${rho.toPrecision(3)} the noise hides the scale`,
      remedy: `give scale, or plan for a cohort of ${cohortNeeded}, fewer columns or a `
        + 'larger epsilon',
      cohortNeeded,
    };
  }
  const corruption = optionalNumberOf(values, 'corruption') ?? usualCorruption;
  const pairing = pairingFor(facts.cohort, event, corruption);
  return { kind: 'auto', event, pairing, facts: { ...facts, target: withoutScale(target) } };
}

function withoutScale(target: PrivacyTarget): PrivacyTarget {
  const left = 1 - scaleShare;
  return { ...target, rho: shareOf(target.rho, left), delta: shareOf(target.delta, left) };
}


/** The refusal of a release whose scale was not found. */
export function scaleNotFound(facts: StudyFacts, coordinates: readonly number[]): Outcome {
  return {
    kind: 'refused',
    reason: 'scale-not-found',
    text: 'too few contributors were a similar distance apart in column '
      + `${coordinates.map((j) => j + 1).join(', ')} (counted from 1) to tell the scale. `
      + `Planned for ${facts.cohort} contributors: give scale, or wait for more.`,
  };
}
