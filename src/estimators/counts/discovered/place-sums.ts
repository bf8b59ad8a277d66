import { log2 } from '../../../base/elementary.js';
import { assert } from '../../../base/assert.js';
import type { Sensitive } from '../../../base/brands.js';
import type {
  FinishedSummaries, PlaceCounts, PlaceSums, Summary,
} from '../../contract/estimator.js';
import { finishedOf } from '../../contract/finished.js';
import { readState, writerOf, type StateReader } from '../../summaries/codec.js';
import { cohortName } from '../tables/counts.js';
import {
  countedAt, mergedPlaces, noPlaces, placeOfRow, readPlaces, writePlaces, type PlacesState,
} from './places.js';

/** The sums that rows add to, besides the count of their place. */
export interface PlaceSumsOptions {
  /** Entries of a row: the place of its key, and the columns. */
  readonly dimension: number;
  /** Sums of each place. */
  readonly each: number;
  /** Sums over the rows of all places. */
  readonly overall: number;
  /**
   * Adds the whole numbers of a row to the sums of its place, which begin at `at`, and to the
   * overall ones. It reads nothing but the row. Its columns begin at 1.
   */
  add(row: Float64Array, sums: Float64Array, at: number, overall: Float64Array): void;
}

/** Contributors and sums by place. */
export interface PlaceSumsState {
  places: PlacesState;
  /** The sums of `placesPerPiece` places in each, so that growth copies nothing. */
  readonly pieces: Float64Array[];
  readonly overall: Float64Array;
}

/** Sums in a piece, unless one place has more. A power of two. */
const sumsPerPiece = 2 ** 12;

/** Memory that the sums of a place take, in bytes; at most one piece more is not used. */
export function bytesOfSums(each: number): number {
  return 8 * each;
}

/**
 * Counts of contributors and sums of whole numbers by the place of the key. Whole numbers add up
 * exactly in doubles up to 2^53, so nothing depends on the order of rows, and one contributor
 * changes the sums of a place by exactly what it added.
 *
 * A place keeps its sums though its key may never be shown: which keys will be is not known before
 * the last row. So a plan states `bytesOfSums` as `bytesPerKey`, and room for it is reserved with
 * the room for the key.
 */
export function placeSumsSummary(options: PlaceSumsOptions): Summary<PlaceSumsState> {
  const { dimension, each, overall } = options;
  const form = { format: 0x4b_50_53_31, dimension };
  const perPiece = 2 ** Math.max(0, Math.floor(log2(sumsPerPiece / each)));
  const at = (state: PlaceSumsState, place: number): readonly [Float64Array, number] => {
    const piece = Math.floor(place / perPiece);
    const { pieces } = state;
    while (pieces.length <= piece) pieces.push(new Float64Array(perPiece * each));
    return [pieces[piece]!, (place % perPiece) * each];
  };
  const sumsOf = (state: PlaceSumsState, place: number): Float64Array => {
    const [piece, from] = at(state, place);
    return piece.subarray(from, from + each);
  };
  return {
    untagged: true,
    empty: () => ({ places: noPlaces(), pieces: [], overall: new Float64Array(overall) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const place = placeOfRow(row);
      state.places = countedAt(state.places, place);
      options.add(row, ...at(state, place), state.overall);
      return state;
    },
    merge(left, right) {
      left.places = mergedPlaces(left.places, right.places);
      for (let place = 0; place < right.places.size; place++) {
        addTo(sumsOf(left, place), sumsOf(right, place));
      }
      addTo(left.overall, right.overall);
      return left;
    },
    finish: (state) => ({
      kind: 'places',
      counts: state.places.counts.subarray(0, state.places.size),
      sums: { of: (place) => sumsOf(state, place), overall: state.overall },
    }),
    encode(state) {
      const writer = writePlaces(writerOf(form).integer(each).integer(overall), state.places);
      for (let place = 0; place < state.places.size; place++) {
        writer.doubles(sumsOf(state, place));
      }
      return writer.doubles(state.overall).finish();
    },
    decode: (bytes) => readState(bytes, form, (reader) => {
      reader.expect(each, 'number of sums');
      reader.expect(overall, 'number of overall sums');
      const state: PlaceSumsState = {
        places: readPlaces(reader), pieces: [], overall: new Float64Array(overall),
      };
      for (let place = 0; place < state.places.size; place++) {
        sumsOf(state, place).set(wholeSums(reader, each));
      }
      state.overall.set(wholeSums(reader, overall));
      return state;
    }),
  };
}

function addTo(sums: Float64Array, others: Float64Array): void {
  for (let i = 0; i < sums.length; i++) sums[i]! += others[i]!;
}

function wholeSums(reader: StateReader, count: number): Float64Array {
  const sums = reader.doubles(count);
  if (!sums.every(Number.isSafeInteger)) reader.fail('holds a sum that is not a whole number');
  return sums;
}

/** The content of `placeSumsSummary`. */
export interface PlaceSumsTable {
  readonly counts: PlaceCounts;
  readonly sums: PlaceSums;
}

/** The contributors and sums of each place, as `placeSumsSummary` adds them up. */
export function sumsByPlace(summaries: FinishedSummaries): Sensitive<PlaceSumsTable> {
  return finishedOf(summaries, cohortName, 1).map(([only]) => {
    assert(
      only?.kind === 'places' && only.sums !== undefined, 'sums of groups have a summary by place',
    );
    return { counts: only.counts, sums: only.sums };
  });
}
