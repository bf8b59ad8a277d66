import { assert } from '../../../base/assert.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import { groupSumsEvent } from '../../../privacy/accounting/calibration.js';
import type { GroupSumsEvent } from '../../../privacy/accounting/events.js';
import { shareOf } from '../../../privacy/accounting/target.js';
import type { FoundKeys, KeptSums, Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { shownOf } from '../../../privacy/mechanisms/group-histogram.js';
import type { Infeasible, Plan } from '../../contract/estimator.js';
import { wholeArm } from '../tables/counts.js';
import { halfSteps, stepsPerHalf, type Range } from '../tables/half-ranges.js';
import {
  bytesOfSums, placeSumsSummary, type PlaceSumsOptions, type PlaceSumsTable,
} from './place-sums.js';
import type { DiscoveredFacts } from './places.js';
import { keysOfCountsOnly, showingOf, type Showing } from './showing.js';

/** Which values are added up under discovered keys. */
export interface DiscoveredSumsOptions {
  /** One for each sum, at least one. */
  readonly ranges: readonly Range[];
  /** The value of sum j in a row whose columns begin at `from`: data units, finite. */
  readonly valueOf: (row: ArrayLike<number>, from: number, j: number) => number;
  /** Part of the target's rho. Default: all of it. */
  readonly share?: number;
  /** Counts rows of all keys, by what `countInto` adds. Default: none. */
  readonly overall?: number;
  /** Adds 0 or 1 to each of `overall` counts. */
  readonly countInto?: (row: ArrayLike<number>, from: number, counts: Float64Array) => void;
}

/** Noisy counts and sums of the keys that are shown, and what a plan says of them. */
export interface DiscoveredSums extends Showing<GroupSumsEvent> {
  readonly parts: Pick<Plan, 'arms' | 'findsKeys' | 'bytesPerKey' | 'summary'>;
  /** At most `top` keys, largest noisy count first. Sums are in half widths of their ranges. */
  draw(
    mechanisms: Mechanisms, table: Sensitive<PlaceSumsTable>,
    keys: Sensitive<FoundKeys> | undefined, known: readonly (readonly string[])[] | undefined,
  ): Released<readonly KeptSums[]>;
}

/**
 * How many contributors have which key, for keys that nobody listed, and the sums of s of their
 * values under each, in one draw.
 *
 * Claim. Neighbours: one contributor's rows, of at most K keys, replaced by any such rows or by
 * none, or added. Cost: (rho, delta), delta-approximate zCDP, or the given share of rho.
 * Why: a contributor has one row for each of its keys. The row adds 1 to the count of its key, and
 * to each of its s sums the distance of a value from the middle of its range, in half widths: a
 * whole number of steps of 2^-20 from -1 to 1 (half-ranges), added exactly (place-sums). That is
 * what mechanisms/group-sums asks for. Which K keys a contributor keeps follows from its own rows
 * and its own secret (questions/keys), never from which keys are shown.
 *
 * With the noise of `groupSumsEvent` a sum has the deviation sqrt(2 K s / rho) half widths, and a
 * count sqrt(2 K / rho). A total of values from 0 to c is c / 2 times (sum + count). So its
 * deviation is c sqrt(K (1 + s) / (2 rho)), for s = 1 the c sqrt(K / rho) of a public list.
 */
export function discoveredSums(
  options: DiscoveredSumsOptions, facts: DiscoveredFacts,
): DiscoveredSums | Infeasible {
  if (facts.keys.answer === 'groups') return keysOfCountsOnly;
  const { ranges, share = 1, overall = 0 } = options;
  const { dimension, keys: { groupsMax, prefilter, top } } = facts;
  const each = ranges.length;
  const showing = showingOf(facts, ({ rho, delta }) => groupSumsEvent({
    name: 'keys', cohort: wholeArm.name, groupsMax, prefilter, values: each, delta,
    rho: share === 1 ? rho : shareOf(rho, share), sumsGrid: 1 / stepsPerHalf,
  }));
  if ('kind' in showing) return showing;
  const { event } = showing;
  const add: PlaceSumsOptions['add'] = (row, sums, at, counts) => {
    for (let j = 0; j < each; j++) {
      sums[at + j]! += halfSteps(options.valueOf(row, 1, j), ranges[j]!);
    }
    options.countInto?.(row, 1, counts);
  };
  return {
    ...showing,
    facts: {
      ...showing.facts,
      noiseOfCount: event.sigma,
      noiseOfSumInHalfRanges: event.sumsSigma,
    },
    parts: {
      arms: [wholeArm],
      findsKeys: true,
      bytesPerKey: bytesOfSums(each),
      summary: () => placeSumsSummary({ dimension, each, overall, add }),
    },
    draw(mechanisms, table, keys, known) {
      assert(keys !== undefined, 'a release of discovered groups gets the groups');
      const inHalves = table.map(({ counts, sums }) => ({
        counts, sumsOf: (place: number) => sums.of(place).map((steps) => steps / stepsPerHalf),
      }));
      return mechanisms.groupSums(event.name, inHalves, keys, known)
        .map((kept) => shownOf(kept, top));
    },
  };
}
