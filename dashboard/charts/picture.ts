import { roundTicks } from '../base/format.js';
import { alongOf } from '../base/compare.js';
import type { Series } from '../base/model.js';
import { numberText, type NumberWords } from '../base/number-words.js';
import type { Drawing, Mark, PaperColours, Point } from '../../src/answers/drawing.js';
import { beyondMarks, endsAt, honestBand, shownExtent, within } from './shown-extent.js';
import { timeSteps, timeTexts } from './time-axis.js';

/** The words of a saved chart. */
export interface PictureWords {
  readonly title: string;
  /** Lines below the chart: where the numbers come from. */
  readonly notes: readonly string[];
}

const [width, height] = [960, 440];
const [top, right, left] = [76, 28, 84];
const noteHeight = 18;
/** More releases than this have no points of their own. */
const pointsMax = 80;
/** Pixels between two texts of an axis, at least. */
const [tickWidth, tickHeight] = [72, 22];

/**
 * A chart as it is saved: the title, a line in its band, the axes, a cross for each refused epoch,
 * and notes that make it readable alone.
 */
export function pictureOfSeries(
  { series, smoothed }: { readonly series: Series; readonly smoothed: Series | null },
  axis: 'time' | 'epoch', words: NumberWords, said: PictureWords, colours: PaperColours,
): Drawing {
  const room: Frame = { width, height: height - 52, top, right, left };
  const whole = height + said.notes.length * noteHeight;
  return {
    width, height: whole, background: colours.card,
    marks: [
      {
        kind: 'text', at: [24, 36], text: said.title, size: 20, weight: 600, colour: colours.ink,
      },
      {
        kind: 'text', at: [24, 58], text: `${words.name}${words.unit === '' ? '' : `, in ${words.unit}`}; `
          + `${smoothed === null ? 'line: answers, band' : 'thin line: answers, thick line: smoothed, bands'}`
          + ': their 95 % intervals',
        size: 13, colour: colours.quiet,
      },
      ...plotOf({ series, smoothed }, axis, words, room, colours).marks,
      ...said.notes.map((text, i): Mark => ({
        kind: 'text', at: [24, height + i * noteHeight], text, size: 12, colour: colours.quiet,
      })),
    ],
  };
}

/** The place of a plot on a drawing, in pixels. The texts of its axes are outside of it. */
export interface Frame {
  /** The width of the whole drawing. */
  readonly width: number;
  /** The bottom line of the plot, measured from the top of the drawing. */
  readonly height: number;
  readonly top: number;
  readonly right: number;
  readonly left: number;
}

/**
 * The axes, the lines in their bands and the crosses of refused epochs, without title and notes.
 * An interval that is cut off has a triangle at the edge.
 * @returns also where each release is, in pixels from the left end of the drawing.
 */
export function plotOf(
  { series, smoothed }: { readonly series: Series; readonly smoothed: Series | null },
  axis: 'time' | 'epoch', words: NumberWords, frame: Frame, colours: PaperColours,
): { readonly marks: readonly Mark[]; readonly xs: readonly number[] } {
  const along = alongOf(series, axis);
  const [first, last] = [along[0] ?? 0, along.at(-1) ?? 0];
  const bottom = frame.height;
  const lines = smoothed === null ? [series] : [series, smoothed];
  const shown = roomFor(shownExtent(...lines));
  const [low, high] = shown;
  const inside = frame.width - frame.left - frame.right;
  const x = (at: number): number =>
    frame.left + (last > first ? (at - first) / (last - first) : 0.5) * inside;
  const y = (value: number): number =>
    bottom - ((within(value, shown) - low) / (high - low)) * (bottom - frame.top);
  const xs = along.map(x);
  const triangles = (of: Series, colour: string): readonly Mark[] => xs.flatMap((at, i) => {
    const [from, to] = endsAt(of, i);
    return beyondMarks({ x: at, low: from, high: to }, shown, [frame.top, bottom], 7)
      .map((points): Mark => ({ kind: 'path', points, colour }));
  });
  return { xs, marks: [
    ...grid(shown, y, words, frame, colours),
    ...axisMarks([first, last], axis, x, frame, colours),
    ...linesOf(series, xs, y, {
      colour: colours.accent, hasPoints: series.epochs.length <= pointsMax,
      ...(smoothed === null ? { band: 0.2, width: 2 } : { band: 0.1, width: 1 }),
    }),
    ...(smoothed === null ? [] : linesOf(smoothed, xs, y, {
      colour: colours.minus, hasPoints: false, band: 0.28, width: 2.5,
    })),
    ...lines.flatMap((of) => triangles(of, of === series ? colours.accent : colours.minus)),
    ...xs.flatMap((at, i) => ((series.refusals[i] ?? null) === null ? []
      : cross([at, bottom - 8], colours.warn))),
  ] };
}

