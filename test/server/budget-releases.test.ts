import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { amountToNumber, zeroAmount } from '../../src/privacy/accounting/amount.js';
import type { GaussianEvent } from '../../src/privacy/accounting/events.js';
import { epsilonOfSpent } from '../../src/privacy/accounting/spent.js';
import {
  decodeReleaseBody, decodeStudyDocument, encodeStudyDocument, type StudyDocument,
} from '../../src/wire/index.js';
import { silentLogger } from '../../server/base/logger.js';
import { parseStudyText, type ReleaseRecord, type StudyDefinition } from '../../server/index.js';
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
  ] as const)('for %d daily counts has noise of at most %d', (releases, most, isLaplace) => {
    const study = studyOf({ budget: `, releases: ${releases}` });
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

  it('changes nothing where it is left out', () => {
    const study = studyOf({});
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
