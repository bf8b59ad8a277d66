import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/sources.js';

/** A copy of the files that git has, and of the pages that the build makes. */
const copy = mkdtempSync(`${tmpdir()}/keelson-pages-`) + '/';
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const packed = (): string[] => {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(execFileSync('npm', words, {
    cwd: copy, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
  })) as [{ files: { path: string }[] }];
  return files.map(({ path }) => path);
};
const run = (step: 'before' | 'after'): unknown =>
  execFileSync(process.execPath, [`${copy}scripts/pack-pages.js`, step]);

/** Links of a packed page to files that are not packed. */
function deadLinks(page: string, paths: readonly string[]): string[] {
  const prose = readFileSync(copy + page, 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]*)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source!)
    .filter((link) => !/^([a-z]+:|#)/.test(link))
    .filter((link) => {
      const target = posix.join(posix.dirname(page), link.split('#')[0]!).replace(/\/$/, '');
      return !paths.some((path) => path === target || path.startsWith(`${target}/`));
    })
    .map((link) => `${page}: ${link}`);
}

describe('the pages of the package', () => {
  let paths: string[] = [];
  let pages: string[] = [];
  let asTheyWere: string[] = [];
  const texts = (): string[] => pages.map((page) => readFileSync(copy + page, 'utf8'));
  beforeAll(() => {
    const listed = ['ls-files', '-z', '-co', '--exclude-standard'];
    const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
    const without = /^(?:$|test\/|docs\/images\/|node_modules\/)/;
    for (const path of files.filter((each) => !without.test(each))) {
      cpSync(root + path, copy + path);
    }
    // The build has made some of its pages.
    cpSync(`${root}docs/reference`, `${copy}docs/reference`, { recursive: true });
    paths = packed();
    pages = paths.filter((path) => path.endsWith('.md'));
    asTheyWere = texts();
  });

  it('have no link that leads nowhere while they are packed', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/reference/protocol.md']));
    const dead = (): string[] => pages.flatMap((page) => deadLinks(page, paths));
    expect(dead().length).toBeGreaterThan(20);
    run('before');
    expect(dead()).toEqual([]);
    const readme = readFileSync(`${copy}README.md`, 'utf8');
    expect(readme).toContain('[The threat model](docs/concepts/threat-model.md)');
    expect(readme).toContain('speed | measured results |');
  });

  it('are as they were afterwards, also when a pack was interrupted', { tags: ['slow'] }, () => {
    run('before');
    run('before');
    expect(texts()).not.toEqual(asTheyWere);
    run('after');
    expect(texts()).toEqual(asTheyWere);
    run('after');
    expect([texts(), packed()]).toEqual([asTheyWere, paths]);
  });

  it('are those that messages name', () => {
    const named = sourceFiles().flatMap(({ text }) => {
      const code = text.replaceAll(/^ *(\/\/|\/?\*).*$/gm, '');
      return [...code.matchAll(/docs\/[\w/-]+\.(?:md|json)/g)].map(([page]) => page);
    });
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((page) => !paths.includes(page))).toEqual([]);
  });

  it('are made by npm itself', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect([scripts['prepack'], scripts['postpack']])
      .toEqual(['before', 'after'].map((step) => `node scripts/pack-pages.js ${step}`));
  });
});
