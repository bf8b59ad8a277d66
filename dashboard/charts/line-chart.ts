import uPlot from 'uplot';
import { coloursOf } from '../theme.js';
import { shown } from '../format.js';
import type { Series } from '../model.js';

/** A chart on the page. */
export interface LineChart {
  update(series: Series): void;
  close(): void;
}

const font = '12px system-ui, sans-serif';
const height = 224;
/** Few enough releases that each may be told from the next. */
const pointsMax = 40;

/**
 * A line over epochs in its band of 95 % intervals, as wide as `host`. Refused epochs carry a mark on the axis.
 * @param onPoint is told which release the pointer is at, by its place in the series; null when it left.
 */
export function createLineChart(host: HTMLElement, first: Series, onPoint: (place: number | null) => void): LineChart {
  const colours = coloursOf(host, ['quiet', 'line', 'accent', 'warn', 'card']);
  const width = (): number => Math.max(host.clientWidth, 1);
  let series = first;
  const axis = { stroke: colours.quiet, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const edge = { stroke: 'transparent', points: { show: false } };
  const chart = new uPlot({
    width: width(), height, legend: { show: false }, padding: [10, 18, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: colours.accent, stroke: colours.card } },
    scales: {
      x: { time: false, range: () => rangeOf(series.epochs) },
      y: { range: (_, low, high) => roomFor(low, high) },
    },
    axes: [
      {
        ...axis, size: 26, gap: 6, space: 56, label: 'epoch', labelSize: 16, labelGap: -2, labelFont: font,
        incrs: wholeSteps, grid: { show: false },
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? String(value) : '')),
      },
      {
        ...axis, gap: 8, space: 36, values: (_, splits) => splits.map((value) => shown(value)),
        size: (_, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)),
      },
    ],
    series: [
      {}, edge, edge,
      {
        stroke: colours.accent, width: 2,
        points: { show: (of) => of.data[0].length <= pointsMax, size: 5, fill: colours.accent },
      },
    ],
    bands: [{ series: [1, 2], fill: fade(colours.accent) }],
    hooks: {
      drawAxes: [(of) => markRefusals(of, series, colours.warn)],
      draw: [(of) => markAlone(of, series, colours.accent)],
      setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)],
    },
  }, dataOf(first), host);
  const observer = new ResizeObserver(() => chart.setSize({ width: width(), height }));
  observer.observe(host);
  return {
    update(next) {
      series = next;
      chart.setData(dataOf(next));
    },
    close() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

const wholeSteps = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((left, right) => left - right);

/** From the first epoch to the last; room on both sides of a single one. */
function rangeOf(epochs: readonly number[]): [number, number] {
  const [first, last] = [epochs[0] ?? 0, epochs.at(-1) ?? 0];
  return first === last ? [first - 1, last + 1] : [first, last];
}

/** A tenth of the range above and below; something to see also when every value is the same, or there is none. */
function roomFor(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(high - low)) return [0, 1];
  const room = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

function dataOf({ epochs, values, lows, highs }: Series): uPlot.AlignedData {
  const orNulls = (list: readonly (number | null)[]): (number | null)[] =>
    (list.length === 0 ? epochs.map(() => null) : [...list]);
  return [[...epochs], orNulls(highs), orNulls(lows), orNulls(values)];
}

/** More lines than this would hide what they stand beside. */
const linesMax = 12;

/** A cross on the axis for each refused epoch, and while they are few a dashed line: told apart without colour. */
function markRefusals(chart: uPlot, { epochs, refusals }: Series, colour: string): void {
  const { ctx, bbox } = chart;
  const pixel = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * pixel;
  const isFew = refusals.filter((reason) => reason !== null).length <= linesMax;
  epochs.forEach((epoch, place) => {
    if (refusals[place] === null) return;
    const x = Math.round(chart.valToPos(epoch, 'x', true));
    const y = bbox.top + bbox.height - 8 * pixel;
    const arm = 4 * pixel;
    if (isFew) {
      ctx.setLineDash([2 * pixel, 4 * pixel]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, y - 2 * arm);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    ctx.beginPath();
    ctx.moveTo(x - arm, y - arm);
    ctx.lineTo(x + arm, y + arm);
    ctx.moveTo(x - arm, y + arm);
    ctx.lineTo(x + arm, y - arm);
    ctx.stroke();
  });
  ctx.restore();
}

/** A band needs two epochs: the interval of one that stands between refusals, or is the first, is a line with ends. */
function markAlone(chart: uPlot, { epochs, values, lows, highs }: Series, colour: string): void {
  const { ctx } = chart;
  const arm = 4 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  epochs.forEach((epoch, place) => {
    const [low, high] = [lows[place], highs[place]];
    const isAlone = (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null;
    if (!isAlone || typeof low !== 'number' || typeof high !== 'number') return;
    const x = chart.valToPos(epoch, 'x', true);
    const [bottom, top] = [chart.valToPos(low, 'y', true), chart.valToPos(high, 'y', true)];
    ctx.moveTo(x, bottom);
    ctx.lineTo(x, top);
    for (const y of [bottom, top]) {
      ctx.moveTo(x - arm, y);
      ctx.lineTo(x + arm, y);
    }
  });
  ctx.stroke();
  ctx.restore();
}

/** `rgb(1, 2, 3)` at a fifth of its strength. */
function fade(colour: string): string {
  return colour.replace('rgb(', 'rgba(').replace(')', ', 0.2)');
}
