/** In the place of a row: nobody. */
const nobody: u32 = 0xffff_ffff;

/**
 * Keeps the two rows with the smallest tags of every slot. The slot of a row follows from the high
 * 53 bits of its tag. `tags` has those of rows `first` on; `count` of them are read, from place
 * `from`. `rows` has two rows for each slot, the smaller tag first, and `held` their tags; at
 * first all bits of both are ones. Pointers count bytes. Ends at a row whose tag is exactly that of
 * a row in its slot. Returns its place, or `count` at the end.
 */
export function keepSmallest(
  tags: usize, from: i32, count: i32, first: i32, slots: i32, rows: usize, held: usize,
): i32 {
  for (let i = from; i < count; i++) {
    const tag = load<u64>(tags + (<usize>i << 3));
    const share = <f64>(<i64>(tag >>> 11)) * 1.1102230246251565e-16; // 2^-53
    const slot = <usize>floor(share * <f64>slots), at = held + (slot << 4);
    // Most rows end here: no tag exceeds that of an empty place.
    if (tag > load<u64>(at, 8)) continue;
    const own = rows + (slot << 3), hasOne = load<u32>(own) != nobody;
    if (hasOne && tag == load<u64>(at)) return i;
    if (load<u32>(own, 4) != nobody && tag == load<u64>(at, 8)) return i;
    if (hasOne && tag > load<u64>(at)) {
      store<u32>(own, first + i, 4);
      store<u64>(at, tag, 8);
      continue;
    }
    store<u32>(own, load<u32>(own), 4);
    store<u64>(at, load<u64>(at), 8);
    store<u32>(own, first + i);
    store<u64>(at, tag);
  }
  return count;
}
