import uPlot from 'uplot';
import { coloursOf } from '../base/theme.js';
import type { Series } from '../base/model.js';
import { numberText, type NumberWords } from '../base/number-words.js';
import { drawAnswers, drawPin, drawRefusals } from './draw.js';
import { extentOf } from './thin.js';
import { timeSteps, timeTexts } from './time-axis.js';

/** A chart on the page. */
export interface LineChart {
  /** @param epoch the one whose numbers are read out; null for none. */
  update(series: Series, epoch: number | null): void;
  close(): void;
}

/** How a chart is drawn, and who hears what a pointer does. */
export interface ChartOptions {
  readonly axis: 'time' | 'epoch';
  readonly words: NumberWords;
  /** Gets the index of the release under the pointer; null when the pointer leaves. */
  readonly onPoint: (place: number | null) => void;
  /** Gets the index of the release that a click chose. */
  readonly onPick: (place: number) => void;
  /** Gets the indexes of the first and the last release of the part that was dragged over. */
  readonly onBrush: (from: number, to: number) => void;
}

/** A drag over fewer pixels is a click. */
const brushMin = 8;

const font = '12px system-ui, sans-serif';

/**
 * A line over epochs inside its band of 95 % intervals, as wide as `host`. Refused epochs have a
 * mark on the axis. uPlot provides the axes, scales and pointer. The line and its band are drawn
 * here in one pass, from one mark per column of pixels.
 */
export function createLineChart(
  host: HTMLElement, first: Series, epochAtFirst: number | null, options: ChartOptions,
): LineChart {
  const { words, onPoint } = options;
  const isTime = options.axis === 'time';
  const colours = coloursOf(host, ['quiet', 'line', 'accent', 'warn', 'card']);
  const height = Math.max(host.clientHeight, 120);
  const width = (): number => Math.max(host.clientWidth, 1);
  let [series, epoch] = [first, epochAtFirst];
  const along = (): readonly number[] => alongOf(series, options);
  const axis = {
    stroke: colours.quiet, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false },
  };
  const chart = new uPlot({
    width: width(), height, legend: { show: false }, padding: [10, isTime ? 30 : 18, 0, 0],
    cursor: {
      y: false, drag: { x: true, y: false, setScale: false, dist: brushMin },
      points: { size: 8, fill: colours.accent, stroke: colours.card },
    },
    scales: {
      x: { time: isTime, range: () => rangeOf(along(), isTime ? 1_000 : 1) },
      y: { range: () => roomFor(extentOf(series), words) },
    },
    axes: [
      isTime ? {
        ...axis, size: 42, gap: 6, space: 72, grid: { show: false }, incrs: [...timeSteps],
        values: (_, splits, __, ___, step) => timeTexts(splits, step),
      } : {
        ...axis, size: 26, gap: 6, space: 56, label: 'epoch', labelSize: 16, labelGap: -2,
        labelFont: font, incrs: wholeSteps, grid: { show: false },
        values: (_, splits) =>
          splits.map((value) => (Number.isInteger(value) ? String(value) : '')),
      },
      {
        ...axis, gap: 8, space: height < 200 ? 22 : 36,
        values: (_, splits) => splits.map((value) => numberText(value, null, words)),
        size: (_, values) => 14 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length)),
      },
    ],
    series: [{}, { stroke: colours.accent, paths: () => null, points: { show: false } }],
    hooks: {
      drawAxes: [(of) => drawRefusals(of, series, along(), colours.warn)],
      draw: [(of) => {
        const pin = epoch === null ? -1 : series.epochs.indexOf(epoch);
        if (pin >= 0) drawPin(of, along()[pin]!, colours.quiet);
        drawAnswers(of, series, along(), colours.accent);
      }],
      setCursor: [({ cursor: { idx } }) => onPoint(idx ?? null)],
      setSelect: [(of) => endBrush(of, options)],
      ready: [(of) => listenForClicks(of, options)],
    },
    ms: 1,
  }, dataOf(first, along()), host);
  const observer = new ResizeObserver(() => {
    if (chart.width !== width()) chart.setSize({ width: width(), height });
  });
  observer.observe(host);
  return {
    update(next, nextEpoch) {
      // The chart was made with this series: the first update would draw it twice.
      if (next === series && nextEpoch === epoch) return;
      [series, epoch] = [next, nextEpoch];
      chart.setData(dataOf(next, along()));
    },
    close() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** The place of each release on the axis. */
function alongOf({ epochs, times }: Series, { axis }: ChartOptions): readonly number[] {
  return axis === 'time' ? times : epochs;
}

/** A part that was dragged over: the releases in it are shown alone. */
function endBrush(chart: uPlot, { onBrush }: ChartOptions): void {
  const { left, width } = chart.select;
  if (width < brushMin) return;
  const [from, to] = [chart.posToIdx(left), chart.posToIdx(left + width)];
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (to > from) onBrush(from, to);
}

function listenForClicks(chart: uPlot, { onPick }: ChartOptions): void {
  let startedAt = 0;
  chart.over.addEventListener('pointerdown', ({ clientX }) => { startedAt = clientX; });
  chart.over.addEventListener('click', ({ clientX }) => {
    const { idx } = chart.cursor;
    const isDrag = Math.abs(clientX - startedAt) >= brushMin;
    if (!isDrag && typeof idx === 'number') onPick(idx);
  });
}

const wholeSteps = [1, 2, 5].flatMap((step) =>
  Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((left, right) => left - right);

/** From the first release to the last, with room on both sides if there is only one. */
function rangeOf(along: readonly number[], room: number): [number, number] {
  const [first, last] = [along[0] ?? 0, along.at(-1) ?? 0];
  return first === last ? [first - room, last + room] : [first, last];
}

/**
 * Adds a tenth of the range above and below. Also gives a visible range if all values are equal or
 * there are none. No room is needed beyond what is possible.
 */
function roomFor(
  extent: readonly [number, number] | null, { least, greatest }: NumberWords,
): [number, number] {
  if (extent === null || !Number.isFinite(extent[1] - extent[0])) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.1 || 1;
  return [low <= least ? low : low - room, high >= greatest ? high : high + room];
}

/** The arrays for uPlot. It does not change them, so nothing is copied. */
function dataOf({ values }: Series, along: readonly number[]): uPlot.AlignedData {
  const nothing = (): null[] => along.map(() => null);
  return [along as number[], values.length === 0 ? nothing() : values as (number | null)[]];
}
