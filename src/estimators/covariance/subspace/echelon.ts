import { assert } from '../../../base/assert.js';

/**
 * The span of integer rows, exactly, one row at a time.
 *
 * Fraction-free Gauss and Jordan elimination: the reduced row echelon form of what was added is
 * `rows / denominator`, with the denominator in every pivot column's own row. Rows and denominator
 * are minors of the matrix of those added rows that raised the rank, so every division below is
 * exact (Sylvester's determinant identity; Bareiss 1968) and a number of them has at most rank *
 * (log2(largest entry) + log2(rank) / 2) bits.
 *
 * The reduced echelon form over the rationals is unique for a subspace, hence `label` is the same
 * for every set of rows and every order that span it, and differs for any other subspace. No
 * rounding is involved anywhere.
 * Cost of a row: O(rank d) products, and as many again when it raises the rank; none at full rank.
 */
export class Echelon {
  #rows: bigint[][] = [];
  /** Column of each row's pivot, in the order of `#rows`. */
  #pivots: number[] = [];
  #denominator = 1n;

  constructor(readonly dimension: number) {}

  get rank(): number {
    return this.#rows.length;
  }

  /** Adds a row of integers. */
  add(row: readonly bigint[]): void {
    assert(row.length === this.dimension, 'a row has the dimension of its span');
    if (this.rank === this.dimension) return;
    const rest = this.#rest(row);
    const pivot = rest.findIndex((entry) => entry !== 0n);
    if (pivot < 0) return;
    const lead = rest[pivot]!;
    const before = this.#denominator;
    this.#rows = this.#rows.map((own) => {
      const factor = own[pivot]!;
      return own.map((entry, j) => (lead * entry - factor * rest[j]!) / before);
    });
    this.#rows.push(rest);
    this.#pivots.push(pivot);
    this.#denominator = lead;
  }

  /** Adds every row of another span. */
  addAll(other: Echelon): void {
    for (const row of other.#rows) this.add(row);
  }

  /**
   * The row times the denominator, less its part in the span: zero in all pivot columns, all zero
   * inside the span.
   */
  #rest(row: readonly bigint[]): bigint[] {
    const rest = row.map((entry) => entry * this.#denominator);
    this.#rows.forEach((own, i) => {
      const factor = row[this.#pivots[i]!]!;
      if (factor === 0n) return;
      for (let j = 0; j < rest.length; j++) rest[j]! -= factor * own[j]!;
    });
    return rest;
  }

  /**
   * The reduced echelon form, each row a multiple with whole entries without a common factor, its
   * pivot positive.
   */
  basis(): bigint[][] {
    const order = this.#pivots.map((_, i) => i).sort((a, b) => this.#pivots[a]! - this.#pivots[b]!);
    return order.map((i) => primitive(this.#rows[i]!, this.#pivots[i]!));
  }

  /** A text that two spans share exactly when they are the same subspace. */
  label(): string {
    return this.basis().map((row) => row.map((entry) => entry.toString(36)).join(' ')).join(';');
  }

  /** The state that `restore` accepts, without loss. */
  state(): { readonly rows: readonly (readonly bigint[])[]; readonly pivots: readonly number[] } {
    return { rows: this.#rows.map((row) => [...row]), pivots: [...this.#pivots] };
  }

  /** @returns null when these cannot be the rows and pivots of an elimination. */
  static restore(
    dimension: number, rows: readonly (readonly bigint[])[], pivots: readonly number[],
  ): Echelon | null {
    const echelon = new Echelon(dimension);
    if (rows.length === 0) return echelon;
    const denominator = rows[0]![pivots[0]!];
    const fits = rows.every((row, i) => row.length === dimension
      && pivots.every((pivot, k) => row[pivot] === (k === i ? denominator : 0n)));
    if (!fits || denominator === undefined || denominator === 0n
        || new Set(pivots).size !== rows.length) return null;
    echelon.#rows = rows.map((row) => [...row]);
    echelon.#pivots = [...pivots];
    echelon.#denominator = denominator;
    return echelon;
  }
}

/** The rows of a label. */
export function basisOfLabel(label: string): bigint[][] {
  if (label === '') return [];
  return label.split(';').map((row) => row.split(' ').map(parseBase36));
}

function parseBase36(text: string): bigint {
  const isNegative = text.startsWith('-');
  let value = 0n;
  for (const digit of isNegative
    ? text.slice(1) : text) value = value * 36n + BigInt(parseInt(digit, 36));
  return isNegative ? -value : value;
}

function primitive(row: readonly bigint[], pivot: number): bigint[] {
  let common = 0n;
  for (const entry of row) {
    common = greatestDivisor(common, entry < 0n ? -entry : entry);
    if (common === 1n) break;
  }
  const divisor = row[pivot]! < 0n ? -common : common;
  return row.map((entry) => entry / divisor);
}

function greatestDivisor(left: bigint, right: bigint): bigint {
  let [a, b] = [left, right];
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}
