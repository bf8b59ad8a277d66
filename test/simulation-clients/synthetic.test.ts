import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reduceRows, syntheticSource } from '../../simulation/index.js';
import { fittedRows, inventedTexts, madeUpTexts } from '../../simulation/data/synthetic.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { estimators } from '../../src/estimators/registry.js';
import { utf8 } from '../../src/base/bytes.js';
import type { ShortFacts, StudyDocument } from '../../src/wire/study-document.js';
import { studyDocument } from '../support/hub-bench.js';
import { sampleParameters } from '../support/sample-parameters.js';
import { sampleStudies } from '../support/sample-studies.js';
import { root } from '../support/sources.js';

const seed = utf8('made-up rows');
const rowsOf = (document: StudyDocument, contributor = 3, rows = 2): Float64Array =>
  syntheticSource(document, rows, seed)(contributor, 5n, document.study);
const study = (
  estimator: string, parameters: ShortFacts['parameters'], columns = ['a', 'b'],
): StudyDocument =>
  studyDocument({ estimator, parameters, columns });
/** Of one column over a hundred contributors. */
const valuesOf = (document: StudyDocument, column: number): number[] => {
  const source = syntheticSource(document, 1, seed);
  return Array.from({ length: 100 }, (_, i) => source(i, 1n, document.study)[column]!);
};
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

describe('made-up rows', () => {
  it.each(estimators.map(({ name }) =>
    name))('of %s are finite, of its columns, and the same each time', (name) => {
    const { parameters: specs } = estimators.find((estimator) => estimator.name === name)!;
    const document = study(name, parseParameters(specs, sampleParameters(name), { dimension: 2 }));
    const values = rowsOf(document);
    expect(values).toHaveLength(4);
    expect(values.every(Number.isFinite)).toBe(true);
    expect(rowsOf(document)).toEqual(values);
    expect(rowsOf(document, 4)).not.toEqual(values);
  });

  it.each(sampleStudies(root))('fit the sample study $name', ({ name, text }) => {
    const { document } = parseStudyText(text, { name });
    const values = rowsOf(document, 1, 1);
    expect(values).toHaveLength(document.columns.length);
    expect(values.every(Number.isFinite)).toBe(true);
  });

  it('lie where the public parameters expect them', () => {
    expect(mean(valuesOf(study('quantile', { column: 1, range: [-60, 240, -60, 240] }), 1)))
      .toBeCloseTo(90, -2);
    expect(mean(valuesOf(study('histogram', { column: 0, edges: [100, 120, 140] }), 0)))
      .toBeCloseTo(120, -1);
    expect(mean(valuesOf(study('count', { column: 0, threshold: 1000 }), 0))).toBeCloseTo(1000, -3);
    expect(mean(valuesOf(study('mean', { spread: [2, 500] }), 1))).toBeCloseTo(1000, -3);
    const hypotheses = JSON.stringify([
      { normal: { mean: 70, deviation: 1 } }, { normal: { mean: 0, deviation: 1 } },
    ]);
    expect(mean(valuesOf(study('select', { hypotheses }, ['a']), 0))).toBeCloseTo(70, 0);
  });

  it('of several questions lie in the ranges of the columns', () => {
    const text = readFileSync(`${root}studies/rides-questions.yaml`, 'utf8');
    const { document } = parseStudyText(text, { name: 'rides-questions.yaml' });
    expect(Math.abs(mean(valuesOf(document, 0)) - 120)).toBeLessThan(12);
    expect(Math.abs(mean(valuesOf(document, 1)) - 10)).toBeLessThan(2);
    expect(new Set(valuesOf(document, 3)).size).toBeGreaterThan(2);
  });

  it('are places in made-up texts where a column is of texts', () => {
    const text = readFileSync(`${root}studies/apps-nobody-listed.yaml`, 'utf8');
    const { document } = parseStudyText(text, { name: 'apps-nobody-listed.yaml' });
    const places = new Set(valuesOf(document, 0));
    expect(places.size).toBeGreaterThan(2);
    for (const place of places) expect(madeUpTexts[place]).toMatch(/^[a-h]$/);
  });

  it('leave other texts to attackers, as many as a column has room for', () => {
    const text = readFileSync(`${root}studies/apps-nobody-listed.yaml`, 'utf8');
    for (const bytes of [1, 2, 32]) {
      const { document } = parseStudyText(text.replace('bytes: 32', `bytes: ${bytes}`), {
        name: 'apps-nobody-listed.yaml',
      });
      const invented = inventedTexts(document);
      expect(invented.length).toBe({ 1: 18, 2: 36, 32: 4096 }[bytes]);
      const all = [...madeUpTexts, ...invented];
      expect(new Set(all).size).toBe(all.length);
      expect(all.every((each) => utf8(each).length <= bytes)).toBe(true);
      const last = all.length - 1;
      expect([...fittedRows(Float64Array.of(last, 5), document, all)]).toEqual([last, 5]);
      expect([...fittedRows(Float64Array.of(1e6, 5), document)]).toEqual([7, 5]);
    }
    expect(inventedTexts(study('mean', {}))).toEqual([]);
  });

  it('of one contributor add up to what bounds of a sum expect, and lie in a range', () => {
    const document = study('sum', { cap: [100, 8] });
    const [question] = document.questions;
    const added = { ...document, questions: [{ ...question!, reduce: 'sum' as const }] };
    const totals = Array.from({ length: 100 }, (_, i) => reduceRows(rowsOf(added, i, 8), 2, 'sum'));
    expect(mean(totals.map(([total]) => total!))).toBeCloseTo(50, -1);
    expect(Math.max(...totals.map(([, total]) => total!))).toBeLessThan(8);
    expect(mean(valuesOf(study('mean', { range: [0, 1, -30, -20] }), 1))).toBeCloseTo(-25, 0);
  });

  it('hold the relation of a subspace, in whole units', () => {
    const values = rowsOf(study('subspace', { unit: 0.5, form: 'linear' }, ['a', 'b', 'c']), 7, 3);
    for (let i = 0; i < 9; i += 3) {
      expect(values[i + 2]).toBe(values[i]! + values[i + 1]!);
      expect(Number.isInteger(2 * values[i]!)).toBe(true);
    }
  });

  it('are of as many kinds as a mixture has components, in steps of its resolution', () => {
    const values = valuesOf(study('mixture-1d', { components: 3, resolution: 1 }, ['a']), 0);
    expect(values.every(Number.isInteger)).toBe(true);
    const kinds = [0, 1, 2].map((kind) => mean(values.filter((_, i) => i % 3 === kind)));
    expect(kinds[1]! - kinds[0]!).toBeGreaterThan(15);
    expect(kinds[2]! - kinds[1]!).toBeGreaterThan(15);
  });
});
