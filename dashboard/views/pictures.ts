import type { VNode } from 'preact';
import type { Bin, Picture } from '../base/answer.js';
import { binText } from '../base/format.js';
import { html } from '../base/html.js';
import type { Asked } from '../base/model.js';
import { axisName, columnName, columnOf, peopleWords } from '../base/number-words.js';
import { BarTrack } from './bar-track.js';
import { Clouds } from './clouds.js';
import { Curve } from './curve.js';
import { Keyed } from './keyed.js';
import { Matrix } from './matrix.js';
import { Mixture } from './mixture.js';
import { NumberCell } from './number-cell.js';

/** Draws an estimate that is more than one number per column. */
export function PictureView({ picture, asked }: {
  readonly picture: Picture; readonly asked: Asked;
}): VNode {
  const names = asked.columns.map((_, column) => columnName(asked, column));
  const axes = asked.columns.map((_, column) => axisName(asked, column));
  const column = axes[columnOf(asked)] ?? '';
  switch (picture.kind) {
    case 'matrix':
      return html`<${Matrix} picture=${picture} names=${names} />`;
    case 'mixture':
      return html`<${Mixture} components=${picture.components} column=${column} />`;
    case 'clouds':
      return html`<${Clouds} clouds=${picture.clouds} names=${axes} />`;
    case 'curve':
      return html`<${Curve} picture=${picture} column=${column} />`;
    case 'keyed':
      return html`<${Keyed} picture=${picture} />`;
    case 'bins':
      return html`<${Bins} bins=${picture.bins} column=${column} />`;
    case 'choice':
      return html`<${Choice} chosen=${picture.chosen} names=${picture.names} />`;
  }
}

/**
 * Noisy counts as bars with whiskers. A count that noise pushed below zero has no bar but keeps its
 * number.
 */
function Bins({ bins, column }: { readonly bins: readonly Bin[]; readonly column: string }): VNode {
  // The whisker of an open interval goes to the end of the axis.
  const top = Math.max(1, ...bins.flatMap(({ count, high: end }) => [count, end ?? count])
    .filter(Number.isFinite));
  return html`<section class="card"><h2>Contributors by ${column}</h2>
    ${bins.length === 0 && html`<p class="quiet">No bin was full enough to be shown.</p>`}
    <table class="bins"><thead class="hidden"><tr><th scope="col">Bin</th><th scope="col">Bar</th>
      <th scope="col">Contributors</th></tr></thead>
    <tbody>${bins.map(({ name, from, to, count, low, high: end }, i) => html`<tr key=${i}>
      <th scope="row"><bdi>${name ?? binText(from, to)}</bdi></th>
      <td class="bin-bar"><${BarTrack} axis=${[0, top]} value=${count}
        interval=${low !== null && end !== null ? [Math.max(0, low), Math.max(0, end)] : null} /></td>
      <td class="bin-count"><${NumberCell} value=${count} words=${peopleWords}
        interval=${low !== null && end !== null ? [low, end] : null} /></td></tr>`)}</tbody>
    </table></section>`;
}

/** The candidate that fits best. */
function Choice({ chosen, names }: {
  readonly chosen: number; readonly names: readonly string[];
}): VNode {
  return html`<section class="card"><h2>Which fits best</h2>
    <ol class="choice" start="0">${names.map((name, i) => html`
    <li key=${i} class=${i === chosen ? 'chosen' : ''}><span>${name}</span>
    ${i === chosen && html`<strong>best fit</strong>`}</li>`)}</ol></section>`;
}
