import uPlot from 'uplot';
import { alongOf } from '../base/compare.js';
import { coloursOf } from '../base/colours.js';
import { newestIn, type Series } from '../base/model.js';
import { numberText, type NumberWords } from '../base/number-words.js';
import type { NotePlace } from '../base/notes.js';
import {
  drawLetters, drawLine, drawNotes, drawPin, drawRefusals, type Look,
} from './draw.js';
import { shownExtent } from './shown-extent.js';
import { timeSteps, timeTexts } from './time-axis.js';

/** A custom property with the colour of a line. */
export type LineColour = 'accent' | 'minus' | 'good' | 'violet';

/** One line of a chart. */
export interface ChartLine {
  readonly series: Series;
  readonly colour: LineColour;
  readonly look: Look;
  /** The letter at its right end. */
  readonly letter?: string;
}

/** The contents of a chart at one time. The chart is drawn again when it gets another object. */
export interface ChartContent {
  /** The last one is on top. */
  readonly lines: readonly ChartLine[];
  /** Places on the axis that can be pointed at, increasing. */
  readonly stops: readonly number[];
  /** From the left end of the axis to the right one. */
  readonly span: readonly [number, number];
  /** The place on the axis that is read out; null for none. */
  readonly pin: number | null;
  /** Notes of the operator, or where a new version begins. */
  readonly notes?: readonly NotePlace[];
}

/** A chart on the page. */
export interface LineChart {
  update(content: ChartContent): void;
  close(): void;
}

/** The style of a chart, and the receivers of its pointer events. */
export interface ChartOptions {
  readonly axis: 'time' | 'epoch';
  readonly words: NumberWords;
  /** Pixels beside the axis, so that charts below one another are in line. */
  readonly gutter?: number;
  /** Charts of one name show the pointer at the same time. */
  readonly together?: string;
  /** Gets the index of the stop under the pointer; null when the pointer leaves. */
  readonly onPoint: (place: number | null) => void;
  /** Gets the index of the stop that a click chose. */
  readonly onPick: (place: number) => void;
  /** Gets the indexes of the first and the last stop of the part that was dragged over. */
  readonly onBrush: (from: number, to: number) => void;
}

/** A drag over fewer pixels is a click. */
const brushMin = 8;

/** Pixels above the chart, for the numbers of notes. */
const noteRoom = 14;

const font = '12px system-ui, sans-serif';

/**
 * Lines over epochs or time inside their bands of 95 % intervals, as wide as `host`. Refused epochs
 * have a mark on the axis. uPlot provides the axes, scales and pointer. A line and its band are
 * drawn here in one pass, from one mark per column of pixels.
 */
export function createLineChart(
  host: HTMLElement, first: ChartContent, options: ChartOptions,
): LineChart {
  const isTime = options.axis === 'time';
  const colours =
    coloursOf(host, ['quiet', 'line', 'accent', 'warn', 'card', 'minus', 'good', 'violet']);
  const height = Math.max(host.clientHeight, 120);
  const width = (): number => Math.max(host.clientWidth, 1);
  let content = first;
  const chart = new uPlot({
    width: width(), height, legend: { show: false }, padding: [noteRoom, isTime ? 30 : 18, 0, 0],
    cursor: {
      y: false, drag: { x: true, y: false, setScale: false, dist: brushMin },
      points: { size: 8, fill: colours.accent, stroke: colours.card },
      ...(options.together !== undefined && { sync: {
        key: options.together, filters: { pub: isPointing }, setSeries: false,
      } }),
    },
    scales: {
      x: { time: isTime, range: () => rangeOf(content.span, isTime ? 1_000 : 1) },
      y: { range: () =>
        roomFor(shownExtent(...content.lines.map(({ series }) => series)), options.words) },
    },
    axes: axesOf(options, colours, height),
    series: [{}, { stroke: colours.accent, paths: () => null, points: { show: false } }],
    hooks: {
      drawAxes: [(of) => content.lines.forEach(({ series }) =>
        drawRefusals(of, series, alongOf(series, options.axis), colours.warn))],
      draw: [(of) => drawContent(of, content, options, colours)],
      setCursor: [({ cursor: { idx } }) => options.onPoint(idx ?? null)],
      setSelect: [(of) => endBrush(of, options)],
      ready: [(of) => listenForClicks(of, options), listenForFingers],
    },
    ms: 1,
  }, dataOf(first), host);
  const observer = new ResizeObserver(() => {
    if (chart.width !== width()) chart.setSize({ width: width(), height });
  });
  observer.observe(host);
  return {
    update(next) {
      // The chart was made with this content: the first update would draw it twice.
      if (next === content) return;
      content = next;
      chart.setData(dataOf(next));
    },
    close() {
      observer.disconnect();
      chart.destroy();
    },
  };
}

