/** All sorted lists of `size` indexes below `count`. */
export function subsets(count: number, size: number): number[][] {
  if (size === 0) return [[]];
  const found: number[][] = [];
  for (let last = size - 1; last < count; last++) {
    for (const rest of subsets(last, size - 1)) found.push([...rest, last]);
  }
  return found;
}

/**
 * R(S) of Liu, Kong, Kakade and Oh (2021), Algorithm 2, in one column, by trying everything: the
 * least, over subsets of `kept` values, of the farthest that the mean of `inner` of them lies from
 * the mean of all of them. For a dozen values.
 */
export function exhaustiveResilience(
  values: readonly number[], kept: number, inner: number,
): number {
  const mean = (list: readonly number[]): number =>
    list.reduce((sum, value) => sum + value, 0) / list.length;
  const innerLists = subsets(kept, inner);
  return Math.min(...subsets(values.length, kept).map((chosen) => {
    const set = chosen.map((i) => values[i]!);
    const middle = mean(set);
    return Math.max(...innerLists.map((list) => Math.abs(mean(list.map((i) => set[i]!)) - middle)));
  }));
}
