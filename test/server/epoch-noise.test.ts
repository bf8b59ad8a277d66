import { describe, expect, it } from 'vitest';
import type { AcceptedBatch, EpochSetup } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { seededNoise } from '../../src/random/insecure.js';
import type { NoiseSource } from '../../src/random/source.js';
import { define, keyOf } from '../support/hub-bench.js';

const facts = {
  estimator: 'populous-mean', cohort: 8_000,
  parameters: { spread: [1, 1], corruption: 0, local: 'mean' },
} as const;
const setupOf = (epoch: bigint): EpochSetup => {
  const { document, target } = define(facts);
  return {
    studyId: 'a', epoch, document, target,
    assignmentKey: new Uint8Array(32).fill(9), workSeed: new Uint8Array(32).fill(4),
  };
};
const parts: readonly AcceptedBatch[] = Array.from({ length: 8_000 }, (_, i) => ({
  contributor: keyOf(i), values: Float64Array.of(Math.sin(i), Math.cos(3 * i)), rows: 1,
  sequence: 1n, complete: true,
}));

describe('the noise of an epoch', () => {
  it('is drawn while rows arrive: the release asks for none', async () => {
    let releasing = false;
    const noise = (): NoiseSource => {
      const inner = seededNoise('a');
      return {
        ...inner,
        fill: (bytes) => {
          if (releasing) throw new RangeError('a release draws no noise');
          inner.fill(bytes);
        },
      };
    };
    const runner = new InlineEpochRunner({ noise });
    await runner.open(setupOf(1n));
    runner.add('a', 1n, parts);
    releasing = true;
    expect(await runner.release('a', 1n)).toMatchObject({ outcomes: [{ kind: 'value' }] });
    await runner.close();
  });

  it('comes from a source of its own for every epoch, and does not depend on how the rows were cut '
    + 'into lists', { tags: ['long'] }, async () => {
    let sources = 0;
    const runner = new InlineEpochRunner({ noise: () => seededNoise(`source ${sources++ % 2}`) });
    const released = async (epoch: bigint, size: number): Promise<unknown> => {
      await runner.open(setupOf(epoch));
      for (let from = 0;
          from < parts.length; from += size) runner.add('a', epoch, parts.slice(from, from + size));
      return runner.release('a', epoch);
    };
    const whole = await released(1n, 8_000);
    const other = await released(2n, 8_000);
    expect(other).not.toEqual(whole);
    expect(await released(3n, 900)).toEqual(whole);
    expect(sources).toBe(3);
    await runner.close();
  });
});
