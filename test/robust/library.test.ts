import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as keelson from '../../src/robust/index.js';
import { root } from '../support/sources.js';

const {
  filteredMean, geometricMedian, multiplicativeFilter, pointSet, robustMeanWithoutPrivacy,
  robustScatter, trimmedMean,
} = keelson;

describe('robust means of the library', () => {
  it('print what the page of robust means says', () => {
    const [, code] =
      /```ts\n([^`]*?)```/.exec(readFileSync(`${root}docs/guides/robust-means.md`, 'utf8'))!;
    const [, names] = /^import \{ ([^}]+) \} from 'keelson\/non-private';\n/.exec(code!)!;
    const printed: string[] = [];
    const print = (...values: readonly unknown[]): void => {
      printed.push(values.map((value) => (value instanceof Float64Array
        ? `[${[...value].map((entry) => entry.toFixed(2)).join(', ')}]`
        : String(value))).join(' '));
    };
    // Only the import is replaced.
    const body = code!.slice(code!.indexOf('\n'));
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text is this repository's own page
    const run = new Function('keelson', 'console', `const { ${names} } = keelson;${body}`) as
      (library: object, console: object) => void;
    run(keelson, { log: print });
    const promised = [...code!.matchAll(/; *\/\/ ([^;\n]+)/g)].map(([, text]) => text!.trim());
    expect(promised.length).toBe(3);
    expect(printed).toEqual(promised);
  });

  it('take rows as they are, or copy them, and say what is wrong with others', () => {
    const rows = [[1, 2], [3, 4], [5, 7]];
    expect(pointSet(rows))
      .toEqual({ count: 3, dimension: 2, values: Float64Array.of(1, 2, 3, 4, 5, 7) });
    expect(pointSet([])).toEqual({ count: 0, dimension: 0, values: new Float64Array(0) });
    expect(() => pointSet([[1, 2], [3]])).toThrow(expect.objectContaining({
      code: 'invalid-input',
      message: 'row 1 has 1 entries, and 2 are expected: give every row as many',
    }));
    const short = { count: 3, dimension: 2, values: new Float64Array(5) };
    const all = [
      geometricMedian, robustMeanWithoutPrivacy, robustScatter, filteredMean, multiplicativeFilter,
      (given: keelson.PointSet) => trimmedMean(given, 0),
    ];
    for (const estimate of all) {
      expect(() => estimate(short)).toThrow(expect.objectContaining({ code: 'invalid-input' }));
    }
    for (const options of [
      { cut: 0 }, { spread: -1 }, { spread: Infinity }, { removedShareMax: 0.5 },
      { removedShareMax: NaN },
    ]) {
      expect(() => robustMeanWithoutPrivacy(pointSet(rows), options))
        .toThrow(expect.objectContaining({ code: 'invalid-parameter' }));
    }
  });

  it('leave rows that are not numbers out of a scatter', () => {
    const rows = Array.from({ length: 60 }, (_, i) => [Math.cos(i), 2 * Math.sin(3 * i)]);
    const spoiled = [[NaN, 1], ...rows, [1, Infinity]];
    const clean = robustScatter(pointSet(rows));
    expect(clean[0]).toBeGreaterThan(0.1);
    expect(robustScatter(pointSet(spoiled))).toEqual(clean);
  });
});
