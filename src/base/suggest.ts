/** Longer words are not compared: the work is quadratic, and no name is so long. */
const lengthMaximum = 64;

/** How many edits (insert, delete, replace, swap neighbours) turn one word into the other. */
function editsBetween(left: string, right: string): number {
  const rows = Array.from({ length: left.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= right.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= left.length; i++) {
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      const isSwap = i > 1 && j > 1
        && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (isSwap) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  }
  return rows[left.length]![right.length]!;
}

/**
 * The candidate that `word` most likely means. It needs few edits (at most a third of the word's
 * letters), or it begins with the word; of several that do, the shortest is meant. Upper and lower
 * case are equal. Words of one or two letters must match.
 * @returns undefined when no candidate is near.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > lengthMaximum) return undefined;
  const typed = word.toLowerCase();
  const allowed = typed.length < 3 ? 0 : Math.max(1, Math.floor(typed.length / 3));
  let best: string | undefined;
  let least = allowed + 0.5;
  for (const candidate of candidates) {
    const name = candidate.toLowerCase();
    if (name.length > lengthMaximum) continue;
    const completes = typed.length >= 3 && name !== typed && name.startsWith(typed);
    // Less than one edit, and less still for a shorter name.
    const edits = completes ? 0.5 + name.length / 256 : editsBetween(typed, name);
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

/** Common words for a question, and what to write for them. */
export const questionWords: Readonly<Record<string, string>> = {
  quantile: 'percentile', average: 'mean', sum: 'total', proportion: 'share',
  variance: 'covariance',
};

/** The words of `questionWords` that mean one of these choices. */
export function questionWordsFor(choices: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(questionWords).filter(([, meant]) => choices.includes(meant)));
}

/**
 * The end of a message about a word that is not a candidate: `: did you mean "x"?`, or nothing when
 * no candidate is near.
 * @param otherWords - what to write for words that people use for a candidate: `: write x`.
 */
export function didYouMean(
  word: string, candidates: readonly string[], otherWords: Readonly<Record<string, string>> = {},
): string {
  if (Object.hasOwn(otherWords, word)) return `: write ${otherWords[word]}`;
  const found = nearest(word, candidates);
  return found === undefined ? '' : `: did you mean "${found}"?`;
}
