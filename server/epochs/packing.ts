import type { RowPart } from './contract.js';

/**
 * Parts of one epoch in five arrays. Their memory is transferred to the other thread, not copied.
 */
export interface PackedParts {
  readonly dimension: number;
  /** 32 bytes each. */
  readonly contributors: Uint8Array<ArrayBuffer>;
  /** `dimension` doubles each. */
  readonly values: Float64Array<ArrayBuffer>;
  readonly rows: Float64Array<ArrayBuffer>;
  readonly ranks: BigUint64Array<ArrayBuffer>;
  /** 1 when the contribution is complete. */
  readonly complete: Uint8Array<ArrayBuffer>;
}

const keyBytes = 32;

export function packParts(parts: readonly RowPart[], dimension: number): PackedParts {
  const packed: PackedParts = {
    dimension,
    contributors: new Uint8Array(parts.length * keyBytes),
    values: new Float64Array(parts.length * dimension),
    rows: new Float64Array(parts.length),
    ranks: new BigUint64Array(parts.length),
    complete: new Uint8Array(parts.length),
  };
  parts.forEach((part, i) => {
    packed.contributors.set(part.contributor, i * keyBytes);
    packed.values.set(part.values, i * dimension);
    packed.rows[i] = part.rows;
    packed.ranks[i] = part.rank;
    packed.complete[i] = part.complete ? 1 : 0;
  });
  return packed;
}

/** The parts of packed arrays, as views of them. */
export function unpackParts(packed: PackedParts): RowPart[] {
  const { contributors, values, rows, ranks, complete, dimension } = packed;
  return Array.from(rows, (count, i) => ({
    contributor: contributors.subarray(i * keyBytes, (i + 1) * keyBytes),
    values: values.subarray(i * dimension, (i + 1) * dimension),
    rows: count,
    rank: ranks[i]!,
    complete: complete[i] === 1,
  }));
}

export function buffersOf(packed: PackedParts): ArrayBuffer[] {
  return [
    packed.contributors.buffer, packed.values.buffer, packed.rows.buffer, packed.ranks.buffer,
    packed.complete.buffer,
  ];
}

/** Bytes of one part in packed form. */
export function bytesOfPart(dimension: number): number {
  return keyBytes + 8 * dimension + 8 + 8 + 1;
}
