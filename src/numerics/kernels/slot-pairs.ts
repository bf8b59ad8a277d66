import { Arena } from './arena.js';

/** Rows whose tags put them in slots. */
export interface SlotRows {
  readonly count: number;
  /** Fills in the tags of the next rows, until all rows have had theirs. */
  readonly fillTags: (into: BigUint64Array) => void;
  /** True if a row comes before another of exactly the same tag. */
  readonly isBefore: (row: number, other: number) => boolean;
}

/** In the place of a row: nobody. */
export const nobody = 0xffff_ffff;
/** Tags that are filled in at a time. */
const pieceRows = 1 << 14;

let own: Arena | null = null;

/**
 * The two rows with the smallest tags of each slot, side by side, the smaller first; `nobody` where
 * there are fewer. A row is in slot floor(2^-53 slots h), h the high 53 bits of its tag. O(count +
 * slots), 24 bytes for each slot; tags are not kept.
 */
export function smallestOfSlots(
  { count, fillTags, isBefore }: SlotRows, slots: number,
): Uint32Array {
  const arena = own ??= new Arena();
  const size = Math.min(count, pieceRows);
  const [piece, rowWords, held] = arena.layout(size, slots, 2 * slots);
  const tags = new BigUint64Array(piece.buffer, piece.byteOffset, size);
  const rows = new Uint32Array(rowWords.buffer, rowWords.byteOffset, 2 * slots).fill(nobody);
  const kept =
    new BigUint64Array(held.buffer, held.byteOffset, 2 * slots).fill(0xffff_ffff_ffff_ffffn);
  for (let first = 0; first < count; first += size) {
    const here = Math.min(size, count - first);
    fillTags(tags.subarray(0, here));
    const keepFrom = (from: number): number => arena.exports.keepSmallest(
      piece.byteOffset, from, here, first, slots, rows.byteOffset, held.byteOffset,
    );
    for (let at = keepFrom(0); at < here; at = keepFrom(at + 1)) {
      putEqual(rows, kept, 2 * slotOf(tags[at]!, slots), first + at, tags[at]!, isBefore);
    }
  }
  tags.fill(0n);
  kept.fill(0n);
  return rows.slice();
}

/** Puts a row into the two places of its slot, one of which may have exactly its tag. */
function putEqual(
  rows: Uint32Array, kept: BigUint64Array, place: number, row: number, tag: bigint,
  isBefore: SlotRows['isBefore'],
): void {
  const comesBefore = (at: number): boolean => rows[at] === nobody || tag < kept[at]!
    || (tag === kept[at]! && isBefore(row, rows[at]!));
  if (!comesBefore(place + 1)) return;
  const isFirst = comesBefore(place);
  if (isFirst) {
    rows[place + 1] = rows[place]!;
    kept[place + 1] = kept[place]!;
  }
  const to = isFirst ? place : place + 1;
  rows[to] = row;
  kept[to] = tag;
}

/**
 * The slot of a row, of `slots`. The high 53 bits of its tag decide, so slots follow the order of
 * tags.
 */
export function slotOf(tag: bigint, slots: number): number {
  return Math.floor((Number(tag >> 11n) / 2 ** 53) * slots);
}
