import type { RefusedOutcome } from '../../../base/outcome.js';
import { normalUpperQuantile } from '../../../numerics/normal.js';
import { keyKeepingCount, type KeysEvent } from '../../../privacy/mechanisms/bounds.js';
import type { Infeasible, Plan, PrivacyTarget } from '../../contract/estimator.js';
import { infeasible, withoutDelta } from '../../contract/planning.js';
import { hostilePerForgedKey } from './forged.js';
import type { DiscoveredFacts } from './places.js';

/** The refusal of an estimator whose numbers an answer of keys alone would leave out. */
export const keysOfCountsOnly: Infeasible = infeasible(
  'answer: groups shows the groups alone, and only a count has such an answer',
  'ask for a count, or leave answer out',
);

/** A key that the whole cohort has is planned to be shown this often. */
const shownWanted = 0.99;

/** The number of contributors from which a key is shown, and what a plan says about it. */
export interface Showing<Event extends KeysEvent> {
  readonly event: Event;
  /** Half of all keys with this many contributors show. For weights: if each has one key. */
  readonly shownFrom: number;
  /** An assumption of the plan's guarantee. */
  readonly assumption: string;
  readonly facts: Plan['facts'];
}

/**
 * The event of a release that shows discovered keys; infeasible without a delta, and for a cohort
 * so small that a key which all of it has may not show.
 * @param eventOf - of what the target may spend.
 */
export function showingOf<Event extends KeysEvent>(
  { target, cohort, keys: { groupsMax, top, remember } }: DiscoveredFacts,
  eventOf: (target: PrivacyTarget) => Event,
): Showing<Event> | Infeasible {
  const what = 'showing discovered groups';
  if (target.isPure === true) {
    return infeasible(
      `${what} needs a delta, and the budget asks for pure epsilon`,
      'list the groups in by, or take a budget with a delta',
    );
  }
  const refusal = withoutDelta(target, what, 'list the groups in by');
  if (refusal !== null) return refusal;
  const event = eventOf(target);
  const shownFrom = keyKeepingCount(event);
  const cohortNeeded = Math.ceil(shownFrom + event.sigma * normalUpperQuantile(1 - shownWanted));
  if (cohort < cohortNeeded) {
    return infeasible(
      `a group is shown from ${Math.ceil(shownFrom)} contributors on, so that one that all `
      + `${cohort} have may not show`,
      `a cohort of ${cohortNeeded}, a larger epsilon, a smaller groupsMax, or a list of groups, which `
      + 'has no threshold',
      cohortNeeded,
    );
  }
  return {
    event,
    shownFrom,
    assumption: `for accuracy: the groups that matter have well over ${Math.ceil(shownFrom)} `
      + 'contributors each',
    facts: {
      groupsMax,
      keysShownAtMost: top,
      ...(remember !== undefined && { keysRemembered: remember }),
      keysShownFromCount: shownFrom,
      hostileContributorsPerForgedKey: hostilePerForgedKey(event),
    },
  };
}

/** The refusal where no key was kept. */
export function nothingShown(shownFrom: number): RefusedOutcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `no group is shown: half of all groups with ${Math.ceil(shownFrom)} contributors would be. `
      + 'Wait longer, or give the question a larger share or a smaller groupsMax',
  };
}
