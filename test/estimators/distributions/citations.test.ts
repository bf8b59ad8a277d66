import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mixture } from '../../../src/estimators/distributions/mixture/mixture.js';
import { mixture1d } from '../../../src/estimators/distributions/mixture-1d/mixture-1d.js';
import { keelson } from '../../support/command.js';
import { root } from '../../support/sources.js';

const paper = 'Sample-efficient private learning of mixtures of Gaussians. NeurIPS 2024.';

describe('the source of the mixtures', () => {
  it.each([mixture1d, mixture])(
    '$name cites the paper that it follows', { tags: ['long'] }, async ({ name, citations }) => {
      expect(citations.map(({ key }) => key)).toEqual(['AMN24']);
      expect(citations[0]!.text).toBe(`H. Ashtiani, M. Majid, S. Narayanan. ${paper}`);
      const { stdout } = await keelson(['estimators', name]);
      expect(stdout.replaceAll(/\s+/g, ' '))
        .toContain(`[AMN24] H. Ashtiani, M. Majid, S. Narayanan. ${paper}`);
    },
  );

  it('docs/internals/mixtures.md says what of the paper is implemented', () => {
    const page = readFileSync(`${root}docs/internals/mixtures.md`, 'utf8');
    expect(page).toContain('H. Ashtiani, M. Majid, S. Narayanan');
    for (const part of [
      'Algorithm 1', 'Algorithm 2', 'Algorithm 3', 'lemma F.5', 'theorems 1.4 and 1.5',
    ]) {
      expect(page).toContain(part);
    }
  });
});