/** A part is dragged over in one chart only. */
const isPointing = (type: string): boolean => ['mousemove', 'mouseleave'].includes(type);

type Colours = Readonly<Record<LineColour | 'quiet' | 'line' | 'warn' | 'card', string>>;

function axesOf(
  { axis, words, gutter }: ChartOptions, colours: Colours, height: number,
): uPlot.Axis[] {
  const plain = {
    stroke: colours.quiet, font, grid: { stroke: colours.line, width: 1 }, ticks: { show: false },
  };
  const along = {
    ...plain, gap: 3, grid: { show: false }, ticks: { stroke: colours.quiet, width: 1, size: 4 },
  };
  return [
    axis === 'time' ? {
      ...along, size: 42, space: 72, incrs: [...timeSteps],
      values: (_, splits, __, ___, step) => timeTexts(splits, step),
    } : {
      ...along, size: 26, space: 56, label: 'epoch', labelSize: 16, labelGap: -2,
      labelFont: font, incrs: wholeSteps,
      values: (_, splits) =>
        splits.map((value) => (Number.isInteger(value) ? String(value) : '')),
    },
    {
      ...plain, gap: 8, space: height < 200 ? 22 : 36,
      values: (_, splits) => splits.map((value) => numberText(value, null, words)),
      size: gutter ?? ((_, values) =>
        14 + 7 * Math.max(3, ...(values ?? []).map((text) => text.length))),
    },
  ];
}

function drawContent(
  chart: uPlot, { lines, pin, notes = [] }: ChartContent, options: ChartOptions, colours: Colours,
): void {
  if (pin !== null) drawPin(chart, pin, colours.quiet);
  drawNotes(chart, notes, colours.quiet);
  for (const { series, colour, look } of lines) {
    drawLine(chart, series, alongOf(series, options.axis), colours[colour], look);
  }
  drawLetters(chart, lines.flatMap(({ series, letter, colour }) => {
    const last = newestIn(series);
    const [value, at] = [series.values[last], alongOf(series, options.axis)[last]];
    return letter === undefined || typeof value !== 'number' || at === undefined ? []
      : [{ letter, at, value, colour: colours[colour] }];
  }));
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

/** A finger that moves sideways selects a part. Up and down it scrolls the page, as elsewhere. */
function listenForFingers(chart: uPlot): void {
  const { over } = chart;
  let from: number | null = null;
  const place = ({ clientX }: PointerEvent): number => {
    const { left, width } = over.getBoundingClientRect();
    return Math.min(width, Math.max(0, clientX - left));
  };
  const select = (to: number, isLast: boolean): void => {
    const [left, width] = [Math.min(from!, to), Math.abs(to - from!)];
    chart.setSelect({ left, width, top: 0, height: over.clientHeight }, isLast);
  };
  over.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') return;
    from = place(event);
    over.setPointerCapture(event.pointerId);
  });
  over.addEventListener('pointermove', (event) => {
    if (from !== null) select(place(event), false);
  });
  over.addEventListener('pointerup', (event) => {
    if (from !== null) select(place(event), true);
    from = null;
  });
  // The browser scrolls instead.
  over.addEventListener('pointercancel', () => {
    if (from !== null) select(from, false);
    from = null;
  });
}

const wholeSteps = [1, 2, 5].flatMap((step) =>
  Array.from({ length: 10 }, (_, power) => step * 10 ** power))
  .sort((left, right) => left - right);

/** The span itself, with room on both sides if it is one place. */
function rangeOf([first, last]: readonly [number, number], room: number): [number, number] {
  return first === last ? [first - room, last + room] : [first, last];
}

/**
 * Adds a tenth of the range above and below. Also gives a visible range if all values are equal or
 * there are none. No room is needed beyond the possible values.
 */
function roomFor(
  extent: readonly [number, number] | null, { least, greatest }: NumberWords,
): [number, number] {
  if (extent === null || !Number.isFinite(extent[1] - extent[0])) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.1 : Math.abs(high) * 0.1 || 1;
  return [low <= least ? low : low - room, high >= greatest ? high : high + room];
}

/** The arrays for uPlot, which marks the first line's answer under the pointer. */
function dataOf({ lines, stops }: ChartContent): uPlot.AlignedData {
  const { series } = lines[0]!;
  const isAlone = series.values.length === stops.length && lines[0]!.letter === undefined;
  return [stops as number[], isAlone ? series.values as (number | null)[] : stops.map(() => null)];
}
