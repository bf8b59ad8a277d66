import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import * as estimators from '../../src/estimators/index.js';
import type { Estimator } from '../../src/estimators/contract/estimator.js';
import { root } from '../support/sources.js';

it('gives each estimator the type of its own name', () => {
  const text = readFileSync(`${root}src/estimators/index.ts`, 'utf8');
  const typed = [...text.matchAll(/export const (\w+) =\s+\/\*.*\*\/ guarded<'([\w-]+)'>/g)];
  expect(typed.length).toBe(Object.keys(estimators).length);
  const byExport = estimators as Readonly<Record<string, Estimator>>;
  for (const [, exported, name] of typed) expect(byExport[exported!]!.name).toBe(name);
});
