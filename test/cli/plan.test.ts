import { describe, expect, it } from 'vitest';
import { refuseInsecureSeed } from '../../cli/base/noise.js';
import { exactSmallestCohort, plannerOf, smallestPlan } from '../../src/plan.js';
import { protocolLimits } from '../../src/base/limits.js';
import type { Io } from '../../cli/base/io.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { privacyTarget } from '../../src/privacy/accounting/target.js';
import { keelson } from '../support/command.js';
import { sampleParameters, sampleSettings } from '../support/sample-parameters.js';

const facts = ['--columns', '2', '--epsilon', '1', '--delta', '1e-6'];
const base = [...facts, '--set', 'spread=1'];

interface PlanFacts {
  minimumCohort: number;
  cohort: number;
  expectedError: { clean: { total: number }; corrupted: { total: number } };
  privacy: { epsilon: number; delta: number; rho: number };
  budget?: { releases: number; binds: string };
  noise: number[];
  guarantee: { assumptions: string[] };
}

async function plan(words: readonly string[]): Promise<PlanFacts> {
  const { status, stdout, stderr } = await keelson(['plan', ...words, '--json']);
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as PlanFacts;
}

describe('keelson plan', () => {
  it.each(['rides.csv', 'data/rides'])('says of %s which command reads data', async (name) => {
    const { status, stderr } = await keelson(['plan', name]);
    expect([status, stderr.includes('"keelson estimate" reads the file')]).toEqual([2, true]);
  });

  it('says the same each time', async () => {
    const words = ['mean', '--cohort', '5000', '--participation', 'secret', ...base];
    expect(await plan(words)).toEqual(await plan(words));
  });

  it('names a smallest cohort where there is one', async () => {
    const cohort = async (given: string): Promise<string> => {
      const { stdout } = await keelson(['plan', 'robust-mean', '--cohort', '5000',
        '--participation', 'secret', ...facts, '--set', given]);
      return /^cohort +(.*)$/m.exec(stdout)![1]!;
    };
    expect(await cohort('spread=1')).toMatch(/^5000 \(at least \d{3,4}\)$/);
    expect(await cohort('range=0..100')).toBe('5000');
  });

  it.each(estimators.map(({ name }) => [name]))('%s: plans from public numbers', async (name) => {
    const first = await plan([name,
      '--cohort', '1000000', '--participation', 'secret', ...facts, ...sampleSettings(name)]);
    // A pure plan states its own epsilon, which is at most what was asked.
    if (first.privacy.delta === 0) expect(first.privacy.epsilon).toBeLessThanOrEqual(1);
    else expect(first.privacy).toMatchObject({ epsilon: 1, delta: 1e-6 });
    expect(first.expectedError.clean.total).toBeGreaterThan(0);
    expect(first.expectedError.corrupted.total)
      .toBeGreaterThanOrEqual(first.expectedError.clean.total);
  });

  it.each(estimators.map((estimator) => [estimator.name, estimator] as const))(
    '%s: has a plan at its minimum cohort and none below',
    (name, estimator) => {
      const parameters =
        parseParameters(estimator.parameters, sampleParameters(name), { dimension: 2 });
      const target = privacyTarget({ epsilon: 1, delta: 1e-6 });
      const planFor =
        plannerOf(estimator, parameters, { dimension: 2, participation: 'secret', target });
      const minimum = smallestPlan(planFor)!;
      expect(planFor(minimum).kind).toBe('plan');
      if (minimum > 1) expect(planFor(minimum - 1).kind).toBe('infeasible');
    },
  );

  it('names the smallest cohort when the one given is too small', async () => {
    const { minimumCohort } = await plan(['mean',
      '--cohort', '1000000', '--participation', 'secret', ...base]);
    expect((await plan(['mean',
      '--cohort', String(minimumCohort), '--participation', 'secret', ...base])).cohort)
      .toBe(minimumCohort);
    const below = await keelson(['plan', 'mean',
      '--cohort', String(minimumCohort - 1), '--participation', 'secret', ...base]);
    expect(below.status).toBe(1);
    expect(below.stdout).toContain(`the smallest cohort with a plan is ${minimumCohort}`);
  });

  it('says what the promise needs', async () => {
    const words = ['mean', '--cohort', '3000', '--participation', 'secret', ...base];
    const { stdout } = await keelson(['plan', ...words]);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('assumes Nobody sends false rows');
    const { guarantee } = await plan(words);
    expect(guarantee.assumptions.join()).toContain('nobody sends false rows');
  });

  it('gives reason and remedy as JSON when there is no plan', async () => {
    const { status, stdout } = await keelson(['plan', 'mean',
      '--cohort', '2', '--participation', 'secret', ...base, '--json']);
    expect(status).toBe(1);
    const { outcome, reason, remedy } = JSON.parse(stdout) as Record<string, string>;
    expect(outcome).toBe('infeasible');
    expect(reason!.length * remedy!.length).toBeGreaterThan(0);
  });

  it('finds the smallest cohort for an error', async () => {
    const words = ['mean', ...base, '--corruption', '0'];
    const found = await plan([...words, '--error', '0.05']);
    expect(found.expectedError.clean.total).toBeLessThanOrEqual(0.05);
    const below = await plan([...words,
      '--cohort', String(found.cohort - 1), '--participation', 'secret']);
    expect(below.expectedError.clean.total).toBeGreaterThan(0.05);
  });

  it('says when no cohort reaches an error', async () => {
    const { status, stdout } =
      await keelson(['plan', 'mean', ...base, '--corruption', '0.1', '--error', '1e-6']);
    expect(status).toBe(1);
    expect(stdout).toContain('no cohort up to 10000000');
  });

  it('says how many releases a budget lasts', async () => {
    const budget = ['--budget-epsilon', '8', '--budget-delta', '1e-5'];
    const one = await plan(['mean',
      '--cohort', '3000', '--participation', 'secret', ...base, ...budget]);
    expect(one.budget!.releases).toBeGreaterThan(8);
    const wider = ['--budget-epsilon', '16', '--budget-delta', '1e-5'];
    const larger = await plan(['mean',
      '--cohort', '3000', '--participation', 'secret', ...base, ...wider]);
    expect(larger.budget!.releases).toBeGreaterThan(one.budget!.releases);
    const text = await keelson(['plan', 'mean',
      '--cohort', '3000', '--participation', 'secret', ...base, ...budget]);
    expect(text.stdout).toContain(`lasts ${one.budget!.releases} releases`);
    expect(text.stdout.split('\n').every((line) => line.length <= 80)).toBe(true);
  });

  it('says that not one release fits a small budget, with status 1', async () => {
    const mean = ['plan', 'mean',
      '--cohort', '3000', '--participation', 'secret', '--columns', '2', '--set', 'spread=1'];
    const approximate = ['--epsilon', '2', '--delta', '1e-6'];
    for (const budget of [['1'], ['2', '--budget-delta', '1e-9']]) {
      const words = [...mean, ...approximate, '--budget-epsilon', ...budget];
      const { status, stdout } = await keelson(words);
      expect(status).toBe(1);
      expect(stdout).toContain('not one release fits the budget: a release costs epsilon 2, delta');
      expect(stdout).toContain('raise --budget-epsilon');
      expect(stdout).not.toContain('lasts');
      const asJson = await keelson([...words, '--json']);
      expect(asJson.status).toBe(1);
      expect(JSON.parse(asJson.stdout))
        .toMatchObject({ outcome: 'infeasible', budget: { releases: 0 } });
    }
    const base = [
      '--cohort', '99', '--participation', 'secret', '--columns', '2',
      '--epsilon', '2', '--delta', '0'];
    const pure = ['plan', 'count', ...base];
    const { status, stdout } = await keelson([...pure, '--budget-epsilon', '1']);
    expect([status, stdout]).toEqual([1, expect.stringContaining('not one release fits')]);
    const one = await keelson([...mean, ...approximate, '--budget-epsilon', '2.5']);
    expect([one.status, one.stdout]).toEqual([0, expect.stringContaining('lasts 1 release; ')]);
  });

  it('grows the noise as epsilon shrinks and accepts rho in its place', async () => {
    const one = ['--columns', '1', '--delta', '1e-6', '--set', 'spread=1'];
    const at = (words: readonly string[]) => plan(['mean',
      '--cohort', '3000', '--participation', 'secret', ...one, ...words]);
    const wide = await at(['--epsilon', '0.5']);
    const narrow = await at(['--epsilon', '2']);
    expect(wide.noise[0]!).toBeGreaterThan(2 * narrow.noise[0]!);
    const byRho = await at(['--epsilon', 'rho=0.01']);
    expect(byRho.privacy.rho).toBeLessThanOrEqual(0.01 * (1 + 1e-9));
    expect(byRho.privacy.rho).toBeGreaterThan(0.0099);
  });

  it('refuses wrong usage', async () => {
    expect((await keelson(['plan', 'mean', ...base])).stderr).toContain('--cohort is missing');
    expect((await keelson(['plan', 'mean', ...base,
      '--cohort', '9', '--participation', 'secret', '--error', '1'])).stderr)
      .toContain('both given');
    const half = await keelson(['plan', 'mean', ...base,
      '--cohort', '9', '--participation', 'secret', '--corruption', '0.5']);
    expect(half.stderr).toContain('--corruption is a number from 0 below 0.5');
    expect(
      (await keelson(['plan', 'mean', ...base,
        '--cohort', '9', '--participation', 'secret', '--budget-delta', '1e-5'])).status,
    ).toBe(2);
  });
});

