import type { VNode } from 'preact';
import { roundTicks, shown } from '../base/format.js';
import { html } from '../base/html.js';

/** From the left or lower end to the other one, in the column's own unit. */
export type Ends = readonly [low: number, high: number];

/** Marks and names of the two columns of a picture, below it and on its left. */
export function Axes({ wide, high, inset = 0, ends: [[left, right], [bottom, top]], names }: {
  readonly wide: number; readonly high: number;
  /** The distance of the ends from the frame. */
  readonly inset?: number;
  readonly ends: readonly [across: Ends, up: Ends];
  readonly names: readonly [across: string, up: string];
}): VNode {
  const along = (share: number, length: number): number => inset + share * (length - 2 * inset);
  return html`<g>
    ${roundTicks(left, right).map((tick) => html`<text key=${`x${tick}`} text-anchor="middle"
      y=${high + 18} x=${along((tick - left) / (right - left), wide)}>${shown(tick)}</text>`)}
    ${roundTicks(bottom, top).map((tick) => html`<text key=${`y${tick}`} text-anchor="end" x="-8"
      y=${along((top - tick) / (top - bottom), high) + 4}>${shown(tick)}</text>`)}
    <text class="name" x=${wide / 2} y=${high + 40} text-anchor="middle">${names[0]}</text>
    <text class="name" transform=${`translate(-64 ${high / 2}) rotate(-90)`}
      text-anchor="middle">${names[1]}</text></g>`;
}
