import type { VNode } from 'preact';
import type { CurvePicture } from '../base/answer.js';
import { percent, roundTicks, shown } from '../base/format.js';
import { html } from '../base/html.js';
import { edgeAt } from '../base/summary.js';

const [wide, high] = [640, 240];
/** Room above 100 %, for the band. */
const top = 8;
const levels = [0.25, 0.5, 0.75, 1];

/** The share of people below each value: a rising line inside its band. */
export function Curve({ picture, column }: {
  readonly picture: CurvePicture; readonly column: string;
}): VNode {
  const { edges, below, low, high: ends, all } = picture;
  const [from, to] = [edges[0]!, edges.at(-1)!];
  const across = edges.map((edge) => (((edge - from) / (to - from)) * wide).toFixed(1));
  const up = (people: number): string => {
    const share = Math.min(1, Math.max(0, people / all));
    return (high - share * (high - top)).toFixed(1);
  };
  const points = (people: readonly number[]): readonly string[] =>
    people.map((each, i) => `${across[i]} ${up(each)}`);
  const band = `M${points(ends).join('L')}L${[...points(low)].reverse().join('L')}Z`;
  return html`<section class="card"><h2>The share of people below each ${column}</h2>
    <div class="curve"><svg class="density" viewBox=${`0 0 ${wide} ${high}`}
      preserveAspectRatio="none" role="img"
      aria-label=${`Half of the people are below about ${shown(edgeAt(picture, 0.5))}`}>
      ${levels.map((level) => html`<path key=${level} class="level"
        d=${`M0 ${up(level * all)}L${wide} ${up(level * all)}`} />`)}
      <path class="band" d=${band} /><path class="outline" d=${`M${points(below).join('L')}`} />
    </svg>
    <div class="curve-levels quiet" aria-hidden="true">${levels.map((level) => html`
      <span key=${level} style=${{ top: `${(Number(up(level * all)) / high) * 100}%` }}>
        ${percent(level)}</span>`)}</div></div>
    <div class="density-ticks quiet" aria-hidden="true">${roundTicks(from, to).map((tick) => html`
      <span key=${tick} style=${{
        left: `${((tick - from) / (to - from)) * 100}%`,
      }}>${shown(tick)}</span>`)}</div>
    <p class="quiet small">In 95 of 100 epochs the whole line of all people is inside the band.</p>
    </section>`;
}
