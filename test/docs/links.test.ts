import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const listed = ['ls-files', '-co', '--exclude-standard', '*.md'];
const pages = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).trimEnd().split('\n');

/** Without fenced blocks: what looks like a link there is none. */
const prose = (path: string): string =>
  readFileSync(root + path, 'utf8').replaceAll(/^```[^]*?^```$/gm, '');

/** As GitHub and VitePress make them of headings of plain words. */
function anchorsOf(path: string): string[] {
  return [...prose(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\p{L}\p{N} -]/gu, '').replaceAll(' ', '-'));
}

/** Links between files of the repository, as [page, target, anchor]. */
const links = pages.flatMap((page) =>
  [...prose(page).matchAll(/\]\(([^)\s]*)\)|(?:src|srcset)="([^"]+)"/g)]
    .map(([, link, source]) => link ?? source!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .map((link) => {
      const [path, anchor] = link.split('#') as [string, string?];
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      return { page, link, target, anchor };
    }));

describe('links of the pages', () => {
  it('lead to files that exist', () => {
    // The build of the site judges links between its pages, some of which it makes.
    const others = links
      .filter(({ page, target }) => !(page.startsWith('docs/') && target.endsWith('.md')));
    expect(others.length).toBeGreaterThan(40);
    const dead = others.filter(({ target }) => !existsSync(root + target));
    expect(dead.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
  });

  it('lead to headings that exist', () => {
    const anchored = links
      .filter(({ anchor, target }) => anchor !== undefined && existsSync(root + target));
    expect(anchored.length).toBeGreaterThan(5);
    const dead = anchored.filter(({ target, anchor }) => !anchorsOf(target).includes(anchor!));
    expect(dead.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
  });
});
