import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amountToNumber, zeroAmount } from '../../src/privacy/accounting/amount.js';
import type { GaussianEvent } from '../../src/privacy/accounting/events.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import {
  decodeReleaseBody, decodeStudyDocument, encodeStudyDocument, type StudyDocument,
} from '../../src/wire/index.js';
import { silentLogger } from '../../server/base/logger.js';
import { parseStudyText, type ReleaseRecord, type StudyDefinition } from '../../server/index.js';
import { defineStudy } from '../../server/studies/definition.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { Bench, everyMs } from '../support/hub-bench.js';

interface Asked {
  readonly privacy?: string;
  readonly budget?: string;
  readonly more?: string;
  readonly questions?: string;
}

function studyOf({ privacy, budget, more = '', questions }: Asked): StudyDefinition {
  return parseStudyText(`study: delays
columns: { minutes: number, late: boolean }
cohort: 3000
epoch: { every: ${everyMs}ms }
questions:
${questions ?? '  people: { estimator: count }'}
privacy: ${privacy ?? '{ epsilon: 1, delta: 1e-6 }'}
budget: { epsilon: 8, delta: 1e-5${budget ?? ''} }
${more}`, { name: 'delays.yaml' });
}

/** The planned error of a count is a share of the cohort. */
const deviation = ({ questions: [{ plan }] }: StudyDefinition): number =>
  3_000 * plan.expectedError(0).total;

describe('a budget that says for how many releases it must last', () => {
  it.each([
    // N, most noise, and whether it is Laplace noise.
    [1, 1.4, true], [8, 1.4, true], [12, 2.09, true], [16, 2.85, true], [24, 4.23, true],
    [30, 4.56, false],
    [48, 4.56, false], [365, 12.6, false],
  ] as const)('of rule zcdp for %d daily counts has noise of at most %d', (
    releases, most, isLaplace,
  ) => {
    const study = studyOf({ budget: `, rule: zcdp, releases: ${releases}` });
    expect(study.document.noise).toBe(isLaplace ? 'laplace' : 'gaussian');
    expect(deviation(study)).toBeLessThanOrEqual(most);
    expect(study.releases).toBeGreaterThanOrEqual(releases);
    expect(study.events.map(({ kind }) => kind)).toEqual([isLaplace ? 'laplace' : 'gaussian']);
  });

  it('takes what errs least, with the promise of each release kept', () => {
    for (const [epsilon, releases, most] of [[2, 16, 2.62], [2, 8, 1.4], [0.5, 8, 2.81]] as const) {
      const study = studyOf({
        privacy: `{ epsilon: ${epsilon}, delta: 1e-6 }`, budget: `, releases: ${releases}`,
      });
      expect(deviation(study)).toBeLessThanOrEqual(most);
      if (study.document.noise === 'laplace') {
        expect(amountToNumber(study.charge.pure!)).toBeLessThanOrEqual(epsilon * (1 + 2 ** -39));
      }
    }
  });

  it('weighs the questions by their parts', () => {
    const questions = (parts: readonly [number, number]): string =>
      `  people: { estimator: count, part: ${parts[0]} }
  delay: { estimator: mean, columns: [minutes], part: ${parts[1]}, parameters: { spread: 20 } }`;
    const study = studyOf({ questions: questions([50, 50]), budget: ', releases: 4' });
    // `mean` without a range draws Gaussian noise only.
    expect(study.document.noise).toBe('gaussian');
  });

  it('chooses no noise where it is left out', () => {
    const study = studyOf({ budget: ', rule: zcdp' });
    expect(study.document).not.toHaveProperty('noise');
    expect(study.document.budget).not.toHaveProperty('releases');
    expect(study.releases).toBe(48);
    expect(deviation(study)).toBeLessThanOrEqual(4.56);
  });

  it('is in the facts, and the facts are read again', () => {
    const { document } = studyOf({ budget: ', releases: 8' });
    expect(decodeStudyDocument(encodeStudyDocument(document))).toEqual(document);
    const refused = (change: Partial<StudyDocument>): void => {
      expect(() => decodeStudyDocument(encodeStudyDocument({ ...document, ...change })))
        .toThrow(/facts\.(noise|budget\.releases)/);
    };
    const { epsilon, delta, rule, scope } = document.budget;
    refused({ budget: { epsilon, delta, rule, scope } });
    refused({ budget: { ...document.budget, rule: 'pure' } });
    refused({ budget: { ...document.budget, rule: 'renyi' } });
  });

  it('keeps Gaussian noise for totals, whose proof is about it', () => {
    const study = studyOf({
      budget: ', scope: contributor, releases: 2',
      more: 'running: { separation: 2, questions: [people] }',
    });
    expect(study.document.noise).toBe('gaussian');
  });

  it.each([
    // N, most noise, and whether it is Laplace noise.
    [undefined, 4.25, false], [8, 1.4, true], [48, 4.25, false], [365, 11.6, false],
  ] as const)('has the exact curve under the rule gaussian: %d daily counts', (
    releases, most, isLaplace,
  ) => {
    const asked = releases === undefined ? '' : `, releases: ${releases}`;
    const study = studyOf({ budget: `, rule: gaussian${asked}` });
    expect(study.document.noise)
      .toBe(releases === undefined ? undefined : isLaplace ? 'laplace' : 'gaussian');
    expect(deviation(study)).toBeLessThanOrEqual(most);
    expect(study.releases).toBeGreaterThanOrEqual(releases ?? 48);
    expect(study.charge.delta).toBe(0n);
    // Each release keeps the promise by itself.
    const alone = Math.min(
      epsilonOfSpent({ rule: 'gaussian' }, study.charge.rho, zeroAmount, 1e-6),
      isLaplace ? amountToNumber(study.charge.pure!) : Infinity,
    );
    expect(alone).toBeLessThanOrEqual(1 + 2 ** -39);
  });

  it('has 5.45 of noise in ten numbers for eight releases under the rule gaussian', () => {
    const groups = [...'abcdefghij'].map((group) => `[${group}]`).join(', ');
    const study = parseStudyText(`study: groups
columns: { group: { type: category, of: [${[...'abcdefghij'].join(', ')}] } }
cohort: 3000
epoch: { every: ${everyMs}ms }
contribution: { rowsMax: 5 }
questions:
  people: { estimator: count, by: { columns: [group], groups: [${groups}], groupsMax: 5 } }
privacy: { epsilon: 8, delta: 1e-5 }
budget: { epsilon: 8, delta: 1e-5, rule: gaussian, releases: 8 }
`, { name: 'groups.yaml' });
    expect(study.document.noise).toBe('gaussian');
    const [{ plan }] = study.questions;
    expect(plan.events.filter(({ kind }) => kind === 'gaussian')
      .map((event) => (event as GaussianEvent).sigma).every((sigma) => sigma <= 5.45)).toBe(true);
  });

  it('refuses what the rule gaussian cannot hold', () => {
    const refused = (asked: Asked): void => {
      expect(() => studyOf({ budget: ', rule: gaussian', ...asked })).toThrow(/zcdp/);
    };
    refused({
      questions: '  bins: { estimator: histogram, columns: [minutes], parameters: { width: 5 } }',
    });
    expect(() => studyOf({
      budget: ', rule: gaussian, scope: contributor',
      more: 'running: { separation: 2, questions: [people] }',
    })).toThrow(/budget\.rule/);
  });

  it('divides epsilon under the rule pure', () => {
    const study = studyOf({ budget: ', rule: pure, releases: 16' });
    expect(study.document).not.toHaveProperty('noise');
    expect(study.releases).toBe(16);
    expect(deviation(study)).toBeLessThanOrEqual(2.85);
  });

  it('is refused with the rule renyi, and where no promise is left', () => {
    expect(() => studyOf({ budget: ', rule: renyi, releases: 2' })).toThrow(/budget\.releases/);
    expect(() => studyOf({ budget: ', releases: 0' })).toThrow(/budget\.releases/);
    expect(() => studyOf({ privacy: '{ epsilon: 9, delta: 1e-6 }', budget: ', releases: 1' }))
      .not.toThrow();
  });
});

