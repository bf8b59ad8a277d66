import { afterAll, describe, expect, it } from 'vitest';
import { makeRows } from '../../bench/accuracy/data.js';
import { createComputePool } from '../../server/compute/pool.js';
import { Sensitive } from '../../src/base/brands.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { chunkRows } from '../../src/numerics/kernels/row-kernels.js';
import { sharedDoubles, type KernelRunner } from '../../src/numerics/kernels/shards.js';
import {
  centreEvents, privateCentre, privateCentreOn, type Centre,
} from '../../src/privacy/stages/centre.js';
import type { RowBlock } from '../../src/privacy/stages/rows.js';
import { recordingMechanisms } from '../support/recording-mechanisms.js';

const dimension = 3;
const spread = [1, 0.25, 40];
const pool = createComputePool(2);
afterAll(() => pool.close());

/** Rows in shared memory, so that threads take part; some far off, some that are no numbers. */
function rowsOf(count: number): RowBlock {
  const { values } =
    makeRows('ones', { dimension, contributors: count, corruption: 0.1, seed: `centre ${count}` });
  const shared = sharedDoubles(count * dimension);
  const odd = [Number.NaN, Infinity, -1e300, 1e17, -0];
  shared.set(values.map((entry, at) =>
    (at % 997 === 0 ? odd[at % odd.length]! : entry * spread[at % dimension]!)));
  return { count, dimension, values: shared };
}

interface Drawn {
  readonly centre: Centre;
  /** What every mechanism was given, bins in the order of their numbers. */
  readonly given: unknown;
}

async function drawn(rows: RowBlock, runner: KernelRunner | null): Promise<Drawn> {
  const events = centreEvents({ cohort: 'rows', dimension, rho: 0.02, delta: 1e-7 });
  const { mechanisms, recorded } = recordingMechanisms(events);
  const centre = runner === null ? privateCentre(mechanisms, Sensitive.of(rows), dimension, spread)
    : await privateCentreOn(runner, mechanisms, Sensitive.of(rows), dimension, spread);
  const [bins, ...scores] = recorded.map(({ content }) => content);
  const inOrder = (bins as ReadonlyMap<number, number>[]).map((one) =>
    [...one].sort(([left], [right]) => left - right));
  return { centre: centre.value, given: [inOrder, ...scores] };
}

describe('the private centre on threads', () => {
  // One row less than two chunks, exactly two, and one row in a third.
  it.each([2 * chunkRows - 1, 2 * chunkRows, 2 * chunkRows + 1])(
    'is that of one thread, bit by bit, with %d rows', async (count) => {
      const rows = rowsOf(count);
      const calls = { bins: 0, cells: 0 };
      const counting: KernelRunner = {
        parallelism: pool.parallelism,
        run: (kernel, input, thread) => {
          expect(kernel).toBe('share');
          calls[(input as { readonly kernel: keyof typeof calls }).kernel] += 1;
          return pool.run(kernel, input, thread);
        },
      };
      const [alone, inline, shared] = [
        await drawn(rows, null), await drawn(rows, inlineCompute()), await drawn(rows, counting),
      ];
      expect(alone.centre.kind).toBe('centre');
      expect(inline).toEqual(alone);
      expect(shared).toEqual(alone);
      expect(calls).toEqual({ bins: pool.parallelism, cells: pool.parallelism });
    });

  it('is not found by threads either where no bin holds enough', { tags: ['long'] }, async () => {
    const count = 2 * chunkRows;
    const values = sharedDoubles(count * dimension);
    for (let i = 0; i < count; i++) values.set([0, 0, 4 * 40 * i], i * dimension);
    const rows = { count, dimension, values };
    const alone = await drawn(rows, null);
    expect(alone.centre).toEqual({ kind: 'failed', coordinates: [2] });
    expect(await drawn(rows, pool)).toEqual(alone);
  });
});
