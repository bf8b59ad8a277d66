import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import type { Outcome } from '../../src/base/outcome.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { forms, samples } from '../compliance/samples.js';
import type { ComplianceSample } from '../../src/kit/sample.js';
import { dataSource, type DataSource } from '../support/data.js';
import { factsOf, planOf, releaseOf } from '../support/offline.js';
import { root } from '../support/sources.js';

/*
 * What every estimator releases under a fixed seed. A change of the code that moves no promise
 * moves
 * no byte here. `KEELSON_WRITE_VECTORS=1 npx vitest run test/vectors/releases.test.ts` writes the
 * file anew; say in the commit why the bytes may change.
 */

const path = `${root}test/vectors/releases.json`;
const written = process.env['KEELSON_WRITE_VECTORS'] === '1';
const known = written ? {} : JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;

/**
 * The seeds of forms that were estimators of their own, and of cases with another name. Their bytes
 * are as they were then, so that these are the same releases.
 */
const seededAs: Readonly<Record<string, string>> = {
  'stable-mean': 'stable-mean-dual',
  'stable-mean in its reference variant': 'stable-mean',
  'prime in one direction': 'spectral-filter',
  'heavy-tailed from groups': 'heavy-tailed-1d',
  'heavy-tailed by candidates': 'heavy-tailed-pure',
  'subsample-covariance': 'covariance from groups',
  'prime in its reference variant, in one direction': 'spectral-filter in its reference variant',
  'spread found': 'scale found',
};

interface Case {
  readonly name: string;
  readonly seed: string;
  readonly estimator: string;
  readonly sample: ComplianceSample;
  readonly row: (data: DataSource, i: number) => Float64Array;
}

/** One row in twenty is far off, all in the same place. */
const withLiars = (sample: ComplianceSample): Case['row'] => (data, i) =>
  (i % 20 === 7 ? sample.honest(data).fill(6 * sample.unit) : sample.honest(data));

/** Rows in integers, far from zero. */
const inIntegers = (sample: ComplianceSample): Case['row'] => (data) =>
  sample.honest(data).map((entry) => Math.round(entry) + 40);

function casesOf(estimator: string, sample: ComplianceSample, form: string): Case[] {
  const name = `${estimator}${form}`;
  const caseOf = (of: string, row: Case['row'], own = sample): Case => ({
    name: `${name}, ${of}`, seed: `${seededAs[name] ?? name}, ${seededAs[of] ?? of}`,
    estimator, sample: own, row,
  });
  const honest: Case['row'] = (data) => sample.honest(data);
  const cases = [
    caseOf('honest rows', honest), caseOf('one row in twenty far off', withLiars(sample)),
  ];
  // Variants have two cases, unless they were estimators of their own.
  const isVariant = form !== '' && (seededAs[name] ?? name).includes(' ');
  if (!sample.location || isVariant) return cases;
  cases.push(caseOf('integers', inIntegers(sample)));
  const takes =
    findEstimator(estimator).parameters.find((parameter) => parameter.name === 'spread');
  if (takes?.choices?.includes('auto') !== true) return cases;
  const parameters = { ...sample.parameters, spread: 'auto' };
  return [...cases, caseOf('spread found', honest, { ...sample, parameters })];
}

const cases: readonly Case[] = [
  ...Object.entries(samples).flatMap(([name, sample]) => casesOf(name, sample, '')),
  ...forms.flatMap(([name, sample, form = ' in its reference variant']) =>
    casesOf(name, sample, form)),
];

/** Numbers by their bits. */
function digestOf(outcome: Outcome): string {
  const hash = createHash('sha256');
  const feed = (value: unknown): void => {
    if (typeof value === 'number') hash.update(Float64Array.of(value));
    else if (Array.isArray(value)) value.forEach(feed);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, entry] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
        hash.update(`${key}:`);
        feed(entry);
      }
    } else hash.update(String(value));
  };
  feed(outcome);
  return `${outcome.kind} ${toHex(hash.digest().subarray(0, 16))}`;
}

describe('a release under a fixed seed', () => {
  const found: Record<string, string> = {};
  it.each(cases)('has the bytes it had: '
    + '$name', { tags: ['long'] }, async ({ name, seed, estimator, sample, row }) => {
    const { dimension, cohort, parameters } = sample;
    const data = dataSource(`vector of ${seed}`);
    const rows = Array.from({ length: cohort }, (_, i) => row(data, i));
    const plan = planOf(estimator, parameters, factsOf(dimension, cohort));
    found[name] = digestOf(await releaseOf(plan, dimension, rows, seed));
    if (!written) expect(found[name]).toBe(known[name]);
  });

  it('is known for every case', () => {
    if (written) writeFileSync(path, `${JSON.stringify(found, null, 2)}\n`);
    else expect(Object.keys(known)).toEqual(cases.map(({ name }) => name));
  });
});
