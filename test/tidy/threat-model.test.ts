import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

describe('the threat model', () => {
  it('names tests that exist beside every promise', () => {
    const page = readFileSync(`${root}docs/concepts/threat-model.md`, 'utf8');
    const promises = page.split('\n').filter((line) =>
      line.startsWith('| ') && line.split('|').length === 4)
      .filter((line) => !/^\| (promise|---)/.test(line));
    expect(promises.length).toBeGreaterThan(12);
    expect(promises.filter((line) => !line.includes('`test/'))).toEqual([]);
    const named = [...page.matchAll(/`(test\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(named.filter((path) => !existsSync(root + path))).toEqual([]);
  });
});
