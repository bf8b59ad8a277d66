import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { amountOf } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import {
  equalPairsEvent, privateDiscreteColumns, showsEqualPairs,
} from '../../src/privacy/stages/equal-pairs.js';
import type { RowsToPair } from '../../src/privacy/stages/spread-pairs.js';
import { seededNoise } from '../../src/random/insecure.js';
import { dataSource } from '../support/data.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

const rho = 0.001;
const eventFor = (dimension: number) =>
  equalPairsEvent({ name: 'equal', cohort: 'rows', dimension, rho, gridMost: 1 });
const data = dataSource('equal pairs');
const tags = (count: number): BigUint64Array => BigUint64Array.from({ length: count }, () =>
  (BigInt(data.below(2 ** 32)) << 32n) | BigInt(data.below(2 ** 32)));

function blockOf(rows: readonly (readonly number[])[], own: BigUint64Array): RowsToPair {
  const dimension = rows[0]!.length;
  return { count: rows.length, dimension, values: Float64Array.from(rows.flat()), tags: own };
}

async function discreteOf(
  row: () => readonly number[], contributors = 20_000,
): Promise<readonly boolean[]> {
  const event = eventFor(row().length);
  const block = blockOf(Array.from({ length: contributors }, row), tags(contributors));
  return (await privateDiscreteColumns(
    inlineCompute(), createMechanisms([event], seededNoise('equal')), Sensitive.of(block), event,
    { contributors, present: contributors },
  )).value;
}

describe('columns with many equal pairs', () => {
  it('cost what was given, and no delta', () => {
    const cost = costOfEvents([eventFor(3)], { disjoint: [] });
    expect(cost.rho <= amountOf(rho)).toBe(true);
    expect(Number(cost.rho) / 2 ** 64).toBeGreaterThan(rho * (1 - 1e-5));
    expect(cost.delta).toBe(0n);
  });

  it('are discrete, and those with a cluster at one point are not', async () => {
    const rare = (share: number, value: number): number => (data.below(1_000) < share ? value : 0);
    expect(await discreteOf(() => [
      rare(50, 1), rare(10, 1), data.below(5), data.normal(),
      data.below(20) === 0 ? 4.7 : data.normal(),
    ])).toEqual([true, true, true, false, false]);
  });

  it('are asked for only where noise lets some be seen', () => {
    expect(showsEqualPairs(eventFor(3), 20_000)).toBe(true);
    expect(showsEqualPairs(eventFor(3), 300)).toBe(false);
  });

  it('change by no more than was charged when one row changes, comes or goes', async () => {
    const dimension = 3;
    const event = eventFor(dimension);
    const few = 12;
    const countsOf = async (block: RowsToPair): Promise<Float64Array> => {
      const { mechanisms, recorded } = recordingMechanisms([event]);
      await privateDiscreteColumns(inlineCompute(), mechanisms, Sensitive.of(block), event,
        { contributors: few, present: few });
      return recorded[0]!.content as Float64Array;
    };
    const row = (): number[] =>
      Array.from({ length: dimension }, () => [0, 0, 0, 1, NaN, Infinity][data.below(6)]!);
    let largest = 0;
    for (let time = 0; time < 400; time++) {
      const rows = Array.from({ length: few }, row);
      const own = tags(few);
      const left = await countsOf(blockOf(rows, own));
      const isGone = data.below(2) === 0;
      const right = await countsOf(isGone ? blockOf(rows.slice(1), own.slice(1))
        : blockOf([row(), ...rows.slice(1)], own));
      largest = Math.max(largest, Math.hypot(...left.map((count, j) => count - right[j]!)));
    }
    expect(largest).toBeLessThanOrEqual(event.sensitivity);
    expect(largest).toBeGreaterThan(0.99 * event.sensitivity);
  });
});
