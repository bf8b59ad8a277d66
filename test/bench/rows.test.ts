import { describe, expect, it } from 'vitest';
import { attacks, makeRows, shapes } from '../../bench/accuracy/data.js';

const contributors = 20_000;

describe('rows of the accuracy benchmark', () => {
  it.each(Object.keys(shapes))('%s has the mean and the deviations that it states', (rows) => {
    const dimension = 3;
    const { values, truth, inDeviations } = makeRows('none', {
      rows, dimension, contributors, corruption: 0, seed: 1,
    });
    const sums = new Float64Array(dimension);
    const squares = new Float64Array(dimension);
    const products = new Float64Array(dimension);
    for (let at = 0; at < values.length; at += dimension) {
      const difference = values.subarray(at, at + dimension).map((entry, j) => entry - truth[j]!);
      const own = inDeviations(difference);
      for (let j = 0; j < dimension; j++) {
        sums[j]! += difference[j]! / contributors;
        squares[j]! += difference[j]! ** 2 / contributors;
        products[j]! += own[j]! * own[(j + 1) % dimension]! / contributors;
      }
    }
    for (let j = 0; j < dimension; j++) {
      expect(sums[j], `mean of column ${j + 1}`).toBeCloseTo(0, 1);
      const deviation = rows === 'one-constant' && j === 0 ? 0 : 1;
      // Shapes without a fourth moment have deviations that vary much.
      expect(Math.abs(Math.sqrt(squares[j]!) - deviation), `deviation ${j + 1}`).toBeLessThan(0.2);
      expect(Math.abs(products[j]!), `correlation left in column ${j + 1}`).toBeLessThan(0.1);
    }
  });

  // How far hostile rows move the mean of all rows: a twentieth of how far they stand on average.
  it.each([
    ['rot3', 0.05 * 3.6 / Math.sqrt(3)],
    // The mean distance of the half of a sphere from the centre is sqrt(d) * .2587 for d = 10.
    ['shell', 0.05 * Math.sqrt(10) * 0.2587],
    ['ball', 0.05 * (1.35 * Math.sqrt(10) + 3) * 0.2587 * 10 / 11],
  ])('%s moves the mean of all rows as far as its definition says', (name, expected) => {
    const { values, honestMean } = makeRows(name, {
      dimension: 10, contributors, corruption: 0.05, seed: 1,
    });
    const mean = new Float64Array(10);
    values.forEach((value, at) => { mean[at % 10]! += value / contributors; });
    const moved = Math.hypot(...mean.map((entry, j) => entry - 0.95 * honestMean[j]!));
    expect(attacks[name]?.title).toBeTruthy();
    expect(Math.abs(moved - expected)).toBeLessThan(0.005);
  });

  it('places hostile rows in deviations of the columns, about the mean of the shape', () => {
    const shape = { dimension: 4, contributors, corruption: 0.05, seed: 1 };
    const moved = (rows: string): number => {
      const { values, truth } = makeRows('point', { ...shape, rows });
      const mean = new Float64Array(4);
      values.forEach((value, at) => { mean[at % 4]! += value / contributors; });
      return Math.hypot(...mean.map((entry, j) => entry - truth[j]!));
    };
    const expected = 0.05 * 1.5 * 2;
    for (const rows of ['normal', 'lognormal', 'gamma-correlated', 'condition-1e4']) {
      expect(Math.abs(moved(rows) - expected), rows).toBeLessThan(0.03);
    }
  });

  it('starts the tail of tail-mimic where that of honest rows is a twentieth', () => {
    const { values } = makeRows('tail-mimic', {
      dimension: 1, contributors, corruption: 0.05, seed: 1,
    });
    const beyond = values.filter((value) => value > 1.645).length / contributors;
    // Every hostile row, and a twentieth of the others.
    expect(Math.abs(beyond - 0.0975)).toBeLessThan(0.01);
  });
});
