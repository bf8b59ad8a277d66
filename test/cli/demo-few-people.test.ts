import { expect, it } from 'vitest';
import { loadFlights } from '../../cli/data/flights.js';
import { demoSpread } from '../../cli/demo/questions.js';
import { flightsPerContribution } from '../../cli/demo/studies.js';
import { datasetSource } from '../../simulation/data/sources.js';
import { utf8 } from '../../src/base/bytes.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';

const corruption = 0.1;
const [people, columns, epochs] = [1_000, demoSpread.length, 200];
/** The hostile people of the demonstration: all move so many spreads in every column. */
const shift = 4;

function* demoEpochs(): Generator<readonly (readonly number[])[]> {
  const { columns: { delay, distance }, count } = loadFlights();
  const values = Float64Array.from(
    { length: columns * count }, (_, at) => (at % 2 === 0 ? delay : distance)[at >> 1]!,
  );
  const source = datasetSource({
    values, columns, rows: flightsPerContribution, contributors: people, seed: utf8('1'),
  });
  for (let epoch = 0; epoch < epochs; epoch++) {
    yield Array.from({ length: people }, (_, person) => {
      const sent = source(person, BigInt(epoch), 'flights');
      return demoSpread.map((spread, j) => {
        const own = sent.filter((__, at) => at % columns === j);
        const isHostile = person < corruption * people;
        return own.reduce((sum, value) => sum + value / own.length, 0)
          + (isHostile ? shift * spread : 0);
      });
    });
  }
}

const meanOf = (rows: readonly (readonly number[])[]): readonly number[] =>
  demoSpread.map((_, j) => rows.reduce((sum, row) => sum + row[j]! / rows.length, 0));

it('has a robust mean that is nearer to the honest one than the mean of all, in 200 epochs', {
  tags: ['long'],
}, async () => {
  const spread = [...demoSpread];
  const plan = planOf('robust-mean', { spread, corruption }, factsOf(columns, people));
  let [nearer, held, epoch] = [0, 0, 0];
  for (const rows of demoEpochs()) {
    const honest = meanOf(rows.slice(corruption * people));
    const offOf = (mean: readonly number[]): number =>
      Math.hypot(...mean.map((value, j) => (value - honest[j]!) / spread[j]!));
    const outcome = await releaseOf(plan, columns, rows, `few people ${epoch++}`);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    if (offOf(outcome.estimate) < offOf(meanOf(rows))) nearer += 1;
    const { low, high } = outcome.intervalIfFalse95!;
    if (honest.every((mean, j) => low[j]! <= mean && mean <= high[j]!)) held += 1;
  }
  expect([nearer, held]).toEqual([epochs, epochs]);
  // Naive: a tenth of four spreads in both columns.
  expect(plan.expectedError(corruption).total).toBeLessThan(corruption * shift * Math.SQRT2);
});
