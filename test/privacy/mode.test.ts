import { describe, expect, it } from 'vitest';
import { Sensitive } from '../../src/base/brands.js';
import { InvariantError } from '../../src/base/errors.js';
import { gaussianThresholdEvent } from '../../src/privacy/accounting/calibration.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { passingValue } from '../../src/privacy/mechanisms/bounds.js';
import { seededNoise } from '../../src/random/insecure.js';

const event = gaussianThresholdEvent({
  name: 'lead', cohort: 'all', sensitivity: 2, floor: 2, rho: 0.5, delta: 1e-3, grid: 1,
});

function modeOf(labels: readonly string[], seed: string, asked = event): string | null {
  return createMechanisms([asked], seededNoise(seed)).mode('lead', Sensitive.of(labels)).value;
}

function labels(counts: Readonly<Record<string, number>>): string[] {
  return Object.entries(counts).flatMap(([label, count]) => new Array<string>(count).fill(label));
}

function passes(list: readonly string[], rounds: number): number {
  let passed = 0;
  for (let i = 0; i < rounds; i++) if (modeOf(list, `mode ${i}`) !== null) passed += 1;
  return passed;
}

describe('mode', () => {
  it('answers the label in the lead, or nothing', () => {
    expect(modeOf(labels({ a: 10, b: 60, c: 12 }), 'clear')).toBe('b');
    expect(modeOf(labels({ a: 40, b: 40 }), 'tie')).toBeNull();
    expect(modeOf([], 'none')).toBeNull();
    expect(modeOf(labels({ a: 60 }), 'alone')).toBe('a');
    expect(modeOf(labels({ b: 60, a: 10 }).reverse(), 'order')).toBe('b');
  });

  it('passes a lead at the threshold half of the time, one below it within delta', () => {
    const bar = passingValue(event);
    const at = passes(labels({ a: bar, b: 0 }), 400);
    // Noise of deviation 2 in whole steps: half, and half of the step at the bar itself.
    expect(at).toBeGreaterThan(150);
    expect(at).toBeLessThan(280);
    // 4,000 rounds at probability 1e-3 at most: more than 22 has probability below 1e-9.
    expect(passes(labels({ a: 21, b: 20 }), 4_000)).toBeLessThan(22);
  });

  it('never has two winners with a lead of two one label apart', () => {
    // All lists of at most seven labels of three kinds.
    const leadOf = (counts: readonly number[]): { lead: number; label: number } => {
      const sorted = counts.map((count, label) => ({ count, label }))
        .sort((x, y) => y.count - x.count);
      return { lead: sorted[0]!.count - sorted[1]!.count, label: sorted[0]!.label };
    };
    let checked = 0;
    for (let a = 0; a <= 7; a++) for (let b = 0; a + b <= 7; b++) {
      const counts = [a, b, 7 - a - b];
      for (let from = 0; from < 3; from++) for (let to = 0; to < 3; to++) {
        if (counts[from] === 0 || from === to) continue;
        const changed = counts.map((count, i) => count + Number(i === to) - Number(i === from));
        const [before, after] = [leadOf(counts), leadOf(changed)];
        expect(Math.abs(before.lead - after.lead)).toBeLessThanOrEqual(2);
        if (before.lead < 2 || after.lead < 2) continue;
        checked += 1;
        expect(after.label).toBe(before.label);
      }
    }
    expect(checked).toBeGreaterThan(20);
  });

  it('refuses events that were charged for less', () => {
    for (const less of [{ sensitivity: 1 }, { floor: 1 }]) {
      const weak = { ...event, ...less };
      expect(() => modeOf(['a', 'a'], 'weak', weak)).toThrow(InvariantError);
    }
  });
});
