import type { Picture } from './answer.js';
import { amount, binText, percent, spoken, whole } from './format.js';

type Line = readonly [what: string, much: string];

/** What a picture says, in at most three short lines of what and how much. */
export function summaryOf(picture: Picture, columns: readonly string[]): readonly Line[] {
  switch (picture.kind) {
    case 'mixture':
      return [...picture.components].sort((one, two) => two.weight - one.weight).slice(0, 3)
        .map(({ weight, mean, deviation }) => [`around ${amount(mean)} ± ${amount(deviation)}`, percent(weight)]);
    case 'clouds':
      return [...picture.clouds].sort((one, two) => two.weight - one.weight).slice(0, 3)
        .map(({ weight, mean }) => [`around ${mean.slice(0, 2).map((entry) => amount(entry)).join(', ')}`, percent(weight)]);
    case 'bins':
      return [...picture.bins].sort((one, two) => two.count - one.count).slice(0, 3)
        .map(({ from, to, count }) => [binText(from, to), whole(Math.round(count))]);
    case 'choice':
      return [['best fit', (picture.names[picture.chosen] ?? 'none').split(',')[0]!]];
    case 'matrix':
      return picture.name === 'matrix' ? [['directions of', `${columns.length} columns`]] : strongest(picture, columns);
  }
}

/** The three pairs of columns that go together most, whichever way. */
function strongest(
  { size, entries }: Extract<Picture, { kind: 'matrix' }>, columns: readonly string[],
): readonly Line[] {
  const pairs: { readonly what: string; readonly correlation: number }[] = [];
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < i; j++) {
      const both = Math.sqrt(Math.max(0, entries[i * size + i]! * entries[j * size + j]!));
      const correlation = both > 0 ? Math.max(-1, Math.min(1, entries[i * size + j]! / both)) : 0;
      pairs.push({ what: `${spoken(columns[j] ?? '')} and ${spoken(columns[i] ?? '')}`, correlation });
    }
  }
  return pairs.sort((one, two) => Math.abs(two.correlation) - Math.abs(one.correlation)).slice(0, 3)
    .map(({ what, correlation }) => [what, correlation.toFixed(2).replace(/^-/, '−')]);
}
