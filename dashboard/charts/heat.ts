import { roundTicks, shown } from '../base/format.js';
import type { HeatCell, HeatColumn } from '../base/heat.js';
import type { Drawing, Mark, PaperColours, Point } from '../../src/answers/drawing.js';
import { timeSteps, timeTexts } from './time-axis.js';

/** The place of a strip on its drawing, in pixels. */
export interface HeatFrame {
  readonly width: number;
  readonly height: number;
  /** Room for the names on the left. */
  readonly left: number;
  /** The unit of the axis below the columns. */
  readonly axis: 'time' | 'epoch';
}

/** A cell: the places of its column and, from the bottom, of its cell. */
export interface HeatPlace {
  readonly column: number;
  readonly cell: number;
}

const [top, right, bottom] = [8, 8, 40];
const digitWidth = 7;
const [labelHeight, labelWidth] = [18, 84];
/** The eye distinguishes light shades better than dark ones. */
const shade = (share: number): number => Math.min(1, Math.max(0, share)) ** 0.75;

/** Both ends of the axis over all columns, and the largest weight. */
export function heatExtent(columns: readonly HeatColumn[]): {
  readonly low: number; readonly high: number; readonly most: number;
} {
  const cells = columns.flatMap((column) => column.cells);
  const low = Math.min(...cells.map(({ from }) => from));
  const high = Math.max(...cells.map(({ to }) => to));
  return { low, high: high > low ? high : low + 1,
    most: Math.max(...cells.map(({ weight }) => weight), Number.MIN_VALUE) };
}

/** Room that the names beside the strip need, in pixels. */
export function heatLeft(columns: readonly HeatColumn[], isNamed: boolean): number {
  const cells = columns.find(({ refusal }) => refusal === null)?.cells ?? [];
  const { low, high } = heatExtent(columns);
  const texts = isNamed ? cells.map(({ name }) => name)
    : roundTicks(low, high).map((tick) => shown(tick));
  return Math.min(140, 20 + digitWidth * Math.max(3, ...texts.map((text) => text.length)));
}

/**
 * One column of cells for each release, as wide as the others, darker where more people are. A
 * refused release is a cross.
 * @param isNamed whether the cells have names instead of values.
 */
export function heatDrawing(
  columns: readonly HeatColumn[], isNamed: boolean, frame: HeatFrame, pinned: HeatPlace | null,
  colours: PaperColours,
): Drawing {
  const { width, height, left } = frame;
  const { low, high, most } = heatExtent(columns);
  const floor = height - bottom;
  const wide = (width - left - right) / Math.max(1, columns.length);
  const y = (value: number): number => floor - ((value - low) / (high - low)) * (floor - top);
  // A line of the card's colour between columns, as long as there is room for it.
  const gap = wide >= 5 ? 1 : 0;
  const xOf = (column: number): number => Math.round(left + column * wide);
  // Whole pixels: neighbours would otherwise have lines between them.
  const box = (column: number, { from, to }: HeatCell): readonly Point[] => {
    const [x, end] = [xOf(column), xOf(column + 1) - gap];
    const [foot, head] = [Math.round(y(from)), Math.round(y(to))];
    return [[x, foot], [end, foot], [end, head], [x, head]];
  };
  const marks = columns.flatMap((column, i): Mark[] => {
    if (column.refusal !== null) return cross(left + (i + 0.5) * wide, floor - 8, colours.warn);
    return column.cells.filter(({ weight }) => weight > 0).map((cell) => ({
      kind: 'path', points: box(i, cell), colour: colours.accent,
      opacity: shade(cell.weight / most),
    }));
  });
  const chosen = pinned === null ? undefined : columns[pinned.column]?.cells[pinned.cell];
  const around = pinned === null || chosen === undefined ? []
    : box(pinned.column, chosen);
  return { width, height, background: colours.card, marks: [
    {
      kind: 'path', points: [[left, floor], [width - right, floor]], colour: colours.line, width: 1,
    },
    ...marks,
    ...(pinned === null ? []
      : frameOf(xOf(pinned.column), xOf(pinned.column + 1) - gap, floor, colours)),
    ...(around.length === 0 ? [] : [{
      kind: 'path', points: [...around, around[0]!], colour: colours.ink, width: 2,
    } as const]),
    ...namesOf(columns, isNamed, [low, high], y, left, colours),
    ...textsBelow(columns, frame, wide, colours),
  ] };
}

