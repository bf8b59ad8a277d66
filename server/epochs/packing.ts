import type { Dictionaries, Texts } from '../../src/questions/columns.js';
import type { AcceptedBatch, EpochPart, RowPart } from './contract.js';

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

/** Batches of one epoch as they were sent. Their memory is transferred, but for the texts. */
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
  readonly texts: readonly (Dictionaries | undefined)[];
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
    // Views are copied: a message would copy all of the memory behind them.
    texts: batches.map(({ texts }) => texts?.map((own) => (own === null || own === undefined
      || !('bytes' in own) ? own : { ...own, bytes: own.bytes.slice() }))),
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

function unpackBatches(packed: PackedBatches): AcceptedBatch[] {
  const { contributors, sequences, rows, complete, values, ends, texts } = packed;
  return Array.from(ends, (end, i) => ({
    contributor: contributors.subarray(i * keyBytes, (i + 1) * keyBytes),
    sequence: sequences[i]!,
    rows: rows[i]!,
    complete: complete[i] === 1,
    values: values.subarray(i === 0 ? 0 : ends[i - 1]!, end),
    texts: texts[i],
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
  return Object.values(packed).flatMap((own: unknown) =>
    (ArrayBuffer.isView(own) ? [own.buffer as ArrayBuffer] : []));
}

/** Bytes of one part in packed form. Texts count with two bytes for each character. */
export function bytesOfPart(part: EpochPart): number {
  const bytes = keyBytes + part.values.byteLength + 8 + 8 + 1;
  if (!('texts' in part) || part.texts === undefined) return bytes;
  return part.texts.reduce((sum, texts) => sum + bytesOfTexts(texts ?? []), bytes);
}

function bytesOfTexts(texts: Texts): number {
  return 'bytes' in texts ? texts.bytes.length + 4 * texts.count
    : texts.reduce((sum, text) => sum + 2 * text.length, 0);
}
