import { expect, it } from 'vitest';
import { isKept, realFigures, realTables } from './real.js';

it.each(realTables)(
  'answers $about with the mean of its table', { tags: ['slow'] }, async (table) => {
    for (const people of [20_000, 100_000]) {
      const figures = await realFigures(table, people, 12);
      expect(isKept(figures), JSON.stringify(figures)).toBe(true);
    }
  },
);
