import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

describe('the reference of the library', () => {
  it('is made from every entry of the package, under the name that programs import', () => {
    const { exports } = JSON.parse(read('package.json')) as {
      readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
    };
    const { entryPoints } = JSON.parse(read('typedoc.json')) as { readonly entryPoints: string[] };
    const sources = Object.entries(exports).flatMap(([entry, target]) => {
      if (typeof target === 'string') return [];
      const path = target.types.replace('./dist/', '').replace('.d.ts', '.ts');
      // Forms for browsers have the types of the others.
      return entry.endsWith('/browser') ? [] : [{ path, name: entry.replace('.', 'keelson') }];
    });
    expect(sources.map(({ path }) => path).sort()).toEqual([...entryPoints].sort());
    for (const { path, name } of sources) {
      expect(existsSync(`${root}${path}`)).toBe(true);
      expect(read(path)).toMatch(new RegExp(`^/\\*\\*[^]*?\\n \\* @module ${name}\\n`));
    }
  });
});
