import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome, ValueOutcome } from '../../src/base/outcome.js';
import { SeriesReader, type EncryptedSeries } from '../../src/base/running-totals.js';
import { seededNoise } from '../../src/random/insecure.js';
import { decodeReleaseBody, type ReleaseBody } from '../../src/wire/index.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { sealingOf } from '../../server/epochs/sealing.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import { encodeLogLine, verifyReleaseLog } from '../../src/log/index.js';
import { RunningCheck } from '../../src/log/running.js';
import type { Question } from '../../src/base/questions.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';
import { QuestionsRun } from '../../src/questions/run.js';
import { seededRandom } from '../../src/random/work.js';
import { smooth } from '../../src/series/index.js';
import { signing } from '../../src/signing/node.js';
import { decodeStudyDocument, encodeStudyDocument } from '../../src/wire/index.js';
import { defineStudy } from '../../server/studies/definition.js';
import {
  Bench, batchOf, define, everyMs, hexKey, questionsDocument,
} from '../support/hub-bench.js';

let bench: Bench;
beforeEach(() => { bench = new Bench(); });
afterEach(() => bench.close());

const separation = 3;
const counted = (overrides: object = {}): StudyDefinition => define({
  estimator: 'count', parameters: { side: 'at-least' }, running: { separation },
  budget: { epsilon: 60, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
  ...overrides,
});

/** Fresh noise in each epoch, the same in each test. */
function freshRunner(): InlineEpochRunner {
  let epochs = 0;
  return new InlineEpochRunner({ noise: () => seededNoise(`running ${epochs++}`) });
}

/** People from `from` on, one batch each. @returns the codes of those who were refused. */
async function come(
  hub: RunningHub, studyId: string, from: number, people: number,
): Promise<readonly (string | undefined)[]> {
  const { epoch } = hub.study(studyId)!;
  const results = await Promise.all(Array.from({ length: people }, (_, i) =>
    hub.submit(batchOf(studyId, from + i, epoch))));
  return results.flatMap(({ verdict, code }) => (verdict === 'rejected' ? [code] : []));
}

async function close(hub: RunningHub): Promise<void> {
  await bench.clock.advance(everyMs);
  await hub.settled();
}

async function releasesOf(hub: RunningHub, studyId: string): Promise<readonly ReleaseBody[]> {
  const found = await hub.releases(studyId, 0, 1_000);
  return found.map(({ body }) => decodeReleaseBody(body));
}

const valueOf = (release: ReleaseBody): ValueOutcome => {
  const { outcome } = release.answers[0]!;
  if (outcome.kind !== 'value') throw new Error('the release has no value');
  return outcome;
};
const deviationOf = ({ uncertainty }: ValueOutcome): number =>
  (uncertainty.kind === 'gaussian' ? uncertainty.standardDeviation[0]! : NaN);
const positionsOf = (releases: readonly ReleaseBody[]): readonly (number | string)[] =>
  releases.map(({ answers: [answer] }) => {
    const { outcome } = answer!;
    return outcome.kind === 'value' ? outcome.running!.position : outcome.reason;
  });

describe('a study with a running total', () => {
  it('publishes totals over its epochs, also across restarts', async () => {
    const study = counted();
    const runner = freshRunner();
    let hub = await bench.start([study], { runner });
    const { studyId } = hub.studies()[0]!;
    let people = 0;
    for (let epoch = 0; epoch < 6; epoch++) {
      expect(await come(hub, studyId, people, 10 + epoch)).toEqual([]);
      people += 10 + epoch;
      await close(hub);
      if (epoch % 2 === 0) continue;
      await hub.close();
      hub = await bench.start([study], { runner: freshRunner() });
    }
    const releases = await releasesOf(hub, studyId);
    expect(positionsOf(releases)).toEqual([0, 1, 2, 3, 4, 5]);
    const { sigma } = study.questions[0].plan.running!;
    const reader = new SeriesReader(separation, 1);
    for (const release of releases) {
      const value = valueOf(release);
      const { totals, deviation } = reader.take(value.running!.released);
      expect(value.estimate).toEqual(Array.from(totals));
      expect(deviationOf(value)).toBe(sigma * deviation);
    }
    // Six deviations: about 2e-9 of the time.
    const last = valueOf(releases.at(-1)!);
    expect(Math.abs(last.estimate[0]! - people)).toBeLessThan(6 * deviationOf(last));
    await hub.close();
  });

  it('charges what the proof states, once for each epoch', async () => {
    const study = counted();
    const { sigma } = study.questions[0].plan.running!;
    const event = study.events[0]!;
    expect(event).toMatchObject({ kind: 'gaussian', sigma, grid: 2 ** -20 });
    const norm = Math.hypot(1, 0.5, 0.375);
    expect(event.kind === 'gaussian' && event.sensitivity).toBeCloseTo(norm, 10);
    expect(Number(study.cost.rho) * 2 ** -64).toBeCloseTo(norm ** 2 / (2 * sigma ** 2), 12);
  });

  it('refuses people who come again too early, and takes them after that', async () => {
    const study = counted();
    let hub = await bench.start([study], { runner: freshRunner() });
    const { studyId } = hub.studies()[0]!;
    const told: (readonly (string | undefined)[])[] = [];
    for (let epoch = 1; epoch <= 7; epoch++) {
      told.push(await come(hub, studyId, 0, 1));
      await close(hub);
      if (epoch !== 2) continue;
      await hub.close();
      hub = await bench.start([study], { runner: freshRunner() });
    }
    const early = ['contributor-budget-exhausted'];
    expect(told).toEqual([[], early, early, [], early, early, []]);
    const store = await bench.store();
    const { spend } = await store.contributorState(studyId, hexKey(0));
    expect(spend!.rho).toBe(3n * study.charge.rho);
    await hub.close();
  });

  it('gives the place back with rows that are taken back', async () => {
    const study = counted();
    const hub = await bench.start([study], { runner: freshRunner() });
    const { studyId } = hub.studies()[0]!;
    await come(hub, studyId, 0, 1);
    const request = {
      studyId, contributor: hexKey(0), epoch: 1n, signature: new Uint8Array(64).fill(2),
    };
    expect(await hub.withdraw(request)).toMatchObject({ kind: 'withdrawn', undone: true });
    await close(hub);
    expect(await come(hub, studyId, 0, 1)).toEqual([]);
    await hub.close();
  });

  it('counts a person once, whatever is in the releases that follow', async () => {
    const study = counted();
    const hub = await bench.start([study], { runner: freshRunner() });
    const { studyId } = hub.studies()[0]!;
    await come(hub, studyId, 0, 50);
    for (let epoch = 0; epoch < 5; epoch++) await close(hub);
    const values = (await releasesOf(hub, studyId)).map(valueOf);
    for (const value of values) {
      expect(Math.abs(value.estimate[0]! - 50)).toBeLessThan(6 * deviationOf(value));
    }
    await hub.close();
  });
});

describe('the log of a running total', () => {
  const regions = (name: string): Question => ({
    name, estimator: 'count', parameters: { side: 'at-least' }, columns: [], where: [],
    by: { columns: ['late'], groupsMax: 1 }, reduce: 'one', part: 50,
  });

  it('verifies, and says which number is wrong if one is', async () => {
    const study = counted();
    const hub = await bench.start([study], { runner: freshRunner() });
    const { studyId, facts, factsSignature } = hub.study(hub.studies()[0]!.studyId)!;
    for (let epoch = 0; epoch < 5; epoch++) {
      bench.breakRelease = epoch === 1 ? studyId : '';
      await close(hub);
    }
    const records = await hub.releases(studyId, 0, 10);
    const lines = [
      encodeLogLine({
        type: 'study', facts, serverKey: hub.serverKey, signature: factsSignature,
      }),
      ...records.map(({ body, signature }) => encodeLogLine({ type: 'release', body, signature })),
      encodeLogLine({ type: 'head', ...await hub.head(studyId) }),
    ];
    const report = await verifyReleaseLog(lines, { signing, serverKey: hub.serverKey });
    expect(report).toMatchObject({ authentic: true, count: 5, firstFault: null });
    await hub.close();

    const releases = await releasesOf(hub, studyId).catch(() =>
      records.map(({ body }) => decodeReleaseBody(body)));
    const faultOf = (at: number, change: Partial<ValueOutcome>): string | null => {
      const check = new RunningCheck(study.document);
      for (const [i, release] of releases.entries()) {
        const [answer] = release.answers;
        const outcome = { ...answer!.outcome, ...change } as Outcome;
        const fault = check.take(i === at && outcome.kind === 'value'
          ? { ...release, answers: [{ ...answer!, outcome }] } : release);
        if (fault !== null) return fault;
      }
      return null;
    };
    const { estimate, running } = valueOf(releases[4]!);
    const { position, released } = running!;
    expect(faultOf(-1, {})).toBeNull();
    expect(faultOf(4, { estimate: [estimate[0]! + 1] })).toContain('totals do not follow');
    expect(faultOf(4, { running: { position, released: [released[0]! + 1] } }))
      .toContain('totals do not follow');
    expect(faultOf(4, { running: { position, released: [released[0]! + 2 ** -21] } }))
      .toContain('off its grid');
    expect(faultOf(4, { running: { position: position + 1, released } }))
      .toContain('does not follow the release before');
    expect(faultOf(2, { running: { position: 1, released } }))
      .toContain('does not follow the release before');
    expect(faultOf(4, { uncertainty: { kind: 'gaussian', standardDeviation: [1] } }))
      .toContain('deviation does not follow');
    expect(faultOf(4, { running: undefined } as unknown as Partial<ValueOutcome>))
      .toContain('no running total');
  });

  it('has totals for each key, beside answers about one epoch', async () => {
    const document = questionsDocument([regions('total'), regions('now')], {
      columns: ['late'], types: [{ type: 'boolean' }],
      budget: { epsilon: 60, delta: 1e-5, rule: 'zcdp', scope: 'contributor' },
      running: { separation, questions: ['total'] },
    });
    const study = defineStudy(decodeStudyDocument(encodeStudyDocument(document)));
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    for (let epoch = 0; epoch < 3; epoch++) await close(hub);
    const releases = await releasesOf(hub, studyId);
    const check = new RunningCheck(study.document);
    expect(releases.map((release) => check.take(release))).toEqual([null, null, null]);
    // A log of before has the same draw under its name of then.
    const before = new RunningCheck(study.document);
    expect(releases[0]!.mechanisms).toContain('total/groups-cut');
    expect(releases.map((release) => before.take({
      ...release, mechanisms: release.mechanisms.replaceAll('groups-cut', 'keys-cut'),
    }))).toEqual([null, null, null]);
    const [total, now] = releases[2]!.answers.map(({ outcome }) => outcome as ValueOutcome);
    expect(total!.groups).toEqual([['false'], ['true']]);
    expect(total!.running!.position).toBe(2);
    expect(now!.running).toBeUndefined();
    // Of a release without answers, the total alone says that it ends.
    bench.breakRelease = studyId;
    await close(hub);
    const refused = (await releasesOf(hub, studyId))[3]!.answers.map(({ outcome }) => outcome);
    expect(refused.map((outcome) =>
      outcome.kind === 'refused' && outcome.text.includes('the running total ends')))
      .toEqual([true, false]);
    const series = smooth(releases);
    expect(series.map(({ fault }) => fault)).toEqual(['running-total', null]);
    await hub.close();
  });
});

describe('the error of a running total', () => {
  it('is at most 2.95 deviations over a year, and is what the release states', async () => {
    const [epochs, bins] = [365, 40];
    const edges = Array.from({ length: bins - 1 }, (_, i) => i);
    const asked = { estimator: 'histogram', parameters: { column: 0, edges, top: 10 } };
    const study = counted({ ...asked, running: { separation: epochs } });
    const [event] = counted({ ...asked, running: undefined }).events;
    const alone = event!.kind === 'gaussian' ? event.sigma : NaN;
    const planned: PlannedQuestion = study.questions[0];
    const work = seededRandom(new Uint8Array(32));
    const sealing = {
      seal: (_: string, plain: Uint8Array) => plain, open: (_: string, text: Uint8Array) => text,
    };
    let before: readonly EncryptedSeries[] = [];
    let last: ValueOutcome | null = null;
    for (let epoch = 1; epoch <= epochs; epoch++) {
      const run = new QuestionsRun([planned], work, seededNoise(`epoch ${epoch}`));
      const [result] = await run.release(inlineCompute(), { sealing, series: before });
      if (result?.kind !== 'answered' || result.outcome.kind !== 'value') throw new Error('failed');
      last = result.outcome;
      before = [{ question: 'answer', sealed: result.left! }];
    }
    const deviation = deviationOf(last!);
    expect(deviation / alone).toBeLessThan(2.95);
    expect(deviation / alone).toBeGreaterThan(2.9);
    // Nobody came: the totals are noise alone.
    const ends = last!.estimate.map((total) => total / deviation);
    // Chi-squared of 40 degrees: outside this about once in a million.
    const squares = ends.reduce((sum, end) => sum + end * end, 0);
    expect(squares).toBeGreaterThan(11.5);
    expect(squares).toBeLessThan(97);
  });
});

describe('the series of a running total', () => {
  const crashes = [
    { step: 'store.chargeEpoch 3', when: 'after' },
    { step: 'store.storeRelease 3', when: 'before' },
    { step: 'store.storeRelease 3', when: 'after' },
  ] as const;

  it.each(crashes)('is sound after a crash $when $step', async (crash) => {
    const study = counted();
    const first = await bench.start([study], { runner: freshRunner(), crash });
    const { studyId } = first.studies()[0]!;
    for (let epoch = 1; epoch <= 3; epoch++) {
      await come(first, studyId, 10 * epoch, 4);
      await bench.clock.advance(everyMs);
      await first.settled();
    }
    expect(bench.failures).not.toEqual([]);
    const hub = await bench.start([study], { runner: freshRunner() });
    for (let epoch = 0; epoch < 3; epoch++) await close(hub);
    const releases = await releasesOf(hub, studyId);
    const isStored = crash.step.includes('storeRelease') && crash.when === 'after';
    // Bytes that are stored are published as they are, and the series goes on from them. Without
    // bytes nothing is drawn again: the epoch is refused, and a series begins.
    expect(positionsOf(releases).slice(0, 6)).toEqual(isStored
      ? [0, 1, 2, 3, 4, 5] : [0, 1, 'interrupted', 0, 1, 2]);
    const reader = new SeriesReader(separation, 1);
    const ofLast = isStored ? releases : releases.slice(3);
    ofLast.forEach((release) => {
      const value = valueOf(release);
      expect(value.estimate).toEqual(Array.from(reader.take(value.running!.released).totals));
    });
    await hub.close();
  });

  it('begins again where a release fails', async () => {
    const study = counted();
    const hub = await bench.start([study]);
    const { studyId } = hub.studies()[0]!;
    await close(hub);
    bench.breakRelease = studyId;
    await close(hub);
    bench.breakRelease = '';
    await close(hub);
    const releases = await releasesOf(hub, studyId);
    expect(positionsOf(releases)).toEqual([0, 'interrupted', 0]);
    // The release says so, and the log.
    const { outcome } = releases[1]!.answers[0]!;
    expect(outcome.kind === 'refused' && outcome.text).toMatch(
      /^the release was charged .*; the running total ends, so .* the next total begins anew$/);
    expect(bench.logged.filter(({ text }) => text === 'a release is published')
      .map(({ fields }) => (fields as {
        readonly questions: { readonly answer: { readonly runningTotal?: string } };
      }).questions.answer.runningTotal))
      .toEqual([undefined, 'ends', undefined]);
    await hub.close();
  });

  it('is deleted with its study, and is not readable without its key', async () => {
    const study = counted();
    const hub = await bench.start([study], { runner: freshRunner() });
    const { studyId } = hub.studies()[0]!;
    await come(hub, studyId, 0, 20);
    await close(hub);
    const store = await bench.store();
    const [kept] = await store.series!(studyId);
    expect(kept!.question).toBe('answer');
    const key = new Uint8Array(32).fill(9);
    const plain = sealingOf(key, studyId, 2n).open('answer', kept!.sealed)!;
    // Position, people who lost keys, total, what the release says, and the exact count.
    const numbers = new Float64Array(Uint8Array.from(plain).buffer);
    expect([numbers[0], numbers[1], numbers[4]]).toEqual([1, 0, 20]);
    const open = (other: Uint8Array, study: string, epoch: bigint, question: string) =>
      sealingOf(other, study, epoch).open(question, kept!.sealed);
    expect(open(new Uint8Array(32), studyId, 2n, 'answer')).toBeNull();
    expect(open(key, studyId, 3n, 'answer')).toBeNull();
    expect(open(key, studyId, 1n, 'answer')).toBeNull();
    expect(open(key, 'other', 2n, 'answer')).toBeNull();
    expect(open(key, studyId, 2n, 'other')).toBeNull();
    await store.setStudyState(studyId, 'ended');
    expect(await store.series!(studyId)).toEqual([]);
    await hub.close();
  });
});
