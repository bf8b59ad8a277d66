import type { VNode } from 'preact';
import { amount, clockTime } from '../base/format.js';
import { html } from '../base/html.js';
import { bytes, latency, type Sample } from './model.js';

/** One line of a small chart. */
interface Line {
  readonly name: string;
  readonly tone: 'accent' | 'warn';
  readonly values: readonly (number | null)[];
}

interface Facts {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly text: (value: number) => string;
  readonly samples: readonly Sample[];
}

const [width, height] = [300, 56];

/** The server's figures over the last two hours. */
export function OverTime({ samples }: { readonly samples: readonly Sample[] }): VNode {
  if (samples.length < 2) {
    return html`<p class="quiet small">Figures over time begin half a minute after the start of the
      server. It keeps those of two hours, in memory.</p>`;
  }
  const of = (name: keyof Sample) => samples.map((sample) => sample[name]);
  const perSecond = (name: 'accepted' | 'refused') =>
    samples.map((sample) => (sample.seconds > 0 ? sample[name] / sample.seconds : null));
  const rate = (value: number): string => `${amount(value)} a second`;
  const chart = (title: string, text: Facts['text'], ...lines: Line[]): VNode =>
    html`<${SmallChart} title=${title} text=${text} lines=${lines} samples=${samples} />`;
  return html`<section class="card" aria-label="Over time"><h2>Over time</h2>
    <div class="small-charts">
      ${chart('Batches', rate,
        { name: 'accepted', tone: 'accent', values: perSecond('accepted') },
        { name: 'refused', tone: 'warn', values: perSecond('refused') })}
      ${chart('From batch to ack, at most', latency,
        { name: 'half of them', tone: 'accent', values: of('ackMedian') },
        { name: '99 %', tone: 'warn', values: of('ack99') })}
      ${chart('Commit to disk, 99 %', latency,
        { name: 'commit', tone: 'accent', values: of('commit99') })}
      ${chart('On disk', bytes, { name: 'store', tone: 'accent', values: of('storeBytes') })}
    </div>
    <p class="quiet small">Since ${clockTime(samples[0]!.atMs)}, one point in ten seconds. A
      restart begins anew.</p></section>`;
}

function SmallChart({ title, lines, text, samples }: Facts): VNode {
  const known = lines.flatMap(({ values }) => values.filter((each) => each !== null));
  const most = Math.max(0, ...known);
  const now = (values: Line['values']): string => {
    const last = values.at(-1) ?? null;
    return last === null ? 'nothing now' : text(last);
  };
  const words = lines.map(({ name, values }) => `${name} ${now(values)}`).join(', ');
  return html`<figure class="small-chart"><figcaption><strong>${title}</strong>
    ${lines.map(({ name, tone, values }) => html`<span key=${name} class=${`legend ${tone}`}>
      <span class="key" aria-hidden="true"></span>${lines.length > 1 ? `${name}: ` : ''}${
        now(values)}</span>`)}</figcaption>
    <svg viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img"
      aria-label=${`${title} over time: ${words}; most ${known.length === 0 ? 'unknown'
        : text(most)}`}>
      <path class="ground" d=${`M0 ${height - 1}H${width}`} />
      ${lines.map(({ name, tone, values }) =>
        html`<path key=${name} class=${tone} d=${pathOf(values, samples, most)} />`)}</svg>
    <span class="quiet small">${known.length === 0 ? 'Nothing measured yet'
      : `Most: ${text(most)}`}</span></figure>`;
}

/** Parts without a value are left out. A value alone is a short line. */
function pathOf(
  values: Line['values'], samples: readonly Sample[], most: number,
): string {
  const [first, last] = [samples[0]!.atMs, samples.at(-1)!.atMs];
  const fraction = (atMs: number): number => (last > first ? (atMs - first) / (last - first) : 0);
  let isOpen = false;
  return values.map((value, i) => {
    if (value === null) {
      isOpen = false;
      return '';
    }
    const x = (fraction(samples[i]!.atMs) * width).toFixed(1);
    const y = (height - 2 - (most > 0 ? value / most : 0) * (height - 6)).toFixed(1);
    const part = isOpen ? `L${x} ${y}` : `M${x} ${y}h1`;
    isOpen = true;
    return part;
  }).join('');
}
