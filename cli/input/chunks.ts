/** The first bytes of a stream, and whether nothing follows them. */
export interface Head {
  readonly bytes: Uint8Array;
  readonly isWhole: boolean;
}

/**
 * Reads a stream until its first bytes are enough, or it ends.
 * @param chunks - goes on behind the head: see `rejoin`.
 */
export async function headOf(
  chunks: AsyncIterator<Uint8Array>, isEnough: (bytes: Uint8Array) => boolean,
): Promise<Head> {
  let bytes: Uint8Array = new Uint8Array(0);
  while (!isEnough(bytes)) {
    const next = await chunks.next();
    if (next.done === true) return { bytes, isWhole: true };
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
  }
  return { bytes, isWhole: false };
}

/** A stream again, with its head in front. */
export async function* rejoin(
  head: Uint8Array, chunks: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head;
  yield* { [Symbol.asyncIterator]: () => chunks };
}
