import type uPlot from 'uplot';
import type { Series } from '../base/model.js';
import { beyondMarks, honestBand, within } from './shown-extent.js';
import { marksOf, type Mark } from './thin.js';

/** Up to this many releases, each gets a point of its own. */
const pointsMax = 40;
/** More lines than this would hide the answers. */
const linesMax = 12;

/**
 * The style of a line: published answers, answers behind their smoothed line, or the smoothed line.
 */
export type Look = 'answers' | 'behind' | 'smoothed';

const looks: Readonly<Record<Look, {
  readonly band: number; readonly line: number; readonly width: number; readonly hasPoints: boolean;
}>> = {
  answers: { band: 0.2, line: 1, width: 2, hasPoints: true },
  behind: { band: 0.1, line: 0.55, width: 1, hasPoints: true },
  smoothed: { band: 0.28, line: 1, width: 2.5, hasPoints: false },
};

/** Draws one line inside the band of its intervals, which ends at the edges of the chart. */
export function drawLine(
  chart: uPlot, series: Series, along: readonly number[], colour: string, look: Look,
): void {
  const { ctx, bbox } = chart;
  const pixel = devicePixelRatio;
  const { min, max } = chart.scales['y']!;
  const shown = [min ?? 0, max ?? 1] as const;
  const scale = scaleOf(chart, 'y');
  const yOf = (value: number): number => scale(within(value, shown));
  const xOf = scaleOf(chart, 'x');
  const marked = (of: Series): ReturnType<typeof marksOf> =>
    marksOf(of, (at) => Math.round(xOf(at)), along);
  const runs = marked(series);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 3 * pixel, bbox.top, bbox.width + 6 * pixel, bbox.height);
  ctx.clip();
  ctx.fillStyle = ctx.strokeStyle = colour;
  ctx.lineJoin = 'round';
  const { band, line, width, hasPoints } = looks[look];
  ctx.globalAlpha = band;
  for (const run of runs) fillBand(ctx, run, yOf);
  ctx.globalAlpha = honestBand * band;
  for (const run of series.honest ? marked({ ...series, ...series.honest }) : []) {
    fillBand(ctx, run, yOf);
  }
  ctx.globalAlpha = line;
  ctx.lineWidth = width * pixel;
  ctx.beginPath();
  for (const run of runs) traceLine(ctx, run, yOf);
  ctx.stroke();
  const few = hasPoints && series.epochs.length <= pointsMax;
  for (const run of runs) {
    const only = run.length === 1 ? run[0] : undefined;
    if (only !== undefined) whisker(ctx, only, yOf, 4 * pixel);
    if (few || only !== undefined) for (const mark of run) dot(ctx, mark, yOf, 2.5 * pixel);
  }
  const edges = [bbox.top, bbox.top + bbox.height] as const;
  for (const mark of runs.flat()) {
    for (const corners of beyondMarks(mark, shown, edges, 6 * pixel)) {
      ctx.beginPath();
      for (const corner of corners) ctx.lineTo(...corner);
      ctx.fill();
    }
  }
  ctx.restore();
}

/**
 * A linear scale as a function to canvas pixels. It equals `valToPos` without a look-up for every
 * point.
 */
function scaleOf(chart: uPlot, name: 'x' | 'y'): (value: number) => number {
  const { min, max } = chart.scales[name]!;
  const [from, to] = [min ?? 0, max ?? 1];
  const [start, end] = [chart.valToPos(from, name, true), chart.valToPos(to, name, true)];
  const slope = (end - start) / (to - from);
  return (value) => start + slope * (value - from);
}

/** A release without an interval adds only its answer to the band. */
function fillBand(
  ctx: CanvasRenderingContext2D, run: readonly Mark[], yOf: (value: number) => number,
): void {
  if (run.length < 2 || run.every(({ low, high }) => low === null && high === null)) return;
  ctx.beginPath();
  for (const { x, high, greatest } of run) ctx.lineTo(x, yOf(high ?? greatest));
  for (let i = run.length - 1; i >= 0; i--) {
    const { x, low, least } = run[i]!;
    ctx.lineTo(x, yOf(low ?? least));
  }
  ctx.fill();
}

function traceLine(
  ctx: CanvasRenderingContext2D, run: readonly Mark[], yOf: (value: number) => number,
): void {
  run.forEach(({ x, first, least, greatest, last }, i) => {
    if (i === 0) ctx.moveTo(x, yOf(first));
    else ctx.lineTo(x, yOf(first));
    if (least === greatest) return;
    ctx.lineTo(x, yOf(least));
    ctx.lineTo(x, yOf(greatest));
    ctx.lineTo(x, yOf(last));
  });
}

/**
 * A band needs two epochs. The interval of a single answer between refusals, or of the first one,
 * is a vertical line with ends.
 */
