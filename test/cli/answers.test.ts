import { describe, expect, it } from 'vitest';
import { intervalText, printFindings } from '../../cli/base/answers.js';
import { printKeys } from '../../cli/base/questions.js';
import { estimateRows } from '../../cli/estimate/estimation.js';
import { findingText, ifFalseText } from '../../src/base/findings.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { seededNoise } from '../../src/random/insecure.js';
import type { WorkRandom } from '../../src/random/source.js';
import { seededRandom } from '../../src/random/work.js';
import { utf8 } from '../../src/base/bytes.js';

const finding = { reason: 'skewed', columns: [1], amounts: [] } as const;
const value: ValueOutcome = {
  kind: 'value', estimate: [1, 2], shape: [2], uncertainty: { kind: 'none' },
  interval95: { low: [0, -Infinity], high: [2, Infinity] },
  intervalIfFalse95: { low: [-1, -Infinity], high: [3, Infinity] },
  radiusIfFalse95: 0.5, spread: [1, 4], findings: [finding],
};

const nothingAsked = { columns: [], parameters: {} };

describe('an answer with more than its numbers', () => {
  it('has each interval as text', () => {
    expect(intervalText(value.interval95, 0)).toBe('0 to 2');
    expect(intervalText(value.interval95, 1)).toBe('no interval');
    expect(intervalText({ low: [0.5], high: [Infinity] }, 0)).toBe('0.5 or more');
    expect(intervalText({ low: [-Infinity], high: [0.5] }, 0)).toBe('0.5 or less');
    expect(intervalText(undefined, 0)).toBe('');
    expect(ifFalseText({ corruption: 0.05 })).toBe('also if up to 5 % lie');
    expect(ifFalseText({})).toBe('also if some lie');
  });

  it('marks keys that a reader may mistake for another one, and says why', () => {
    const lines: string[] = [];
    const output = {
      text: (line = '') => void lines.push(line),
      table: (_: unknown, rows: readonly (readonly string[])[]) =>
        lines.push(...rows.map(([name]) => name!)),
    };
    const keys = [['maps'], ['Maps'], ['p\u0430y'], ['mail']];
    const answer = { estimate: [4, 3, 2, 1], keys };
    printKeys(answer, nothingAsked, output as never);
    expect(lines.slice(0, 4)).toEqual([
      '"maps" (look-alike)', '"Maps" (look-alike)', '"p\u0430y" (mixed letters)', '"mail"',
    ]);
    expect(lines.slice(4).join(' ')).toMatch(/^note: a look-alike differs .* imitate another group\.$/);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    lines.length = 0;
    printKeys({ estimate: [1], keys: [['mail']] }, nothingAsked, output as never);
    expect(lines).toEqual(['"mail"']);
    lines.length = 0;
    printKeys({ estimate: [], keys: [['mail'], ['maps']] }, nothingAsked, output as never);
    expect(lines).toEqual(['"mail"', '"maps"']);
  });

  it('prints each finding as a note that fits the terminal', () => {
    const lines: string[] = [];
    const output = { text: (line = '') => void lines.push(line) };
    printFindings(value.findings, ['x', 'y'], output as never);
    expect(lines.join(' ')).toBe(`note: ${findingText(finding, ['x', 'y'])}`);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    printFindings(undefined, [], output as never);
    expect(lines.length).toBe(2);
  });

  it('has all of it in the result of estimate, with null for infinite ends', async () => {
    const real = findEstimator('mean');
    const given: Estimator = {
      ...real,
      plan: (parameters, facts) => {
        const plan = real.plan(parameters, facts);
        return plan.kind === 'infeasible' ? plan : {
          ...plan,
          release: async (...of) => (await plan.release(...of)).map(() => value),
        };
      },
    };
    const table = {
      group: null, columns: ['x', 'y'], count: 2_000, values: new Float64Array(4_000),
      isWhole: true,
    };
    const parameters = parseParameters(real.parameters, { spread: 1 }, { dimension: 2 });
    const work = (label: string): WorkRandom => seededRandom(utf8(label));
    const { result } = await estimateRows(table, {
      estimator: given, parameters, cohort: undefined, participation: 'public',
      target: privacyTarget({ epsilon: 1, delta: 1e-6 }),
      randomness: { insecure: true, noise: seededNoise, work },
      compute: inlineCompute(), monotonicMs: () => 0, label: 'a test',
    });
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({
      interval95: { low: [0, null], high: [2, null] },
      intervalIfFalse95: { low: [-1, null], high: [3, null] },
      radiusIfFalse95: 0.5, spread: [1, 4],
      findings: [{ ...finding, text: findingText(finding, ['x', 'y']) }],
    });
  });
});
