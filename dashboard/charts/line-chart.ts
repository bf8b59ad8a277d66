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
 * A line over epochs inside its band of 95 % intervals, as wide as `host`. Refused epochs have a
 * mark on the axis. uPlot provides the axes, scales and pointer. The line and its band are drawn
 * here in one pass, from one mark per column of pixels.
 * @param onPoint gets the index in the series of the release under the pointer; null when the
 *   pointer leaves.
 */
export function createLineChart(
  host: HTMLElement, first: Series, onPoint: (place: number | null) => void,
): LineChart {
  const colours = coloursOf(host, ['quiet', 'line', 'accent', 'warn', 'card']);
  const height = Math.max(host.clientHeight, 120);
  const width = (): number => Math.max(host.clientWidth, 1);
  let series = first;
  const axis = {
    stroke: colours.quiet, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false },
  };
  const chart = new uPlot({
    width: width(), height, legend: { show: false }, padding: [10, 18, 0, 0],
    cursor: {
      y: false, drag: { x: false, y: false },
      points: { size: 8, fill: colours.accent, stroke: colours.card },
    },
    scales: {
      x: { time: false, range: () => rangeOf(series.epochs) },
      y: { range: () => roomFor(extentOf(series)) },
    },
    axes: [
      {
        ...axis, size: 26, gap: 6, space: 56, label: 'epoch', labelSize: 16, labelGap: -2,
        labelFont: font, incrs: wholeSteps, grid: { show: false },
        values: (_, splits) =>
          splits.map((value) => (Number.isInteger(value) ? String(value) : '')),
      },
      {
        ...axis, gap: 8, space: height < 200 ? 22 : 36,
        values: (_, splits) => splits.map((value) => shown(value)),
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
      // The chart was made with this series: the first update would draw it twice.
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

const wholeSteps = [1, 2, 5].flatMap((step) =>
  Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((left, right) => left - right);

/** From the first epoch to the last, with room on both sides if there is only one. */
function rangeOf(epochs: readonly number[]): [number, number] {
  const [first, last] = [epochs[0] ?? 0, epochs.at(-1) ?? 0];
  return first === last ? [first - 1, last + 1] : [first, last];
}

/**
 * Adds a tenth of the range above and below. Also gives a visible range if all values are equal or
 * there are none.
 */
function roomFor(extent: readonly [number, number] | null): [number, number] {
  if (extent === null || !Number.isFinite(extent[1] - extent[0])) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

/** The arrays for uPlot. It does not change them, so nothing is copied. */
function dataOf({ epochs, values }: Series): uPlot.AlignedData {
  const nothing = (): null[] => epochs.map(() => null);
  return [epochs as number[], values.length === 0 ? nothing() : values as (number | null)[]];
}
