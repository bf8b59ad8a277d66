import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { spoken, whole } from '../base/format.js';
import { html } from '../base/html.js';
import { Axes, type Ends } from '../views/axes.js';
import { PairChoice } from '../views/matrix.js';
import type { Line, Picture, Round } from './model.js';

const side = 380;
/** Rows and answers are drawn up to so far from the frame. */
const inset = 8;

type Pair = readonly [across: number, up: number];

/** Places in the picture, where 0 is the left or upper edge. */
export interface Placing {
  /** The place of a row; at the edge if it is beyond the picture. */
  readonly at: (values: readonly number[]) => { readonly x: number; readonly y: number };
  readonly isBeyond: (values: readonly number[]) => boolean;
  /** Radius of the ball; null if there is none. */
  readonly ring: number | null;
  /** Ends of both columns, in their own units. */
  readonly ends: readonly [across: Ends, up: Ends];
}

/**
 * Both columns are in spreads around the centre, so that the ball is a circle. The picture shows
 * the ball and nearly all rows within three times its radius. Rows farther out are drawn at the
 * edge: some liars are a million spreads away.
 */
export function placingOf(
  { rows, centre, reach }: Picture, spread: readonly number[], pair: Pair,
): Placing {
  const offset = (values: readonly number[], j: number): number =>
    (values[j]! - centre[j]!) / spread[j]!;
  const hasBall = Number.isFinite(reach) && reach > 0;
  const far = rows.map(({ values }) => Math.max(...pair.map((j) => Math.abs(offset(values, j)))))
    .filter((distance) => !hasBall || distance <= 3 * reach).sort((one, two) => one - two);
  const most = 1.1 * (far[Math.floor(0.99 * far.length)] ?? 1);
  const span = hasBall ? Math.max(1.15 * reach, most) : most || 1;
  const half = side / 2 - inset;
  const along = (values: readonly number[], j: number): number =>
    half * Math.min(1, Math.max(-1, offset(values, j) / span));
  const ends = (j: number): Ends =>
    [centre[j]! - span * spread[j]!, centre[j]! + span * spread[j]!];
  return {
    at: (values) =>
      ({ x: side / 2 + along(values, pair[0]), y: side / 2 - along(values, pair[1]) }),
    isBeyond: (values) => pair.some((j) => Math.abs(offset(values, j)) > span),
    ring: hasBall ? half * reach / span : null,
    ends: [ends(pair[0]), ends(pair[1])],
  };
}

/**
 * Rows of the newest round in two columns, those that the filter left out, and the places of
 * answers.
 */
export function Rows({ round, picture, lines, columns, spread }: {
  readonly round: Round; readonly picture: Picture; readonly lines: readonly Line[];
  readonly columns: readonly string[]; readonly spread: readonly number[];
}): VNode {
  const [chosen, setPair] = useState<Pair>([0, 1]);
  // Other data may have fewer columns.
  const pair: Pair = chosen.every((j) => j < columns.length) ? chosen : [0, 1];
  const names = columns.map(spoken);
  const placing = placingOf(picture, spread, pair);
  const { rows, leftOut } = picture;
  const beyond = rows.filter(({ values }) => placing.isBeyond(values)).length;
  const said = `The robust filter left out ${whole(leftOut.hostile)} of ${whole(round.hostile)} `
    + `hostile and ${whole(leftOut.honest)} of ${whole(round.honest)} honest rows.`;
  return html`<section class="card"><div class="card-head"><h2>The rows of this round</h2>
    <span class="quiet small">${rows.length < round.honest + round.hostile
      ? `${whole(rows.length)} of them, both kinds in proportion` : 'all of them'}</span></div>
    <div class="rows-picture"><figure>
      <${Plot} placing=${placing} picture=${picture} round=${round} lines=${lines} names=${names}
        pair=${pair} said=${said} /></figure>
    <div class="rows-words"><${PairChoice} names=${names} pair=${pair} onPair=${setPair} />
      <p>${said}</p>
      <p class="quiet small">Beyond the circle it leaves a row out at once${columns.length > 2
        ? ', by its distance in all columns' : ''}. Which rows a private estimator leaves out is
        not released, so only its answers are shown.
        ${beyond > 0 && ` ${whole(beyond)} of these rows lie beyond the picture, and stand at its `
          + 'edge.'}</p>
      <ul class="legend column">
        <li><i class="dot-honest"></i>honest</li><li><i class="dot-hostile"></i>hostile</li>
        <li><i class="dot-out"></i>left out by the filter</li>
        <li><i class="cross">+</i>the truth</li>
        ${lines.map(({ name, title, isPrivate }, i) => html`<li class=${`s${i}`} key=${name}>
          <i class="diamond"></i>${title}${isPrivate ? '' : ' (not private)'}</li>`)}</ul>
    </div></div></section>`;
}

function Plot({ placing, picture, round, lines, names, pair, said }: {
  readonly placing: Placing; readonly picture: Picture; readonly round: Round;
  readonly lines: readonly Line[]; readonly names: readonly string[]; readonly pair: Pair;
  readonly said: string;
}): VNode {
  const [across, up] = pair;
  // Liars on top, since there are fewer of them.
  const rows = [...picture.rows].sort((one, two) => Number(one.isHostile) - Number(two.isHostile));
  const truth = placing.at(round.truth);
  return html`<svg class="rows-plot" viewBox=${`-76 -4 ${side + 80} ${side + 52}`} role="img"
    aria-label=${`${names[across]!} and ${names[up]!} of each row. ${said}`}>
    <rect class="frame" width=${side} height=${side} rx="4" />
    ${placing.ring !== null
      && html`<circle class="ring" cx=${side / 2} cy=${side / 2} r=${placing.ring} />`}
    ${rows.map(({ values, isHostile, isKept }, i) => {
      const { x, y } = placing.at(values);
      return html`<circle key=${i} cx=${x.toFixed(1)} cy=${y.toFixed(1)} r="2.6"
        class=${`${isHostile ? 'hostile' : 'honest'}${isKept ? '' : ' out'}`} />`;
    })}
    <path class="truth" d=${`M${truth.x - 8} ${truth.y}h16M${truth.x} ${truth.y - 8}v16`} />
    ${lines.map(({ name }, i) => {
      const values = round.answers.find(({ estimator }) => estimator === name)?.estimate
        ?? round.baselineEstimates[name];
      if (values === undefined || values === null) return null;
      const { x, y } = placing.at(values);
      return html`<path key=${name} class=${`answer-mark s${i}`}
        d=${`M${x} ${y - 6}l6 6l-6 6l-6 -6z`} />`;
    })}
    <${Axes} wide=${side} high=${side} inset=${inset} ends=${placing.ends}
      names=${[names[across], names[up]]} /></svg>`;
}
