import { describe, expect, it } from 'vitest';
import * as exported from '../../src/estimators/index.js';
import { estimators } from '../../src/estimators/registry.js';
import { table } from '../../src/estimators/table.js';

describe('the table of estimators', () => {
  it('makes the registry, in its order', () => {
    expect(estimators.map(({ name }) => name)).toEqual(table.map(({ name }) => name));
    expect(estimators.every((estimator) => Object.isFrozen(estimator))).toBe(true);
  });

  it('makes one export of each estimator, under its name in camel case', () => {
    const byExport = Object.entries(exported).map(([key, { name }]) =>
      [key, name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())]);
    expect(byExport).toHaveLength(table.length);
    for (const [key, name] of byExport) expect(key).toBe(name);
  });

  it('lists the recommended ones first', () => {
    const isResearch = estimators.map(({ maturity }) => maturity === 'research');
    expect(isResearch).toEqual([...isResearch].sort());
  });
});