describe('keelson plan auto', () => {
  const numbers = ['--columns', '2', '--epsilon', '1', '--delta', '1e-6'];

  it('prints the plan of the estimator that it chose, and the others', async () => {
    const words = ['plan', 'auto', '--cohort', '50000', '--participation', 'secret', ...numbers];
    const { status, stdout } = await keelson([...words, '--corruption', '0.1', '--json']);
    expect(status).toBe(0);
    const result = JSON.parse(stdout) as {
      estimator: string; corruption: number; choice: { candidates: { estimator: string }[] };
    };
    expect(result).toMatchObject({ estimator: 'robust-mean', corruption: 0.1 });
    expect(result.choice.candidates.map(({ estimator }) => estimator))
      .toEqual(['robust-mean', 'prime-heavy', 'mean', 'median']);
  });

  it('says what is missing', async () => {
    const { status, stderr } = await keelson(['plan', 'auto', '--error', '0.1', ...numbers]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('auto needs it')]);
  });
});

describe('exactSmallestCohort', () => {
  it('finds the threshold wherever it is', () => {
    for (const threshold of [1, 2, 3, 7, 8, 9, 4097, protocolLimits.cohortMax]) {
      for (const guess of [
        undefined, 1, 5, threshold - 1, threshold, threshold + 1, 1e6, 1e9, 4097.5,
      ]) {
        expect(exactSmallestCohort((size) => size >= threshold, guess)).toBe(threshold);
      }
    }
    expect(exactSmallestCohort(() => false)).toBeNull();
    expect(exactSmallestCohort(() => false, 1e6)).toBeNull();
  });
});

