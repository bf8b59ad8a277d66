import type { VNode } from 'preact';
import type { MatrixPicture } from '../base/answer.js';
import { amount, counted, shown } from '../base/format.js';
import { html } from '../base/html.js';
import { pairsOf } from '../base/summary.js';

/** Most pairs in the table. The log has all of them. */
const pairsShown = 8;

interface NumbersFacts {
  readonly picture: MatrixPicture;
  readonly names: readonly string[];
  readonly onPair: (pair: readonly [number, number]) => void;
}

/** The variance of each column. */
export function Variances(
  { picture: { size, entries, halves }, names }: Omit<NumbersFacts, 'onPair'>,
): VNode {
  const at = (i: number): number => i * size + i;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Variances">
    <table class="variances">
    <thead><tr><th scope="col">Column</th><th scope="col">Variance</th>
      <th scope="col">Standard deviation</th></tr></thead>
    <tbody>${names.map((name, i) => html`<tr key=${i}><th scope="row">${name}</th>
      <td><${WithHalf} value=${entries[at(i)]!} half=${halves[at(i)] ?? null} /></td>
      <td>${amount(Math.sqrt(Math.max(0, entries[at(i)]!)))}</td></tr>`)}</tbody></table></div>`;
}

/** The same for many columns: a table of them would be long, so several are side by side. */
export function ManyVariances(
  { picture: { size, entries, halves }, names }: Omit<NumbersFacts, 'onPair'>,
): VNode {
  return html`<div><h3>Variances</h3><dl class="facts rest-of-numbers">${names.map((name, i) =>
    html`<div key=${i}><dt>${name}</dt>
    <dd><${WithHalf} value=${entries[i * (size + 1)]!} half=${halves[i * (size + 1)]
      ?? null} /></dd></div>`)}</dl></div>`;
}

/**
 * The pairs of columns whose correlation exceeds the noise. The name of a pair shows its ellipse.
 */
export function Pairs({ picture, names, onPair }: NumbersFacts): VNode {
  const all = pairsOf(picture);
  const sure = all.filter(({ isSure }) => isSure);
  const listed = sure.slice(0, pairsShown);
  const left = all.length - listed.length;
  return html`<div class="pairs">
    ${listed.length === 0
      ? html`<p
        class="quiet small">No two columns go together by more than the intervals leave open.</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Correlations"><table>
      <thead><tr><th scope="col">Pair</th><th scope="col">Correlation</th>
      <th scope="col">Covariance</th></tr></thead>
      <tbody>${listed.map(({ across, up, correlation, covariance, half }) =>
        html`<tr key=${`${across} ${up}`}>
        <th scope="row"><button type="button" class="plain" onClick=${() => onPair([across, up])}
          title="Show its ellipse">${names[across]} and ${names[up]}</button></th>
        <td>${correlation.toFixed(2).replace('-', '−')}</td>
        <td><${WithHalf} value=${covariance} half=${half} /></td></tr>`)}</tbody></table></div>`}
    ${left > 0 && listed.length > 0 && html`<p class="quiet small">${sure.length === listed.length
      ? `${counted(left, 'other pair')} may as well not go together: the interval has zero in it.`
      : `${counted(left, 'pair')} more in the log, all weaker.`}</p>`}</div>`;
}

function WithHalf({ value, half }: {
  readonly value: number; readonly half: number | null;
}): VNode {
  return html`<span>${shown(value, half)}${half !== null && half > 0
    && html`<span class="quiet"> ± ${shown(half, half)}</span>`}</span>`;
}
