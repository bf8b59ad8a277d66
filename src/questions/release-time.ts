import type { PeopleFacts } from '../base/people.js';
import type { Infeasible, PlannedWork } from '../estimators/contract/estimator.js';
import type { MechanismEvent } from '../privacy/accounting/events.js';
import { leastOfKey, showsKeys } from '../privacy/mechanisms/bounds.js';
import { keyDrawsAhead } from '../privacy/mechanisms/supply.js';

/** A bound in public numbers on the work of a release with the keys that a question discovers. */
export interface KeysWork {
  /** Keys of all people: a key that several people have counts for each of them. */
  readonly keys: number;
  /** The most bytes of one key. */
  readonly keyBytes: number;
  /** Noise values, drawn ahead or at the release. */
  readonly draws: number;
}

/** Multiplications that a slow core does in a millisecond. */
const productsPerMs = 500_000;
/**
 * Multiplications for the eigenvalues between two passes, as a multiple of (number of columns)^3.
 */
const eigenProducts = 75;
/**
 * The planned time of a core for a key, for each byte of it and for a noise value, in
 * milliseconds. Measured, in time of the processor for each key, on two cores of 2.5 GHz that
 * twenty other processes kept busy: a count of 100,000 and 400,000 keys takes 3 to 4 us with 8
 * bytes, 4 to 6 with 64, and 10 to 11 with 255; a sum takes as much. The plan has 13, 22 and 50
 * for them. The first 50,000 keys after a start take 11 to 14.
 */
const [msPerKey, msPerKeyByte, msPerDraw] = [0.01, 0.000_15, 0.002];

/**
 * The work with the keys of one question, at most.
 *
 * Why: a contributor has at most K keys that count (`groupsMax`, and one for each row), so P people
 * have at most P K, whatever they send. Each may wait for the close to get its place. A draw is
 * made for a known key, and for a key that has at least t contributors (the prefilter), of which
 * there are at most P K / t; each has one for its count and one for each sum. What is drawn ahead
 * may not have been drawn before the close. So one person may add K draws to a release, and the
 * planned time has room for those of all P.
 * @param question.shown - the most keys that are shown, and so the most that are known.
 */
export function keysWorkOf(
  question: {
    readonly groupsMax: number; readonly keyBytes: number; readonly shown: number;
    readonly events: readonly MechanismEvent[];
  }, rowsMax: number, peopleMax: number,
): KeysWork {
  const { groupsMax, keyBytes, shown, events } = question;
  const keys = peopleMax * Math.min(rowsMax, groupsMax);
  const draws = events.filter(showsKeys).reduce((sum, event) => {
    const passing = event.kind === 'group-weights' ? keys : Math.floor(keys / leastOfKey(event));
    const ahead = keyDrawsAhead(event);
    const each = event.kind === 'group-sums' ? 1 + event.values : 1;
    return sum + (passing + shown) * each + ahead.reduce((all, values) => all + values);
  }, 0);
  return { keys, keyBytes, draws };
}

/** How long some work of a release takes on a slow core, at most, in milliseconds. */
export function workMs(work: readonly (PlannedWork | KeysWork)[]): number {
  return work.reduce((sum, each) => {
    if ('keys' in each) {
      const { keys, keyBytes, draws } = each;
      return sum + keys * (msPerKey + keyBytes * msPerKeyByte) + draws * msPerDraw;
    }
    const { passes, rows, columns } = each;
    const square = columns * columns;
    const products = passes * square * (2 * rows + eigenProducts * columns);
    return sum + products / productsPerMs;
  }, 0);
}

/**
 * Why work of so many milliseconds has no planned time; null where it has one. The longest is half
 * an epoch, or a minute if epochs close on a count. A longer one would delay the releases that
 * follow. The other half is for what a release leaves to do, such as automatic exclusion.
 * @param people - whose keys are the work. Absent: it is passes over the rows.
 */
export function lackOfTime(
  needMs: number, epoch: NonNullable<PeopleFacts['epoch']>, people?: number,
): Pick<Infeasible, 'reason' | 'remedy'> | null {
  const mostMs = 'everyMs' in epoch ? epoch.everyMs / 2 : 60_000;
  if (needMs <= mostMs) return null;
  const cause = people === undefined ? 'the passes over the rows'
    : `the groups of ${people} people, the most that an epoch takes,`;
  const longer = 'everyMs' in epoch ? 'longer epochs' : 'epochs that close on time';
  return {
    reason: `${cause} may take ${Math.ceil(needMs)} ms of a release, and its planned time is `
      + `${mostMs} ms at most${'everyMs' in epoch ? ', half an epoch' : ''}`,
    remedy: people === undefined ? `${longer}, fewer columns or a smaller cohort`
      : `a smaller groupsMax or peopleMax (16 times the cohort, where it is left out), or ${longer}`,
  };
}
