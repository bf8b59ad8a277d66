import { describe, expect, it } from 'vitest';
import { calm } from '../support/simulation/faults.js';
import { replayCommand, simulate } from '../support/simulation/simulate.js';

describe('a simulated world', () => {
  it('settles without faults', async () => {
    const result = await simulate({ seed: 1, rates: calm });
    expect(result.failure, replayCommand(1, 500)).toBeNull();
    expect(result.checks.acks).toBeGreaterThan(10);
    expect(result.checks.releases).toBeGreaterThan(0);
  });

  it('is the same world again from the same seed', async () => {
    const [first, second, other] = [await simulate({ seed: 2 }), await simulate({ seed: 2 }), await simulate({ seed: 3 })];
    expect(second).toEqual(first);
    expect(other.traceHash).not.toBe(first.traceHash);
  });
});
