import { afterEach, describe, expect, it } from 'vitest';
import { SealedStage, type SealedStudyText } from '../support/sealed-stage.js';

let stage: SealedStage;
afterEach(() => stage.close());

async function run(study: SealedStudyText): Promise<SealedStage> {
  stage = await SealedStage.of(study);
  await stage.startAll();
  return stage;
}

const people = Array.from({ length: 40 }, (_, i) => [[20 + (i % 10)], [22 + (i % 10)]]);

describe('three servers', () => {
  it('count people whose rows none of them sees', { tags: ['slow'], timeout: 60_000 }, async () => {
    await run({ question: 'estimator: count\nparameters: { threshold: 25 }', everyMs: 4_000 });
    const settled = await stage.contribute(people);
    expect(settled.every(({ kind }) => kind === 'accepted')).toBe(true);
    const outcome = await stage.release(0);
    expect(outcome.kind).toBe('value');
    if (outcome.kind !== 'value') return;
    // Fails by chance once in 10^9: the noise has a deviation below 1.
    expect(Math.abs(outcome.estimate[0]! - 24)).toBeLessThan(8);
    for (const server of [1, 2]) expect(await stage.release(0, server)).toEqual(outcome);
  });
});
