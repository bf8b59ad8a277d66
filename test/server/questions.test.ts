import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/base/bytes.js';
import type { ColumnType } from '../../src/base/columns.js';
import type { Question } from '../../src/base/questions.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { seededNoise } from '../../src/random/insecure.js';
import {
  decodeReleaseBody, encodeBatchBody, encodeCells, type Answer, type StudyDocument,
} from '../../src/wire/index.js';
import type { EpochRunner } from '../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import type { VerifiedBatch } from '../../server/studies/contract.js';
import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { partsOfCharge } from '../../server/studies/release/release-body.js';
import {
  Bench, batchOf, everyMs, keyOf, questionsDocument, studyDocument,
} from '../support/hub-bench.js';

const types: readonly ColumnType[] = [
  { type: 'number' }, { type: 'boolean' }, { type: 'category', of: ['north', 'south', 'east'] },
];
const histogram = (edges: readonly number[]) =>
  parseParameters(findEstimator('histogram').parameters, { edges }, { dimension: 1 });
const asked = { where: [], columns: ['minutes'], reduce: 'mean', part: 25 } as const;
const long: Question = {
  ...asked, name: 'long', estimator: 'histogram', parameters: histogram([10]), reduce: 'sum',
};
const late: Question = {
  ...asked, name: 'late', estimator: 'histogram', parameters: histogram([10]),
  where: [{ column: 'late', is: true }],
};
const middle: Question = {
  ...asked, name: 'middle', estimator: 'mean', part: 40, reduce: 'one',
  parameters: parseParameters(findEstimator('mean').parameters, { spread: 5 }, { dimension: 1 }),
};

const regions: Question = {
  ...asked, name: 'regions', estimator: 'count', columns: [], part: 10,
  parameters: parseParameters(findEstimator('count').parameters, {}, { dimension: 1 }),
  by: { columns: ['region'], groupsMax: 1 },
};

const documentOf = (questions: readonly Question[]): StudyDocument =>
  questionsDocument(questions, { columns: ['minutes', 'late', 'region'], types });

/** Contributor i sends two batches: 0 to 3 minutes and on time, then 8 minutes and late. */
function batches(studyId: string, i: number, epoch = 1n): VerifiedBatch[] {
  return [[i % 4, 0, i % 3], [8, 1, i % 3]].map((row, at) => {
    const values = Float64Array.from(row);
    const sequence = 2n * epoch - 1n + BigInt(at);
    const facts = { sequence, epoch, last: at === 1, rows: 1, columns: 3 };
    const body = encodeBatchBody({
      ...facts, studyId: fromHex(studyId), dataType: 'float64', data: new Uint8Array(0),
      cells: encodeCells(values, types, 'float64'),
    });
    return { ...batchOf(studyId, i, epoch), ...facts, body, values };
  });
}

const contributors = 400;
const seeded = (find?: (name: string) => Estimator): EpochRunner => new InlineEpochRunner({
  noise: () => seededNoise('questions'), ...(find !== undefined && { findEstimator: find }),
});
const numbersOf = ({ outcome }: Answer): readonly number[] | string =>
  (outcome.kind === 'value' ? outcome.estimate : outcome.reason);

