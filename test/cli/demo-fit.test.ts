import { describe, expect, it } from 'vitest';
import { fitDemo, measureHandshakes } from '../../cli/demo/fit.js';
import { demoStudiesCount } from '../../cli/demo/studies.js';

const asked = (overrides: Partial<Parameters<typeof fitDemo>[0]> = {}) =>
  ({
    contributors: undefined, epochMs: undefined, epochs: undefined, epsilon: 2,
    studies: demoStudiesCount, ...overrides,
  });

describe('the crowd and the epoch of the demonstration', () => {
  it('are the usual ones on a fast machine, and smaller on a slow one', () => {
    expect(fitDemo(asked(), 5000)).toEqual({ contributors: 6000, epochMs: 6000, epochs: 5 });
    expect(fitDemo(asked(), 1000)).toEqual({ contributors: 1600, epochMs: 8000, epochs: 4 });
  });

  it('keep enough people for an answer where the machine is very slow, and show fewer, longer '
    + 'epochs', () => {
    expect(fitDemo(asked(), 200)).toEqual({ contributors: 1600, epochMs: 40_000, epochs: 2 });
    expect(fitDemo(asked(), 500))
      .toEqual({ contributors: 1600, epochMs: 16_000, epochs: 2 });
    expect(fitDemo(asked(), 300)).toEqual({ contributors: 1600, epochMs: 27_000, epochs: 2 });
    expect(fitDemo(asked({ epsilon: 1 }), 100).contributors).toBe(3200);
    expect(fitDemo(asked({ epsilon: 0.01 }), 100).contributors).toBe(6000);
  });

  it('end within a minute on two cores with five busy processes', () => {
    const { epochMs, epochs } = fitDemo(asked(), 3500 / 3);
    expect(8000 + epochs * epochMs).toBeLessThan(50_000);
  });

  it('follow the request, and fit the rest to it', () => {
    const all = { contributors: 400, epochMs: 2000, epochs: 7 };
    expect(fitDemo(asked(all), 1)).toEqual(all);
    expect(fitDemo(asked({ contributors: 10_000 }), 1000))
      .toEqual({ contributors: 10_000, epochMs: 50_000, epochs: 2 });
    expect(fitDemo(asked({ epochMs: 3000 }), 2000))
      .toEqual({ contributors: 1600, epochMs: 3000, epochs: 5 });
  });
});

it('counts handshakes per second by the clock it is given', () => {
  let nowMs = 0;
  // Ten milliseconds each: a hundred per second.
  expect(measureHandshakes({ monotonicMs: () => (nowMs += 10) - 10 })).toBeCloseTo(100, 8);
  // A machine that stops for a while has done some work at least.
  nowMs = 0;
  expect(measureHandshakes({ monotonicMs: () => (nowMs += 1000) - 1000 })).toBeCloseTo(1, 8);
});