describe('the unit of expected errors', () => {
  it('is always said', async () => {
    const size = [
      '--cohort', '3000', '--participation', 'secret', '--columns', '1',
      '--epsilon', '1', '--delta', '1e-6'];
    const mean = await keelson(['plan', 'mean', ...size, '--set', 'spread=1']);
    expect(mean.stdout).toMatch(/errors are in units of the column\n$/);
    const count = await keelson(['plan', 'count', ...size]);
    expect(count.stdout).toMatch(/errors are in people\n$/);
    expect(count.stdout).not.toContain('errorsAreIn');
  });
});

describe('keelson estimators', () => {
  it('shows one with its parameters, guarantee, assumption and source', async () => {
    for (const { name, parameters, citations, assumption } of estimators) {
      const { status, stdout } = await keelson(['estimators', name]);
      expect(status).toBe(0);
      expect(stdout).toContain(`${name}: `);
      for (const parameter of parameters) expect(stdout).toContain(`  ${parameter.name}`);
      for (const { key } of citations) expect(stdout).toContain(`[${key}]`);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`assumes: ${assumption}`);
      expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    }
  });

  it('lists the names, the recommended ones first, and says how to see more', async () => {
    const { stdout } = await keelson(['estimators']);
    const lines = stdout.split('\n');
    expect(lines.length).toBeLessThan(60);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).toContain('keelson estimators NAME');
    const [recommended, research] = stdout.split('\nresearch: ');
    const named = (text: string): string[] =>
      estimators.map(({ name }) => name).filter((name) => new RegExp(`^${name} `, 'm').test(text));
    for (const [kind, text] of [['recommended', recommended], ['research', research]] as const) {
      const expected = estimators.filter(({ maturity }) => maturity === kind);
      expect(named(text!)).toEqual(expected.map(({ name }) => name));
    }
  });

  it('gives the same as JSON, for all or for one', async () => {
    const all = JSON.parse((await keelson(['estimators', '--json'])).stdout) as { name: string }[];
    expect(all.map(({ name }) => name)).toEqual(estimators.map(({ name }) => name));
    const one =
      JSON.parse((await keelson(['estimators', 'mean', '--json'])).stdout) as { name: string };
    expect(one).toEqual(all.find(({ name }) => name === 'mean'));
    expect(await keelson(['estimators', 'maen'])).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('commands that serve others', () => {
  it('do not start with repeatable noise', () => {
    const io = (seed?: string) =>
      ({ environment: { KEELSON_INSECURE_SEED: seed } }) as unknown as Io;
    expect(() => refuseInsecureSeed(io('x'), 'serve')).toThrow('unset KEELSON_INSECURE_SEED');
    expect(() => refuseInsecureSeed(io(), 'serve')).not.toThrow();
  });

  it('plans the studies of files, from the files alone', async () => {
    const files = ['studies/flights-mean.yaml', 'studies/flights-robust.yaml'];
    const { status, stdout } = await keelson(['plan', ...files, '--json']);
    expect(status).toBe(0);
    const { studies } =
      JSON.parse(stdout) as { studies: (PlanFacts & { study: string; estimator: string })[] };
    expect(studies.map(({ estimator }) => estimator)).toEqual(['mean', 'robust-mean']);
    for (const study of studies) {
      expect(study.budget!.releases).toBeGreaterThan(0);
      expect(study.minimumCohort).toBeLessThanOrEqual(study.cohort);
      expect(study.privacy.epsilon).toBeGreaterThan(0);
    }
    const text = (await keelson(['plan', ...files])).stdout;
    for (const { study } of studies) expect(text).toContain(`study ${study}`);
    const refused = await keelson(['plan', files[0]!, '--epsilon', '1']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('--epsilon is given with a study file');
  });

  it('plans pure privacy if the noise is pure, and refuses it otherwise', async () => {
    const pure = [
      '--cohort', '2000', '--participation', 'secret', '--columns', '1',
      '--epsilon', '1', '--delta', '0'];
    const { privacy, budget } = await plan(['count', ...pure, '--budget-epsilon', '10']);
    expect(privacy).toMatchObject({ delta: 0 });
    expect(privacy.epsilon).toBeLessThanOrEqual(1);
    expect(budget).toMatchObject({ releases: 10, binds: 'epsilon' });
    const none = await keelson(['plan', 'robust-mean', ...pure, '--set', 'spread=1']);
    expect(none.status).toBe(1);
  });
});
