import { describe, expect, it } from 'vitest';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';
import { decodeStudyDocument, encodeStudyDocument } from '../../src/wire/index.js';
import {
  digestOfKeys, parseKeyList, parsePopulationsText, parseStudyText,
} from '../../server/study-file/index.js';
import { parseDuration } from '../../server/study-file/durations.js';
import { nearest } from '../../src/base/suggest.js';
import { signing } from '../../src/signing/node.js';
import { toHex } from '../../src/base/bytes.js';
import { quarantineBound } from '../../server/studies/keep/quarantine-bound.js';
import { normalUpperTail } from '../../src/numerics/normal.js';
import { refusalOf } from '../support/refusal.js';
import { sampleParameters } from '../support/sample-parameters.js';
import { sampleStudies } from '../support/sample-studies.js';
import { root } from '../support/sources.js';
import { fileWith, wrongStudies } from '../support/wrong-studies.js';

const parse = (text: string, options = {}) =>
  parseStudyText(text, { name: 'study.yaml', ...options });

describe('a study file', () => {
  it('excludes far-away keys by the operator\'s hand, by itself, or not at all', () => {
    const rule = (line: string) => parse(fileWith({
      quarantine: line, estimator: 'estimator: robust-mean', cohort: 'cohort: 20000',
    })).document.quarantine;
    expect(rule('')).toBeUndefined();
    expect(rule('quarantine: { beyond: 8 }')).toEqual({ beyond: 8 });
    expect(rule('quarantine: { beyond: 8, automatic: false }')).toEqual({ beyond: 8 });
    expect(rule('quarantine: { beyond: 8, automatic: true }'))
      .toEqual({ beyond: 8, automatic: true });
    expect(() => rule('quarantine: { automatic: true }')).toThrow('beyond');
    expect(() => rule('quarantine: { beyond: 8, automatic: sometimes }')).toThrow('true or false');
  });

  it('says how many people an epoch takes, and has one form for the default', () => {
    const most = (line: string) => {
      const { document, peopleMax } = parse(fileWith({ cohort: `cohort: 3000\n${line}` }));
      return [document.peopleMax, peopleMax];
    };
    expect(most('')).toEqual([undefined, 48_000]);
    expect(most('peopleMax: 48000')).toEqual([undefined, 48_000]);
    expect(most('peopleMax: 3000')).toEqual([3_000, 3_000]);
    expect(refusalOf(() => most('peopleMax: 2999')).message)
      .toMatch(/peopleMax.*2999.*an epoch expects 3000 people.*at least 3000/);
  });

  it('excludes no keys by itself where liars could move the answer away from honest keys', () => {
    const refused = (
      estimator: string, beyond: number, parameters = '{ spread: 10, corruption: 0.05 }',
    ): string => {
      try {
        parse(fileWith({
          estimator: `estimator: ${estimator}`, parameters: `parameters: ${parameters}`,
          quarantine: `quarantine: { beyond: ${beyond}, automatic: true }`,
          columns: 'columns: [minutes]', cohort: 'cohort: 20000',
        }));
        return '';
      } catch (error) {
        return String(error);
      }
    };
    expect(refused('mean', 3)).toContain('quarantine.automatic excludes keys for good by answers '
      + 'of mean, which has no bound on how far liars move an answer');
    expect(refused('robust-mean', 0.05)).toMatch(
      /quarantine\.beyond is 0\.05: the planned share of liars may move an answer by 0\.\d+,/,
    );
    expect(refused('robust-mean', 0.05, '{ range: 0..100 }')).toBe('');
    expect(refused('robust-mean', 8)).toBe('');
  });

  it('says how many honest keys an automatic quarantine excludes', () => {
    const expected = (beyond: number) => quarantineBound(parse(fileWith({
      estimator: 'estimator: robust-mean', parameters: 'parameters: { spread: 10 }',
      quarantine: `quarantine: { beyond: ${beyond}, automatic: true }`,
      columns: 'columns: [minutes]', cohort: 'cohort: 20000',
    })))!;
    const { error, honestKeys } = expected(3);
    expect(honestKeys).toBeGreaterThan(20_000 * 0.0027);
    expect(honestKeys).toBeCloseTo(
      20_000 * 2 * normalUpperTail(3 - error!), 1,
    );
    expect(expected(8).honestKeys).toBeLessThan(1e-6);
    expect(quarantineBound(parse(fileWith({})))).toBeNull();
  });

  it('excludes no keys where answers are not rows, so that nobody could be compared', () => {
    const isRefused = (estimator: string): boolean => {
      const text = fileWith({
        estimator: `estimator: ${estimator}`, quarantine: 'quarantine: { beyond: 8 }',
        parameters: `parameters: ${JSON.stringify(sampleParameters(estimator))}`,
        columns: 'columns: [minutes, miles]',
        cohort: 'cohort: 1000000', privacy: 'privacy: { epsilon: 8, delta: 1e-6 }',
        budget: 'budget: { epsilon: 80, delta: 1e-5 }', epoch: 'epoch: { every: 1h }',
      });
      try {
        parse(text);
        return false;
      } catch (error) {
        expect(String(error)).toContain(
          'study.yaml, line 9: quarantine compares rows with answers, and an answer of '
          + `${estimator} is not one number for each column; leave it out, or ask for`,
        );
        return true;
      }
    };
    expect(estimators.map(({ name }) => name).filter(isRefused)).toEqual([
      'count', 'sum', 'share', 'ratio', 'histogram', 'quantile', 'distribution',
      'stable-covariance', 'covariance', 'gaussian', 'subsample-covariance', 'stable-moments',
      'subspace', 'select', 'mixture-1d', 'mixture',
    ]);
  });

  it('becomes a study with its defaults filled in', () => {
    const study = parse(fileWith());
    expect(study.document).toEqual({
      version: 1,
      study: 'delays',
      columns: ['minutes', 'miles'],
      cohort: 3000,
      participation: 'secret',
      epoch: { everyMs: 10_000 },
      contribution: { rowsMax: 64 },
      wireForm: 'short',
      questions: [{
        name: 'answer', estimator: 'mean', columns: ['minutes', 'miles'], where: [],
        parameters: expect.objectContaining({ spread: [40, 600], corruption: 0.05 }) as unknown,
        reduce: 'mean', part: 100,
      }],
      privacy: { epsilon: 1, delta: 1e-6 },
      budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
      admission: { kind: 'open' },
      late: 'next',
      retention: { kind: 'release' },
    });
    expect(study.enrolled).toBeNull();
    expect(study.releases).toBeGreaterThan(20);
    expect(study.target.delta * study.releases).toBeLessThanOrEqual(1e-5 / 2);
    expect(study.cost.rho).toBe(study.charge.rho);
  });

  it('adds up the rows of a person where it asks for a total, unless it says otherwise', () => {
    const reduceOf = (contribution: string) => parse(fileWith({
      estimator: 'estimator: sum', parameters: 'parameters: { cap: 60 }', contribution,
    })).document.questions[0]!.reduce;
    expect(reduceOf('')).toBe('sum');
    expect(reduceOf('contribution: { rowsMax: 8 }')).toBe('sum');
    expect(reduceOf('contribution: { reduce: mean }')).toBe('mean');
  });

  it('has facts that every client can read', () => {
    const { document } = parse(
      fileWith({ retention: 'retention: 30d', late: 'late: drop', admission: 'admission: open' }),
    );
    expect(decodeStudyDocument(encodeStudyDocument(document))).toEqual(document);
    expect(document.retention).toEqual({ kind: 'duration', keepMs: 30 * 86_400_000 });
  });

  it('may close on a count when participation is public', () => {
    const { document } = parse(
      fileWith({ epoch: 'epoch: { contributors: 500 }', participation: 'participation: public' }),
    );
    expect(document.epoch).toEqual({ contributors: 500 });
  });

  it.each(sampleStudies(root))('of the samples can run: $name', ({ name, text }) => {
    expect(parseStudyText(text, { name }).releases).toBeGreaterThan(0);
  });
});

