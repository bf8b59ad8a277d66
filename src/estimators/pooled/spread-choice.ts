import { columnPlaces } from '../../base/column-places.js';
import type { Outcome } from '../../base/outcome.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { atomEvents, type AtomEvents } from '../../privacy/stages/atoms.js';
import {
  pairingFor, pairsInFullestBin, spreadEvent, type Pairing,
} from '../../privacy/stages/spread.js';
import { widestRange } from '../../privacy/stages/range-centre.js';
import { shareOf } from '../../privacy/accounting/target.js';
import type {
  Infeasible, ParameterValues, PrivacyTarget, StudyFacts,
} from '../contract/estimator.js';
import { columnsText, infeasible } from '../contract/planning.js';
import { optionalNumberOf, rangeOf, spreadOf, type ColumnRange } from '../contract/values.js';
import { countToBeSeen } from './fullest-bin.js';
import { outsideDesign, withoutOutside, type OutsideDesign } from './outside.js';

/** Parts of rho and of delta that finding the spread takes. */
const shares = {
  /** The pairs. */
  pairs: 0.1,
  /**
   * The commonest value. A third of the rows at least have it where pairs show nothing else, so a
   * tenth of what the pairs have keeps it whenever their zero bin was kept.
   */
  value: 0.01,
  /**
   * The distances from it, of rho alone. It finds 1 row in 100 among 20,000 rows, in most releases
   * of 10 such columns, and surely among 50,000.
   */
  octaves: 0.1,
} as const;

/** How the spread is found. */
export interface PrivateSpread {
  /** All that finding it may draw. */
  readonly events: readonly MechanismEvent[];
  readonly pairing: Pairing;
  readonly atoms: AtomEvents;
}

/** How a plan gets its units: given, or found privately for a fifth of the cost. */
export type SpreadChoice =
  | {
    readonly kind: 'given';
    readonly spread: Float64Array;
    /** Public bounds, and how many people are beyond them; null where none were given. */
    readonly outside: OutsideDesign | null;
    /** No spread was given beside the bounds: it is half their width. */
    readonly isBounded: boolean;
    /** The facts, with the target that is left for everything else. */
    readonly facts: StudyFacts;
  }
  /** `facts`: the same. */
  | PrivateSpread & { readonly kind: 'auto'; readonly facts: StudyFacts };

/** Planned share of hostile rows where an estimator does not ask for one. */
export const usualCorruption = 0.05;

/** @param cohort - name of the pooled cohort whose rows tell the spread. */
export function chooseSpread(
  values: ParameterValues, facts: StudyFacts, cohort: string,
): SpreadChoice | Infeasible {
  const spread = spreadOf(values, facts.dimension);
  const range = rangeOf(values);
  if (spread !== 'auto') {
    if (range === null) return { kind: 'given', spread, outside: null, isBounded: false, facts };
    return tooWide(range, spread) ?? givenRange(spread, range, false, facts, cohort);
  }
  if (range !== null) {
    const half = range.high.map((high, j) => high / 2 - range.low[j]! / 2);
    return givenRange(half, range, true, facts, cohort);
  }
  const { target, dimension } = facts;
  if (!(target.rho > 0 && target.delta > 0)) {
    return {
      kind: 'infeasible',
      reason: 'finding the spread needs a positive rho and a positive delta',
      remedy: 'give spread, or ask for (epsilon, delta) with delta > 0',
    };
  }
  const rho = shareOf(target.rho, shares.pairs);
  const delta = shareOf(target.delta, shares.pairs);
  const event = spreadEvent({ cohort, dimension, rho, delta });
  const cohortNeeded = Math.ceil(countToBeSeen(event, dimension) / pairsInFullestBin);
  if (facts.cohort < cohortNeeded) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${columnsText(dimension)} and rho `
        + `${rho.toPrecision(3)} the noise hides the spread`,
      remedy: `give spread, or plan for a cohort of ${cohortNeeded}, fewer columns or a `
        + 'larger epsilon',
      cohortNeeded,
    };
  }
  const corruption = optionalNumberOf(values, 'corruption') ?? usualCorruption;
  const atoms = atomEvents({
    cohort, dimension, delta: shareOf(target.delta, shares.value),
    rho: {
      value: shareOf(target.rho, shares.value), octaves: shareOf(target.rho, shares.octaves),
    },
  });
  return {
    kind: 'auto',
    events: [event, atoms.value, atoms.octaves],
    pairing: pairingFor(facts.cohort, event, corruption),
    atoms,
    facts: { ...facts, target: withoutSpread(target) },
  };
}

function givenRange(
  spread: Float64Array, range: ColumnRange, isBounded: boolean, facts: StudyFacts, cohort: string,
): SpreadChoice {
  const outside = outsideDesign(facts, range, cohort);
  return { kind: 'given', spread, outside, isBounded, facts: withoutOutside(facts) };
}

/** Null unless the range has more cells than counts can be drawn for. */
function tooWide({ low, high }: ColumnRange, spread: Float64Array): Infeasible | null {
  const most = widestRange(spread.length);
  const wide = Array.from(spread.keys()).find((j) =>
    !(high[j]! / spread[j]! - low[j]! / spread[j]! <= most));
  return wide === undefined ? null : infeasible(
    `the range of ${columnPlaces([wide])} spans more than ${most} spreads`,
    'give a narrower range, or leave it out',
  );
}

function withoutSpread(target: PrivacyTarget): PrivacyTarget {
  const { pairs, value, octaves } = shares;
  return {
    ...target,
    rho: shareOf(target.rho, 1 - pairs - value - octaves),
    delta: shareOf(target.delta, 1 - pairs - value),
  };
}

/** The refusal of a release whose spread was not found. */
export function spreadNotFound(facts: StudyFacts, coordinates: readonly number[]): Outcome {
  return {
    kind: 'refused',
    reason: 'spread-not-found',
    text: 'too few contributors came, or too few of them were a similar distance apart or had the '
      + `same value, in ${columnPlaces(coordinates)} to tell the spread. `
      + `Planned for ${facts.cohort} contributors: give spread, or wait for more.`,
  };
}
