import { findingText, isUnbounded } from '../../src/base/findings.js';
import type { Finding, Interval95 } from '../../src/base/outcome.js';
import type { NamedPart } from '../../src/base/parts.js';
import { wrap } from './help.js';
import { terminalColumns } from './io.js';
import { formatNumber, type Output } from './output.js';

/** What `estimate` and `watch` say about an answer besides its numbers. */

/** One interval as text; empty where the answer has none. */
export function intervalText(interval: Interval95 | undefined, index: number): string {
  if (interval === undefined) return '';
  const [low, high] = [interval.low[index]!, interval.high[index]!];
  return isUnbounded(low, high) ? 'no interval' : `${formatNumber(low)} to ${formatNumber(high)}`;
}

/** An answer that begins with quantiles, and the name of each of its numbers. */
interface Distribution {
  readonly estimate: readonly number[];
  readonly parts?: readonly NamedPart[];
  readonly interval95?: Interval95;
}

/**
 * The lines for people of a distribution: each quantile with its interval, and how many people
 * there are. The counts below each edge are left to --json. Null for any other answer.
 */
export function distributionRows(
  { estimate, parts = [], interval95 }: Distribution, labels: readonly string[] | undefined,
): readonly (readonly string[])[] | null {
  const [quantiles, below] = parts;
  const count = quantiles?.shape[0];
  const isOne = quantiles?.name === 'quantiles' && below?.name === 'below';
  if (!isOne || count === undefined) return null;
  const places = [...Array.from({ length: count }, (_, i) => i), estimate.length - 1];
  return places.map((i) =>
    [labels?.[i] ?? `[${i}]`, formatNumber(estimate[i]!), intervalText(interval95, i)]);
}

/** One "note:" for each finding, in lines that fit the terminal. */
export function printFindings(
  findings: readonly Finding[] | undefined, columns: readonly string[], output: Output,
): void {
  for (const finding of findings ?? []) {
    wrap(`note: ${findingText(finding, columns)}`, terminalColumns)
      .forEach((line) => output.text(line));
  }
}
