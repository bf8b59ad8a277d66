import uPlot from 'uplot';
import { coloursOf } from '../base/theme.js';
import { shown } from '../base/format.js';
import type { Series } from '../base/model.js';
import { drawAnswers, drawRefusals } from './draw.js';
import { extentOf } from './thin.js';

/** A chart on the page. */
export interface LineChart {
  update(series: Series): void;
  close(): void;
}

const font = '12px system-ui, sans-serif';

/**
 * A line over epochs in its band of 95 % intervals, as wide as `host`. Refused epochs carry a mark on the axis. Axes,
 * scales and the pointer are uPlot's; the line and its band are drawn here, in one pass, from a mark per column of pixels.
 * @param onPoint is told which release the pointer is at, by its place in the series; null when it left.
 */
export function createLineChart(host: HTMLElement, first: Series, onPoint: (place: number | null) => void): LineChart {
  const colours = coloursOf(host, ['quiet', 'line', 'accent', 'warn', 'card']);
  const height = Math.max(host.clientHeight, 120);
  const width = (): number => Math.max(host.clientWidth, 1);
  let series = first;
  const axis = { stroke: colours.quiet, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false } };
  const chart = new uPlot({
    width: width(), height, legend: { show: false }, padding: [10, 18, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8, fill: colours.accent, stroke: colours.card } },
    scales: {
      x: { time: false, range: () => rangeOf(series.epochs) },
      y: { range: () => roomFor(extentOf(series)) },
    },
    axes: [
      {
        ...axis, size: 26, gap: 6, space: 56, label: 'epoch', labelSize: 16, labelGap: -2, labelFont: font,
        incrs: wholeSteps, grid: { show: false },
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? String(value) : '')),
      },
      {
        ...axis, gap: 8, space: height < 200 ? 22 : 36, values: (_, splits) => splits.map((value) => shown(value)),
        size: (_, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)),
      },
    ],
    series: [{}, { stroke: colours.accent, paths: () => null, points: { show: false } }],
    hooks: {
      drawAxes: [(of) => drawRefusals(of, series, colours.warn)],
      draw: [(of) => drawAnswers(of, series, colours.accent)],
      setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)],
    },
  }, dataOf(first), host);
  const observer = new ResizeObserver(() => {
    if (chart.width !== width()) chart.setSize({ width: width(), height });
  });
  observer.observe(host);
  return {
    update(next) {
      // The chart was made with the newest: the first update would draw it twice.
      if (next === series) return;
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
function roomFor(extent: readonly [number, number] | null): [number, number] {
  if (extent === null || !Number.isFinite(extent[1] - extent[0])) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** What uPlot keeps of a series: nothing that it changes, so nothing is copied. */
function dataOf({ epochs, values }: Series): uPlot.AlignedData {
  const nothing = (): null[] => epochs.map(() => null);
  return [epochs as number[], values.length === 0 ? nothing() : values as (number | null)[]];
}
