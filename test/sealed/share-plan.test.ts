import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidParameterError } from '../../src/base/errors.js';
import type { ParameterValues } from '../../src/base/facts.js';
import { sealedProgramOf, sealedEstimators } from '../../src/sealed/programs/table.js';
import { sharePlanOf, type SharedQuestion } from '../../src/sealed/shares/share-plan.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { sealedFacts } from '../support/sealed-rows.js';

const range = [[0, 64], [-32, 32]] as const;
const numbers: ParameterValues = { spread: [4, 4] };
const asked = (
  estimator: string, parameters: ParameterValues,
  sealed: SharedQuestion['sealed'] = { bits: 16, range },
): SharedQuestion => ({ estimator, parameters, columns: 2, sealed });

const questions: readonly SharedQuestion[] = [
  asked('count', {}),
  asked('count', { column: 1, threshold: 0.5, side: 'at-least' }),
  asked('count', { column: 1, threshold: 0.5, side: 'below' }),
  asked('histogram', { column: 0, edges: [1, 2, 8, 40] }),
  asked('quantile', { column: 1, range: [-8, 8, -8, 8], probabilities: [0.5] }),
  asked('mean', { ...numbers, radius: 4 }),
  asked('robust-mean', { ...numbers, shape: 'light', corruption: 0.05 }),
];
/** The same, where a contributor may have no row. Counts may be split by three keys. */
const partial: readonly SharedQuestion[] = [
  ...questions.map((question) => ({ ...question, isPartial: true })),
  ...questions.filter(({ estimator }) => estimator === 'count')
    .map((question) => ({ ...question, columns: 3, isPartial: true, keys: 3 })),
];

describe('what a client shares from the facts alone', () => {
  it('has a case here for every estimator with a program', () => {
    const here = new Set(questions.map(({ estimator }) => estimator));
    expect(sealedEstimators.filter((name) => !here.has(name))).toEqual([]);
  });

  it.each(questions)('is what the program wants: $estimator $parameters', (question) => {
    const program = sealedProgramOf(sealedFacts(2, 1000, 0.1), question);
    const { form, valuesOf } = sharePlanOf(question);
    expect(form).toEqual(program.form);
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: -70, max: 70, noNaN: true }),
      fc.constantFrom(-8, 0, 0.5, 1, 8, 40, 64),
    );
    fc.assert(fc.property(value, value, (first, second) => {
      expect(valuesOf([first, second])).toEqual(program.valuesOf([first, second]));
    }), { numRuns: 200, seed: 22 });
  });

  it.each(partial)('is what the program wants, and none has its form: $estimator $keys '
    + '$parameters', (question) => {
    const dimension = question.columns;
    const program = sealedProgramOf(sealedFacts(dimension, 1000, 0.1), question);
    const { form, valuesOf } = sharePlanOf(question);
    expect(form).toEqual(program.form);
    const value = fc.double({ min: -70, max: 70, noNaN: true });
    fc.assert(fc.property(fc.nat(2), value, value, (key, first, second) => {
      const row = dimension === 3 ? [key, first, second] : [first, second];
      const values = valuesOf(row);
      expect(values).toEqual(program.valuesOf(row));
      expect(values).toHaveLength(form.count);
      expect(Math.max(...values)).toBeLessThan(2 ** form.bits);
    }), { numRuns: 100, seed: 22 });
    const none = valuesOf(null);
    expect(none).toEqual(program.valuesOf(null));
    expect(none).toHaveLength(form.count);
    // Nobody else shares it, but in a count whose other bin is not opened.
    if (question.estimator !== 'count') expect(valuesOf([1, 1])).not.toEqual(none);
  });

  it.each<[string, SharedQuestion, string]>([
    ['no program', asked('robust-covariance', {}), 'estimator'],
    ['no range', asked('mean', numbers, { bits: 16 }), 'sealed.range'],
    ['a range too few', asked('mean', numbers, { bits: 16, range: [[0, 1]] }), 'sealed.range'],
    ['a spread to be found', asked('mean', { spread: 'auto' }), 'parameters.spread'],
    ['another shape', asked('robust-mean', { ...numbers, shape: 'any' }), 'parameters.shape'],
    ['a range beside that of the rows', asked('robust-mean', {
      ...numbers, shape: 'light', corruption: 0.05, range: [0, 1],
    }), 'parameters.range'],
    ['no edges', asked('histogram', { width: 2 }), 'parameters.edges'],
    ['an answer for each key', { ...asked('mean', numbers), isPartial: true, keys: 3 }, 'by'],
    ['an empty range', asked('quantile', { range: [1, 1, 1, 1] }), 'parameters.range'],
  ])('is refused with %s', (_, question, path) => {
    let found: unknown;
    try {
      sealedProgramOf(sealedFacts(2, 1000, 0.1), question);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(InvalidParameterError);
    expect((found as InvalidParameterError).details['path']).toBe(path);
  });

  it.each<[string, StudyFacts['keys'], string | undefined]>([
    ['keys that are found', { list: 'discovered', groupsMax: 1, top: 3, prefilter: 1 },
      'by.discover'],
    ['several keys of one person', { list: 'public', groupsMax: 2, count: 3 }, 'by.groupsMax'],
    ['too many keys', { list: 'public', groupsMax: 1, count: 256 }, undefined],
  ])('is refused with %s', (_, keys, path) => {
    const question = { ...asked('count', {}), isPartial: true, keys: keys!.list === 'public'
      ? keys!.count : Infinity };
    let found: unknown;
    try {
      sealedProgramOf({ ...sealedFacts(2, 1000, 0.1), keys: keys! }, question);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(InvalidParameterError);
    expect((found as InvalidParameterError).details['path']).toBe(path);
  });
});
