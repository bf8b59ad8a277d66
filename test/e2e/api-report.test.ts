import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apiReports } from '../../scripts/api-report.js';
import { root } from '../support/sources.js';

const folder = `${root}test/e2e/api`;

describe('the report of the public entries', () => {
  const reports = apiReports();

  it('has a file for each entry, and no other', () => {
    expect(readdirSync(folder).sort()).toEqual([...reports.keys()].sort());
  });

  it.each([...reports.keys()])('shows what the build exports: %s', (name) => {
    const tracked = readFileSync(`${folder}/${name}`, 'utf8');
    expect(tracked, 'write it anew by `node scripts/api-report.js`').toBe(reports.get(name));
  });
});
