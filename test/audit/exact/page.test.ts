import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mechanismChecks } from '../../../src/audit/exact/mechanism-cases.js';
import { estimators } from '../../../src/estimators/registry.js';
import { sealedEstimators } from '../../../src/sealed/programs/table.js';
import { root } from '../../support/sources.js';

const page = readFileSync(`${root}docs/results/exactness.md`, 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));

describe('the page of what is checked without sampling', () => {
  it('has every registered estimator, every mechanism and every sealed program', () => {
    const titles = rows.map(([title]) => title);
    const missing = [
      ...[...estimators, ...mechanismChecks].map(({ name }) => name),
      ...sealedEstimators.map((name) => `sealed ${name}`),
    ].filter((name) => !titles.includes(name));
    expect(missing).toEqual([]);
  });

  it('says of each that it has no fault', () => {
    const counted = rows.filter((cells) => /^\d+$/.test(cells.at(-1)!));
    expect(counted.length).toBeGreaterThan(estimators.length);
    expect(counted.filter((cells) => cells.at(-1) !== '0')).toEqual([]);
  });
});
