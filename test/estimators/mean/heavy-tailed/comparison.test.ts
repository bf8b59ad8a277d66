import { describe, expect, it } from 'vitest';
import { loadFlights } from '../../../../cli/data/flights.js';
import { dataSource } from '../../../support/data.js';
import { factsOf, planOf, releaseOf } from '../../../support/offline.js';

const { delay } = loadFlights().columns;
const truth = delay.reduce((sum, value) => sum + value, 0) / delay.length;

/** Sampling alone is most of the error of either, so few runs decide nothing. */
const runs = 16;

/** Root of the mean squared error of a plan over a few resamples. */
async function errorOf(name: string, spread: number, cohort: number): Promise<number> {
  const plan = planOf(name, { spread }, factsOf(1, cohort, 1));
  let squares = 0;
  for (let run = 0; run < runs; run++) {
    const data = dataSource(`delays ${cohort} ${run}`);
    const rows = Array.from({ length: cohort }, () => [delay[data.below(delay.length)]!]);
    const outcome = await releaseOf(plan, 1, rows, `${name} ${spread} ${run}`);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    squares += (outcome.estimate[0]! - truth) ** 2 / runs;
  }
  return Math.sqrt(squares);
}

describe('heavy-tailed beside mean', () => {
  it('is behind mean on delays, which raises its radius for them', { tags: ['slow'] }, async () => {
    for (const [spread, cohort] of [[20, 20_000], [40, 20_000]] as const) {
      const own = await errorOf('heavy-tailed', spread, cohort);
      expect(await errorOf('mean', spread, cohort)).toBeLessThan(own);
    }
  });

  it('warns where the assumed corruption may do more than everything else', () => {
    expect(
      planOf(
        'heavy-tailed', { spread: 1, corruption: 0.05 }, factsOf(1, 200_000, 8),
      ).facts['warning'],
    )
      .toMatch(/clip-radius/);
    expect(
      planOf('heavy-tailed', { spread: 1, corruption: 0 }, factsOf(1, 200_000, 8)).facts['warning'],
    ).toBeUndefined();
  });

  it('names the split that group means need', () => {
    expect(() => planOf(
      'heavy-tailed', { spread: 1, centre: 'subsample-means', arms: 'one' }, factsOf(1, 50_000),
    ))
      .toThrow(/no contributors of their own/);
  });
});