describe('a study with a list of questions', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  /** The answers of epoch 1. `between` runs when half of the batches are in. */
  async function answersAfter(
    study: StudyDefinition, runner: () => EpochRunner, restarts = false, people = contributors,
  ): Promise<readonly Answer[]> {
    let hub = await bench.start([study], { runner: runner() });
    const { studyId } = hub.studies()[0]!;
    for (const at of [0, 1]) {
      const sent = await Promise.all(
        Array.from({ length: people }, (_, i) => hub.submit(batches(studyId, i)[at]!)),
      );
      expect(sent.every(({ verdict }) => verdict === 'accepted')).toBe(true);
      if (!restarts) continue;
      await hub.close();
      hub = await bench.start([study], { runner: runner() });
    }
    await bench.clock.advance(everyMs);
    await hub.settled();
    await hub.close();
    return decodeReleaseBody(bench.record.published(studyId)[0]!.body).answers;
  }

  it('answers all of them in one release, and the costs add up to the charge', async () => {
    const study = defineStudy(documentOf([long, late, middle, regions]));
    const answers = await answersAfter(study, seeded);
    expect(answers.map(({ question }) => question)).toEqual(['long', 'late', 'middle', 'regions']);
    // Sums are 8 to 11 minutes: half of them at least 10. Late rows have 8, never more.
    expect(Math.abs((numbersOf(answers[0]!) as number[])[1]! - 200)).toBeLessThan(60);
    expect(Math.abs((numbersOf(answers[1]!) as number[])[1]!)).toBeLessThan(60);
    const split = answers[3]!.outcome;
    expect(split).toMatchObject({ kind: 'value', groups: [['north'], ['south'], ['east']] });
    (numbersOf(answers[3]!) as number[]).forEach((count) =>
      expect(Math.abs(count - contributors / 3)).toBeLessThan(60));
    const balance = (await (await bench.store()).balances())[0]!;
    expect(answers.reduce((sum, { rhoAmount }) => sum + rhoAmount, 0n)).toBe(balance.rhoSpent);
    expect(answers.reduce((sum, { deltaAmount }) => sum + deltaAmount, 0n))
      .toBe(balance.deltaSpent);
    expect(balance.rhoSpent).toBe(study.cost.rho);
  });

  it('gives the same answers after restarts, bit for bit', async () => {
    const study = defineStudy(documentOf([long, late, middle]));
    const whole = await answersAfter(study, seeded);
    await bench.close();
    bench = new Bench();
    // The keys of an epoch are fresh: only what does not go by groups or ranks is the same.
    const again = await answersAfter(study, seeded, true);
    expect(again.slice(0, 2).map(numbersOf)).toEqual(whole.slice(0, 2).map(numbersOf));
  });

  it.each([
    ['store.openEpoch 1', 'before'], ['store.openEpoch 1', 'after'],
    ['store.turnEpoch 1', 'before'], ['store.turnEpoch 1', 'after'],
    ['store.chargeEpoch 1', 'before'], ['store.chargeEpoch 1', 'after'],
    ['store.storeRelease 1', 'before'], ['store.storeRelease 1', 'after'],
  ] as const)('charges once, and answers all or none, after a crash at %s, %s it', async (
    step, when,
  ) => {
    const study = defineStudy(documentOf([long, late]));
    let hub = await bench.start([study], { crash: { step, when } }).catch(() => null);
    let studyId = hub?.studies()[0]?.studyId;
    if (hub !== null && studyId !== undefined) {
      const sent = batches(studyId, 1);
      await Promise.allSettled(sent.map((batch) => hub!.submit(batch)));
      await bench.clock.advance(everyMs);
      await hub.close();
    }
    hub = await bench.start([study]);
    studyId = hub.studies()[0]!.studyId;
    await bench.clock.advance(everyMs);
    await hub.settled();
    const releases = (await hub.releases(studyId, 0, 8)).map(({ body }) => decodeReleaseBody(body));
    const [release, ...others] = releases.filter(({ epoch }) => epoch === 1n);
    expect(others).toEqual([]);
    const reasons = release!.answers.map(({ outcome }) =>
      (outcome.kind === 'refused' ? outcome.reason : 'value'));
    const isLost = step === 'store.chargeEpoch 1' && when === 'after'
      || step === 'store.storeRelease 1' && when === 'before';
    expect(reasons).toEqual(isLost ? ['interrupted', 'interrupted'] : ['value', 'value']);
    expect(release!.ledger.rhoSpent).toBe(study.charge.rho);
    expect(bench.record.draws.get(`${studyId}/1`) ?? 0).toBeLessThanOrEqual(1);
    await hub.close();
  });

  it('refuses the question whose release fails, and no other', async () => {
    const find = (name: string): Estimator => {
      const found = findEstimator(name);
      return name !== 'mean' ? found : {
        ...found,
        plan: (parameters, facts) => {
          const plan = found.plan(parameters, facts);
          return plan.kind === 'infeasible' ? plan
            : { ...plan, release: () => Promise.reject(new Error('row 7 is odd')) };
        },
      };
    };
    const study = defineStudy(documentOf([long, middle, late]), null, find);
    const answers = await answersAfter(study, () => seeded(find), false, 3);
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['value', 'refused', 'value']);
    expect(answers[1]!.outcome).toMatchObject({ reason: 'numerical-failure' });
    expect(answers[1]!.rhoAmount).toBe(study.charges[1]!.rho);
    expect(bench.logs).toContain(
      'error: the release of a question failed; the others go on',
    );
    // An error that is not Keelson's own may hold data.
    expect(JSON.stringify(bench.logged, (_, value: unknown) =>
      (typeof value === 'bigint' ? String(value) : value))).not.toContain('odd');
  });

  it('asked as one question for the whole budget gives the numbers of the short form', async () => {
    const outcomes: unknown[] = [];
    for (const document of [
      documentOf([{ ...long, columns: ['minutes'], reduce: 'mean', part: 100 }]),
      studyDocument({
        columns: ['minutes'], version: 2, types: types.slice(0, 1), estimator: 'histogram',
        parameters: long.parameters,
      }),
    ]) {
      const { target } = defineStudy(document);
      const runner = seeded();
      await runner.open({
        studyId: 'a', epoch: 1n, document, target, assignmentKey: new Uint8Array(32).fill(9),
        workSeed: new Uint8Array(32).fill(4),
      });
      for (let i = 0; i < contributors; i++) {
        const values = Float64Array.of(i % 20, 0, 0).slice(0, document.columns.length);
        runner.add('a', 1n, [
          { contributor: keyOf(i), sequence: 1n, rows: 1, complete: true, values },
        ]);
      }
      outcomes.push((await runner.release('a', 1n)).outcomes);
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
  });
});

it('divides a charge of an older program among the questions', () => {
  expect(partsOfCharge(10n, [4n, 6n])).toEqual([4n, 6n]);
  expect(partsOfCharge(11n, [4n, 6n])).toEqual([4n, 7n]);
  expect(partsOfCharge(5n, [0n, 0n])).toEqual([0n, 5n]);
});