function whisker(
  ctx: CanvasRenderingContext2D, mark: Mark, yOf: (value: number) => number, arm: number,
): void {
  const { x, low, high, last } = mark;
  if (low === null && high === null) return;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.beginPath();
  // An open end has no arm, and ends at the edge of the chart.
  ctx.moveTo(x, yOf(low ?? last));
  ctx.lineTo(x, yOf(high ?? last));
  for (const end of [low, high]) {
    if (end === null || !Number.isFinite(end)) continue;
    ctx.moveTo(x - arm, yOf(end));
    ctx.lineTo(x + arm, yOf(end));
  }
  ctx.stroke();
}

function dot(
  ctx: CanvasRenderingContext2D, { x, last }: Mark, yOf: (value: number) => number, radius: number,
): void {
  ctx.beginPath();
  ctx.arc(x, yOf(last), radius, 0, 2 * Math.PI);
  ctx.fill();
}

/**
 * A cross on the axis for each refused epoch. If they are few, also a dashed line, so that colour
 * is not needed.
 */
export function drawRefusals(
  chart: uPlot, { refusals }: Series, along: readonly number[], colour: string,
): void {
  const refused = along.filter((_, place) => (refusals[place] ?? null) !== null);
  if (refused.length === 0) return;
  const { ctx, bbox } = chart;
  const pixel = devicePixelRatio;
  const xOf = scaleOf(chart, 'x');
  const [y, arm] = [bbox.top + bbox.height - 8 * pixel, 4 * pixel];
  const columns = [...new Set(refused.map((at) => Math.round(xOf(at))))];
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * pixel;
  if (refused.length <= linesMax) {
    ctx.setLineDash([2 * pixel, 4 * pixel]);
    ctx.beginPath();
    for (const x of columns) {
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, y - 2 * arm);
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.beginPath();
  for (const x of columns) {
    ctx.moveTo(x - arm, y - arm);
    ctx.lineTo(x + arm, y + arm);
    ctx.moveTo(x - arm, y + arm);
    ctx.lineTo(x + arm, y - arm);
  }
  ctx.stroke();
  ctx.restore();
}

/** The newest value of a line, and its letter. */
interface LineEnd {
  readonly letter: string;
  readonly at: number;
  readonly value: number;
  readonly colour: string;
}

/** Letters at the right ends of lines, so that colour is not needed. None covers another. */
export function drawLetters(chart: uPlot, ends: readonly LineEnd[]): void {
  const { ctx, bbox } = chart;
  const pixel = devicePixelRatio;
  const [xOf, yOf] = [scaleOf(chart, 'x'), scaleOf(chart, 'y')];
  const [width, height] = [16 * pixel, 13 * pixel];
  const right = bbox.left + bbox.width;
  const all = ends.map(({ letter, at, value, colour }) =>
    ({ letter, colour, x: xOf(at) + 8 * pixel, y: yOf(value) }));
  // A line that ended long ago has its letter beside its end, where no other line ends.
  const isEarly = ({ x }: { readonly x: number }): boolean => x + width < right;
  const marks = all.filter((mark) => !isEarly(mark)).sort((one, two) => one.y - two.y);
  for (let i = 1; i < marks.length; i++) {
    marks[i]!.y = Math.max(marks[i]!.y, marks[i - 1]!.y + height);
  }
  let lowest = bbox.top + bbox.height;
  ctx.save();
  ctx.font = `600 ${12 * pixel}px system-ui, sans-serif`;
  // The axes were drawn before, and leave their own alignment behind.
  ctx.textAlign = 'left';
  ctx.textBaseline = 'middle';
  for (const { letter, colour, y } of marks.reverse()) {
    lowest = Math.min(lowest, y);
    ctx.fillStyle = colour;
    ctx.fillText(letter, right + 8 * pixel, lowest);
    lowest -= height;
  }
  for (const { letter, colour, x, y } of all.filter(isEarly)) {
    ctx.fillStyle = colour;
    ctx.fillText(letter, x, y);
  }
  ctx.restore();
}

/** A dashed line for each note of the operator or new version, with its label at the top. */
export function drawNotes(
  chart: uPlot, notes: readonly { readonly label: string; readonly at: number }[], colour: string,
): void {
  const { ctx, bbox } = chart;
  const pixel = devicePixelRatio;
  const xOf = scaleOf(chart, 'x');
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = pixel;
  ctx.font = `600 ${10 * pixel}px system-ui, sans-serif`;
  ctx.textAlign = 'center';
  ctx.textBaseline = 'bottom';
  ctx.setLineDash([4 * pixel, 3 * pixel]);
  for (const { label, at } of notes) {
    const x = Math.round(xOf(at));
    upright(chart, x);
    ctx.fillText(label, x, bbox.top);
  }
  ctx.restore();
}

/** A line at one place of the axis, for the release whose numbers are read out. */
export function drawPin(chart: uPlot, at: number, colour: string): void {
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  upright(chart, Math.round(scaleOf(chart, 'x')(at)));
  ctx.restore();
}

/** A line from the top of the chart to its axis. */
function upright({ ctx, bbox }: uPlot, x: number): void {
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
}
