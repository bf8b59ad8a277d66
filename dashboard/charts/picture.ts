import { roundTicks } from '../base/format.js';
import { alongOf } from '../base/compare.js';
import type { Series } from '../base/model.js';
import { numberText, type NumberWords } from '../base/number-words.js';
import type { Drawing, Mark, PaperColours, Point } from './paper.js';
import { extentOf } from './thin.js';
import { timeSteps, timeTexts } from './time-axis.js';

/** What a saved chart says besides its line. */
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

/**
 * A chart as it is saved: the title, a line in its band, the axes, a cross for each refused epoch,
 * and notes that make it readable alone.
 */
export function pictureOfSeries(
  { series, smoothed }: { readonly series: Series; readonly smoothed: Series | null },
  axis: 'time' | 'epoch', words: NumberWords, said: PictureWords, colours: PaperColours,
): Drawing {
  const along = alongOf(series, axis);
  const [first, last] = [along[0] ?? 0, along.at(-1) ?? 0];
  const bottom = height - 52;
  const [low, high] = roomFor(extentOf(series));
  const x = (at: number): number =>
    left + (last > first ? (at - first) / (last - first) : 0.5) * (width - left - right);
  const y = (value: number): number =>
    bottom - ((value - low) / (high - low)) * (bottom - top);
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
      ...grid(low, high, y, words, colours),
      ...axisMarks([first, last], axis, x, bottom, colours),
      ...linesOf(series, along.map(x), y, {
        colour: colours.accent, hasPoints: series.epochs.length <= pointsMax,
        ...(smoothed === null ? { band: 0.2, width: 2 } : { band: 0.1, width: 1 }),
      }),
      ...(smoothed === null ? [] : linesOf(smoothed, along.map(x), y, {
        colour: colours.minus, hasPoints: false, band: 0.28, width: 2.5,
      })),
      ...along.flatMap((at, i) => ((series.refusals[i] ?? null) === null ? []
        : cross([x(at), bottom - 8], colours.warn))),
      ...said.notes.map((text, i): Mark => ({
        kind: 'text', at: [24, height + i * noteHeight], text, size: 12, colour: colours.quiet,
      })),
    ],
  };
}

function roomFor(extent: readonly [number, number] | null): [number, number] {
  if (extent === null) return [0, 1];
  const [low, high] = extent;
  const room = high > low ? (high - low) * 0.06 : Math.abs(high) * 0.1 || 1;
  return [low - (low === 0 ? 0 : room), high + room];
}

function grid(
  low: number, high: number, y: (value: number) => number, words: NumberWords,
  colours: PaperColours,
): readonly Mark[] {
  return roundTicks(low, high).flatMap((tick): Mark[] => [
    {
      kind: 'path', points: [[left, y(tick)], [width - right, y(tick)]], colour: colours.line,
      width: 1,
    },
    {
      kind: 'text', at: [left - 12, y(tick) + 4], text: numberText(tick, null, words), size: 12,
      colour: colours.quiet, align: 'end',
    },
  ]);
}

function axisMarks(
  [first, last]: Point, axis: 'time' | 'epoch', x: (at: number) => number, bottom: number,
  colours: PaperColours,
): readonly Mark[] {
  const step = timeSteps.find((each) => (last - first) / each <= 8) ?? timeSteps.at(-1)!;
  const ticks = last === first ? [first] : axis === 'epoch'
    ? roundTicks(first, last).filter((tick) => Number.isInteger(tick))
    : Array.from({ length: Math.floor(last / step) - Math.ceil(first / step) + 1 }, (_, i) =>
      (Math.ceil(first / step) + i) * step);
  const texts = axis === 'epoch' ? ticks.map(String) : timeTexts(ticks, step);
  return ticks.flatMap((tick, i) => texts[i]!.split('\n').map((text, line): Mark => ({
    kind: 'text', at: [x(tick), bottom + 20 + line * 15], text, size: 12, colour: colours.quiet,
    align: 'middle',
  })));
}

/** The band and the line of each run of releases without a refusal between them. */
function linesOf(
  { values, lows, highs }: Series, xs: readonly number[], y: (value: number) => number,
  { colour, hasPoints, band: opacity, width: thick }: {
    readonly colour: string; readonly hasPoints: boolean; readonly band: number;
    readonly width: number;
  },
): readonly Mark[] {
  const runs: number[][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const run = runs.at(-1);
    if (run !== undefined && run.at(-1) === i - 1) run.push(i);
    else runs.push([i]);
  });
  const point = (i: number, value: number): Point => [xs[i]!, y(value)];
  return runs.flatMap((run): Mark[] => {
    const line = run.map((i) => point(i, values[i]!));
    const band = [
      ...run.map((i) => point(i, highs[i] ?? values[i]!)),
      ...[...run].reverse().map((i) => point(i, lows[i] ?? values[i]!)),
    ];
    const only = run.length === 1 ? run[0]! : null;
    const isMarked = only !== null || hasPoints;
    return [
      only === null ? { kind: 'path', points: band, colour, opacity }
        : {
          kind: 'path', colour, width: 1.5,
          points: [lows, highs].map((ends) => point(only, ends[only] ?? values[only]!)),
        },
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
