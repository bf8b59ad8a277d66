import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type { FinishedSummaries, KeyFacts, StudyFacts, Summary } from '../../contract/estimator.js';
import { onlyStatistic } from '../../contract/finished.js';
import { readState, writerOf } from '../../summaries/codec.js';
import { cohortName } from '../tables/counts.js';

/** Keys that are found among those that contributors send. */
export type DiscoveredKeys = Extract<KeyFacts, { readonly list: 'discovered' }>;

/** The facts of a question that is split by such keys. */
export type DiscoveredFacts = StudyFacts & { readonly keys: DiscoveredKeys };

/** Whether a row counts under its key. Its columns begin at `from`. */
export type IsCounted = (row: ArrayLike<number>, from: number) => boolean;

/** Contributors under each place; places from `size` on have none. */
export interface PlacesState {
  readonly counts: Float64Array;
  readonly size: number;
}

/**
 * Counts of contributors by the place of their key, which is the first entry of a row. A row adds 1
 * to the count of its place, or nothing. The number of places depends on the data, so it stays
 * inside `Sensitive`. Memory: O(places).
 *
 * Two states can be merged or shipped only with the table that gave the places: a place means
 * another key in another table.
 */
export function placesSummary(dimension: number, isCounted: IsCounted): Summary<PlacesState> {
  const form = { format: 0x4b_50_4c_31, dimension };
  return {
    untagged: true,
    empty: () => ({ counts: new Float64Array(0), size: 0 }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const place = row[0]!;
      assert(Number.isSafeInteger(place) && place >= 0, 'a row begins with the place of its key');
      if (!isCounted(row, 1)) return state;
      const grown = withRoom(state, place + 1);
      grown.counts[place]! += 1;
      return grown;
    },
    merge(left, right) {
      const merged = withRoom(left, right.size);
      for (let place = 0; place < right.size; place++) {
        merged.counts[place]! += right.counts[place]!;
      }
      return merged;
    },
    finish({ counts, size }) {
      const values = counts.slice(0, size);
      const count = values.reduce((sum, each) => sum + each, 0);
      return { kind: 'group', statistic: { count, values } };
    },
    encode: ({ counts, size }) =>
      writerOf(form).integer(size).doubles(counts.subarray(0, size)).finish(),
    decode: (bytes) => readState(bytes, form, (reader) => {
      const counts = reader.doubles(reader.integer());
      if (counts.every((count) => Number.isSafeInteger(count) && count >= 0)) {
        return { counts, size: counts.length };
      }
      return reader.fail('holds a count that is not a whole number');
    }),
  };
}

/** The same counts with at least so many places. Room doubles, so a row costs O(1) on average. */
function withRoom(state: PlacesState, size: number): PlacesState {
  if (size <= state.size) return state;
  if (size <= state.counts.length) return { counts: state.counts, size };
  const counts = new Float64Array(Math.max(size, 2 * state.counts.length, 64));
  counts.set(state.counts.subarray(0, state.size));
  return { counts, size };
}

/** The counts of `placesSummary`, by place. */
export function countsByPlace(summaries: FinishedSummaries): Sensitive<Float64Array> {
  return onlyStatistic(summaries, cohortName).map(({ values }) => values);
}
