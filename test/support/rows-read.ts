import type { RowBatch, RowOptions } from '../../cli/input/rows.js';

type Reader = (bytes: AsyncIterable<Uint8Array>, options: RowOptions) => AsyncIterable<RowBatch>;

/** All that a reader gives for bytes that come in chunks of this size, or its error. */
export async function rowsRead(
  reader: Reader, bytes: Uint8Array, options: RowOptions, chunk: number,
): Promise<unknown> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunk) {
      yield await Promise.resolve(bytes.subarray(at, at + chunk));
    }
  }
  const batches: RowBatch[] = [];
  try {
    for await (const batch of reader(chunks(), options)) batches.push(batch);
  } catch (error) {
    return { message: (error as Error).message };
  }
  return {
    columns: batches[0]!.columns,
    // Also tells 0 from -0.
    values: batches.flatMap(({ values }) =>
      [...values].map((value) => (Object.is(value, -0) ? '-0' : value))),
    positions: batches.flatMap(({ positions }) => [...positions ?? []]),
    contributors: batches.flatMap(({ contributors }) => contributors ?? []),
    groups: batches.flatMap(({ groups }) => groups ?? []),
  };
}

/** Ways to read lines with the columns `id`, `a` and `b`. */
export const lineOptions: readonly RowOptions[] = [
  { source: 'f', missing: 'refuse', columns: ['a', 'b'] },
  { source: 'f', missing: 'null', columns: ['b', 'a'], contributor: 'id' },
  { source: 'f', missing: 'refuse', columns: ['b'], group: 'id' },
  { source: 'f', missing: 'null', columns: [], contributor: 'id' },
  { source: 'f', missing: 'null', columns: ['a'], contributor: 'id', group: 'id' },
  {
    source: 'f', missing: 'refuse', columns: ['a', 'b'],
    types: new Map([['a', { type: 'integer' }], ['b', { type: 'number', optional: true }]]),
  },
];
