import type { Range } from './questions.js';

export const corruption = 0.05;
export const corruptionRemark = 'corruption is the share of people who may send false rows.';

/** Values spread evenly over a range have a standard deviation of .29 of its width. */
const spreadPerWidth = 1 / 3;

/** The spread of a mean, as YAML, and comments about it. */
interface Spread {
  readonly text: string;
  readonly remarks: readonly string[];
}

export function spreadOf(ranges: readonly Range[] | null): Spread {
  if (ranges === null) {
    const remark = 'spread: auto finds how widely values are spread, for a fifth of the privacy.';
    return { text: 'auto', remarks: [remark] };
  }
  const spreads = ranges.map(({ low, high }) => rounded((high - low) * spreadPerWidth, 3));
  return {
    text: `[${spreads.join(', ')}]`,
    remarks: [
      'spread is a guess of the standard deviation of each column: here a third of its range.',
      'A better guess gives less noise, but one that is far too small makes the answer wrong.',
      'Take it from public knowledge, not from the data.',
    ],
  };
}

export function rounded(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}
