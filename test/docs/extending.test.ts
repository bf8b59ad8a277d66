import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const page = readFileSync(`${root}docs/internals/extending.md`, 'utf8');

/** The files of the first column of the table in a section. */
function filesOf(section: string): readonly string[] {
  const text = page.slice(page.indexOf(`## ${section}\n`)).split('\n## ')[0]!;
  return [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, path]) => path!);
}

describe('how to extend Keelson', () => {
  it('lists files that know a row test', () => {
    const listed = filesOf('A kind of row test');
    expect(listed.length).toBeGreaterThan(5);
    for (const path of listed) {
      expect(readFileSync(root + path, 'utf8'), path).toMatch(/below/);
    }
  });
});
