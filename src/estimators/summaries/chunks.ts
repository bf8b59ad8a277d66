/** Rows per chunk: what a group that has just begun takes, and at most what a full one wastes. */
const chunkRows = 16;
/** Doubles per slab: a mebibyte, so that memory is asked for some hundred times an epoch and not per group. */
const slabDoubles = 1 << 17;

/** Room for `chunkRows` rows and their tags. */
interface Chunk {
  readonly values: Float64Array;
  readonly tags: BigUint64Array;
}

/** The rows of one group, in the order in which they came. */
export interface ChunkedRows {
  count: number;
  readonly chunks: Chunk[];
}

/**
 * Memory for the rows of many groups that fill at the same time. Thousands of growing arrays would be copied and
 * collected over and over, and hold up to twice what they need; chunks of common slabs are written once and stay.
 * A slab lives as long as any of its chunks: until the epoch ends.
 */
export class ChunkSource {
  #values = new Float64Array(0);
  #tags = new BigUint64Array(0);
  #used = 0;

  constructor(private readonly dimension: number) {}

  /** Appends a copy of the row. */
  append(rows: ChunkedRows, row: Float64Array, tag: bigint): void {
    const place = rows.count % chunkRows;
    if (place === 0) rows.chunks.push(this.#next());
    const { values, tags } = rows.chunks[rows.chunks.length - 1]!;
    values.set(row, place * this.dimension);
    tags[place] = tag;
    rows.count += 1;
  }

  /** Appends copies of all rows of another group. */
  appendAll(rows: ChunkedRows, from: ChunkedRows): void {
    const flat = this.flatten(from);
    for (let i = 0; i < flat.count; i++) {
      this.append(rows, flat.values.subarray(i * this.dimension, (i + 1) * this.dimension), flat.tags[i]!);
    }
  }

  /** The same rows side by side. */
  flatten({ count, chunks }: ChunkedRows): { count: number; values: Float64Array; tags: BigUint64Array } {
    const values = new Float64Array(count * this.dimension);
    const tags = new BigUint64Array(count);
    chunks.forEach((chunk, i) => {
      const rows = Math.min(chunkRows, count - i * chunkRows);
      values.set(chunk.values.subarray(0, rows * this.dimension), i * chunkRows * this.dimension);
      tags.set(chunk.tags.subarray(0, rows), i * chunkRows);
    });
    return { count, values, tags };
  }

  #next(): Chunk {
    const size = chunkRows * this.dimension;
    if ((this.#used + 1) * size > this.#values.length) {
      const chunks = Math.max(1, Math.floor(slabDoubles / size));
      this.#values = new Float64Array(chunks * size);
      this.#tags = new BigUint64Array(chunks * chunkRows);
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += 1;
    return {
      values: this.#values.subarray(at * size, (at + 1) * size),
      tags: this.#tags.subarray(at * chunkRows, (at + 1) * chunkRows),
    };
  }
}
