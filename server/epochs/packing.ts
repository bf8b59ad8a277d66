import { assert } from '../../src/base/assert.js';
import { copyNumbers } from '../../src/numerics/kernels/shared.js';
import type { AcceptedBatch, TextTables } from './contract.js';

/** The texts of a list of batches, in a few arrays: a message copies an object slowly. */
export interface PackedTexts {
  /** For each batch and column the number of texts; -1 for a column of another type. */
  readonly counts: Int32Array<ArrayBuffer>;
  /** The ends of the bytes of each of these tables. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** The bytes of all tables, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The starts of the texts of all tables; see TextTable. */
  readonly starts: Uint32Array<ArrayBuffer>;
}

/**
 * Batches of one epoch in a few arrays. Their memory is transferred to the other thread, not
 * copied.
 */
export interface PackedBatches {
  /** 32 bytes each. */
  readonly contributors: Uint8Array<ArrayBuffer>;
  readonly sequences: BigUint64Array<ArrayBuffer>;
  readonly rows: Uint32Array<ArrayBuffer>;
  /** 1 when the contribution is complete. */
  readonly complete: Uint8Array<ArrayBuffer>;
  /** The values of all batches, one after the other. */
  readonly values: Float64Array<ArrayBuffer>;
  /** The ends of each batch's values. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Null if the study has no texts. */
  readonly texts: PackedTexts | null;
}

const keyBytes = 32;

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

/** The batches of packed arrays, as views of them. */
export function unpackBatches(packed: PackedBatches): AcceptedBatch[] {
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

export function buffersOf(packed: PackedBatches): ArrayBuffer[] {
  const own: unknown[] = Object.values(packed);
  if (packed.texts !== null) {
    const { counts, ends, bytes, starts } = packed.texts;
    own.push(counts, ends, bytes, starts);
  }
  return own.flatMap((each) => (ArrayBuffer.isView(each) ? [each.buffer as ArrayBuffer] : []));
}

/**
 * The batch without shared memory: the listener uses that again when the batch is answered, and the
 * epochs' thread gets the rows later.
 */
export function ownRows(batch: AcceptedBatch): AcceptedBatch {
  const { values, texts } = batch;
  const own = isShared(values) ? new Float64Array(values.length) : values;
  if (own !== values) copyNumbers(values, own);
  if (texts === undefined) return { ...batch, values: own };
  return {
    ...batch, values: own,
    texts: texts.map((table) => (table === null || table === undefined || !('bytes' in table)
      || !isShared(table.bytes) ? table : { ...table, bytes: Uint8Array.from(table.bytes) })),
  };
}

function isShared({ buffer }: ArrayBufferView): boolean {
  return buffer instanceof SharedArrayBuffer;
}

/** Bytes of one batch in packed form. */
export function bytesOfBatch({ values, texts = [] }: AcceptedBatch): number {
  let bytes = keyBytes + values.byteLength + 8 + 4 + 4 + 1;
  for (const table of texts) bytes += 8 + (table?.bytes.length ?? 0) + 4 * (table?.count ?? 0);
  return bytes;
}