const median = '  delay: { estimator: median, columns: [minutes] }';

describe('a budget that leaves its rule out', () => {
  it.each([
    [undefined, 4.25], [1, 1.4], [8, 1.4], [12, 2.09], [16, 2.85], [30, 4.23], [48, 4.25],
    [365, 11.6],
  ] as const)('has the least noise of both rules: %s daily counts', (releases, most) => {
    const study = studyOf({ budget: releases === undefined ? '' : `, releases: ${releases}` });
    expect(deviation(study)).toBeLessThanOrEqual(most);
    expect(study.releases).toBeGreaterThanOrEqual(releases ?? 48);
    expect(study.document.budget.rule)
      .toBe(study.document.noise === 'laplace' ? 'zcdp' : 'gaussian');
    expect(study.isRuleOpen).toBe(true);
    expect(decodeStudyDocument(encodeStudyDocument(study.document))).toEqual(study.document);
  });

  it.each([
    ['a choice is dearer under gaussian', { questions: median }],
    ['a centre needs a delta', {
      questions: '  delay: { estimator: mean, columns: [minutes], parameters: { spread: 20 } }',
    }],
    ['totals are proved for zCDP', {
      budget: ', scope: contributor', more: 'running: { separation: 2, questions: [people] }',
    }],
  ] as const)('takes zcdp where %s', (_, asked) => {
    expect(studyOf(asked).document.budget.rule).toBe('zcdp');
    expect(studyOf({ ...asked, budget: `${'budget' in asked ? asked.budget : ''}, releases: 48` })
      .document.budget.rule).toBe('zcdp');
  });

  it('keeps a rule that is given', () => {
    for (const rule of ['zcdp', 'gaussian', 'pure', 'renyi'] as const) {
      const study = studyOf({ budget: `, rule: ${rule}` });
      expect(study.document.budget.rule).toBe(rule);
      expect(study.isRuleOpen).toBe(false);
    }
  });
});

