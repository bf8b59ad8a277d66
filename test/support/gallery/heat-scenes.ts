import type { Outcome } from '../../../src/base/outcome.js';
import { refusal, Stage, valueOf, type StageStudy } from '../dashboard-stage.js';
import type { Scenes } from './main.js';

const releases = 36;
const none = { kind: 'none' } as const;
/** How late planes are around the clock: the middle of the day drifts. */
const shiftAt = (i: number): number => 6 * Math.sin(i / 6) + (i > 24 ? 5 : 0);
const noiseAt = (i: number, cell: number): number => ((i * 61 + cell * 37) % 23) - 11;

function scene(change: StageStudy, answerAt: (i: number) => Outcome, keys: readonly string[] = []):
Scenes[string] {
  return async (camera, name) => {
    const stage = await Stage.start({ study: 'flights', ...change }, { study: 'second' });
    for (let i = 0; i < releases; i++) stage.publish('flights', i === 20 ? refusal : answerAt(i));
    const page = await camera.page();
    await page.goto(stage.page('flights'));
    await page.waitForSelector('.heat-strip canvas');
    await page.focus('.heat-strip canvas');
    for (const key of keys) await page.keyboard.press(key as 'ArrowLeft');
    await camera.take(page, name);
    await page.browserContext().close();
  };
}

const edges = [-15, 0, 15, 30, 60];
const bins = (i: number): Outcome => {
  const below = (value: number): number => 2_000 / (1 + Math.exp((8 + shiftAt(i) - value) / 9));
  const ends = [0, ...edges.map(below), 2_000];
  const counts = ends.slice(1).map((each, k) => Math.round(each - ends[k]!) + noiseAt(i, k));
  return valueOf(counts, counts.map(() => 18));
};
function curve(i: number): Outcome {
  const below = [...Array.from({ length: 61 }, (_, k) =>
    2_000 / (1 + Math.exp((16 + shiftAt(i) - k) / 3)) + noiseAt(i, k) / 4), 2_000];
  const quantiles = [-28, 10, 40].map((each) => each + 5 * shiftAt(i));
  const around = (half: number): readonly number[] => [
    ...quantiles.map((each) => each + half / 10), ...below.map((each) => each + half)];
  return {
    kind: 'value', estimate: [...quantiles, ...below], shape: [65], uncertainty: none,
    parts: [{ name: 'quantiles', shape: [3] }, { name: 'below', shape: [62] }],
    interval95: { low: around(-40), high: around(40) },
  };
}
const probabilities = [0.1, 0.25, 0.5, 0.75, 0.9];
const quantiles = (i: number): Outcome => valueOf(
  [4, 9, 14, 22, 38].map((each, k) => each + shiftAt(i) * (1 + k / 3) + noiseAt(i, k) / 20),
  probabilities.map(() => 1.5));

/** Distributions over time, and a cell that is read out. */
export const heatScenes: Scenes = {
  'heat-histogram': scene({
    estimator: 'histogram', columns: ['delay'], parameters: { column: 0, edges },
  }, bins, ['ArrowLeft', 'ArrowLeft', 'ArrowUp', 'ArrowUp']),
  'heat-distribution': scene({
    estimator: 'distribution', columns: ['delay'],
    parameters: { column: 0, range: [-60, 240], cells: 60, probabilities: [0.05, 0.5, 0.95] },
  }, curve),
  'heat-quantiles': scene({
    estimator: 'quantile', columns: ['minutes'],
    parameters: { column: 0, range: [0, 120], cells: 120, probabilities },
  }, quantiles, ['ArrowLeft', 'ArrowUp']),
};
