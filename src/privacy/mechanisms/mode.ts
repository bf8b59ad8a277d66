import { assert } from '../../base/assert.js';
import type { GaussianThresholdEvent } from '../accounting/events.js';
import type { Draw } from './draw.js';
import { drawThreshold } from './threshold.js';

/**
 * How much one changed label can change the lead. Also the smallest lead at which neighbours have
 * the same winner.
 */
export const modeSensitivity = 2;
export const modeFloor = 2;

/**
 * The most frequent of a list of labels, one label per group, if its lead is large enough. Nothing
 * else is ever published.
 *
 * Neighbours: one label of the list is replaced by any other.
 * Claim: the cost is that of the threshold test alone (mechanisms/threshold):
 * sensitivity^2 / (2 sigma^2), and delta.
 *
 * Why: let g be the lead of the most frequent label over the second. If there is no second, g is
 * its count. A replaced label takes 1 from one count and adds 1 to another, so g changes by at most
 * 2. Let A win with lead g before, and let another label B win with lead g' after. Then g <= c(A) -
 * c(B) and g' <= c'(B) - c'(A), and
 *     g + g' <= (c(A) - c'(A)) + (c'(B) - c(B)) <= 1 + 1.
 * So if both leads are at least 2, both data sets have the same winner. If both reach the floor of
 * 2, the released label is a constant and costs nothing; the claim of the test covers the rest. A
 * label is any text that is a function of its group alone. The proof assumes nothing about how it
 * was found.
 *
 * Source: the distance-to-instability form of propose-test-release, for the labels of Ashtiani and
 * Liaw 2022, Algorithm 2. Their algorithm instead requires that four groups in five agree.
 */
export function drawMode(
  draw: Draw,
  event: GaussianThresholdEvent,
  labels: readonly string[],
): string | null {
  assert(event.sensitivity >= modeSensitivity
    && event.floor >= modeFloor, 'the test was charged for a lead');
  const { label, lead } = leadOf(labels);
  return drawThreshold(draw, event, lead) ? label : null;
}

/** The commonest label, and by how many it leads the next one. */
export function leadOf(
  labels: readonly string[],
): { readonly label: string; readonly lead: number } {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  let label = '';
  let first = 0;
  let second = 0;
  // Equal counts: the smaller text wins, so order does not matter. A lead of 0 passes only within
  // the charged delta.
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
