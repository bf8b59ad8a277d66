import { readFileSync } from 'node:fs';
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
