import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { root } from './sources.js';

/** A fenced block of a page. */
export interface Block {
  /** First word after the fence; empty when there is none. */
  readonly language: string;
  /** The other words after the fence: what a test does with the block. */
  readonly notes: readonly string[];
  readonly text: string;
  /** Where the fence is, like `docs/index.md:12`. */
  readonly place: string;
}

export interface Page {
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

/** Every page that people read, without those that a script makes. */
export function documentedPages(): readonly Page[] {
  const wanted = ['docs/*.md', 'README.md', 'CONTRIBUTING.md', 'examples/*.md'];
  const words = ['ls-files', '-co', '--exclude-standard', ...wanted];
  const listed = execFileSync('git', words, { cwd: root, encoding: 'utf8' });
  return listed.trimEnd().split('\n').map((path) => {
    const text = readFileSync(root + path, 'utf8');
    return { path, text, blocks: blocksOf(path, text) };
  });
}

/** The fenced blocks of a page, in order. */
export function blocksOf(path: string, markdown: string): readonly Block[] {
  const found = markdown.matchAll(/^```(.*)\n((?:(?!```).*\n)*)```$/gm);
  return [...found].map(([, info, text], at) => {
    const [language = '', ...notes] = info!.trim().split(/\s+/);
    const line = markdown.slice(0, nthFence(markdown, at)).split('\n').length;
    return { language, notes, text: text!, place: `${path}:${line}` };
  });
}

function nthFence(markdown: string, at: number): number {
  return [...markdown.matchAll(/^```/gm)][2 * at]!.index;
}

/** `keelson` command lines in a text, without `npx`; lines that end with a backslash go on. */
export function commandLines(text: string): readonly string[] {
  const lines = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return lines.flatMap((line) => /^\s*(?:\$ )?(?:npx |runuser -u keelson -- )?keelson ([a-z].*)$/.exec(line)?.[1] ?? []);
}

/** What a shell would split, without comments, redirections and what follows a pipe. */
export function wordsOf(line: string): readonly string[] {
  const own = line.split(/\s[|>#&]/)[0]!;
  const words = own.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replaceAll(/^["']|["']$/g, ''));
}
