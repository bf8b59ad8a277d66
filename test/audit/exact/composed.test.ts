import { describe, expect, it } from 'vitest';
import { checkComposed, composedCases } from '../../../src/audit/exact/composed.js';

const short = composedCases.filter(({ name }) => !name.startsWith('26 '));
const caseOf = (name: string) => composedCases.find((each) => each.name === name)!;

describe('composed draws', () => {
  it.each(short.map(({ name }) => name))('%s: no rule states too little', { tags: ['long'] },
    (name) => {
      const { faults, exact, stated } = checkComposed(caseOf(name));
      expect(faults).toEqual([]);
      // The smallest statement is close: 1.2 is what the tests of a floor alone may add.
      const smallest = Math.min(...Object.values(stated).filter((epsilon) => epsilon !== null));
      expect(smallest / exact).toBeGreaterThan(1);
      expect(smallest / exact).toBeLessThan(1.2);
    });

  it('are a fault where one draw is not charged', () => {
    const { event } = caseOf('4 Gaussian, sigma 2, grid 1').draws[0]!;
    const { faults } = checkComposed({
      name: 'forgets one', draws: [{ event, times: 4 }], charged: [{ event, times: 3 }],
    });
    expect(faults.join('\n')).toMatch(/^rho states epsilon .*, where the exact delta is /);
  });
});
