import { afterAll, expect, it } from 'vitest';
import { makeRows } from '../../bench/accuracy/data.js';
import { createComputePool } from '../../server/compute/pool.js';
import { Sensitive } from '../../src/base/brands.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { distanceCounts } from '../../src/estimators/pooled/radius.js';
import { chunkRows } from '../../src/numerics/kernels/row-kernels.js';
import { sharedDoubles, type KernelRunner } from '../../src/numerics/kernels/shards.js';
import {
  clippedMeanEvents, privateClippedMean, privateClippedMeanOn,
} from '../../src/privacy/stages/clipped-mean.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

const dimension = 3;
const pool = createComputePool(2);
afterAll(() => pool.close());

/** Rows in shared memory, so that threads take part; some far off, some that are no numbers. */
function rowsOf(count: number): RowBlock {
  const { values } = makeRows(
    'ones', { dimension, contributors: count, corruption: 0.1, seed: `clipped ${count}` },
  );
  const shared = sharedDoubles(count * dimension);
  const odd = [Number.NaN, Infinity, -1e300, 1e17, -0];
  shared.set(values.map((entry, at) => (at % 997 === 0 ? odd[at % odd.length]! : entry)));
  return { count, dimension, values: shared };
}

// One row less than two chunks, exactly two, and one row in a third.
it.each([2 * chunkRows - 1, 2 * chunkRows, 2 * chunkRows + 1])(
  'the mean of clipped rows, and their distances, are those of one thread, bit by bit, with %d '
    + 'rows', async (count) => {
    const rows = rowsOf(count);
    const { ball, sum, count: present } =
      clippedMeanEvents({ cohort: 'rows', dimension, radius: 2, rho: 0.1 });
    const centre = Float64Array.of(0.1, -0.2, 0);
    const unit = Float64Array.of(0.9, 1.1, 1.7);
    const options = { centre, ball, cohort: count, unit };
    const drawn = async (runner: KernelRunner | null): Promise<unknown> => {
      const { mechanisms, recorded } = recordingMechanisms([sum, present]);
      const block = Sensitive.of(rows);
      const mean = runner === null ? privateClippedMean(mechanisms, block, options)
        : await privateClippedMeanOn(runner, mechanisms, block, options);
      return { mean: mean.value, given: recorded.map(({ content }) => content) };
    };
    const alone = await drawn(null);
    expect(await drawn(inlineCompute())).toEqual(alone);
    const passes: string[] = [];
    const counting: KernelRunner = {
      parallelism: pool.parallelism,
      run: (kernel, input, thread) => {
        passes.push((input as { readonly kernel: string }).kernel);
        return pool.run(kernel, input, thread);
      },
    };
    expect(await drawn(counting)).toEqual(alone);
    const counts = await distanceCounts(inlineCompute(), rows, centre, unit);
    expect(counts.reduce((all, one) => all + one, 0)).toBeGreaterThan(0.99 * count);
    expect(await distanceCounts(counting, rows, centre, unit)).toEqual(counts);
    expect(passes).toEqual(['clippedSums', 'clippedSums', 'distances', 'distances']);
  },
);
