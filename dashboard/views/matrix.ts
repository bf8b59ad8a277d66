import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { MatrixPicture } from '../base/answer.js';
import { amount, counted, percent } from '../base/format.js';
import { html } from '../base/html.js';
import { coloursOf } from '../base/colours.js';
import { paint } from '../base/theme.js';
import { ManyVariances, Pairs, Variances } from './matrix-numbers.js';

/** With more columns than this, the numbers are not written into the cells. */
const numberedMax = 8;

/** A symmetric matrix as a heat map of correlations, and the ellipse of two chosen columns. */
export function Matrix(
  { picture, names }: { readonly picture: MatrixPicture; readonly names: readonly string[] },
): VNode {
  const { size, isCovariance } = picture;
  const [pair, setPair] = useState<readonly [number, number]>([0, 1]);
  // A projector is not a covariance: its entries are already shares of directions.
  const share = isCovariance ? correlationsOf(picture) : picture.entries;
  return html`<section class="card matrix-card">
    <h2>${isCovariance ? 'How columns vary together' : 'The leading directions'}</h2>
    <div class="matrix-parts"><div class="matrix-heat">
      <p class="quiet small">${isCovariance
        ? `Correlation; ${size <= numberedMax ? 'the standard deviation on the diagonal' : 'columns in the order below, from the top left'}.`
        : `${counted(rankOf(picture), 'direction')} of ${size}. On the diagonal 1 says that a column lies wholly within, 0 not at all;
          beside it, how much two columns share.`}</p>
      ${size <= numberedMax
        ? html`<${NumberedHeat} picture=${picture} share=${share} names=${names}
          isCovariance=${isCovariance}
          onPair=${setPair} />`
        : html`<${DrawnHeat} size=${size} share=${share} onPair=${setPair} />`}
      <div class="heat-scale" aria-hidden="true"><span>−1</span><span class="heat-ramp"></span>
        <span>+1</span></div>
      ${isCovariance && size <= numberedMax
        && html`<${Variances} picture=${picture} names=${names} />`}</div>
      ${isCovariance
        && html`<${Pair} picture=${picture} names=${names} pair=${pair} onPair=${setPair} />`}
    </div>
    ${isCovariance && size > numberedMax
      && html`<${ManyVariances} picture=${picture} names=${names} />`}
    ${isCovariance
      && html`<${Pairs} picture=${picture} names=${names} onPair=${setPair} />`}</section>`;
}

interface HeatFacts {
  readonly picture: MatrixPicture;
  readonly share: readonly number[];
  readonly names: readonly string[];
  readonly isCovariance: boolean;
  readonly onPair: (pair: readonly [number, number]) => void;
}

