/** The key that a misspelt one most likely meant: within two edits, or one for short words. */
export function nearestKey(word: string, keys: readonly string[]): string | undefined {
  const allowed = word.length <= 4 ? 1 : 2;
  const ranked = keys
    .map((key) => ({ key, edits: editsBetween(word.toLowerCase(), key.toLowerCase()) }))
    .filter(({ key, edits }) => edits <= allowed || (word.length >= 3 && key.startsWith(word)))
    .sort((left, right) => left.edits - right.edits);
  return ranked[0]?.key;
}

/** Insertions, deletions and replacements that turn one word into the other. */
function editsBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, j) => j);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const replaced = row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[right.length]!;
}
