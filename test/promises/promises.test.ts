import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { estimators } from '../../src/estimators/registry.js';
import { root } from '../support/sources.js';
import { cells } from './cells.js';
import { figuresOf, nameOfRows } from './measure.js';
import { figuresOfRow, rowOf, rowsOfPage } from './page.js';
import { missesMax, surpriseOf } from './verdict.js';

describe('the table of promises', () => {
  it('has every estimator, with the spread found and given where it can be found', () => {
    for (const { name, parameters } of estimators) {
      const own = new Set(cells.filter(({ estimator }) => estimator === name)
        .map(({ spread }) => spread));
      expect(own.size, name).toBeGreaterThan(0);
      const spread = parameters.find((parameter) => parameter.name === 'spread');
      if (spread !== undefined) expect(own, name).toContain('given');
      if (spread?.default === 'auto') expect(own, name).toContain('found');
    }
  });

  it('has each row once, and is what the page of results shows', () => {
    const page = rowsOfPage(readFileSync(join(root, 'docs/results/promises.md'), 'utf8'));
    expect([...page.keys()]).toEqual(cells.map(({ name }) => name));
    for (const cell of cells) {
      const row = page.get(cell.name)!;
      const figures = figuresOfRow(row);
      expect(rowOf(cell, figures)).toBe(row);
      expect(surpriseOf(cell, figures)).toBeNull();
    }
  });

  it('lets intervals miss as often as 95 % intervals may', () => {
    // P(more than m of n miss) is at most one in a thousand, and above it for m - 1.
    expect([1, 3, 30, 300].map(missesMax)).toEqual([1, 2, 6, 28]);
  });
});

describe('a release keeps its promise', () => {
  const names = [...new Set(cells.map(nameOfRows))];
  for (const cell of names.flatMap((name) => cells.filter((each) => nameOfRows(each) === name))) {
    it(cell.name, { tags: [cell.isQuick ? 'long' : 'slow'] }, async () => {
      expect(surpriseOf(cell, await figuresOf(cell))).toBeNull();
    });
  }
});