describe('a study of before, whose file leaves the rule of its budget out', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  /** As a version of before read the same file. */
  const before = ({ document }: StudyDefinition, noise?: 'gaussian'): StudyDefinition =>
    defineStudy({
      ...document, budget: { ...document.budget, rule: 'zcdp' },
      ...(noise !== undefined && { noise }),
    });

  it.each([['', undefined], [', releases: 12', 'gaussian']] as const)(
    'keeps its id, its noise and its open epoch over a restart%s', async (budget, noise) => {
      const now = studyOf({ budget });
      const first = await bench.start([before(now, noise)]);
      await bench.clock.advance(1.5 * everyMs);
      await first.settled();
      const { studyId } = first.studies()[0]!;
      await first.close();
      const second = await bench.start([now]);
      await bench.clock.advance(2 * everyMs);
      await second.settled();
      expect(second.studies().map((study) => study.studyId)).toEqual([studyId]);
      const { charge } = before(now, noise);
      expect(now.charge).not.toEqual(charge);
      const [balance] = await second.balances();
      expect(balance).toMatchObject({ rule: { rule: 'zcdp' }, rhoSpent: 3n * charge.rho });
      // And so over a reload.
      expect(await reloadStudies(second, [now], silentLogger)).toEqual({ added: [], refused: [] });
      await second.close();
    },
  );

  it('keeps the rule of its budget when its questions change', async () => {
    const hub = await bench.start([before(studyOf({}))]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    const questions = '  late: { estimator: count, where: { late: true } }';
    expect(studyOf({ questions }).document.budget.rule).toBe('gaussian');
    expect(await reloadStudies(hub, [studyOf({ questions })], silentLogger))
      .toEqual({ added: ['delays'], refused: [] });
    const [balance] = await hub.balances();
    expect(balance!.rule).toEqual({ rule: 'zcdp' });
    await hub.close();
  });

  it('keeps the rule gaussian, too, and says so where it cannot', async () => {
    const hub = await bench.start([studyOf({})]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(studyOf({ questions: median }).document.budget.rule).toBe('zcdp');
    expect(await reloadStudies(hub, [studyOf({ questions: median })], silentLogger))
      .toEqual({ added: ['delays'], refused: [] });
    expect((await hub.balances())[0]!.rule).toEqual({ rule: 'gaussian' });
    const bins = '  bins: { estimator: histogram, columns: [minutes], parameters: { width: 5 } }';
    expect(await reloadStudies(hub, [studyOf({ questions: bins })], silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    await hub.close();
  });

  it('is refused where the file gives another rule', async () => {
    const hub = await bench.start([before(studyOf({}))]);
    const given = studyOf({ budget: ', rule: gaussian' });
    expect(await reloadStudies(hub, [given], silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    await hub.close();
  });
});

describe('a running study with Laplace noise', () => {
  let bench: Bench;
  beforeEach(() => { bench = new Bench(); });
  afterEach(() => bench.close());

  it('gives all its releases by epsilon, beyond what rho would pay, and then ends', async () => {
    const study = studyOf({ budget: ', releases: 12' });
    const hub = await bench.start([study]);
    await bench.clock.advance(13 * everyMs);
    await hub.settled();
    const balance = (await hub.balances())[0]!;
    expect(balance.pureSpent).toBe(12n * study.charge.pure!);
    // Its releases state what pays.
    const [{ body }] = (await hub.releases(hub.studies()[0]!.studyId, 11, 1)) as [ReleaseRecord];
    const { cost, ledger } = decodeReleaseBody(body);
    expect(cost).toMatchObject({ rhoAmount: study.charge.pure, deltaAmount: 0n, delta: 0 });
    expect(ledger).toMatchObject({ rule: 'pure', rhoSpent: balance.pureSpent, rhoCap: 8n << 64n });
    expect(ledger.epsilonSpent).toBeCloseTo(8, 4);
    expect(hub.studies()[0]!.state).toBe('exhausted');
    await hub.close();
  });

  it('may be reloaded with other noise while the other sum pays for it', async () => {
    const hub = await bench.start([studyOf({ budget: ', releases: 8' })]);
    await bench.clock.advance(everyMs);
    await hub.settled();
    expect(await reloadStudies(hub, [studyOf({ budget: ', releases: 48' })], silentLogger))
      .toEqual({ added: ['delays'], refused: [] });
    // Back again: now a charge is not pure.
    await bench.clock.advance(2 * everyMs);
    await hub.settled();
    expect(await reloadStudies(hub, [studyOf({ budget: ', releases: 7' })], silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    await hub.close();
  });

  it('is not reloaded with noise that the other sum does not pay for', async () => {
    const few = studyOf({ budget: ', releases: 8' });
    const hub = await bench.start([few]);
    await bench.clock.advance(8 * everyMs);
    await hub.settled();
    const many = studyOf({ budget: ', releases: 48' });
    expect(await reloadStudies(hub, [many], silentLogger))
      .toEqual({ added: [], refused: ['delays'] });
    const [balance] = await hub.balances();
    expect(balance!.rhoSpent).toBeGreaterThan(balance!.rhoCap);
    await hub.close();
  });
});
