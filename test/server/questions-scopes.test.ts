import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { Question } from '../../src/base/questions.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import {
  decodeReleaseBody, decodeStudyDocument, encodeBatchBody, encodeCells,
  encodeStudyDocument, type Answer, type StudyDocument,
} from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import { defineStudy } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { Bench, batchOf, everyMs, hexKey, questionsDocument } from '../support/hub-bench.js';

const types = [{ type: 'number' }, { type: 'category', of: ['north', 'south'] }] as const;
const asked = { where: [], columns: ['minutes'], reduce: 'mean', part: 50 } as const;
const long: Question = {
  ...asked, name: 'long', estimator: 'histogram',
  parameters: parseParameters(findEstimator('histogram').parameters, { edges: [10] }, {
    dimension: 1,
  }),
};
const regions: Question = {
  ...asked, name: 'regions', estimator: 'count', columns: [], reduce: 'one',
  parameters: parseParameters(findEstimator('count').parameters, {}, { dimension: 1 }),
  by: { columns: ['region'], groupsMax: 1 },
};
const documentOf = (overrides: Partial<StudyDocument> = {}): StudyDocument =>
  questionsDocument([long, regions], { columns: ['minutes', 'region'], types, ...overrides });

/** Contributor i rides i % 20 minutes, in the north if i is even. */
function batchTo(studyId: string, i: number, epoch: bigint, sequence = epoch): VerifiedBatch {
  const values = Float64Array.of(i % 20, i % 2);
  const facts = { sequence, epoch, last: true, rows: 1, columns: 2 };
  const body = encodeBatchBody({
    ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
    cells: encodeCells(values, types, 'float64'),
  });
  return { ...batchOf(studyId, i, epoch), ...facts, body, values };
}

const people = Array.from({ length: 300 }, (_, i) => i);
let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const give = (hub: RunningHub, studyId: string, given: readonly number[], epoch = 1n) =>
  Promise.all(given.map((i) => hub.submit(batchTo(studyId, i, epoch))));

async function nextEpoch(hub: RunningHub): Promise<void> {
  await bench.clock.advance(everyMs);
  await hub.settled();
}

const released = (studyId: string, at = 0): readonly Answer[] =>
  decodeReleaseBody(bench.record.published(studyId)[at]!.body).answers;
const numbersOf = ({ outcome }: Answer): readonly number[] | string =>
  (outcome.kind === 'value' ? outcome.estimate : outcome.reason);

describe('a study with a list of questions', () => {
  it('forgets a withdrawn contribution in every question', async () => {
    const study = defineStudy(documentOf({ privacy: { epsilon: 8, delta: 1e-6 } }));
    const runner = () => new InlineEpochRunner({ noise: () => seededNoise('withdrawn') });
    const answers: unknown[] = [];
    for (const leavers of [people.filter((i) => i % 2 === 0), []]) {
      const hub = await bench.start([study], { runner: runner() });
      const { studyId } = hub.studies()[0]!;
      // Without leavers, those who stay are the only ones who come.
      await give(hub, studyId, leavers.length > 0 ? people : people.filter((i) => i % 2 === 1));
      for (const i of leavers) {
        const signature = new Uint8Array(64).fill(3);
        expect(await hub.withdraw({ studyId, contributor: hexKey(i), epoch: 1n, signature }))
          .toMatchObject({ kind: 'withdrawn', undone: true });
      }
      await nextEpoch(hub);
      answers.push(released(studyId).map(numbersOf));
      await hub.close();
      await bench.close();
      bench = new Bench();
    }
    expect(answers[0]).toEqual([[expect.any(Number), expect.any(Number)], [
      expect.any(Number), expect.any(Number),
    ]]);
    expect(answers[0]).toEqual(answers[1]);
  });

  it('charges each contributor its own budget once for all questions', async () => {
    const study = defineStudy(documentOf({
      budget: { epsilon: 6, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
    }));
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    for (let epoch = 1n; epoch <= BigInt(study.releases) + 1n; epoch++) {
      const isOver = epoch > BigInt(study.releases);
      for (const { code } of await give(hub, studyId, [0, 1, 2], epoch)) {
        expect(code).toBe(isOver ? 'contributor-budget-exhausted' : undefined);
      }
      await nextEpoch(hub);
    }
    const { spend } = await (await bench.store()).contributorState(studyId, hexKey(0));
    expect(spend).toEqual({
      rho: study.charge.rho * BigInt(study.releases),
      delta: study.charge.delta * BigInt(study.releases),
      // Some of the noise is Gaussian.
      pure: null,
    });
    const sum = study.charges.reduce((total, { rho }) => total + rho, 0n);
    expect(sum).toBe(study.charge.rho);
    await hub.close();
  });

  it('shares the budget of a population with another study', async () => {
    const budget = {
      epsilon: 9, delta: 1e-5, rule: 'zcdp', scope: 'population', population: 'riders',
    } as const;
    const studies = ['one', 'two'].map((name) => defineStudy(documentOf({ study: name, budget })));
    const hub = await bench.start(studies);
    const ids = hub.studies().map(({ studyId }) => studyId);
    for (const studyId of ids) await give(hub, studyId, [0, 1]);
    await nextEpoch(hub);
    const balance = (await (await bench.store()).balance('population:riders'))!;
    const charged = ids.flatMap((studyId) => released(studyId).map(({ rhoAmount }) => rhoAmount));
    expect(charged).toHaveLength(4);
    expect(charged.reduce((total, rho) => total + rho, 0n)).toBe(balance.rhoSpent);
    await hub.close();
  });

  it('refuses the one answer that does not fit the wire', async () => {
    const find = (name: string): Estimator => {
      const found = findEstimator(name);
      return name !== 'histogram' ? found : {
        ...found,
        plan: (parameters, facts) => {
          const plan = found.plan(parameters, facts);
          return plan.kind === 'infeasible' ? plan : {
            ...plan,
            release: async (...given) => (await plan.release(...given)).map((outcome) =>
              (outcome.kind === 'value' ? { ...outcome, shape: [7] } : outcome)),
          };
        },
      };
    };
    const study = defineStudy(documentOf(), null, find);
    const runner = new InlineEpochRunner({
      noise: () => seededNoise('unfit'), findEstimator: find,
    });
    const hub = await bench.start([study], { runner });
    const { studyId } = hub.studies()[0]!;
    await give(hub, studyId, people);
    await nextEpoch(hub);
    const [unfit, other] = released(studyId);
    expect(unfit!.outcome).toMatchObject({ kind: 'refused', reason: 'numerical-failure' });
    expect(other!.outcome).toMatchObject({ kind: 'value', groups: [['north'], ['south']] });
    expect([unfit!.rhoAmount, other!.rhoAmount]).toEqual(study.charges.map(({ rho }) => rho));
    await hub.close();
  });

  it('cannot exclude keys by quarantine', () => {
    const facts = encodeStudyDocument({
      ...documentOf({ participation: 'public' }), quarantine: { beyond: 8 },
    });
    expect(() => decodeStudyDocument(facts)).toThrow(/quarantine/);
    expect(() => decodeStudyDocument(encodeStudyDocument(documentOf()))).not.toThrow();
  });
});
