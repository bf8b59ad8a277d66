import { assert } from '../../src/base/assert.js';
import type { AcceptedBatch, EpochPart, RowPart, TextTables } from './contract.js';

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

/** The texts of a list of batches, in a few arrays: a message copies an object slowly. */
export interface PackedTexts {
  /** For each batch and column the number of texts; -1 for a column of another type. */
  readonly counts: Int32Array<ArrayBuffer>;
  /** Where the bytes of each of these tables end. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The bytes of all tables, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The starts of the texts of all tables; see TextTable. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

/** Batches of one epoch as they were sent. Their memory is transferred. */
export interface PackedBatches {
  /** 32 bytes each. */
  readonly contributors: Uint8Array<ArrayBuffer>;
  readonly sequences: BigUint64Array<ArrayBuffer>;
  readonly rows: Uint32Array<ArrayBuffer>;
  /** 1 when the contribution is complete. */
  readonly complete: Uint8Array<ArrayBuffer>;
  /** The values of all batches, one after the other. */
  readonly values: Float64Array<ArrayBuffer>;
  /** Where each batch's values end. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Null if the study has no texts. */
  readonly texts: PackedTexts | null;
}

const keyBytes = 32;

/** Packs the parts of one epoch, which are all of one kind. */
export function pack(
  parts: readonly EpochPart[], dimension: number,
): PackedParts | PackedBatches {
  return parts.every((part) => 'sequence' in part)
    ? packBatches(parts) : packParts(parts as readonly RowPart[], dimension);
}

/** The parts of packed arrays, as views of them. */
export function unpack(packed: PackedParts | PackedBatches): readonly EpochPart[] {
  return 'sequences' in packed ? unpackBatches(packed) : unpackParts(packed);
}

export function packBatches(batches: readonly AcceptedBatch[]): PackedBatches {
  const length = batches.reduce((sum, { values }) => sum + values.length, 0);
  const packed: PackedBatches = {
    contributors: new Uint8Array(batches.length * keyBytes),
    sequences: BigUint64Array.from(batches, ({ sequence }) => sequence),
    rows: Uint32Array.from(batches, ({ rows }) => rows),
    complete: Uint8Array.from(batches, ({ complete }) => Number(complete)),
    values: new Float64Array(length),
    ends: new Uint32Array(batches.length),
    texts: packTexts(batches),
  };
  let end = 0;
  batches.forEach(({ contributor, values }, i) => {
    packed.contributors.set(contributor, i * keyBytes);
    packed.values.set(values, end);
    end += values.length;
    packed.ends[i] = end;
  });
  return packed;
}

function packTexts(batches: readonly AcceptedBatch[]): PackedTexts | null {
  if (batches.every(({ texts }) => texts === undefined)) return null;
  const tables = batches.flatMap(({ texts }) => texts ?? []);
  const packed: PackedTexts = {
    counts: Int32Array.from(tables, (table) => table?.count ?? -1),
    ends: new Uint32Array(tables.length),
    bytes: new Uint8Array(tables.reduce((sum, table) => sum + (table?.bytes.length ?? 0), 0)),
    starts: new Uint32Array(tables.reduce((sum, table) => sum + (table?.count ?? 0), 0)),
  };
  let [end, texts] = [0, 0];
  tables.forEach((table, i) => {
    if (table !== null && table !== undefined) {
      packed.bytes.set(table.bytes, end);
      packed.starts.set(table.starts, texts);
      end += table.bytes.length;
      texts += table.count;
    }
    packed.ends[i] = end;
  });
  return packed;
}

/** The texts of all batches, as views of the packed arrays. */
function unpackTexts({ counts, ends, bytes, starts }: PackedTexts, batches: number): TextTables[] {
  const columns = counts.length / batches;
  assert(Number.isInteger(columns), 'the batches of one study have the same columns');
  let [from, texts] = [0, 0];
  const tables = Array.from(counts, (count, i) => {
    if (count < 0) return null;
    const table = {
      count, bytes: bytes.subarray(from, ends[i]), starts: starts.subarray(texts, texts + count),
    };
    from = ends[i]!;
    texts += count;
    return table;
  });
  return Array.from({ length: batches }, (_, i) => tables.slice(i * columns, (i + 1) * columns));
}

function unpackBatches(packed: PackedBatches): AcceptedBatch[] {
  const { contributors, sequences, rows, complete, values, ends } = packed;
  const texts = packed.texts === null ? null : unpackTexts(packed.texts, ends.length);
  return Array.from(ends, (end, i) => ({
    contributor: contributors.subarray(i * keyBytes, (i + 1) * keyBytes),
    sequence: sequences[i]!,
    rows: rows[i]!,
    complete: complete[i] === 1,
    values: values.subarray(i === 0 ? 0 : ends[i - 1]!, end),
    texts: texts?.[i],
  }));
}

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

export function buffersOf(packed: PackedParts | PackedBatches): ArrayBuffer[] {
  const own: unknown[] = Object.values(packed);
  if ('texts' in packed && packed.texts !== null) {
    const { counts, ends, bytes, starts } = packed.texts;
    own.push(counts, ends, bytes, starts);
  }
  return own.flatMap((each) => (ArrayBuffer.isView(each) ? [each.buffer as ArrayBuffer] : []));
}

/** Bytes of one part in packed form. */
export function bytesOfPart(part: EpochPart): number {
  let bytes = keyBytes + part.values.byteLength + 8 + 8 + 1;
  if (!('texts' in part) || part.texts === undefined) return bytes;
  for (const table of part.texts) bytes += 8 + (table?.bytes.length ?? 0) + 4 * (table?.count ?? 0);
  return bytes;
}
