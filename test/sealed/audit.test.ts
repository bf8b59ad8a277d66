import { describe, expect, it } from 'vitest';
import {
  audit, type AuditResult, type OutputBlock, type TrialPool,
} from '../../src/audit/index.js';
import { Sealed } from '../../src/base/brands.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import { servers } from '../../src/sealed/shares/body.js';
import { sealedCount } from '../../src/sealed/programs/counts.js';
import { openedSum, runThree, splitNumbers } from '../support/sealed-run.js';

const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
const program = sealedCount({ dimension: 1, cohort: 40, participation: 'secret', target });
const [event] = program.events;

/** Many counts at once, each opened by three parties with fresh noise. */
async function opened(
  people: number, trials: number, silent: readonly number[], seed: string,
): Promise<readonly number[]> {
  const events = [{ ...event!, dimension: trials }] as const;
  const sums = splitNumbers(new Array<number>(trials).fill(people), seed);
  const [found] = await runThree(async (party) => {
    const own = sums[party.server];
    if (!silent.includes(party.server)) {
      const mechanisms = createSealedMechanisms(
        events, seededNoise(`${seed} ${party.server}`), (noised) => openedSum(party, noised),
      );
      return [...(await mechanisms.open(event!.name, Sealed.of({ own }), 1)).value];
    }
    // Changed code: its share without noise.
    const factor = BigInt(1 / event!.grid);
    const scaled = new BigUint64Array(own.slice().buffer).map((entry) => entry * factor);
    const words = await openedSum(party, new Uint32Array(scaled.buffer));
    return Array.from(new BigInt64Array(words.slice().buffer), (one) => Number(one) * event!.grid);
  });
  return found!;
}

/** Audits what is opened of 40 people and of 41. */
async function audited(silent: readonly number[], trials: number): Promise<AuditResult> {
  const people = (count: number) => ({
    count, assignmentHashes: new Uint8Array(32 * count), rows: new Float64Array(count),
  });
  const pool: TrialPool = {
    parallelism: 1,
    run: async ({ side, trials: asked, label }): Promise<OutputBlock> => {
      const seed = `${label} ${side} ${silent.join()}`;
      const counts = await opened(side === 'left' ? 41 : 40, asked, silent, seed);
      // The first column is the kind of outcome: a value.
      const values = Float64Array.from(counts.flatMap((count) => [0, count]));
      return { count: asked, width: 2, values };
    },
  };
  return audit({
    claim: { epsilon: 1, delta: 1e-6 }, pool, trials, coins: seededNoise('coins'),
    pairs: [{ name: 'one more', left: people(41), right: people(40) }],
  });
}

describe('the audit of what three servers open', { tags: ['long'] }, () => {
  it('proves no more than is charged, also when a server draws no noise', async () => {
    const bounds: number[] = [];
    for (const silent of [[], ...servers.map((server) => [server])]) {
      const { caught, bound } = await audited(silent, 50_000);
      expect([silent, caught]).toEqual([silent, false]);
      bounds.push(bound);
    }
    // It sees that the counts differ at all.
    expect(Math.max(...bounds)).toBeGreaterThan(0);
  });

  it('catches servers that all draw none', async () => {
    expect((await audited([...servers], 2_000)).caught).toBe(true);
  });
});
