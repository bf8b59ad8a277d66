import { assert } from '../../../base/assert.js';
import type { Finished, Summary } from '../../contract/estimator.js';
import {
  readState, writerOf, type StateReader, type StateWriter,
} from '../../summaries/codec.js';
import { Echelon } from './echelon.js';

/**
 * A row with an entry of more steps than this is ignored, which plans say (`entriesUpTo`). Up to
 * here doubles hold every whole number. This also bounds the length of the integers.
 */
export const stepsMax = 2 ** 53;
const format = 0x4b_53_50_31;
/**
 * First character of the label of a group without a subspace; no subspace's label starts with it.
 */
const silent = '!';

/** The span of a group's rows. */
export interface SpanState {
  count: number;
  /**
   * Affine form: the first row; the others are differences from it. Any row gives the same span.
   */
  origin: readonly bigint[] | null;
  readonly echelon: Echelon;
}

/** True if a label names no subspace. */
export function isSilent(label: string): boolean {
  return label.startsWith(silent);
}

/**
 * The span of a group in O(d rank) integers, one pass; its label is the same for every order of
 * rows.
 *
 * @param unit - data units of one integer step; entries are rounded to whole steps.
 * @param form - `linear`: the span of the rows; `affine`: of their differences.
 */
export function spanSummary(
  dimension: number, unit: number, form: 'linear' | 'affine',
): Summary<SpanState> {
  const add = (state: SpanState, row: readonly bigint[]): SpanState => {
    state.count += 1;
    if (form === 'linear') state.echelon.add(row);
    else if (state.origin === null) state.origin = row;
    else state.echelon.add(minus(row, state.origin));
    return state;
  };
  const copy = ({ count, origin, echelon }: SpanState): SpanState => {
    const fresh = new Echelon(dimension);
    fresh.addAll(echelon);
    return { count, origin, echelon: fresh };
  };
  return {
    untagged: true,
    empty: () => ({ count: 0, origin: null, echelon: new Echelon(dimension) }),
    add(state, row) {
      assert(row.length === dimension, 'a row has the dimension of its summary');
      const steps = Array.from(row, (entry) => Math.round(entry / unit));
      if (!steps.every((entry) => Math.abs(entry) <= stepsMax)) return state;
      return add(state, steps.map((entry) => BigInt(entry)));
    },
    merge(left, right) {
      const merged = copy(left);
      merged.count += right.count;
      if (merged.origin === null) merged.origin = right.origin;
      else if (right.origin !== null) merged.echelon.add(minus(right.origin, merged.origin));
      merged.echelon.addAll(right.echelon);
      return merged;
    },
    finish({ count, echelon }, work): Finished {
      // A group without rows must not look like one whose rows are all zero: no other group has its
      // label. `work` belongs to this group alone.
      if (count >= (form === 'linear' ? 1 : 2)) return { kind: 'label', label: echelon.label() };
      const own = new Uint8Array(16);
      work.fork('silent').fill(own);
      return { kind: 'label', label: `${silent}${[...own].join('.')}` };
    },
    encode: encodeSpan,
    decode: (bytes) =>
      readState(bytes, { format, dimension }, (reader) => readSpan(reader, dimension)),
  };
}

function minus(left: readonly bigint[], right: readonly bigint[]): bigint[] {
  return left.map((entry, j) => entry - right[j]!);
}

function encodeSpan({ count, origin, echelon }: SpanState): Uint8Array {
  const { rows, pivots } = echelon.state();
  const writer = writerOf({ format, dimension: echelon.dimension }).integer(count).integer(
    rows.length,
  );
  for (const pivot of pivots) writer.integer(pivot);
  for (const row of [...rows, ...(origin === null ? [] : [origin])]) {
    for (const entry of row) writeInteger(writer, entry);
  }
  return writer.finish();
}

function readSpan(reader: StateReader, dimension: number): SpanState {
  const count = reader.integer();
  const rank = reader.integer();
  if (rank > dimension) reader.fail('has a rank above its dimension');
  const pivots = Array.from({ length: rank }, () => reader.integer());
  const row = (): bigint[] => Array.from({ length: dimension }, () => readInteger(reader));
  const rows = Array.from({ length: rank }, row);
  const origin = reader.left > 0 ? row() : null;
  const echelon = Echelon.restore(dimension, rows, pivots);
  return { count, origin, echelon: echelon ?? reader.fail('is not an elimination') };
}

/** Sign, then the magnitude's bytes, the lowest first. */
function writeInteger(writer: StateWriter, value: bigint): void {
  const bytes: number[] = [];
  const digits = (value < 0n ? -value : value).toString(16);
  for (let end = digits.length;
      end > 0; end -= 2) bytes.push(parseInt(digits.slice(Math.max(0, end - 2), end), 16));
  writer.block(Uint8Array.of(value < 0n ? 1 : 0, ...bytes));
}

function readInteger(reader: StateReader): bigint {
  const [sign, ...bytes] = reader.block();
  if ((sign !== 0 && sign !== 1) || bytes.length === 0) reader.fail('has a malformed number');
  const digits = bytes.reverse().map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const size = BigInt(`0x${digits}`);
  return sign === 1 ? -size : size;
}