describe('a study file is refused', () => {
  it.each(wrongStudies)('for %s', (_name, changes, path, words) => {
    const error = refusalOf(() => parse(fileWith(changes)));
    expect(error.code).toBe('invalid-study');
    expect(error.details).toMatchObject({ path });
    expect(error.message).toContain('study.yaml');
    for (const word of words) expect(error.message).toContain(word);
  });

  it('for a missing parameter that has no default', () => {
    const strict = {
      ...findEstimator('mean'),
      parameters: [{ name: 'limit', type: 'number', description: 'a limit' }],
    } as Estimator;
    const error =
      refusalOf(() => parse(fileWith({ parameters: '' }), { findEstimator: () => strict }));
    expect(error).toMatchObject({ code: 'invalid-study', details: { path: 'parameters.limit' } });
    expect(error.message).toContain('has no default');
  });

  it('for a plan that cannot exist, with what would help', () => {
    const error = refusalOf(() => parse(fileWith({ cohort: 'cohort: 20' })));
    expect(error.code).toBe('plan-infeasible');
    expect(error.message).toContain('cannot be planned');
    expect(error.details).toHaveProperty('remedy');
  });

  it('for a rule that its estimator cannot be charged under', () => {
    const error =
      refusalOf(() => parse(fileWith({ budget: 'budget: { epsilon: 8, delta: 0, rule: pure }' })));
    expect(error).toMatchObject({ code: 'plan-infeasible' });
    expect(error.message).toContain('zcdp');
  });

  it.each([
    ['text that is not YAML', 'study: [unclosed', 'is not YAML'],
    ['a key twice', fileWith({ again: 'study: other' }), 'is not YAML'],
    [
      'a key twice, far inside',
      fileWith({ privacy: 'privacy: { epsilon: 1, "delta": 1e-6, delta: 1e-6 }' }), 'line 7',
    ],
    ['aliases', `a: &a [1, 1]\nb: [*a, *a]`, 'aliases'],
    // Each of these took the parser from ten seconds to an hour.
    ['more keys than a study has', Array.from({ length: 100_000 }, (_, i) => `k${i}: 1\n`)
      .join(''), 'more than 20000'],
    ['a list of half a million numbers', `a: [${'1,'.repeat(500_000)}]`, 'more than 20000'],
    ['maps in maps in maps', '? '.repeat(300_000), 'too deeply'],
    ['lists in lists in lists', '- '.repeat(300_000), 'too deeply'],
    ['brackets without end', '['.repeat(500_000), 'too deeply'],
    ['steps without end', Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}a:\n`)
      .join(''), 'line 66: the file nests too'],
    ['nothing', '', 'give keys and values'],
    ['a list', '- a\n- b', 'give keys and values'],
    ['a file that is far too large', ' '.repeat(2 ** 20 + 1), 'characters'],
  ])('for %s', (_name, text, words) => {
    const error = refusalOf(() => parse(text));
    expect(error.code).toBe('invalid-study');
    expect(error.message).toContain(words);
  });

  it('never with a stack of values: long ones are cut', () => {
    const error = refusalOf(() => parse(fileWith({ cohort: `cohort: ${'9'.repeat(5_000)}x` })));
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('the rules of a budget', () => {
  it.each(['zcdp', 'renyi'] as const)('%s', (rule) => {
    const study = parse(fileWith({ budget: `budget: { epsilon: 8, delta: 1e-5, rule: ${rule} }` }));
    expect(study.budget.rule.rule).toBe(rule);
    expect(study.releases).toBeGreaterThan(5);
  });
});

describe('populations', () => {
  const populations = parsePopulationsText(
    'populations:\n  travellers: { epsilon: 8, delta: 1e-5 }\n', 'populations.yaml',
  );

  it('lend their budget to studies', () => {
    const study =
      parse(fileWith({ budget: 'budget: { population: travellers }' }), { populations });
    expect(study.document.budget).toEqual(
      { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'population', population: 'travellers' },
    );
    expect(study.budget.key).toBe('population:travellers');
  });

  it('renew when they say so, as a study\'s own budget can', () => {
    const renewing = parsePopulationsText(
      'populations:\n  travellers: { epsilon: 8, delta: 1e-5, rule: renyi, per: 30d }\n',
      'populations.yaml',
    );
    const study =
      parse(fileWith({ budget: 'budget: { population: travellers }' }), { populations: renewing });
    expect(study.budget).toMatchObject({ windowMs: 30 * 86_400_000, rule: { rule: 'renyi' } });
    const own = parse(
      fileWith({ budget: 'budget: { epsilon: 8, delta: 1e-5, scope: contributor, per: 12h }' }),
    );
    expect(own.document.budget).toMatchObject({ perMs: 12 * 3_600_000, scope: 'contributor' });
    expect(own.budget.windowMs).toBe(12 * 3_600_000);
  });

  it.each([
    [
      'epoch.every', 'budget: { epsilon: 8, delta: 1e-5, per: 5s }', 'budget.per',
      /renews more often than an epoch/,
    ],
    [
      'a duration', 'budget: { epsilon: 8, delta: 1e-5, per: monthly }', 'budget.per',
      /a number and a unit/,
    ],
    [
      'its own', 'budget: { population: travellers, per: 30d }', 'budget',
      /a name from the populations file/,
    ],
  ])('do not renew by %s', (_why, budget, path, message) => {
    const error = refusalOf(() => parse(fileWith({ budget }), { populations }));
    expect(error).toMatchObject({ code: 'invalid-study', details: { path } });
    expect(error.message).toMatch(message);
  });

  it('are named when another one is asked for', () => {
    expect(refusalOf(() =>
      parse(fileWith({ budget: 'budget: { population: pilots }' }), { populations })).message)
      .toContain('the populations are travellers');
  });

  it('are refused when a budget is not one', () => {
    const error = refusalOf(
      () => parsePopulationsText(
        'populations:\n  travellers: { epsilon: 0, delta: 1e-5 }\n', 'populations.yaml',
      ),
    );
    expect(error).toMatchObject(
      { code: 'invalid-study', details: { path: 'populations.travellers.epsilon', line: 2 } },
    );
  });
});

describe('enrolled keys', () => {
  const keys = [1, 2].map((seed) =>
    toHex(signing.createSigner(new Uint8Array(32).fill(seed)).publicKey));
  const admission = { admission: 'admission: { contributorKeys: enrolled.txt }' };
  const readText = (text: string) => ({
    readText: (path: string) => { expect(path).toBe('enrolled.txt'); return text; },
  });

  it('are pinned by a digest that does not depend on their order, and not published', () => {
    const one = parse(fileWith(admission), readText(
      `# enrolled\n${keys[0]}\n\n${keys[1]!.toUpperCase()} # second\n`,
    ));
    const other = parse(fileWith(admission), readText(keys.toReversed().join('\n')));
    expect(one.enrolled).toEqual(new Set(keys));
    expect(one.document).toEqual(other.document);
    expect(one.document.admission).toEqual({ kind: 'contributorKeys',
      digest: digestOfKeys(new Set(keys)) });
    expect(JSON.stringify(one.document)).not.toContain(keys[0]);
  });

  it.each([
    ['a line that is no key', 'xyz', 'not a public key'],
    ['a key twice', `${'KEY'}\n${'KEY'}`, 'twice'],
    ['a key of small order', '00'.repeat(32), 'small order'],
    ['no key', '# nobody\n', 'has no key'],
  ])('are refused for %s', (_name, text, words) => {
    expect(refusalOf(() => parseKeyList(text.replaceAll('KEY', keys[0]!), 'enrolled.txt')).message)
      .toContain(words);
  });

  it('are refused when their file cannot be read', () => {
    const missing = {
      readText: () => { throw Object.assign(new Error('gone'), { code: 'ENOENT' }); },
    };
    expect(refusalOf(() => parse(fileWith(admission), missing)))
      .toMatchObject({ details: { path: 'admission.contributorKeys' } });
    expect(refusalOf(() => parse(fileWith(admission))).message).toContain('cannot be read here');
  });
});

