import { findingText, isUnbounded } from '../../src/base/findings.js';
import type { Finding, Interval95 } from '../../src/base/outcome.js';
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

/** One "note:" for each finding, in lines that fit the terminal. */
export function printFindings(
  findings: readonly Finding[] | undefined, columns: readonly string[], output: Output,
): void {
  for (const finding of findings ?? []) {
    wrap(`note: ${findingText(finding, columns)}`, terminalColumns)
      .forEach((line) => output.text(line));
  }
}
