import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { estimators } from '../../src/estimators/registry.js';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/papers.md`, 'utf8');
const papers = ['KSU20', 'LKKO21', 'AL22', 'KMV22', 'AMN24'];

describe('the page of the papers', () => {
  const citing = estimators.filter(({ citations }) =>
    citations.some(({ key }) => papers.includes(key)));

  it.each(citing)('says which theorem holds for $name', ({ name }) => {
    expect(page).toContain(`\`${name}\``);
  });

  it('has a section for each paper', () => {
    expect(page.match(/^## /gm)).toHaveLength(papers.length);
  });
});
