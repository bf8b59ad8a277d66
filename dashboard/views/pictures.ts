import type { VNode } from 'preact';
import type { Bin, Component, Picture } from '../answer.js';
import { binText, percent, shown, spoken, whole } from '../format.js';
import { html } from '../html.js';
import { Matrix } from './matrix.js';

/** What an estimate looks like, where it is more than one number per column. */
export function PictureView({ picture, columns, column }: {
  readonly picture: Picture; readonly columns: readonly string[]; readonly column: string;
}): VNode {
  switch (picture.kind) {
    case 'matrix':
      return html`<${Matrix} picture=${picture} columns=${columns} />`;
    case 'mixture':
      return html`<${Mixture} components=${picture.components} column=${column} />`;
    case 'bins':
      return html`<${Bins} bins=${picture.bins} column=${column} />`;
    case 'choice':
      return html`<${Choice} chosen=${picture.chosen} names=${picture.names} />`;
  }
}

const points = 320;
/** In standard deviations. */
const peakSteps = [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3];
const [wide, high] = [640, 240];

/** The density of a mixture of normals, with that of each part under it. */
function Mixture(
  { components, column }: { readonly components: readonly Component[]; readonly column: string },
): VNode {
  if (components.length === 0) {
    return html`<section class="card"><h2>${spoken(column)}</h2><p>No part was found.</p></section>`;
  }
  const from = Math.min(...components.map(({ mean, deviation }) => mean - 3.5 * deviation));
  const to = Math.max(...components.map(({ mean, deviation }) => mean + 3.5 * deviation));
  // Even steps, and every peak: a narrow one would fall between them.
  const at = [
    ...Array.from({ length: points + 1 }, (_, i) => from + ((to - from) * i) / points),
    ...components.flatMap(({ mean, deviation }) => peakSteps.map((step) => mean + step * deviation)),
  ].sort((one, two) => one - two);
  const densities = components.map((component) => at.map((x) => densityOf(component, x)));
  const total = at.map((_, i) => densities.reduce((sum, density) => sum + density[i]!, 0));
  const top = Math.max(...total);
  const across = at.map((x) => (((x - from) / (to - from)) * wide).toFixed(1));
  const path = (density: readonly number[]): string => density
    .map((y, i) => `${i === 0 ? 'M' : 'L'}${across[i]} ${(high - (y / top) * (high - 12)).toFixed(1)}`).join('');
  const said = components.map(({ weight, mean, deviation }) =>
    `${percent(weight)} around ${shown(mean)}, standard deviation ${shown(deviation)}`).join('; ');
  const ticks = Array.from({ length: 5 }, (_, i) => from + ((to - from) * i) / 4);
  return html`<section class="card"><h2>How ${spoken(column)} are spread</h2>
    <svg class="density" viewBox=${`0 0 ${wide} ${high}`} preserveAspectRatio="none" role="img"
    aria-label=${`Density: ${said}`}>
      <path class="whole" d=${`${path(total)}L${wide} ${high}L0 ${high}Z`} />
      ${densities.map((density, k) => html`<path key=${k} class=${`part part-${k % 4}`} d=${path(density)} />`)}
      <path class="outline" d=${path(total)} /></svg>
    <div class="density-ticks quiet" aria-hidden="true">${ticks.map((tick, i) => html`
      <span key=${i}>${shown(Number(tick.toPrecision(3)))}</span>`)}</div>
    <div class="scroll" tabindex="0" role="region" aria-label="Parts of the mixture"><table>
      <thead><tr><th scope="col">Part</th>
      <th scope="col">Weight</th><th scope="col">Mean</th><th scope="col">Standard deviation</th></tr></thead>
      <tbody>${components.map(({ weight, mean, deviation }, k) => html`<tr key=${k}>
        <th scope="row"><span class=${`key part-${k % 4}`}></span>${k + 1}</th>
        <td>${percent(weight)}</td><td>${shown(mean)}</td>
        <td>${shown(deviation)}</td></tr>`)}</tbody></table></div></section>`;
}

function densityOf({ weight, mean, deviation }: Component, x: number): number {
  const away = (x - mean) / deviation;
  return (weight / (deviation * Math.sqrt(2 * Math.PI))) * Math.exp(-0.5 * away * away);
}

/** Noisy counts as bars with whiskers; a count that noise pushed below zero has no bar, but keeps its number. */
function Bins({ bins, column }: { readonly bins: readonly Bin[]; readonly column: string }): VNode {
  const top = Math.max(1, ...bins.map(({ count, high: end }) => Math.max(count, end ?? count)));
  const share = (value: number): string => `${(Math.max(0, Math.min(1, value / top)) * 100).toFixed(2)}%`;
  return html`<section class="card"><h2>Contributors by ${spoken(column)}</h2>
    ${bins.length === 0 && html`<p class="quiet">No bin was full enough to be shown.</p>`}
    <table class="bins"><thead class="hidden"><tr><th scope="col">Bin</th><th scope="col">Bar</th>
      <th scope="col">Contributors</th></tr></thead>
    <tbody>${bins.map(({ from, to, count, low, high: end }, i) => html`<tr key=${i}>
      <th scope="row">${binText(from, to)}</th>
      <td class="bin-bar"><span class="bar-track"><span class="bar-fill" style=${{ width: share(count) }}></span>
        ${low !== null && end !== null && html`<span class="whisker" style=${{
          left: share(low), width: `calc(${share(end)} - ${share(low)})`,
        }}></span>`}</span></td>
      <td class="bin-count">${whole(Math.round(count))}${low !== null && end !== null && end > low
        ? html`<span class="quiet"> ± ${whole(Math.round((end - low) / 2))}</span>` : null}</td></tr>`)}</tbody>
    </table></section>`;
}

/** Which of the candidates fits best. */
function Choice({ chosen, names }: { readonly chosen: number; readonly names: readonly string[] }): VNode {
  return html`<section class="card"><h2>Which fits best</h2><ol class="choice" start="0">${names.map((name, i) => html`
    <li key=${i} class=${i === chosen ? 'chosen' : ''}><span>${name}</span>
    ${i === chosen && html`<strong>best fit</strong>`}</li>`)}</ol></section>`;
}
