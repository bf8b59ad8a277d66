import { assert } from '../../base/assert.js';
import type { GaussianThresholdEvent, LaplaceThresholdEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { drawThreshold } from './threshold.js';

/** No label changes hands twice: what one changed label does to the gap, and the gap that a stable winner has. */
export const modeSensitivity = 2;
export const modeFloor = 2;

/**
 * The most frequent of a list of labels, one label per group, when it leads by enough; nothing else is ever shown.
 *
 * Claim: with one label of the list replaced by any other, the cost is that of the threshold test alone
 * (mechanisms/threshold): epsilon^2 / 2 or sensitivity^2 / (2 sigma^2), and delta.
 *
 * Why. Let g be the lead of the most frequent label over the second (over nothing: its count). One replaced label takes
 * 1 from one count and gives 1 to another, so g changes by at most 2. Let A win with lead g before and B, another
 * label, with lead g' after. Then g <= c(A) - c(B) and g' <= c'(B) - c'(A), and
 *     g + g' <= (c(A) - c'(A)) + (c'(B) - c(B)) <= 1 + 1.
 * So if both leads are at least 2, the winners are the same label: given that both data sets reach the floor of 2, what
 * is released is a constant and costs nothing, and the test's own claim does the rest. A label is any text that is a
 * function of its group alone; nothing is assumed about how it was found.
 *
 * Source: the distance-to-instability form of propose-test-release, for the labels of Ashtiani and Liaw 2022,
 * Algorithm 2, which instead asks for four groups in five to agree.
 */
export function drawMode(
  draw: Draw,
  event: GaussianThresholdEvent | LaplaceThresholdEvent,
  labels: readonly string[],
): string | null {
  assert(event.sensitivity >= modeSensitivity && event.floor >= modeFloor, 'the test was charged for a lead');
  const { label, lead } = leadOf(labels);
  return drawThreshold(draw, event, lead) ? label : null;
}

function leadOf(labels: readonly string[]): { readonly label: string; readonly lead: number } {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  let label = '';
  let first = 0;
  let second = 0;
  // Equal counts: the smaller text, so that order has no say. Such a lead of 0 passes within the charged delta only.
  for (const [text, count] of counts) {
    if (count > first || (count === first && text < label)) {
      second = first;
      first = count;
      label = text;
    } else if (count > second) {
      second = count;
    }
  }
  return { label, lead: first - second };
}