describe('admission', () => {
  const key = toHex(signing.createSigner(new Uint8Array(32).fill(3)).publicKey);
  const other = toHex(signing.createSigner(new Uint8Array(32).fill(4)).publicKey);

  it('by enrolment names the issuer in the facts, and lists nobody', () => {
    const { document, enrolled } = parse(fileWith({
      admission: `admission: { enrolment: { issuer: "${key.toUpperCase()}" } }`,
    }));
    expect(document.admission).toEqual({ kind: 'enrolment', issuer: key });
    expect(enrolled).toBeNull();
  });

  it('by a rate is for public participation', () => {
    const { document, enrolled } = parse(fileWith({
      participation: 'participation: public',
      admission: 'admission: { rate: { contributorKeys: 5, per: 1h } }',
    }));
    expect(document.admission).toEqual({ kind: 'rate', contributorKeys: 5, perMs: 3_600_000 });
    expect(enrolled).toBeNull();
  });

  it('by a list in the file is the same as by a file of keys', () => {
    const { document, enrolled } =
      parse(fileWith({ admission: `admission: { contributorKeys: ["${key}", "${other}"] }` }));
    expect(document.admission)
      .toEqual({ kind: 'contributorKeys', digest: digestOfKeys(new Set([key, other])) });
    expect(enrolled).toEqual(new Set([key, other]));
  });

  it.each([
    ['an issuer that is no key', '{ enrolment: { issuer: abc } }', 'admission'],
    ['an issuer under which signatures prove nothing', '{ enrolment: { issuer: '
      + `"${'00'.repeat(32)}" } }`,
      'admission.enrolment.issuer'],
    ['no issuer', '{ enrolment: {} }', 'admission'],
    ['a rate where presence is secret', '{ rate: { contributorKeys: 5, per: 1h } }',
      'admission.rate'],
    ['a rate of nobody', '{ rate: { contributorKeys: 0, per: 1h } }', 'admission'],
    ['two ways at once', `{ contributorKeys: ["${key}"], enrolment: { issuer: "${key}" } }`,
      'admission'],
    ['an empty list', '{ contributorKeys: [] }', 'admission'],
    ['a key twice', `{ contributorKeys: ["${key}", "${key}"] }`, ''],
  ])('is refused for %s', (_name, text, path) => {
    const error = refusalOf(() => parse(fileWith({ admission: `admission: ${text}` })));
    expect(error).toMatchObject({
      code: 'invalid-study', details: { path: expect.stringMatching(`^${path}`) as string },
    });
  });
});

describe('durations and near keys', () => {
  it('are read exactly', () => {
    expect(
      ['250ms', '10s', '1.5h', '5 m', '30d'].map(parseDuration),
    ).toEqual([250, 10_000, 5_400_000, 300_000, 2_592_000_000]);
    expect(
      ['', '10', 's', '-1s', '1e3s', '10s ', '0.0001ms', '10S'].map(parseDuration),
    ).toEqual(Array(8).fill(undefined));
  });

  it('are found', () => {
    expect(nearest('parameter', ['parameters', 'privacy'])).toBe('parameters');
    expect(nearest('Cohort', ['cohort'])).toBe('cohort');
    expect(nearest('xyz', ['cohort', 'late'])).toBeUndefined();
  });
});
