import type { VNode } from 'preact';
import { html } from '../base/html.js';

interface TrackFacts {
  /** The ends of the axis. Zero is between them, or at one of them. */
  readonly axis: readonly [from: number, to: number];
  readonly value: number;
  readonly interval: readonly [low: number, high: number] | null;
}

/**
 * A bar from zero to a value, with a whisker for its interval. Parts beyond the axis are cut off,
 * and a whisker has a triangle there.
 */
export function BarTrack({ axis: [from, to], value, interval }: TrackFacts): VNode {
  const along = (at: number): number =>
    Math.max(0, Math.min(1, (at - from) / (to - from || 1))) * 100;
  const between = (one: number, two: number): { left: string; width: string } => {
    const [left, right] = [along(Math.min(one, two)), along(Math.max(one, two))];
    return { left: `${left.toFixed(2)}%`, width: `${(right - left).toFixed(2)}%` };
  };
  const [low, high] = interval ?? [from, to];
  const beyond = `${low < from ? ' further-left' : ''}${high > to ? ' further-right' : ''}`;
  return html`<span class="bar-track">
    <span class="bar-fill" style=${between(0, value)}></span>
    ${interval !== null && html`<span class=${`whisker${beyond}`} style=${between(...interval)}></span>`}
    </span>`;
}
