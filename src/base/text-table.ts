/** The texts of one column of a batch, as a view of its bytes. An object each would be large. */
export interface TextTable {
  readonly count: number;
  /** For each text a byte with its length, then its UTF-8, in strictly ascending order. */
  readonly bytes: Uint8Array;
  /** Where each text's byte of length is. */
  readonly starts: Uint32Array;
}

/** One text of a table, as a view of its bytes. @param place from 0. */
export function textAt({ bytes, starts }: TextTable, place: number): Uint8Array {
  const start = starts[place]!;
  return bytes.subarray(start + 1, start + 1 + bytes[start]!);
}
