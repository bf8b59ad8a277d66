import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeAnswer, numbersByFacts, type Described } from '../../src/answers/describe.js';
import { labelsOf } from '../../src/answers/words.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import { decodeReleaseBody, encodeReleaseBody } from '../../src/wire/index.js';
import { statedBy } from '../../src/wire/numbers-body.js';
import { recordLines } from '../../scripts/record-lines.js';
import { root } from '../support/sources.js';
import { releaseOf } from '../support/wire-samples.js';

/*
 * What releases state of their numbers, for readers in other languages: the bytes of a release, the
 * short name of each number, and what is stated of it. A later version may state more of the same
 * facts, and never something else: then logs would no longer verify.
 * `KEELSON_WRITE_VECTORS=1 npx vitest run test/vectors/numbers.test.ts` writes the file anew.
 */

const path = `${root}test/vectors/numbers.json`;
const written = process.env['KEELSON_WRITE_VECTORS'] === '1';

interface Vector {
  readonly name: string;
  readonly release: string;
  readonly names: readonly string[];
  readonly stated: readonly object[];
}

interface Sample extends Described {
  readonly entries: number;
  readonly groups?: readonly (readonly string[])[];
  readonly parts?: ValueOutcome['parts'];
}

const hours = { columns: ['hours'], columnWords: [{ unit: 'hours', label: 'Hours' }] };
const pair = {
  columns: ['delay', 'distance'], columnWords: [{ unit: 'minutes' }, {}], parameters: {},
};
const regions = {
  columns: ['region'], types: [{ type: 'category' as const, of: ['north', 'Zürich'] }],
};

/** One of each kind of number, and of each way to state it. */
const samples: Readonly<Record<string, Sample>> = {
  'means of two columns': { ...pair, estimator: 'mean', entries: 2 },
  'mean of yes or no': {
    estimator: 'mean', columns: ['late'], types: [{ type: 'boolean' }], parameters: {}, entries: 1,
  },
  'contributors': { estimator: 'count', columns: [], parameters: {}, entries: 1 },
  'contributors on a side': {
    estimator: 'count', columns: ['age'], parameters: { threshold: 18, side: 'below' }, entries: 1,
  },
  'contributors who say yes': {
    estimator: 'count', columns: ['late'], types: [{ type: 'boolean' }],
    parameters: { threshold: 1, side: 'at-least' }, entries: 1,
  },
  'distinct groups': { estimator: 'count', columns: [], parameters: { of: 'groups' }, entries: 1 },
  'contributors in groups': {
    estimator: 'count', columns: [], parameters: {}, entries: 3,
    groups: [['false', 'north'], ['true', 'north'], ['true', 'Zürich']],
  },
  'share on a side': {
    ...hours, estimator: 'share', parameters: { threshold: 0.1, side: 'at-least' }, entries: 1,
  },
  'bins': {
    ...hours, estimator: 'histogram', parameters: { edges: [-5, 0.1, 0.2, 1e21, 1e22] },
    entries: 6,
  },
  'bins of a category': {
    ...regions, estimator: 'histogram', parameters: { edges: [0.5] }, entries: 2,
  },
  'bins found': {
    ...hours, estimator: 'histogram', parameters: { top: 2, width: 0.5 }, entries: 4,
  },
  'distribution': {
    ...hours, estimator: 'distribution',
    parameters: { probabilities: [0.25, 0.5], range: [0, 24], cells: 3 }, entries: 7,
  },
  'quantiles': {
    ...hours, estimator: 'quantile', entries: 7, parameters: {
      range: [0, 24], probabilities: [0.01, 0.07, 0.11, 0.22, 0.5, 0.93, 0.999],
    },
  },
  'totals': {
    ...pair, estimator: 'sum', parameters: { range: [0, 60, -1e-7, 0.00001] }, entries: 2,
  },
  'total up to a cap that is found': {
    ...hours, estimator: 'sum', parameters: { 'cap': 'auto', 'cap-max': [1000] }, entries: 1,
  },
  'ratio': { ...pair, estimator: 'ratio', entries: 1 },
  'median': { ...hours, estimator: 'tukey-median', parameters: {}, entries: 1 },
  'covariance': { ...pair, estimator: 'covariance', entries: 4 },
  'means and covariance': { ...pair, estimator: 'gaussian', entries: 6 },
  'normals in one column': {
    ...hours, estimator: 'mixture-1d', parameters: { components: 2 }, entries: 6,
  },
  'normals in two columns': {
    ...pair, estimator: 'mixture', parameters: { components: 2 }, entries: 14,
  },
  'subspace': { ...pair, estimator: 'subspace', entries: 5 },
  'moments': { ...pair, estimator: 'stable-moments', parameters: { order: 4 }, entries: 28 },
  'moments along directions': {
    ...pair, estimator: 'stable-moments', parameters: { order: 3, directions: '[[1,1]]' },
    entries: 9,
  },
  'choice': {
    ...hours, estimator: 'select', entries: 1,
    parameters: { hypotheses: '[{"normal":{"deviation":4,"mean":10}},{"uniform":[0,1]}]' },
  },
  'an estimator of another version, by columns': { ...pair, estimator: 'from-later', entries: 2 },
  'an estimator of another version, by parts': {
    ...pair, estimator: 'from-later', entries: 3,
    parts: [{ name: 'centre', shape: [2] }, { name: 'spread', shape: [1] }],
  },
  'an estimator of another version': { ...pair, estimator: 'from-later', entries: 5 },
};

function outcomeOf({ entries, groups, parts, ...asked }: Sample): ValueOutcome {
  const estimate = Array.from({ length: entries }, (_, i) => 2 + i / 4);
  const outcome = {
    kind: 'value', estimate, shape: [entries], uncertainty: { kind: 'none' },
    interval95: { low: estimate.map((each) => each - 1), high: estimate.map((each) => each + 1) },
    ...(groups !== undefined && { groups }), ...(parts !== undefined && { parts }),
  } as const;
  return { ...outcome, numbers: numbersByFacts(asked, outcome) };
}

const vectors: readonly Vector[] = Object.entries(samples).map(([name, sample]) => {
  const outcome = outcomeOf(sample);
  const numbers = outcome.numbers!;
  const { estimator, columns } = sample;
  const release = encodeReleaseBody(releaseOf(outcome, { estimator, columns }));
  return {
    name, release: toHex(release), names: labelsOf(numbers),
    stated: numbers.map((number) => JSON.parse(JSON.stringify(statedBy(number))) as object),
  };
});

describe('what a release states of its numbers', () => {
  it('is what it was', () => {
    if (written) writeFileSync(path, recordLines(vectors));
    expect(vectors).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });

  it.each(Object.entries(samples))('is read from the signed bytes: %s', (name, sample) => {
    const { release } = vectors.find((each) => each.name === name)!;
    const { answers: [answer] } = decodeReleaseBody(fromHex(release));
    const outcome = answer!.outcome as ValueOutcome;
    expect(outcome).toEqual(outcomeOf(sample));
    // Whoever has the bytes needs no facts.
    expect(describeAnswer({ estimator: 'unknown', columns: [], parameters: {} }, outcome))
      .toEqual(describeAnswer(sample, outcome));
  });

  it('shows each kind of number', () => {
    const kinds = new Set(vectors.flatMap(({ stated }) =>
      stated.map((each) => (each as { kind: string }).kind)));
    expect(kinds.size).toBe(22);
  });
});