function roomFor(extent: readonly [number, number] | null): [number, number] {
  if (extent === null) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.1 || 1;
  return [low - (low === 0 ? 0 : room), high + room];
}

function grid(
  [low, high]: Point, y: (value: number) => number, words: NumberWords, frame: Frame,
  colours: PaperColours,
): readonly Mark[] {
  const ticks = roundTicks(low, high);
  const isTight = ticks.length > 1 && Math.abs(y(ticks[1]!) - y(ticks[0]!)) < tickHeight;
  return ticks.filter((_, i) => !isTight || i % 2 === 0).flatMap((tick): Mark[] => [
    {
      kind: 'path', points: [[frame.left, y(tick)], [frame.width - frame.right, y(tick)]],
      colour: colours.line, width: 1,
    },
    {
      kind: 'text', at: [frame.left - 12, y(tick) + 4], text: numberText(tick, null, words),
      size: 12, colour: colours.quiet, align: 'end',
    },
  ]);
}

function axisMarks(
  [first, last]: Point, axis: 'time' | 'epoch', x: (at: number) => number, frame: Frame,
  colours: PaperColours,
): readonly Mark[] {
  const most = Math.max(2, Math.floor((frame.width - frame.left - frame.right) / tickWidth));
  const step = timeSteps.find((each) => (last - first) / each <= most) ?? timeSteps.at(-1)!;
  const ticks = last === first ? [first] : axis === 'epoch'
    ? roundTicks(first, last).filter((tick) => Number.isInteger(tick))
    : Array.from({ length: Math.floor(last / step) - Math.ceil(first / step) + 1 }, (_, i) =>
      (Math.ceil(first / step) + i) * step);
  const texts = axis === 'epoch' ? ticks.map(String) : timeTexts(ticks, step);
  return ticks.flatMap((tick, i) => texts[i]!.split('\n').map((text, line): Mark => ({
    kind: 'text', at: [x(tick), frame.height + 20 + line * 15], text, size: 12,
    colour: colours.quiet, align: 'middle',
  })));
}

/** The band and the line of each run of releases without a refusal between them. */
function linesOf(
  series: Series, xs: readonly number[], y: (value: number) => number,
  { colour, hasPoints, band: opacity, width: thick }: {
    readonly colour: string; readonly hasPoints: boolean; readonly band: number;
    readonly width: number;
  },
): readonly Mark[] {
  const { values } = series;
  const runs: number[][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1) === i - 1) run.push(i);
    else runs.push([i]);
  });
  const point = (i: number, value: number): Point => [xs[i]!, y(value)];
  const end = (of: Series, i: number, side: 0 | 1): Point =>
    point(i, endsAt(of, i)[side] ?? values[i]!);
  const honest = series.honest && { ...series, ...series.honest };
  return runs.flatMap((run): Mark[] => {
    const line = run.map((i) => point(i, values[i]!));
    const bandOf = (of: Series): readonly Point[] => [
      ...run.map((i) => end(of, i, 1)),
      ...[...run].reverse().map((i) => end(of, i, 0)),
    ];
    const only = run.length === 1 ? run[0]! : null;
    const isMarked = only !== null || hasPoints;
    return [
      only === null ? { kind: 'path', points: bandOf(series), colour, opacity }
        : {
          kind: 'path', colour, width: 1.5, points: [end(series, only, 0), end(series, only, 1)],
        },
      ...(only === null && honest ? [{
        kind: 'path', points: bandOf(honest), colour, opacity: opacity * honestBand,
      } as const] : []),
      { kind: 'path', points: line, colour, width: thick },
      ...(isMarked ? line.map((at): Mark => dot(at, colour)) : []),
    ];
  });
}

/** A line of no length with round ends is a point. */
function dot([x, y]: Point, colour: string): Mark {
  return { kind: 'path', points: [[x, y], [x, y + 0.01]], colour, width: 5 };
}

function cross([x, y]: Point, colour: string): readonly Mark[] {
  return [[[x - 4, y - 4], [x + 4, y + 4]], [[x - 4, y + 4], [x + 4, y - 4]]]
    .map((points): Mark => ({
      kind: 'path', points: points as unknown as readonly Point[], colour, width: 1.5,
    }));
}
