import { InvalidParameterError } from '../../../base/errors.js';
import { checkList, checkObject } from '../../../base/given.js';
import { checkEvents } from '../event-check.js';
import type { MechanismEvent } from '../events.js';
import { ComposedLoss } from './composition.js';
import { deltaByInversion } from './inversion.js';
import { lossOfPiece } from './loss.js';
import { gathered, pieceOf, varianceOf, worstOf, type Repeated } from './pieces.js';

/** One release, or several equal ones. */
export interface ChargedEvents {
  readonly events: readonly MechanismEvent[];
  /** Cohorts that share no contributor, as in `costOfEvents`; all others add up. Default: none. */
  readonly disjoint?: readonly string[];
  /** Default 1. */
  readonly times?: number;
}

/** The privacy loss of many releases together. Neither number is ever below the true value. */
export interface StudyLoss {
  /**
   * The smallest epsilon >= 0 at this delta; Infinity if events may reveal everything with a larger
   * probability.
   */
  epsilon(delta: number): number;
  /** The smallest delta at this epsilon. */
  delta(epsilon: number): number;
}

/**
 * Cells per average standard deviation of a loss. Discretising then adds 3 parts in 10,000 to the
 * variance.
 */
const cellsPerDeviation = 24;
const nothing: StudyLoss = { epsilon: () => 0, delta: () => 0 };

/**
 * The privacy loss of releases whose events were fixed in advance. It composes the loss
 * distributions of their events instead of adding rho. It reports, and decides on the noise of one
 * release alone (`isReleaseWithin`). It does not decide on a budget: if releases are chosen after
 * seeing earlier ones, the proven rule is to add rho and delta (budget.ts).
 *
 * Claim: for neighbours as in events.ts, everything released is (epsilon, delta)-DP. Each event is
 * replaced by a pair of distributions that is at least as easy to distinguish (pieces.ts). Pairs
 * compose. The composition is computed on a grid, with every rounding outwards (loss.ts,
 * composition.ts).
 *
 * If Gaussian noise dominates, the result is below the conversion of rho, by 5 to 15 percent of
 * epsilon. The pair of an exponential mechanism is worse than its rho of epsilon^2 / 8, so if that
 * mechanism dominates, the result may be above. Both are valid, and a report takes the smaller one.
 * @returns null when an event's grid is too coarse for its noise (pieces.ts).
 * @throws InvalidParameterError when an event is malformed or `times` is not an integer of at least
 *   1.
 */
export function lossOfReleases(releases: readonly ChargedEvents[]): StudyLoss | null {
  checkList(releases, 'releases are a list of { events, disjoint }');
  const pieces: Repeated[] = [];
  for (const release of releases) {
    checkObject(release, 'a release is { events, disjoint }');
    const { times = 1 } = release;
    if (!(Number.isSafeInteger(times) && times >= 1)) {
      throw new InvalidParameterError('releases are counted in whole numbers from 1', { times });
    }
    const own = piecesOfRelease(release);
    if (own === null) return null;
    pieces.push(...own.map((entry) => ({ piece: entry.piece, times: entry.times * times })));
  }
  return composedLoss(gathered(pieces));
}

/** The loss of pieces that differ; `times` says how often each of them is drawn. */
function composedLoss(few: readonly Repeated[]): StudyLoss {
  if (few.length === 0) return nothing;
  const copies = few.reduce((sum, { times }) => sum + times, 0);
  const variance = few.reduce((sum, { piece, times }) => sum + times * varianceOf(piece), 0);
  const step = Math.sqrt(variance / copies) / cellsPerDeviation;
  return new ComposedLoss(
    few.map(({ piece, times }) => ({ loss: lossOfPiece(piece, step), times })),
  );
}

/**
 * True if one release is (epsilon, delta)-DP, as far as the composed losses of its events show it.
 * So it may decide on the noise of a release that shares its budget with no other: all its events
 * are fixed before any data. False where an event has no piece, or none is drawn.
 *
 * Both ways to compose are proven (inversion.ts, composition.ts). The first takes a hundredth of
 * the time and is the tighter one.
 */
export function isReleaseWithin(
  release: ChargedEvents, { epsilon, delta }: { readonly epsilon: number; readonly delta: number },
): boolean {
  const pieces = piecesOfRelease(release);
  if (pieces === null || pieces.length === 0) return false;
  const few = gathered(pieces);
  return (deltaByInversion(few, epsilon) ?? composedLoss(few).delta(epsilon)) <= delta;
}

/** The pieces of one release: those of arms that add up, and the worst pieces of disjoint arms. */
function piecesOfRelease({ events, disjoint = [] }: ChargedEvents): readonly Repeated[] | null {
  checkEvents(events);
  const byCohort = new Map<string, Repeated[]>();
  for (const event of events) {
    const piece = pieceOf(event);
    if (piece === null) return null;
    byCohort.set(event.cohort, [...(byCohort.get(event.cohort) ?? []), piece]);
  }
  const apart = [...byCohort].filter(([cohort]) => disjoint.includes(cohort))
    .map(([, pieces]) => pieces);
  const together = [...byCohort].filter(([cohort]) => !disjoint.includes(cohort))
    .flatMap(([, pieces]) => pieces);
  return apart.length === 0 ? together : [...together, ...worstOf(apart)];
}