function NumberedHeat(
  { picture: { size, entries }, share, names, isCovariance, onPair }: HeatFacts,
): VNode {
  const text = (i: number, j: number): string => {
    const place = i * size + j;
    if (isCovariance && i === j) return amount(Math.sqrt(Math.max(0, entries[place]!)));
    return (Math.round(share[place]! * 100) / 100 + 0).toFixed(2).replace('-', '−');
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Matrix">
    <table class=${`heat${size > 3 ? ' upright' : ''}`}>
    <thead><tr><td></td>
    ${names.map((name, j) =>
      html`<th scope="col" key=${j}><span title=${name}>${name}</span></th>`)}</tr></thead>
    <tbody>${names.map(
      (name, i) => html`<tr key=${i}><th scope="row"><span title=${name}>${name}</span></th>
      ${names.map((_, j) => html`<td key=${j} class=${share[i * size + j]! < 0 ? 'minus' : 'plus'}
        style=${{
          '--share':
            `${isCovariance && i === j ? 0 : Math.min(1, Math.abs(share[i * size + j]!)) * 60}%`,
        }}
        onClick=${() => { if (i !== j) onPair([j, i]); }}>${text(i, j)}</td>`)}</tr>`,
    )}</tbody></table></div>`;
}

function DrawnHeat(
  { size, share, onPair }: Pick<HeatFacts, 'share' | 'onPair'> & { readonly size: number },
): VNode {
  const host = useRef<HTMLCanvasElement>(null);
  const painted = paint.value;
  useEffect(() => {
    const canvas = host.current!;
    const { plus, minus, card } = coloursOf(canvas.parentElement!, ['plus', 'minus', 'card']);
    const context = canvas.getContext('2d')!;
    context.globalAlpha = 1;
    context.fillStyle = card;
    context.fillRect(0, 0, size, size);
    share.forEach((value, place) => {
      context.globalAlpha = Math.min(1, Math.abs(value));
      context.fillStyle = value < 0 ? minus : plus;
      context.fillRect(place % size, Math.floor(place / size), 1, 1);
    });
  }, [share, painted]);
  const pick = ({ offsetX, offsetY, currentTarget }: MouseEvent): void => {
    const { clientWidth, clientHeight } = currentTarget as HTMLCanvasElement;
    const [across, up] = [
      Math.floor((offsetX / clientWidth) * size), Math.floor((offsetY / clientHeight) * size),
    ];
    if (across !== up && Math.min(across, up) >= 0 && Math.max(across, up) < size) {
      onPair([across, up]);
    }
  };
  return html`<canvas onClick=${pick} class="heat-canvas" width=${size} height=${size} ref=${host}
    role="img"
    aria-label=${`Heat map of ${size} by ${size} numbers; the downloaded log has them`}></canvas>`;
}

/**
 * The areas with about 39 % and 86 % of normal data, and the correlation of the two columns in
 * words.
 */
function Pair({ picture, names, pair, onPair }: {
  readonly picture: MatrixPicture; readonly names: readonly string[];
  readonly pair: readonly [number, number];
  readonly onPair: (pair: readonly [number, number]) => void;
}): VNode {
  const [across, up] = pair;
  const { size, entries } = picture;
  const [xx, yy, xy] = [
    entries[across * size + across]!, entries[up * size + up]!, entries[across * size + up]!,
  ];
  return html`<div class="pair"><${PairChoice} names=${names} pair=${pair} onPair=${onPair} />
    <${Ellipse} xx=${xx} yy=${yy} xy=${xy} x=${names[across]!} y=${names[up]!} /></div>`;
}

/** Chooses two of several columns. Choosing the other column of the pair swaps them. */
export function PairChoice({ names, pair, onPair }: {
  readonly names: readonly string[]; readonly pair: readonly [number, number];
  readonly onPair: (pair: readonly [number, number]) => void;
}): VNode {
  const [across, up] = pair;
  const choose = (which: 0 | 1) => (event: Event): void => {
    const chosen = Number((event.currentTarget as HTMLSelectElement).value);
    onPair(which === 0
      ? [chosen, up === chosen ? across : up] : [across === chosen ? up : across, chosen]);
  };
  const select = (which: 0 | 1, label: string): VNode =>
    html`<label class="field"><span>${label}</span>
    <select value=${pair[which]} onChange=${choose(which)}>${names.map((name, i) =>
        html`<option key=${i} value=${i} selected=${i
          === pair[which]}>${name}</option>`)}</select></label>`;
  return html`<div class="pair-choice">${select(0, 'Across')}${select(1, 'Up')}</div>`;
}

interface EllipseFacts {
  readonly xx: number;
  readonly yy: number;
  readonly xy: number;
  readonly x: string;
  readonly y: string;
}

/**
 * Each axis is in its own standard deviations, so the ellipse shows the correlation in any units.
 */
function Ellipse({ xx, yy, xy, x, y }: EllipseFacts): VNode {
  if (!(xx > 0 && yy > 0)) {
    return html`<p class="quiet">The noise left no spread in one of these columns.</p>`;
  }
  const correlation = Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)));
  const unit = 44;
  const ring = (deviations: number): VNode =>
    html`<ellipse class=${`ring-${deviations}`} transform="rotate(-45)"
    rx=${deviations * unit
      * Math.sqrt(1 + correlation)} ry=${deviations * unit * Math.sqrt(1 - correlation)} />`;
  const said = `${x} and ${y}: correlation ${correlation.toFixed(2)}, standard deviations `
    + `${amount(Math.sqrt(xx))} and ${amount(Math.sqrt(yy))}`;
  const ticks = [-2, 2].map((at) => html`<g key=${at}>
    <text x=${at * unit} y="112" text-anchor="middle">${signed(at * Math.sqrt(xx))}</text>
    <text x="-98" y=${-at * unit + 4} text-anchor="end">${signed(at * Math.sqrt(yy))}</text></g>`);
  return html`<figure>
    <svg class="ellipse" viewBox="-168 -106 274 240" role="img" aria-label=${said}>
    <rect class="frame" x="-92" y="-96" width="188" height="192" rx="4" />
    <path class="axes" d="M-92 0H96M0 -96V96" />${[2, 1].map(ring)}${ticks}
    <text class="name" x="2" y="130" text-anchor="middle">${x}</text>
    <text class="name" transform="translate(-154 0) rotate(-90)"
      text-anchor="middle">${y}</text></svg>
    <figcaption class="quiet small">Correlation ${correlation.toFixed(2)
      .replace('-', '−')}. Away from the mean, one
      and two standard deviations: about ${percent(0.39)} and ${percent(
        0.86,
      )} of normal data.</figcaption></figure>`;
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${amount(value)}`;
}

/** The trace of a projector is the number of its dimensions. */
function rankOf({ size, entries }: MatrixPicture): number {
  return Math.round(
    entries.reduce((sum, entry, place) => (place % (size + 1) === 0 ? sum + entry : sum), 0),
  );
}

function correlationsOf({ size, entries }: MatrixPicture): readonly number[] {
  const deviation =
    Array.from({ length: size }, (_, i) => Math.sqrt(Math.max(0, entries[i * size + i]!)));
  return entries.map((entry, place) => {
    const both = deviation[Math.floor(place / size)]! * deviation[place % size]!;
    return both > 0 ? entry / both : 0;
  });
}
