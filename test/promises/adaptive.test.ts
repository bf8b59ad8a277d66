import { expect, it } from 'vitest';
import { adaptive, adaptiveFigures } from './adaptive.js';

it.each(adaptive)('an interval holds against liars that know the rules: $name', async (attack) => {
  const cell = { people: 20_000, columns: 10, share: 0.05 };
  const { held, asked } = await adaptiveFigures(attack, cell, 1);
  // All of 1,440 in the page hold: one of these ten may miss, as others do in 95 % intervals.
  expect(held).toBeGreaterThanOrEqual(asked - 1);
});
