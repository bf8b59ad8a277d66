import type { VNode } from 'preact';
import type { Component } from '../base/answer.js';
import { amount, middleText, percent, roundTicks, shown } from '../base/format.js';
import { html } from '../base/html.js';

const points = 320;
/** In standard deviations. */
const peakSteps = [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3];
const [wide, high] = [640, 240];

/** The density of a mixture of normals, with the density of each part under it. */
export function Mixture(
  { components, column }: { readonly components: readonly Component[]; readonly column: string },
): VNode {
  if (components.length === 0) {
    return html`<section class="card"><h2>${column}</h2>
      <p>No part was found.</p></section>`;
  }
  const from = Math.min(...components.map(({ mean, deviation }) => mean - 3.5 * deviation));
  const to = Math.max(...components.map(({ mean, deviation }) => mean + 3.5 * deviation));
  // Even steps plus every peak, because a narrow peak could lie between two steps.
  const at = [
    ...Array.from({ length: points + 1 }, (_, i) => from + ((to - from) * i) / points),
    ...components.flatMap(({ mean, deviation }) =>
      peakSteps.map((step) => mean + step * deviation)),
  ].sort((one, two) => one - two);
  const densities = components.map((component) => at.map((x) => densityOf(component, x)));
  const total = at.map((_, i) => densities.reduce((sum, density) => sum + density[i]!, 0));
  const top = Math.max(...total);
  const across = at.map((x) => (((x - from) / (to - from)) * wide).toFixed(1));
  const path = (density: readonly number[]): string => density
    .map((y, i) =>
      `${i === 0 ? 'M' : 'L'}${across[i]} ${(high - (y / top) * (high - 12)).toFixed(1)}`).join('');
  const said = components.map(({ weight, mean, deviation }) =>
    `${percent(weight)} around ${middleText(mean, deviation)}, standard deviation ${amount(deviation)}`).join('; ');
  return html`<section class="card"><h2>The spread of ${column}</h2>
    <svg class="density" viewBox=${`0 0 ${wide} ${high}`} preserveAspectRatio="none" role="img"
    aria-label=${`Density: ${said}`}>
      <path class="whole" d=${`${path(total)}L${wide} ${high}L0 ${high}Z`} />
      ${densities.map((density, k) =>
        html`<path key=${k} class=${`part part-${k % 4}`} d=${path(density)} />`)}
      <path class="outline" d=${path(total)} /></svg>
    <div class="density-ticks quiet" aria-hidden="true">${roundTicks(from, to).map((tick) => html`
      <span key=${tick} style=${{
        left: `${((tick - from) / (to - from)) * 100}%`,
      }}>${shown(tick)}</span>`)}</div>
    <div class="scroll" tabindex="0" role="region" aria-label="Parts of the mixture">
    <table class="even">
      <thead><tr><th scope="col">Part</th>
      <th scope="col">Weight</th><th scope="col">Mean</th>
      <th scope="col" title="standard deviation">Deviation</th></tr></thead>
      <tbody>${components.map(({ weight, mean, deviation }, k) => html`<tr key=${k}>
        <th scope="row"><span class=${`key part-${k % 4}`}></span>${k + 1}</th>
        <td>${percent(weight)}</td><td>${middleText(mean, deviation)}</td>
        <td>${amount(deviation)}</td></tr>`)}</tbody></table></div></section>`;
}

function densityOf({ weight, mean, deviation }: Component, x: number): number {
  const away = (x - mean) / deviation;
  return (weight / (deviation * Math.sqrt(2 * Math.PI))) * Math.exp(-0.5 * away * away);
}
