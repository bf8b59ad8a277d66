import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { blocksOf } from '../support/doc-pages.js';
import { root } from '../support/sources.js';

it.each([
  ['count-by-country', 'people-by-country'], ['median-per-device', 'median-by-device'],
])('the guide %s has the study file that it names', (guide, study) => {
  const path = `docs/guides/${guide}.md`;
  const text = readFileSync(root + path, 'utf8');
  const [block] = blocksOf(path, text).filter(({ notes }) => notes[0] === `${study}.yaml`);
  const { epoch, ...shown } = parse(block!.text) as { readonly epoch: unknown };
  const sample = parse(readFileSync(`${root}studies/${study}.yaml`, 'utf8')) as object;
  expect(epoch).toEqual({ every: '1d' });
  expect(sample).toEqual({ ...shown, epoch: { every: '1m' } });
  expect(text).toContain(`](../images/${study}.png)`);
});

it('the guide on sealed studies has the study file that it names', () => {
  const path = 'docs/guides/sealed-study.md';
  const blocks = blocksOf(path, readFileSync(root + path, 'utf8')).map(({ text }) => text);
  const sample = readFileSync(`${root}studies/commute-questions.yaml`, 'utf8');
  expect(blocks.find((text) => text.includes('questions:'))).toBe(sample.replace(/^#.*\n/gm, ''));
});

it.each([
  ['total-of-a-cost', 'delay-total'], ['whole-distribution', 'delay-distribution'],
  ['several-questions', 'rides-questions'], ['totals-over-weeks', 'riders-total'],
  ['groups-nobody-listed', 'apps-nobody-listed'],
])('the guide %s shows the page of the study %s', (guide, study) => {
  const text = readFileSync(`${root}docs/guides/${guide}.md`, 'utf8');
  expect(text).toContain(`](../images/${study}.png)`);
  for (const file of [`studies/${study}.yaml`, `docs/images/${study}.png`]) {
    expect(existsSync(root + file), file).toBe(true);
  }
});
