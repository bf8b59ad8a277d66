import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type {
  FinishedSummaries, KeyFacts, PlaceCounts, StudyFacts, Summary,
} from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import {
  readState, writerOf, type StateReader, type StateWriter,
} from '../../summaries/codec.js';
import { cohortName } from '../tables/counts.js';

/** Keys that are found among those that contributors send. */
export type DiscoveredKeys = Extract<KeyFacts, { readonly list: 'discovered' }>;

/** The facts of a question that is split by such keys. */
export type DiscoveredFacts = StudyFacts & { readonly keys: DiscoveredKeys };

/** True if a row counts under its key. Its columns begin at `from`. */
export type IsCounted = (row: ArrayLike<number>, from: number) => boolean;

/** The contributors of each place; places from `size` on have none. */
export interface PlacesState {
  /** Contributors. Numbers of 32 bits from the first one on that needs more than 16. */
  readonly counts: PlaceCounts;
  readonly size: number;
}

/**
 * Counts of contributors by the place of their key, which is the first entry of a row. A row adds 1
 * to the count of its place, or nothing. The number of places depends on the data, so it stays
 * inside `Sensitive`. Memory: 2 bytes of a place (4 where a count is above 65,535), and at most as
 * much again.
 *
 * Two states can be merged or shipped only with the table that gave the places: a place means
 * another key in another table.
 */
export function placesSummary(dimension: number, isCounted: IsCounted): Summary<PlacesState> {
  const form = { format: 0x4b_50_4c_31, dimension };
  return {
    untagged: true,
    empty: noPlaces,
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const place = placeOfRow(row);
      return isCounted(row, 1) ? countedAt(state, place) : state;
    },
    merge: mergedPlaces,
    finish: ({ counts, size }) => ({ kind: 'places', counts: counts.subarray(0, size) }),
    encode: (state) => writePlaces(writerOf(form), state).finish(),
    decode: (bytes) => readState(bytes, form, readPlaces),
  };
}

/** A state without contributors. */
export function noPlaces(): PlacesState {
  return { counts: new Uint16Array(0), size: 0 };
}

/** The place of the key of a row. */
export function placeOfRow(row: Float64Array): number {
  const place = row[0]!;
  assert(Number.isSafeInteger(place) && place >= 0, 'a row begins with the place of its group');
  return place;
}

/** The same state with one contributor more at a place. */
export function countedAt(state: PlacesState, place: number): PlacesState {
  const grown = withCounts(withRoom(state, place + 1), (state.counts[place] ?? 0) + 1);
  grown.counts[place]! += 1;
  return grown;
}

/** The contributors of both. */
export function mergedPlaces(left: PlacesState, right: PlacesState): PlacesState {
  let merged = withRoom(left, right.size);
  for (let i = 0; i < right.size; i++) {
    merged = withCounts(merged, merged.counts[i]! + right.counts[i]!);
    merged.counts[i]! += right.counts[i]!;
  }
  return merged;
}

export function writePlaces(writer: StateWriter, { counts, size }: PlacesState): StateWriter {
  return writer.integer(size).doubles(Float64Array.from(counts.subarray(0, size)));
}

/** @throws InvalidParameterError for what `writePlaces` did not write. */
export function readPlaces(reader: StateReader): PlacesState {
  const size = reader.integer();
  const counts = reader.doubles(size);
  if (!counts.every((count) => Number.isInteger(count) && count >= 0 && count < 2 ** 32)) {
    return reader.fail('holds a count that is not a whole number');
  }
  return { counts: Uint32Array.from(counts), size };
}

/** The same state with at least `size` places. Room doubles, so a row costs O(1) on average. */
function withRoom(state: PlacesState, size: number): PlacesState {
  if (size <= state.size) return state;
  if (size <= state.counts.length) return { ...state, size };
  const room = Math.max(size, 2 * state.counts.length, 64);
  const counts = state.counts instanceof Uint16Array
    ? new Uint16Array(room) : new Uint32Array(room);
  counts.set(state.counts.subarray(0, state.size));
  return { counts, size };
}

/** The same state, in which a count can be so large. */
function withCounts(state: PlacesState, count: number): PlacesState {
  return count < 2 ** 16 || state.counts instanceof Uint32Array
    ? state : { ...state, counts: Uint32Array.from(state.counts) };
}

/** The contributors of each place, as `placesSummary` counts them. */
export function countsByPlace(summaries: FinishedSummaries): Sensitive<PlaceCounts> {
  return finishedOf(summaries, cohortName, 1).map(([only]) => {
    assert(only?.kind === 'places', 'a question with discovered groups has a summary by place');
    return only.counts;
  });
}
