import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { checkArguments } from '../../cli/base/arguments.js';
import { commonArguments } from '../../cli/base/command.js';
import { commandTable } from '../../cli/commands/table.js';
import { commandLines, documentedPages, wordsOf } from '../support/doc-pages.js';
import { isOnlyNpm, PageRun } from '../support/page-run.js';
import { root } from '../support/sources.js';

const pages = documentedPages();
const blocks = pages.flatMap((page) => page.blocks);
/**
 * Blocks of the protocol, which test/vectors compares with the sources. Those in Python are in two
 * pages of test/python.
 */
const compared = ['hex', 'json'];
const runs = ['sh', 'ts', 'yaml', 'csv'];

describe('every block of every page', () => {
  it('says what it is', () => {
    const known = [...runs, 'text'];
    const odd = blocks.filter(({ language, place }) => !known.includes(language)
      && !(compared.includes(language) && place.startsWith('docs/reference/protocol.md'))
      && !(language === 'python' && /^docs\/(guides|reference)\/python\.md:/.test(place)));
    expect(odd.map(({ language, place }) => `${place}: ${language || 'no language'}`)).toEqual([]);
  });

  it('has commands and flags that there are', async () => {
    const wrong: string[] = [];
    const shown = blocks.filter(({ language }) => ['sh', 'text'].includes(language));
    for (const { text, place } of shown) {
      for (const line of commandLines(text)) {
        const fault = await faultOf(wordsOf(line));
        if (fault !== undefined) wrong.push(`${place}: keelson ${line}: ${fault}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('names npm scripts that there are', async () => {
    const { default: manifest } = await import('../../package.json', { with: { type: 'json' } });
    const named = blocks.filter(({ language }) => language === 'sh')
      .flatMap(({ text }) => [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name]) => name!));
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  it('has the types that it should, where it is TypeScript', { tags: ['slow'] }, () => {
    const texts = new Map(blocks.filter(({ language }) => language === 'ts')
      .map(({ text, place }) => [`${root}test/docs/${place.replaceAll(/[/:]/g, '-')}.ts`, text]));
    expect(faultsOfTypes(texts)).toEqual([]);
  });
});

describe('a reader who follows', () => {
  const open: PageRun[] = [];
  afterAll(() => Promise.all(open.map((run) => run.end())));

  for (const page of pages) {
    const followed = page.blocks
      .filter(({ language, text }) => runs.includes(language) && !isOnlyNpm(text));
    // Pages wait for epochs that last as long as they say; they wait together.
    const options = { concurrent: true, skip: followed.length === 0, tags: ['slow'] };
    it(page.path, options, async () => {
      const run = new PageRun();
      open.push(run);
      for (const block of page.blocks) await run.follow(block);
      await run.end();
    });
  }
});

async function faultOf(typed: readonly string[]): Promise<string | undefined> {
  const length = [2, 1].find((count) => typed.slice(0, count).join(' ') in commandTable);
  if (length === undefined) return 'no such command';
  const entry = commandTable[typed.slice(0, length).join(' ')]!;
  const words = typed.slice(length);
  if (words.includes('--help')) return undefined;
  const { args, repeatable = [] } = await entry.load();
  try {
    checkArguments(words, { ...args, ...commonArguments }, repeatable);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Type errors of files that need not exist; imports of `keelson` are those of the build. */
function faultsOfTypes(texts: ReadonlyMap<string, string>): string[] {
  const file = ts.readConfigFile(`${root}tsconfig.test.json`, (path) => ts.sys.readFile(path));
  const own = { ...file.config as object, include: [], files: [] };
  const config = ts.parseJsonConfigFileContent(own, ts.sys, root);
  const host = ts.createCompilerHost(config.options);
  host.fileExists = (path) => texts.has(path) || ts.sys.fileExists(path);
  host.readFile = (path) => texts.get(path) ?? ts.sys.readFile(path);
  const program = ts.createProgram([...texts.keys()], config.options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start, messageText }) => {
    const line = at === undefined ? 0 : at.getLineAndCharacterOfPosition(start!).line + 1;
    return `${at?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
