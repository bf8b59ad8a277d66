// @module-tag long
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeReleaseBody, type StudyDocument } from '../../src/wire/index.js';
import type { LedgerBalance } from '../../server/store/contract.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { Bench, batchOf, define, everyMs, hexKey, type Crash } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

type Budget = StudyDocument['budget'];
const budget = (overrides: Partial<Budget> = {}): Budget =>
  ({ epsilon: 6, delta: 1e-5, rule: 'zcdp', scope: 'contributor', ...overrides });

/** A small generator with a fixed seed: who comes to which epoch. */
function coins(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What happened as contributors would tell it: the epochs that took their rows. */
type Took = Map<number, bigint[]>;

/**
 * `epochs` epochs in which `people` contributors come and go. Contributors try in each epoch with
 * their own probability, the first one always; each tells whether it was taken or left out.
 */
async function live(
  hub: RunningHub, studyId: string, epochs: number, people: number,
): Promise<{ took: Took; leftOut: number[] }> {
  const random = coins(11);
  const took: Took = new Map();
  const leftOut: number[] = [];
  const sequences = new Map<number, bigint>();
  for (let turn = 0; turn < epochs; turn++) {
    const { epoch } = hub.study(studyId)!;
    const came = Array.from({ length: people }, (_, i) => i)
      .filter((i) => random() < 1 - i / people);
    const told = await Promise.all(came.map(async (i) => {
      const sequence = (sequences.get(i) ?? 0n) + 1n;
      sequences.set(i, sequence);
      return { i, result: await hub.submit(batchOf(studyId, i, epoch, { sequence })) };
    }));
    leftOut.push(
      told.filter(({ result }) => result.code === 'contributor-budget-exhausted').length,
    );
    for (const { i, result } of told) {
      expect(['accepted', 'rejected']).toContain(result.verdict);
      if (result.verdict === 'accepted') took.set(i, [...took.get(i) ?? [], epoch]);
      else expect(result.code).toBe('contributor-budget-exhausted');
    }
    await bench.clock.advance(everyMs);
    await hub.settled();
  }
  return { took, leftOut };
}

const capsOf = ({ rhoCap, deltaCap }: LedgerBalance) =>
  ({ rho: rhoCap as bigint, delta: deltaCap as bigint });

describe('fifty epochs in which contributors come and go', () => {
  it.each(['zcdp', 'renyi'] as const)('keep every contributor within its cap, under '
    + '%s', async (rule) => {
    const study = define({ budget: budget({ rule }) });
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    const people = 12;
    const { took, leftOut } = await live(hub, studyId, 50, people);
    const store = await bench.store();
    const caps = capsOf((await store.balance('study:delays'))!);
    for (let i = 0; i < people; i++) {
      const epochs = took.get(i)?.length ?? 0;
      const { spend } = await store.contributorState(studyId, hexKey(i));
      // What the ledger says is what was taken, to the unit.
      expect(spend).toEqual({
        rho: study.charge.rho * BigInt(epochs), delta: study.charge.delta * BigInt(epochs),
        pure: epochs === 0 ? 0n : null,
      });
      expect(spend!.rho <= caps.rho && spend!.delta <= caps.delta).toBe(true);
    }
    // Who always comes uses up its budget, exactly; somebody who seldom comes does not.
    expect(took.get(0)).toHaveLength(study.releases);
    expect(took.get(people - 1)?.length ?? 0).toBeLessThan(study.releases);
    expect(leftOut.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20);
    // Left out and counted are disjoint, epoch by epoch, and the operator's counts say so.
    for (let epoch = 1n; epoch <= 50n; epoch++) {
      const counted = [...took.values()].flat().filter((taken) => taken === epoch).length;
      expect(await store.contributorCount(studyId, epoch)).toBe(counted);
      expect(bench.record.contributorsAtDraw.get(`${studyId}/${epoch}`)).toBe(counted);
      expect(await store.leftOutCount(studyId, epoch)).toBe(leftOut[Number(epoch) - 1]);
    }
    await hub.close();
  });

  it('publish a bound that does not depend on who took part', async () => {
    const study = define({ budget: budget() });
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await live(hub, studyId, study.releases + 3, 2);
    const bodies =
      (await hub.releases(studyId, 0, 100)).map((release) => decodeReleaseBody(release.body));
    const { rhoCap } = bodies[0]!.ledger;
    expect(bodies.map(({ ledger }) => ledger.rhoSpent)).toEqual(bodies.map((_, i) => {
      const sum = study.charge.rho * BigInt(i + 1);
      return sum < rhoCap ? sum : rhoCap;
    }));
    expect(bodies[0]!.guarantee)
      .toMatch(/absent from all epochs, or with other values in the same epochs/);
    await hub.close();
  });
});

describe('a contributor', () => {
  it('gets its own spending with the first row of an epoch, and when it is left out', async () => {
    const study = define({ budget: budget({ epsilon: 3 }) });
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    const first = await hub.submit(batchOf(studyId, 1, 1n, { last: false }));
    const second = await hub.submit(batchOf(studyId, 1, 1n, { sequence: 2n }));
    expect(first.ownSpend!.rho).toBeCloseTo(Number(study.charge.rho) / 2 ** 64, 12);
    expect(first.ownSpend!.rhoCap).toBeCloseTo(Number(study.budget.rhoCap) / 2 ** 64, 12);
    expect(second.ownSpend).toBeUndefined();
    let sequence = 2n;
    for (let epoch = 2; epoch <= study.releases + 1; epoch++) {
      await bench.clock.advance(everyMs);
      await hub.settled();
      sequence += 1n;
      const result = await hub.submit(batchOf(studyId, 1, BigInt(epoch), { sequence }));
      const paid = Math.min(epoch, study.releases);
      expect(result.ownSpend!.rho).toBeCloseTo(paid * first.ownSpend!.rho, 10);
      expect(result.verdict).toBe(epoch <= study.releases ? 'accepted' : 'rejected');
    }
    // Left out for the whole epoch, counted once, and told again.
    const again = await hub.submit(
      batchOf(studyId, 1, BigInt(study.releases + 1), { sequence: sequence + 1n }),
    );
    expect(again).toMatchObject({ verdict: 'rejected', code: 'contributor-budget-exhausted' });
    expect(await hub.leftOut!(studyId)).toBe(1);
    await hub.close();
  });
});

const steps = [
  'openEpoch 1', 'turnEpoch 1', 'chargeEpoch 1', 'storeRelease 1', 'purgeEpoch 1',
    'turnEpoch 2', 'chargeEpoch 2', 'storeRelease 2', 'purgeEpoch 2',
];

describe.each([undefined, 5 * everyMs])('a crash, with a window of %s ms', (perMs) => {
  const study = define({ budget: budget(perMs === undefined ? {} : { perMs }) });

  async function crashAt(crash: Crash): Promise<string> {
    let studyId = '';
    try {
      const hub = await bench.start([study], { crash });
      studyId = hub.studies()[0]!.studyId;
      for (let epoch = 1n; epoch <= 2n; epoch++) {
        // Everybody comes to the first epoch, every other one to the second.
        const came = Array.from({ length: 30 }, (_, i) => i)
          .filter((i) => epoch === 1n || i % 2 === 0);
        await Promise.allSettled(came.map((i) => hub.submit(batchOf(studyId, i, epoch))));
        await bench.clock.advance(everyMs);
      }
    } catch {
      // The crash may come during the start.
    }
    await settle();
    return studyId;
  }

  it.each(steps.flatMap((step) => [[step, 'before'], [step, 'after']] as const))(
    'at %s, %s it is durable, leaves no ledger below what was drawn',
    async (step, when) => {
      await crashAt({ step: `store.${step}`, when });
      expect(bench.failures.length).toBeLessThanOrEqual(1);
      const hub = await bench.start([study]);
      const { studyId } = hub.studies()[0]!;
      await bench.clock.advance(2 * everyMs);
      await hub.settled();
      const store = await bench.store();
      const drawn = [...bench.record.draws.keys()].map((key) => BigInt(key.split('/')[1]!));
      expect([...bench.record.draws.values()].every((count) => count === 1)).toBe(true);
      // The truth: who was acknowledged into an epoch whose noise was drawn. Nobody's ledger is
      // below it.
      const accepted = await acceptedEpochs(studyId);
      for (let i = 0; i < 30; i++) {
        const { spend } = await store.contributorState(studyId, hexKey(i));
        const truth =
          study.charge.rho * BigInt(accepted(i).filter((epoch) => drawn.includes(epoch)).length);
        expect(spend!.rho >= truth, `contributor ${i}`).toBe(true);
        expect(spend!.rho <= study.budget.rhoCap).toBe(true);
      }
      const { rhoSpent } = (await store.balance('study:delays'))!;
      expect(rhoSpent >= study.charge.rho * BigInt(drawn.length)).toBe(true);
      await hub.close();
    },
  );

  /**
   * From the counts at the draws: epoch 1 had all thirty or nobody, epoch 2 the even ones or
   * nobody.
   */
  async function acceptedEpochs(studyId: string): Promise<(i: number) => bigint[]> {
    const counted = (epoch: bigint): number =>
      bench.record.contributorsAtDraw.get(`${studyId}/${epoch}`) ?? 0;
    return (i) => [1n, 2n].filter((epoch) => counted(epoch) > 0 && (epoch === 1n || i % 2 === 0));
  }
});
