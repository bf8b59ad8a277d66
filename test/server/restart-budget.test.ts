import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../server/base/logger.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import type { StudyDocument } from '../../src/wire/index.js';
import { Bench, batchOf, define, everyMs, hexKey } from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

type Budget = StudyDocument['budget'];

/** A count, which every rule can charge, with a budget of about four releases. */
const counting = (budget: Budget, cohort = 400) => define({
  estimator: 'count', parameters: { column: 0, threshold: 300, side: 'at-least' }, cohort,
  privacy: { epsilon: 1, delta: budget.rule === 'pure' ? 0 : 1e-6 }, budget,
});

const budgetOf = (
  scope: Budget['scope'], rule: Budget['rule'], perMs: number | undefined,
): Budget => ({
  epsilon: 4, delta: rule === 'pure' ? 0 : 1e-5, rule, scope,
  ...(scope === 'population' && { population: 'everybody' }),
  ...(perMs !== undefined && { perMs }),
});

const cases = (['study', 'population', 'contributor'] as const).flatMap((scope) =>
  (['zcdp', 'pure', 'renyi'] as const).flatMap((rule) =>
    [undefined, 20 * everyMs].map((perMs) => ({ scope, rule, perMs }))));

const runningOf = (hub: RunningHub) => hub.studies()[0]!;

/** One contributor comes to every epoch that opens within `epochs` of them. */
async function pass(hub: RunningHub, epochs: number): Promise<void> {
  for (let turn = 0; turn < epochs; turn++) {
    const { epoch, studyId, state } = runningOf(hub);
    if (epoch > 0n && state === 'open') {
      await hub.submit(batchOf(studyId, 1, epoch, { sequence: epoch }));
    }
    await bench.clock.advance(everyMs);
    await hub.settled();
  }
}

describe.each(cases)('a budget of scope $scope, rule $rule, renewing over $perMs '
  + 'ms', ({ scope, rule, perMs }) => {
  const study = counting(budgetOf(scope, rule, perMs));

  it('starts again and reloads before, at and past its cap, and is not '
    + 'overspent', { tags: ['long'] }, async () => {
    expect(study.releases).toBeGreaterThan(2);
    expect(study.releases).toBeLessThan(20);
    let hub = await bench.start([study]);
    for (const epochs of [2, study.releases - 2, 1, 3]) {
      await pass(hub, epochs);
      expect(await reloadStudies(hub, [study], silentLogger))
        .toMatchObject({ added: [], refused: [] });
      await hub.close();
      hub = await bench.start([study]);
    }
    const { state, studyId, releaseCount } = runningOf(hub);
    const isOwn = scope === 'contributor';
    // Under the other scopes the cap stops the study; under this one it leaves the contributor out.
    expect(state).toBe(isOwn || perMs !== undefined ? 'open' : 'exhausted');
    if (isOwn) expect(releaseCount).toBeGreaterThan(study.releases);
    else expect(releaseCount).toBe(study.releases);
    const store = await bench.store();
    const { spend } = await store.contributorState(studyId, hexKey(1));
    if (isOwn) expect(spend!.rho).toBe(study.charge.rho * BigInt(study.releases));
    const [balance] = await hub.balances();
    expect(balance!.rhoSpent + balance!.rhoReserved <= study.budget.rhoCap).toBe(true);
    await hub.close();
  });
});

describe('a cap that shrinks under contributor scope', () => {
  const first = counting(budgetOf('contributor', 'zcdp', undefined));
  const smaller = counting({ ...budgetOf('contributor', 'zcdp', undefined), epsilon: 2.5 }, 500);

  it('binds what each contributor spends from then on, however much is charged or '
    + 'spent', { tags: ['long'] }, async () => {
    expect(smaller.releases).toBeGreaterThan(1);
    expect(smaller.releases).toBeLessThan(first.releases);
    let hub = await bench.start([first]);
    // Contributor 1 comes to every epoch until its budget is used up, contributor 2 to one.
    const { studyId } = runningOf(hub);
    await hub.submit(batchOf(studyId, 2, 1n));
    await pass(hub, first.releases + 2);
    expect(await reloadStudies(hub, [smaller], silentLogger)).toMatchObject({ refused: [] });
    await hub.close();
    hub = await bench.start([smaller]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const newer = hub.studies().find((view) => view.studyId !== studyId)!;
    const told = [];
    for (let turn = 0; turn < smaller.releases; turn++) {
      const { epoch } = hub.study(newer.studyId)!;
      const sequence = BigInt(turn + 1);
      const [past, poor] = await Promise.all([1, 2].map((person) =>
        hub.submit(batchOf(newer.studyId, person, epoch, { sequence }))));
      expect(past).toMatchObject({ verdict: 'rejected', code: 'contributor-budget-exhausted' });
      told.push(poor!.verdict);
      await bench.clock.advance(everyMs);
      await hub.settled();
    }
    // It had spent one release under the earlier cap: one less is left of the smaller one.
    expect(told).toEqual([...Array<string>(smaller.releases - 1).fill('accepted'), 'rejected']);
    const store = await bench.store();
    const spentOf = async (person: number) =>
      (await store.contributorState(newer.studyId, hexKey(person))).spend!.rho;
    expect(await spentOf(1)).toBe(first.charge.rho * BigInt(first.releases));
    expect(await spentOf(2) <= smaller.budget.rhoCap).toBe(true);
    await hub.close();
    // It never grows again.
    await expect(bench.start([first])).rejects.toMatchObject({ code: 'invalid-study' });
  });
});
