import { describe, expect, it, vi } from 'vitest';
import type uPlot from 'uplot';
import type { Series } from '../../dashboard/base/model.js';
import { plainWords } from '../../dashboard/base/number-words.js';
import { drawLine } from '../../dashboard/charts/draw.js';
import { svgOf, type Mark, type PaperColours, type Point } from '../../src/answers/drawing.js';
import { pictureOfSeries, plotOf } from '../../dashboard/charts/picture.js';
import { shownExtent } from '../../dashboard/charts/shown-extent.js';

const answers = [8, 8.2, 8.1, 8, 8.4, 8.1];
/** One release in six has an interval that is a million wide, and it is the newest one. */
const series: Series = {
  epochs: answers.map((_, i) => i), times: answers.map((_, i) => 1_000 * i), values: answers,
  refusals: answers.map(() => null),
  lows: answers.map((value, i) => (i === 5 ? -1e6 : value - 1)),
  highs: answers.map((value, i) => (i === 5 ? 1e6 : value + 1)),
};
const words = plainWords('delay');
const colours: PaperColours = {
  ink: 'ink', quiet: 'quiet', line: 'line', accent: 'accent', warn: 'warn', card: 'card',
  minus: 'minus',
};
const frame = { width: 400, height: 200, top: 10, right: 20, left: 50 };

/** Filled areas with three corners; the fourth corner of a band is never missing. */
const triangles = (areas: readonly (readonly Point[])[]): readonly (readonly Point[])[] =>
  areas.filter((corners) => corners.length === 3);
const filled = (marks: readonly Mark[]): readonly (readonly Point[])[] => marks.flatMap((mark) =>
  (mark.kind === 'path' && mark.width === undefined ? [mark.points] : []));
const tall = (points: readonly Point[]): number =>
  Math.max(...points.map(([, y]) => y)) - Math.min(...points.map(([, y]) => y));

describe('one interval that is a million times as wide as the others', () => {
  it.each([['alone', null], ['with a smoothed line', series]] as const)(
    'ends at the edges of the element and of a saved picture, and is marked there: %s',
    (_, smoothed) => {
      const { marks, xs } = plotOf({ series, smoothed }, 'time', words, frame, colours);
      const lines = marks.filter((mark) => mark.kind === 'path' && mark.width !== undefined
        && mark.points.length === answers.length);
      expect(lines).toHaveLength(smoothed === null ? 1 : 2);
      for (const line of lines) {
        expect(line.kind === 'path' && tall(line.points)).toBeGreaterThan(5);
      }
      for (const [, y] of filled(marks).flat()) {
        expect(y).toBeGreaterThanOrEqual(frame.top);
        expect(y).toBeLessThanOrEqual(frame.height);
      }
      const tips = triangles(filled(marks)).map(([tip]) => tip);
      const both = [[xs[5], frame.top], [xs[5], frame.height]];
      expect(tips).toEqual(smoothed === null ? both : [...both, ...both]);
    },
  );

  it('leaves a saved picture without triangles where no interval is cut off', () => {
    const usual = { ...series, lows: answers.map((value) => value - 1), highs: answers };
    expect(triangles(filled(plotOf(
      { series: usual, smoothed: null }, 'time', words, frame, colours).marks))).toEqual([]);
  });

  it('is inside of the file that is saved', () => {
    const drawing = pictureOfSeries(
      { series, smoothed: null }, 'time', words, { title: 'delays', notes: [] }, colours);
    const ends = [...svgOf(drawing).matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)];
    expect(ends.length).toBeGreaterThan(20);
    for (const [, x, y] of ends) {
      expect([Number(x) >= 0, Number(x) <= drawing.width]).toEqual([true, true]);
      expect([Number(y) >= 0, Number(y) <= drawing.height]).toEqual([true, true]);
    }
  });

  it('ends at the edges of a chart of the dashboard, and is marked there', () => {
    const { areas, strokes } = onCanvas(series);
    expect(tall(strokes[0]!)).toBeGreaterThan(5);
    for (const [, y] of areas.flat()) {
      expect(y).toBeGreaterThanOrEqual(10);
      expect(y).toBeLessThanOrEqual(210);
    }
    expect(triangles(areas).map(([tip]) => tip)).toEqual([[500, 10], [500, 210]]);
  });
});

describe('an interval with an open end', () => {
  const usual = { ...series, lows: answers.map((v) => v - 1), highs: answers.map((v) => v + 1) };
  const openAbove = { ...usual, highs: usual.highs.map((end, i) => (i === 5 ? null : end)) };
  const openBelow = { ...usual, lows: usual.lows.map((end, i) => (i === 5 ? null : end)) };
  const none = { ...openAbove, lows: openBelow.lows };

  it.each([
    ['above', openAbove, [frame.top]], ['below', openBelow, [frame.height]],
    ['on no side', usual, []], ['without an interval', none, []],
  ] as const)('reaches the edge of the element and of a saved picture: %s', (_, drawn, edges) => {
    const { marks, xs } = plotOf({ series: drawn, smoothed: null }, 'time', words, frame, colours);
    const [band] = filled(marks);
    expect(band!.filter(([x, y]) => x === xs[5] && (y === frame.top || y === frame.height)))
      .toEqual(edges.map((y) => [xs[5], y]));
    expect(triangles(filled(marks)).map(([tip]) => tip)).toEqual(edges.map((y) => [xs[5], y]));
  });

  it('reaches the edge of a chart of the dashboard, and is marked there', () => {
    const tips = (drawn: Series): readonly (Point | undefined)[] =>
      triangles(onCanvas(drawn).areas).map(([tip]) => tip);
    expect(tips(openAbove)).toEqual([[500, 10]]);
    expect(tips(openBelow)).toEqual([[500, 210]]);
    expect([...tips(usual), ...tips(none)]).toEqual([]);
    // One answer alone is a vertical line, without an arm at the open end.
    const only = { ...openAbove, values: answers.map((value, i) => (i === 5 ? value : null)) };
    const [, line] = onCanvas(only).strokes;
    expect(line).toHaveLength(4);
    expect(line![1]).toEqual([500, 10]);
  });
});

/** What the dashboard fills and strokes for a series of six answers. */
function onCanvas(drawn: Series): Readonly<Record<'areas' | 'strokes', readonly Point[][]>> {
  vi.stubGlobal('devicePixelRatio', 1);
  const areas: Point[][] = [];
  const strokes: Point[][] = [];
  let path: Point[] = [];
  const add = (x: number, y: number): void => { path.push([x, y]); };
  const ctx = new Proxy({
    beginPath: () => { path = []; }, lineTo: add, moveTo: add,
    fill: () => { areas.push(path); }, stroke: () => { strokes.push(path); },
  }, { get: (of, name) => Reflect.get(of, name) as unknown ?? (() => undefined) });
  const [min, max] = shownExtent(drawn)!;
  const scales = { x: { min: 0, max: 5 }, y: { min, max } };
  const chart = {
    ctx, scales, bbox: { left: 0, top: 10, width: 500, height: 200 },
    valToPos: (value: number, name: string) => (name === 'x' ? value * 100
      : 210 - 200 * (value - min) / (max - min)),
  } as unknown as uPlot;
  drawLine(chart, drawn, drawn.epochs, 'accent', 'answers');
  vi.unstubAllGlobals();
  return { areas, strokes };
}
