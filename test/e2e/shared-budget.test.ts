import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
let served: Served;

beforeAll(async () => {
  const asked = { privacy: '{ epsilon: 8, delta: 1e-6 }', epoch: '{ every: 500ms }' };
  const shared = { ...asked, budget: '{ population: travellers }' };
  // Its epochs end on a count, so the third one stays open with everybody left out.
  const own = {
    ...asked,
    epoch: '{ contributors: 10 }',
    participation: 'public',
    budget: '{ epsilon: 17, delta: 1e-5, scope: contributor, rule: renyi, per: 1h }',
  };
  const populations =
    stage.write('populations.yaml', 'populations:\n  travellers: { epsilon: 24, delta: 1e-5 }\n');
  served = await stage.serve([
    stage.write('first.yaml', meanStudy('first', shared)),
    stage.write('second.yaml', meanStudy('second', shared)),
    stage.write('own.yaml', meanStudy('own', own)), '--populations', populations,
  ]);
});

afterAll(() => stage.end());

interface View {
  readonly budget: string;
  readonly scope: string;
  readonly rule: string;
  readonly windowMs?: number;
  readonly studies: readonly {
    readonly study: string; readonly state: string; readonly releases: number;
  }[];
  readonly rho: Readonly<Record<'spent' | 'reserved' | 'left' | 'cap', number>>
    & { readonly asked: number | null };
  readonly epsilon: { readonly spent: number; readonly cap: number };
  readonly leftOut?: readonly { readonly contributors: number }[];
}

const releasesOf = (studies: View['studies']): number =>
  studies.reduce((sum, { releases }) => sum + releases, 0);

async function ledger(): Promise<ReadonlyMap<string, View>> {
  const { stdout } = await stage.run(['ledger', stage.path('data'), '--json']);
  const { budgets } = JSON.parse(stdout) as { budgets: View[] };
  return new Map(budgets.map((budget) => [budget.budget, budget]));
}

describe('budgets of three scopes beside each other', () => {
  it('are shown each by its own rule, with what is spent, reserved, asked and left', async () => {
    const run = ['simulate', served.url, '--study', 'own', '--contributors', '10', '--json'];
    const simulated = stage.start(run);
    let budgets = await ledger();
    // What an epoch costs is charged before its release is stored.
    const areReleased = ({ studies, rho }: View): boolean => releasesOf(studies)
      === Math.round(rho.spent / rho.asked!);
    const done = (): boolean => {
      const travellers = budgets.get('population:travellers')!;
      return travellers.studies.every(({ state }) => state === 'exhausted')
        && areReleased(travellers)
        && budgets.get('study:own')!.leftOut!.some(({ contributors }) => contributors > 0);
    };
    while (!done()) budgets = await ledger();
    await simulated.interrupt();
    const shared = budgets.get('population:travellers')!;
    expect(shared).toMatchObject({
      scope: 'population', rule: 'zcdp', rho: { reserved: 0 }, epsilon: { cap: 24 },
    });
    expect(shared.studies.map(({ study }) => study)).toEqual(['first', 'second']);
    expect(shared.rho.spent).toBeLessThanOrEqual(shared.rho.cap);
    expect(shared.rho.left).toBeCloseTo(shared.rho.cap - shared.rho.spent, 10);
    expect(shared.rho.asked!).toBeGreaterThan(shared.rho.left);
    expect(shared.rho.spent / releasesOf(shared.studies)).toBeCloseTo(shared.rho.asked!, 10);
    expect(shared.epsilon.spent).toBeLessThanOrEqual(24);
    expect(shared).not.toHaveProperty('leftOut');
    // Of the contributors' own budgets: a bound, and how many were left out, never who.
    const own = budgets.get('study:own')!;
    expect(own).toMatchObject({
      scope: 'contributor', rule: 'renyi', windowMs: 3_600_000, rho: { reserved: 0 },
    });
    expect(own.rho.spent).toBeLessThanOrEqual(own.rho.cap);
    expect(own.epsilon.spent).toBeLessThanOrEqual(17 * (1 + 1e-9));
    expect(Math.max(...own.leftOut!.map(({ contributors }) => contributors))).toBeGreaterThan(0);
    expect(Math.max(...own.leftOut!.map(({ contributors }) => contributors)))
      .toBeLessThanOrEqual(10);
    const { stdout } = await stage.run(['ledger', stage.path('data')]);
    expect(stdout).toMatch(/left out of epoch \d+ of own: \d+ contributors/);
    expect(stdout)
      .toMatch(/study:own {3}scope contributor, rule renyi at order \S+, renews over 1 hour/);
  });

  it('tell a contributor what it has spent of its own', async () => {
    const key = stage.path('own.key');
    await stage.run(['keys', 'new', key]);
    const input = stage.write('own.csv', 'delay_minutes,distance_miles\n3,200\n');
    const words = ['contribute', served.url, '--study', 'own', '--key', key, '--input', input];
    const told = await stage.run([...words, '--json']);
    expect(told.status).toBe(0);
    const { ownSpend } = JSON.parse(told.stdout) as { ownSpend: { rho: number; rhoCap: number } };
    expect(ownSpend.rho).toBeGreaterThan(0);
    expect(ownSpend.rho).toBeLessThan(ownSpend.rhoCap);
    expect((await stage.run(words)).stdout).toMatch(/your own budget: \d+\.\d % spent/);
  });

  it('never reveal who or how many were left out', async () => {
    const http = served.url.replace('ws', 'http');
    const open = await (await fetch(`${http}/v1/ledger`)).text();
    expect(open).toContain('study:own');
    expect(open).not.toMatch(/left.?out/i);
    expect((await fetch(`${http}/v1/operator/progress`)).status).toBe(401);
  });
});
