import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Cloud } from '../base/answer.js';
import { amount, middleText, percent } from '../base/format.js';
import { html } from '../base/html.js';
import { Axes } from './axes.js';
import { PairChoice } from './matrix.js';
import { Mixture } from './mixture.js';

const [wide, high] = [420, 300];
const corners = 72;

/**
 * The parts of a mixture in several columns: ellipses over two columns, a table of all columns, and
 * the density of one.
 */
export function Clouds({ clouds, names }: {
  readonly clouds: readonly Cloud[]; readonly names: readonly string[];
}): VNode {
  const [pair, setPair] = useState<readonly [number, number]>([0, 1]);
  if (clouds.length === 0) return html`<section class="card"><h2>Parts</h2>
    <p>No part was found.</p></section>`;
  const [across] = pair;
  const components = clouds.map(({ weight, mean, covariance }) =>
    ({ weight, mean: mean[across]!, deviation: Math.sqrt(covariance[across]![across]!) }));
  return html`<section class="card"><h2>What kinds of rows there are</h2>
    <div class="matrix-parts"><div class="pair">
    <${PairChoice} names=${names} pair=${pair} onPair=${setPair} />
      <${Rings} clouds=${clouds} pair=${pair} names=${names} /></div>
    <div class="scroll" tabindex="0" role="region" aria-label="Parts of the mixture in all columns">
    <table>
      <thead><tr><th scope="col">Part</th><th scope="col">Weight</th>
      ${names.map((name, j) => html`<th scope="col" key=${j}>${name}</th>`)}</tr></thead>
      <tbody>${clouds.map(({ weight, mean, covariance }, k) => html`<tr key=${k}>
        <th scope="row"><span class=${`key part-${k % 4}`}></span>${k
          + 1}</th><td>${percent(weight)}</td>
        ${mean.map((entry, j) => {
          const deviation = Math.sqrt(covariance[j]![j]!);
          return html`<td key=${j}>${middleText(entry, deviation)}
            <span class="quiet"> ± ${amount(deviation)}</span></td>`;
        })}</tr>`)}</tbody></table></div>
    </div></section>
    <${Mixture} components=${components} column=${names[across]!} />`;
}

/** One and two standard deviations of every part, in the units of the columns. */
function Rings({ clouds, pair: [across, up], names }: {
  readonly clouds: readonly Cloud[]; readonly pair: readonly [number, number];
  readonly names: readonly string[];
}): VNode {
  const range = (column: number): readonly [number, number] => {
    const ends = (sign: number): number[] =>
      clouds.map(({ mean, covariance }) =>
        mean[column]! + sign * 2.3 * Math.sqrt(covariance[column]![column]!));
    return [Math.min(...ends(-1)), Math.max(...ends(1))];
  };
  const [[left, right], [bottom, top]] = [range(across), range(up)];
  const placed = (x: number, y: number): string =>
    `${(((x - left) / (right - left)) * wide).toFixed(1)} `
      + `${(((top - y) / (top - bottom)) * high).toFixed(1)}`;
  const ring = ({ mean, covariance }: Cloud, deviations: number): string => {
    const [xx, yy, xy] = [
      covariance[across]![across]!, covariance[up]![up]!, covariance[across]![up]!,
    ];
    const slope = xy / Math.sqrt(xx);
    const rest = Math.sqrt(Math.max(0, yy - slope * slope));
    const path = Array.from({ length: corners }, (_, i) => {
      const [x, y] = [
        deviations * Math.cos((2 * Math.PI * i) / corners),
        deviations * Math.sin((2 * Math.PI * i) / corners),
      ];
      return placed(mean[across]! + Math.sqrt(xx) * x, mean[up]! + slope * x + rest * y);
    });
    return `M${path.join('L')}Z`;
  };
  const said = clouds.map(({ weight, mean, covariance }) => {
    const [x, y] = [across, up].map((j) =>
      middleText(mean[j]!, Math.sqrt(covariance[j]![j]!)));
    return `${percent(weight)} around ${x!}, ${y!}`;
  }).join('; ');
  return html`<figure><svg class="ellipse clouds" viewBox="-76 -8 510 360" role="img"
    aria-label=${`${names[across]!} and ${names[up]!}: ${said}`}>
    <rect class="frame" x="0" y="0" width=${wide} height=${high} rx="4" />
    ${clouds.map((cloud, k) => html`<g key=${k} class=${`part-${k % 4}`}
      style=${{ '--share': `${20 + 60 * cloud.weight}%` }}>
      <path class="ring-2" d=${ring(cloud, 2)} /><path class="ring-1" d=${ring(cloud, 1)} /></g>`)}
    <${Axes} wide=${wide} high=${high} names=${[names[across], names[up]]}
      ends=${[[left, right], [bottom, top]]} /></svg>
    <figcaption
      class="quiet small">One and two standard deviations of each part.</figcaption></figure>`;
}
