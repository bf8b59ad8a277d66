/**
 * Counts the rows that `alive` does not mask by the bin of their score, [edges[j], edges[j + 1]).
 * The last bin has no upper end. O(count) if most scores are below the first edge.
 * @param edges - ascending.
 */
export function countScoreBins(
  scores: Float64Array, alive: Uint8Array, edges: ArrayLike<number>,
): Float64Array {
  const counts = new Float64Array(edges.length);
  for (let i = 0; i < alive.length; i++) {
    if (alive[i] === 0 || !(scores[i]! >= edges[0]!)) continue;
    let bin = edges.length - 1;
    while (scores[i]! < edges[bin]!) bin -= 1;
    counts[bin]! += 1;
  }
  return counts;
}

/** Removes the rows with `least` <= score < `below` from `alive` and marks them in `gone`. */
export function moveScored(
  scores: Float64Array, alive: Uint8Array, gone: Uint8Array, least: number, below: number,
): void {
  for (let i = 0; i < alive.length; i++) {
    if (alive[i] === 0 || !(scores[i]! >= least) || scores[i]! >= below) continue;
    alive[i] = 0;
    gone[i] = 1;
  }
}
