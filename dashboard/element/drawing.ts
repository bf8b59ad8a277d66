import { coloursOf } from '../base/colours.js';
import type { Series } from '../base/model.js';
import { numberText, type NumberWords } from '../base/number-words.js';
import { paint } from '../charts/paint.js';
import type { PaperColours } from '../../src/answers/drawing.js';
import { plotOf, type Frame } from '../charts/picture.js';
import { shownExtent } from '../charts/shown-extent.js';

const names = ['ink', 'quiet', 'line', 'accent', 'warn', 'card', 'minus'] as const;
/** The width of one digit of a text on the axis, in pixels. */
const digitWidth = 7;

/**
 * Draws a number over time on a canvas that has the size of its box.
 * @param pinned the release that is read out; null for none.
 * @returns where each release is, in pixels from the left end of the canvas.
 */
export function drawOn(
  canvas: HTMLCanvasElement, series: Series, words: NumberWords, pinned: number | null,
): readonly number[] {
  // A larger font of the page makes the texts of the axes larger, too.
  const zoom = parseFloat(getComputedStyle(canvas).fontSize) / 16;
  const [width, height] = [canvas.clientWidth / zoom, canvas.clientHeight / zoom];
  if (width === 0 || height === 0) return [];
  const found = coloursOf(canvas.parentElement!, names.map((name) => `keelson-${name}` as const));
  const colours =
    Object.fromEntries(names.map((name) => [name, found[`keelson-${name}`]])) as unknown as
      PaperColours;
  const texts = (shownExtent(series) ?? [0, 1]).map((end) => numberText(end, null, words).length);
  const frame: Frame = {
    width, height: height - 40, top: 10, right: 32,
    left: 20 + digitWidth * Math.max(3, ...texts),
  };
  const { marks, xs } = plotOf({ series, smoothed: null }, 'time', words, frame, colours);
  const at = pinned === null ? undefined : xs[pinned];
  paint({ width, height, background: colours.card, marks: [
    ...(at === undefined ? [] : [{
      kind: 'path', points: [[at, frame.top], [at, frame.height]], colour: colours.quiet, width: 1,
    } as const]),
    ...marks,
  ] }, canvas, devicePixelRatio * zoom);
  return xs.map((x) => x * zoom);
}

/** The place that is nearest to a position; null where there is none. */
export function nearestTo(xs: readonly number[], x: number): number | null {
  let best: number | null = null;
  xs.forEach((each, i) => {
    if (best === null || Math.abs(each - x) < Math.abs(xs[best]! - x)) best = i;
  });
  return best;
}
