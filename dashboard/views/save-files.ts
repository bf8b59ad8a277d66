import { systemClock } from '../../client/base/clock.js';
import { clockTime, counted, whole } from '../base/format.js';
import type { SavedChart, SavedForm } from '../base/saved.js';
import { csvOf } from '../base/series-csv.js';
import { coloursOf } from '../base/colours.js';
import { paint } from '../charts/paint.js';
import { svgOf, type Drawing } from '../../src/answers/drawing.js';
import { pictureOfSeries } from '../charts/picture.js';

/** Pixels of a PNG for each pixel of its drawing: it is sharp on paper and dense screens. */
const pngScale = 2;

/** Hands a file of a chart to the browser, which saves it. */
export async function saveChart(chart: SavedChart, form: SavedForm): Promise<void> {
  const { words, study, series, smoothed } = chart;
  if (form === 'CSV') {
    const text = csvOf(series, study, words.name, smoothed);
    return hand(new Blob([text], { type: 'text/csv' }), nameOf(chart, 'csv'));
  }
  const drawing = drawingOf(chart);
  if (form === 'SVG') {
    return hand(new Blob([svgOf(drawing)], { type: 'image/svg+xml' }), nameOf(chart, 'svg'));
  }
  const canvas = document.createElement('canvas');
  paint(drawing, canvas, pngScale);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (blob === null) throw new Error('the browser made no picture');
  hand(blob, nameOf(chart, 'png'));
}

function drawingOf({ drawn, smoothed, axis, words, study }: SavedChart): Drawing {
  const { epochs, times } = drawn;
  const notes = [
    `${counted(epochs.length, 'release')}, epochs ${whole(epochs[0] ?? 0)} to ${
      whole(epochs.at(-1) ?? 0)}, ${clockTime(times[0] ?? 0)} to ${clockTime(times.at(-1) ?? 0)}. `
      + 'Each was noised for privacy. The signatures were verified in the browser.',
    'A cross marks an epoch without an answer. A triangle at the edge marks an interval that '
      + 'reaches further.',
    ...(smoothed === null ? [] : ['The smoothed line is computed from the published answers alone, '
      + 'so it costs nobody any privacy.']),
  ];
  return pictureOfSeries({ series: drawn, smoothed }, axis, words, { title: study, notes },
    coloursOf(document.body, ['ink', 'quiet', 'line', 'accent', 'warn', 'card', 'minus']));
}

/** `flights-delay-minutes.svg`: letters and digits of any writing system. */
function nameOf({ study, words }: SavedChart, ending: string): string {
  const name = `${study} ${words.name}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return `${name.slice(0, 80)}.${ending}`;
}

function hand(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken it when the click returns to the event loop.
  systemClock.after(0, () => URL.revokeObjectURL(link.href));
}
