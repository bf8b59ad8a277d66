import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { compact } from '../base/format.js';
import { html } from '../base/html.js';
import { errorNumber } from './words.js';
import type { Point } from './what-if.js';

/** The lines' colours, by place. */
export const shades = ['accent', 'minus', 'violet', 'good'] as const;

const heightPx = 280;
const [left, right, top, bottom] = [56, 12, 14, 44];

/** The contents of the chart. */
export interface ErrorCurveFacts {
  readonly points: readonly Point[];
  /** Names of the estimators, in the order of their colours. */
  readonly names: readonly string[];
  readonly unit: string;
  readonly people: number;
  /** The wanted error; null if there is none. */
  readonly goal: number | null;
}

/** The expected error of each estimator by the number of people, both tenfold by each step. */
export function ErrorCurve(facts: ErrorCurveFacts): VNode {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(host.current!.clientWidth));
    observer.observe(host.current!);
    return () => observer.disconnect();
  }, []);
  return html`<div ref=${host} class="curve">${width > 0
    && html`<${Drawn} ...${facts} width=${width} />`}</div>`;
}

function Drawn(
  { points, names, unit, people, goal, width }: ErrorCurveFacts & { readonly width: number },
): VNode {
  const known = points.flatMap(({ errors }) => Object.values(errors))
    .filter((error) => error !== null && error > 0) as number[];
  const all = goal === null ? known : [...known, goal];
  const [low, high] = [Math.floor(Math.log10(Math.min(...all, 0.1))),
    Math.ceil(Math.log10(Math.max(...all, 0.2)))];
  const x = (count: number): number => left + ((Math.log10(count) - 2) / 5)
    * (width - left - right);
  const y = (error: number): number => top + ((high - Math.log10(error)) / (high - low))
    * (heightPx - top - bottom);
  const step = high - low > 5 ? 2 : 1;
  const rows = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) =>
    high - step * i);
  const columns = Array.from({ length: 6 }, (_, i) => i + 2);
  const at = Math.min(1e7, Math.max(100, people));
  return html`<svg width=${width} height=${heightPx} viewBox=${`0 0 ${width} ${heightPx}`} role="img"
    aria-label="Expected error by the number of people; the table has the numbers of the present one">
    ${rows.map((power) => html`<g key=${power}><line class="grid" x1=${left} x2=${width - right}
      y1=${y(10 ** power)} y2=${y(10 ** power)} /><text x=${left - 8} y=${y(10 ** power) + 4}
      text-anchor="end">${errorNumber(10 ** power, unit)}</text></g>`)}
    ${columns.filter((power) => width > 480 || power % 2 === 1).map((power) => html`
      <text key=${power} x=${x(10 ** power)} y=${heightPx - bottom + 18}
      text-anchor=${power === 7 ? 'end' : 'middle'}>${compact(10 ** power, null)}</text>`)}
    <text x=${left + (width - left - right) / 2} y=${heightPx - 6} text-anchor="middle">people in each
      epoch</text>
    <line class="now" x1=${x(at)} x2=${x(at)} y1=${top} y2=${heightPx - bottom} />
    ${goal !== null && html`<line class="goal" x1=${left} x2=${width - right} y1=${y(goal)}
      y2=${y(goal)} />`}
    ${names.map((name, i) => html`<path key=${name} class=${`line ${shades[i]}`}
      d=${pathOf(points, name, x, y)} />`)}</svg>`;
}

function pathOf(
  points: readonly Point[], name: string, x: (people: number) => number,
  y: (error: number) => number,
): string {
  let isOn = false;
  return points.map(({ people, errors }) => {
    const error = errors[name] ?? null;
    const command = isOn ? 'L' : 'M';
    isOn = error !== null && error > 0;
    return isOn ? `${command}${x(people).toFixed(1)} ${y(error!).toFixed(1)}` : '';
  }).join('');
}
