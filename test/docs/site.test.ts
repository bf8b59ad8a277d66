import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';

const folder = scratchFolder('site');

const listed = ['ls-files', '-co', '--exclude-standard', 'docs/*.md'];
const pages = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).trimEnd().split('\n');

interface Markdown {
  render(text: string, env: object): string;
  use(plugin: unknown): Markdown;
}

async function loaded(path: string): Promise<Record<string, unknown>> {
  return await import(`${root}${path}`) as Record<string, unknown>;
}

describe('the site', () => {
  it('is built from every page, and has no dead link', { tags: ['slow'] }, () => {
    const words = ['node_modules/vitepress/bin/vitepress.js', 'build', 'docs', '--outDir', folder];
    const options = { cwd: root, encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
    expect(status, `${stdout}\n${stderr}`).toBe(0);
    const builtFrom = (page: string): string => page.replace(/^docs\/(.*)\.md$/, '$1.html');
    const missing = pages.filter((page) => !existsSync(join(folder, builtFrom(page))));
    expect(missing).toEqual([]);
  });

  it('shows every page in its sidebar', async () => {
    const { default: site } = await loaded('docs/.vitepress/config.js') as {
      default: { themeConfig: { sidebar: { items: { link: string }[] }[] } };
    };
    const shown = site.themeConfig.sidebar.flatMap(({ items }) => items)
      .map(({ link }) => `docs${link}.md`);
    expect(pages.filter((page) => page !== 'docs/index.md' && !shown.includes(page))).toEqual([]);
  });

  it('keeps the text of links to files that are no pages, and refuses dead ones', async () => {
    const { repositoryLinks } = await loaded('docs/.vitepress/links.js') as {
      repositoryLinks: (at: string) => unknown;
    };
    const { default: markdownIt } = await import('markdown-it') as unknown as {
      default: () => Markdown;
    };
    const place = join(folder, 'links/');
    mkdirSync(join(place, 'src'), { recursive: true });
    writeFileSync(join(place, 'src/code.ts'), '');
    const markdown = markdownIt().use(repositoryLinks(place));
    const env = { relativePath: 'guides/page.md' };
    const rendered = (text: string): string => markdown.render(text, env);
    expect(rendered('[code](../../src/code.ts)')).toBe('<p>code</p>\n');
    expect(rendered('[page](../start/install.md)')).toContain('<a href="../start/install.md">');
    expect(rendered('[out](https://example.org)')).toContain('<a href="https://example.org">');
    expect(() => rendered('[gone](../../src/gone.ts)'))
      .toThrow('guides/page.md links to ../../src/gone.ts');
  });
});