/** The cell at a place of the drawing; null outside of all columns. */
export function heatPlaceAt(
  columns: readonly HeatColumn[], { width, height, left }: HeatFrame, x: number, at: number,
): HeatPlace | null {
  const column = Math.floor(((x - left) / (width - left - right)) * columns.length);
  const found = columns[column];
  if (found === undefined) return null;
  const { low, high } = heatExtent(columns);
  const floor = height - bottom;
  const value = low + ((floor - at) / (floor - top)) * (high - low);
  const cell = found.cells.findIndex(({ to }) => value <= to);
  return { column, cell: cell < 0 ? found.cells.length - 1 : cell };
}

function frameOf(x: number, end: number, floor: number, colours: PaperColours): readonly Mark[] {
  const points = [[x, top], [end, top], [end, floor], [x, floor], [x, top]] as const;
  return [{ kind: 'path', points, colour: colours.quiet, width: 1 }];
}

function cross(x: number, y: number, colour: string): Mark[] {
  return ([[[x - 4, y - 4], [x + 4, y + 4]], [[x - 4, y + 4], [x + 4, y - 4]]] as const)
    .map((points) => ({ kind: 'path', points, colour, width: 1.5 }));
}

function namesOf(
  columns: readonly HeatColumn[], isNamed: boolean, [low, high]: readonly [number, number],
  y: (value: number) => number, left: number, colours: PaperColours,
): readonly Mark[] {
  const cells = columns.find(({ refusal }) => refusal === null)?.cells ?? [];
  const fits = Math.floor((left - 14) / 6);
  const texts = isNamed
    ? cells.map(({ name, from, to }) => [y((from + to) / 2), name] as const)
    : roundTicks(low, high).map((tick) => [y(tick), shown(tick)] as const);
  let before = Infinity;
  return texts.flatMap(([at, text]): Mark[] => {
    if (before - at < labelHeight) return [];
    before = at;
    return [{
      kind: 'text', at: [left - 10, at + 4], size: 12, colour: colours.quiet, align: 'end',
      text: text.length > fits ? `${text.slice(0, fits - 1)}…` : text,
    }];
  });
}

/** Texts below single columns: the columns are releases, so equal steps may be unequal times. */
function textsBelow(
  columns: readonly HeatColumn[], { left, height, axis }: HeatFrame, wide: number,
  colours: PaperColours,
): readonly Mark[] {
  const apart = Math.max(1, Math.ceil(labelWidth / wide));
  // The last text needs half of its width beside its column.
  const last = columns.length - labelWidth / 3 / wide;
  const fits = (place: number): boolean => place + 0.5 < last;
  const { places, step } = axis === 'time' ? roundTimes(columns, apart, fits)
    : { places: columns.map((_, i) => i).filter((i) => i % apart === 0 && fits(i)), step: 0 };
  const texts = axis === 'time' ? timeTexts(places.map((i) => columns[i]!.time), step)
    : places.map((i) => `epoch ${columns[i]!.epoch}`);
  return texts.flatMap((text, k) => text.split('\n').map((line, row): Mark => ({
    kind: 'text', at: [left + (places[k]! + 0.5) * wide, height - bottom + 18 + row * 15],
    text: line, size: 12, colour: colours.quiet, align: 'middle',
  })));
}

/**
 * The releases that are the first at or after a round time, with the smallest step of times for
 * which they are at least `apart` columns from one another.
 */
function roundTimes(
  columns: readonly HeatColumn[], apart: number, fits: (place: number) => boolean,
): { readonly places: readonly number[]; readonly step: number } {
  for (const step of timeSteps) {
    const at = columns.map(({ time }) =>
      (time - new Date(time).getTimezoneOffset() * 60_000) / step);
    const places = at.flatMap((now, i) => {
      const isRound = i === 0 ? Number.isInteger(now) : Math.floor(now) > Math.floor(at[i - 1]!);
      return isRound && fits(i) ? [i] : [];
    });
    if (places.every((place, k) => k === 0 || place - places[k - 1]! >= apart)) {
      return { places: places.length === 0 ? [0] : places, step };
    }
  }
  return { places: [0], step: timeSteps.at(-1)! };
}
