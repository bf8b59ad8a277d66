import { describe, expect, it } from 'vitest';
import { targetOfFlags, usualDelta } from '../../cli/base/privacy-flags.js';
import { keelson } from '../support/command.js';

describe('the usual delta', () => {
  it('is at most 1e-6 and at most a tenth of 1 / contributors', () => {
    expect([undefined, 1, 100_000].map(usualDelta)).toEqual([1e-6, 1e-6, 1e-6]);
    expect([100_001, 1_000_000, 1_000_001].map(usualDelta)).toEqual([1e-7, 1e-7, 1e-8]);
    expect(usualDelta(10_000_000_000)).toBe(1e-11);
    expect(targetOfFlags({ epsilon: '1' }, 500_000).deltaTotal).toBe(1e-7);
    expect(targetOfFlags({ epsilon: '1', delta: '1e-4' }, 500_000).deltaTotal).toBe(1e-4);
    expect(() => targetOfFlags({}, 5)).toThrow('--epsilon is missing');
  });

  it('is that of the people in the file, and the answer states it', async () => {
    const words = ['estimate', 'mean', 'flights', '--columns', 'delay_minutes', '--set',
      'range=-60..600', '--epsilon', 'rho=0.1'];
    const answer = async (...more: string[]): Promise<unknown> => {
      const run = await keelson([...words, ...more, '--json']);
      expect(run.status, run.stderr).toBe(0);
      return (JSON.parse(run.stdout) as { privacy: { delta: number } }).privacy.delta;
    };
    // 231,083 flights.
    expect(await answer()).toBe(1e-7);
    expect(await answer('--cohort', '9000', '--participation', 'public')).toBe(1e-6);
  });
});
