import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type LiveCommand, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
/** Releases that the budget pays for. */
const paid = 3;
let served: Served;
let watched: LiveCommand;
let simulated: LiveCommand;

beforeAll(async () => {
  const budget = '{ epsilon: 17, delta: 1e-5 }';
  const facts = { privacy: '{ epsilon: 8, delta: 1e-6 }', budget, epoch: '{ every: 500ms }' };
  served = await stage.serve([stage.write('short.yaml', meanStudy('short', facts))]);
  watched = stage.start(['watch', served.url, '--study', 'short', '--json']);
  simulated =
    stage.start(['simulate', served.url, '--study', 'short', '--contributors', '20', '--json']);
});

afterAll(() => stage.end());

describe('a study whose budget is used up', () => {
  it('says beforehand how many releases it has', () => {
    expect(served.listening)
      .toMatchObject({ studies: [{ study: 'short', releases: paid, lastsMs: 500 * paid }] });
  });

  it('ends the watch after its last release, with the reason', async () => {
    const { status, stderr } = await watched.ended;
    expect([status, stderr]).toEqual([0, '']);
    const releases = watched.lines.filter(({ type }) => type === 'release');
    expect(releases.map(({ index, epoch }) => [index, epoch])).toEqual([[0, 1], [1, 2], [2, 3]]);
    expect(watched.lines.at(-1))
      .toEqual({ type: 'end', study: 'short', state: 'exhausted', releases: paid });
    for (const { epsilonSpent, epsilonCap } of releases) {
      expect(Number(epsilonSpent)).toBeLessThanOrEqual(Number(epsilonCap));
    }
  });

  it('ends the simulation, which was refused nothing else', async () => {
    const { status } = await simulated.ended;
    expect(status).toBe(0);
    const ended = expect.objectContaining({
      type: 'ended', study: 'short', code: 'budget-exhausted',
    }) as unknown;
    expect(simulated.lines).toContainEqual(ended);
  });

  it('refuses a contributor by name', async () => {
    const key = stage.path('late.key');
    await stage.run(['keys', 'new', key]);
    const input = stage.write('late.csv', 'delay_minutes,distance_miles\n3,200\n');
    const words = ['contribute', served.url, '--study', 'short', '--key', key, '--input', input];
    const told = await stage.run([...words, '--json']);
    expect(told.status).toBe(1);
    expect(JSON.parse(told.stdout)).toMatchObject({ outcome: 'refused', code: 'budget-exhausted' });
    expect((await stage.run(words)).stdout).toContain('budget');
  });

  it('shows in the ledger what was spent, what is left, and what did not fit, beside the running '
    + 'server', async () => {
    const { stdout, status } = await stage.run(['ledger', stage.path('data'), '--json']);
    expect(status).toBe(0);
    const { budgets } = JSON.parse(stdout) as { budgets: LedgerView[] };
    expect(budgets).toHaveLength(1);
    const { rho, epsilon, studies, entries } = budgets[0]!;
    expect(studies).toMatchObject([{ study: 'short', state: 'exhausted', releases: paid }]);
    expect(rho.reserved).toBe(0);
    expect(rho.left).toBeCloseTo(rho.cap - rho.spent, 12);
    expect(rho.asked!).toBeGreaterThan(rho.left);
    expect(rho.asked!).toBeCloseTo(rho.spent / paid, 12);
    expect(epsilon.spent).toBeGreaterThan(0.8 * epsilon.cap);
    expect(epsilon.spent).toBeLessThanOrEqual(epsilon.cap);
    expect(epsilon.byLossDistribution).toBeGreaterThan(0.7 * epsilon.spent);
    expect(epsilon.byLossDistribution).toBeLessThan(epsilon.spent);
    expect(entries.filter(({ kind }) => kind === 'charged').map(({ epoch }) => epoch).sort())
      .toEqual([1, 2, 3]);
    const forPeople = await stage.run(['ledger', stage.path('data')]);
    expect(forPeople.stdout).toMatch(/^rho +\S+ +0 +\S+ +\S+ +\S+$/m);
    expect(forPeople.stdout).toContain('exhausted');
    expect(Math.max(...forPeople.stdout.split('\n').map((line) => line.length)))
      .toBeLessThanOrEqual(90);
  });

  it('stays used up after a restart: nothing is charged again', async () => {
    await served.command.interrupt();
    const again = await stage.serve([stage.path('short.yaml')]);
    const { stdout } = await stage.run(['watch', again.url, '--study', 'short', '--json']);
    expect(stdout.trimEnd().split('\n')).toHaveLength(paid + 1);
    const { stdout: after } = await stage.run(['ledger', stage.path('data'), '--json']);
    const { entries } = (JSON.parse(after) as { budgets: LedgerView[] }).budgets[0]!;
    expect(entries.filter(({ kind }) => kind === 'charged')).toHaveLength(paid);
  });
});

interface LedgerView {
  readonly studies: readonly unknown[];
  readonly rho: {
    readonly spent: number;
    readonly reserved: number;
    readonly left: number;
    readonly cap: number;
    readonly asked: number | null;
  };
  readonly epsilon: {
    readonly spent: number; readonly byLossDistribution: number; readonly cap: number;
  };
  readonly entries: readonly { readonly epoch: number; readonly kind: string }[];
}
