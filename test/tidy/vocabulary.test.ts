import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/sources.js';

interface Row {
  /** Identifiers that nothing may have, in whole. */
  readonly name: RegExp;
  /** Words that no comment and no page may have. Default: none. */
  readonly words?: RegExp;
  readonly now: string;
  /** Only in these files. Default: everywhere. */
  readonly where?: RegExp;
}

/**
 * One word per thing. Not checked, because each has another meaning somewhere: look (filter
 * round), cut (threshold), gate (detection threshold), profile (projected histogram), middle
 * (median), spare and carry (reallocated), scene (lab configuration).
 */
const rows: readonly Row[] = [
  { name: /^[A-Z]\w*Asked$/, now: '...Options for a type', where: /^(src|server|client|cli)\// },
  { name: /^#?[vV]oice$/, now: 'SessionOutput, output' },
  { name: /^#?[aA]udience$/, now: 'SubscriberRegistry, subscribers' },
  { name: /^#?[mM]embers?$/, now: 'Subscriber', where: /^server\/listener\// },
  { name: /^#?[wW]akefulness/, words: /\bwakefulness\b/i, now: 'Liveness' },
  { name: /^#?stuffed/i, words: /\bstuffed\b/i, now: 'backpressured' },
  { name: /^#?brake$/, now: 'applyBackpressure' },
  { name: /^(create)?Carried(Listener|Session)$/, words: /\bcarried listeners?\b/i,
    now: 'InMemoryListener, in-memory listener' },
  { name: /^company/i, words: /\bcompany\b/i, now: 'batching' },
  { name: /^tickets?([A-Z]\w*)?$/i, words: /\btickets?\b/i, now: 'assignment hash' },
  { name: /^#?theatre/i, words: /\btheatre\b/i, now: 'LabSession' },
  { name: /^(Hands|hands)$/, now: 'LabController, controller' },
  { name: /^#?reckon(ing)?$/i, words: /\breckoning\b/i, now: 'Baselines' },
  { name: /^seededWork$/i, now: 'seededRandom' },
  { name: /^resolveTarget$/, now: 'privacyTarget' },
  { name: /^costWithin$/, now: 'chargeFits' },
  { name: /^limits$/, now: 'protocolLimits', where: /^src\/base\/limits\.ts$/ },
  { name: /^twoCut/, now: 'twoThreshold...' },
  { name: /^everyday/, now: 'counts' },
];

const folders = ['src', 'server', 'client', 'simulation', 'cli', 'dashboard', 'test', 'bench'];
const files = sourceFiles(folders).filter(({ path }) => path !== 'test/tidy/vocabulary.test.ts');

/** Pages without code and without what is said of earlier versions. */
function pages(): readonly { readonly path: string; readonly text: string }[] {
  return execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
    cwd: root, encoding: 'utf8',
  }).split('\n').filter((path) => path !== '' && path !== 'CHANGELOG.md')
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') }));
}

function identifiersOf(tree: ts.SourceFile): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) found.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The text of comments: every token is left out. */
function commentsOf(tree: ts.SourceFile): string {
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    for (const { pos, end } of ts.getLeadingCommentRanges(tree.text, node.pos) ?? []) {
      found.set(pos, tree.text.slice(pos, end));
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...found.values()].join('\n');
}

describe('vocabulary', () => {
  it('names nothing by an old word', () => {
    const wrong = files.flatMap(({ path, tree }) => {
      const here = rows.filter(({ where }) => where?.test(path) !== false);
      return [...identifiersOf(tree)].flatMap((name) =>
        here.filter((row) => row.name.test(name))
          .map(({ now }) => `${path}: ${name}, say ${now}`));
    });
    expect(wrong).toEqual([]);
  });

  it('begins no comment of the sources with What, Of or Whether', () => {
    const wrong = files.filter(({ path }) => !/^(test|bench)\//.test(path)).flatMap((file) =>
      (commentsOf(file.tree).match(/^(\/\*\*|\/\/)(\n +\*)? (What|Of|Whether) .*$/gm) ?? [])
        .map((comment) => `${file.path}: ${comment}`));
    expect(wrong).toEqual([]);
  });

  it('says no old word in comments and pages', () => {
    const texts = [
      ...files.map(({ path, tree }) => ({ path, text: commentsOf(tree) })), ...pages(),
    ];
    const wrong = texts.flatMap(({ path, text }) => rows.flatMap(({ words, now }) => {
      const said = words === undefined ? null : words.exec(text);
      return said === null ? [] : [`${path}: ${said[0]}, say ${now}`];
    }));
    expect(wrong).toEqual([]);
  });
});
