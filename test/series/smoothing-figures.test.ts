import { describe, expect, it } from 'vitest';
import { smoothedLevels, type Measured } from '../../src/series/local-level.js';
import { dataSource } from '../support/data.js';

/** The exact number at each of `releases` epochs, in deviations of the noise. */
type Course = (normal: () => number, releases: number) => readonly number[];

const walk = (step: number): Course => (normal, releases) => {
  let value = 40;
  return Array.from({ length: releases }, () => value += step * normal());
};
const jump = (size: number): Course => (_, releases) =>
  Array.from({ length: releases }, (_, i) => (2 * i < releases ? 0 : size));

/** How smoothed numbers compare with the published ones, over many simulated logs. */
function figuresOf(course: Course, releases: number, runs: number): {
  /** Root mean square error of the published numbers, divided by that of the smoothed ones. */
  readonly gain: number;
  /** Share of the smoothed 95 % bands that hold the exact number. */
  readonly held: number;
} {
  const data = dataSource(`smoothed ${releases}`);
  let [published, smoothed, held] = [0, 0, 0];
  for (let run = 0; run < runs; run++) {
    const exact = course(() => data.normal(), releases);
    const series = exact.map((value, i): Measured =>
      ({ epoch: i + 1, value: value + data.normal(), deviation: 1 }));
    smoothedLevels(series).forEach((level, i) => {
      const error = level!.value - exact[i]!;
      published += (series[i]!.value! - exact[i]!) ** 2;
      smoothed += error ** 2;
      if (Math.abs(error) < 1.96 * level!.deviation) held += 1;
    });
  }
  return { gain: Math.sqrt(published / smoothed), held: held / (releases * runs) };
}

// docs/guides/totals-over-weeks.md has the same rows.
describe('smoothed numbers', { tags: ['long'] }, () => {
  it.each([
    { step: 0.1, gain: 4.4 }, { step: 0.3, gain: 2.5 }, { step: 0.5, gain: 2 },
  ])('err less on a random walk where noise dominates: steps of $step', ({ step, gain }) => {
    const found = figuresOf(walk(step), 200, 200);
    expect(found.gain).toBeGreaterThan(1.5);
    expect(found.gain).toBeCloseTo(gain, 0);
    expect(found.held).toBeGreaterThan(0.93);
    expect(found.held).toBeLessThan(0.97);
  });

  it.each([
    { name: 'steps as large as the noise', course: walk(1) },
    { name: 'steps of 10 deviations', course: walk(10) },
    { name: 'steps of 1,000 deviations', course: walk(1_000) },
    { name: 'a constant', course: jump(0) },
    { name: 'a jump of 3 deviations', course: jump(3) },
    { name: 'a jump of 12 deviations', course: jump(12) },
    { name: 'a jump of 100 deviations', course: jump(100) },
    { name: 'a jump of 100,000 deviations', course: jump(1e5) },
  ])('are nowhere worse by more than 2 %: $name', ({ course }) => {
    for (const [releases, runs] of [[6, 400], [30, 80], [200, 20]] as const) {
      const { gain, held } = figuresOf(course, releases, runs);
      expect(gain, `${releases} releases`).toBeGreaterThan(0.98);
      expect(held, `${releases} releases`).toBeGreaterThan(0.92);
    }
  });
});
