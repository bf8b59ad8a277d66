import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/sources.js';

const files = sourceFiles();

/** Only these may cross between what readers must not see and what was charged. */
const gates = [
  { call: 'Sensitive.open', allowed: ['src/privacy/mechanisms/', 'src/base/brands.ts'] },
  { call: 'Released.fromMechanism', allowed: ['src/privacy/mechanisms/', 'src/base/brands.ts'] },
  {
    call: 'Sealed.open',
    allowed: ['src/privacy/mechanisms/', 'src/sealed/steps/', 'src/base/brands.ts'],
  },
];

function linesOf(node: ts.Node, tree: ts.SourceFile): number {
  const start = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line;
  return tree.getLineAndCharacterOfPosition(node.getEnd()).line - start + 1;
}

/** Whether `base ** exponent` is a square, a square root, or a whole power of a power of two. */
function isSamePower(base: string, exponent: string): boolean {
  if (/\dn\b|BigInt/.test(base + exponent) || exponent === '2' || exponent === '0.5') return true;
  const isWhole = /^\(?(Math\.max\(0, )?Math\.(floor|ceil)/.test(exponent)
    || !/\/|\d\.\d|uniform/.test(exponent);
  return /^(2|4|16|128)$/.test(base) && isWhole;
}

describe('habits', () => {
  it('opens Sensitive and makes Released only in the mechanisms', () => {
    const wrong = files.flatMap((file) =>
      gates
        .filter((gate) =>
          file.text.includes(gate.call) && !gate.allowed.some((path) => file.path.startsWith(path)))
        .map((gate) => `${file.path}: ${gate.call}`));
    expect(wrong).toEqual([]);
  });

  it('keeps functions within 70 lines', () => {
    const long: string[] = [];
    for (const file of files) {
      const visit = (node: ts.Node): void => {
        const counted = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)
          || ts.isConstructorDeclaration(node)
            || ts.isFunctionExpression(node) || ts.isArrowFunction(node);
        if (counted && linesOf(node, file.tree) > 70) {
          const line = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
          long.push(`${file.path}:${line} has ${linesOf(node, file.tree)} lines`);
        }
        ts.forEachChild(node, visit);
      };
      visit(file.tree);
    }
    expect(long).toEqual([]);
  });

  it('keeps files under 500 lines', () => {
    expect(files.filter((file) => file.text.split('\n').length > 500).map((file) => file.path))
      .toEqual([]);
  });

  it('takes logarithms and powers from elementary.ts where releases are made', () => {
    // Engines differ in their last bits: src/base/elementary.ts says which operations agree.
    // What readers make of releases (src/series) is nobody else's, and their bundle is small.
    const wrong: string[] = [];
    for (const file of files.filter(({ path }) => /^(src\/(?!series)|simulation\/)/.test(path)
      && path !== 'src/base/elementary.ts')) {
      const visit = (node: ts.Node): void => {
        if (ts.isPropertyAccessExpression(node)
            && /^Math\.(log|log2|log10|pow)$/.test(node.getText(file.tree))
          || ts.isBinaryExpression(node)
            && node.operatorToken.kind === ts.SyntaxKind.AsteriskAsteriskToken
            && !isSamePower(node.left.getText(file.tree), node.right.getText(file.tree))) {
          const line = file.tree.getLineAndCharacterOfPosition(node.getStart(file.tree)).line + 1;
          wrong.push(`${file.path}:${line} ${node.getText(file.tree)}`);
        }
        ts.forEachChild(node, visit);
      };
      visit(file.tree);
    }
    expect(wrong).toEqual([]);
  });

  it('names no machine paths or registry hosts in tracked files', () => {
    const pattern = ['/work' + '/', '/root' + '/', 'registry\\.' + 'npmjs', '/home' + '/[a-z]']
      .join('|');
    let hits = '';
    try {
      hits =
        execFileSync('git', ['grep', '-nIE', pattern, '--', '.'], { cwd: root, encoding: 'utf8' });
    } catch (error) {
      // git grep ends with status 1 when nothing matches.
      if ((error as { status?: number }).status !== 1) throw error;
    }
    expect(hits).toBe('');
  });

  it('names only paths of sources that exist', () => {
    const paths = execFileSync(
      'git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' },
    ).split('\n');
    const stems = new Set(paths.flatMap((path) =>
      path.split('/').map((_, at, parts) =>
        parts.slice(0, at + 1).join('/').replace(/(\.test)?\.[a-z]+$/, ''))));
    const texts = [
      ...files, ...paths.filter((path) => /^(docs\/.*|ARCHITECTURE|README)\.?md$/.test(path))
        .map((path) => ({ path, text: readFileSync(`${root}${path}`, 'utf8') })),
    ];
    const wrong = texts.flatMap(({ path, text }) =>
      [...text.matchAll(
        /(?<![\w./-])(?:src|server|client|simulation|cli|test)\/[a-z0-9-]+(?:\/[a-z0-9-]+)*(?![\w*{/-])/g,
      )]
        .filter(([named]) => !stems.has(named) && !/\/(generated|dist)$/.test(named))
        .map(([named]) => `${path}: ${named}`));
    expect(wrong).toEqual([]);
  });

  it('names only pages that exist', () => {
    // The pages of the reference are generated, and not tracked.
    const pages = execFileSync('git', ['ls-files', 'docs'], { cwd: root, encoding: 'utf8' })
      + readFileSync(`${root}.gitignore`, 'utf8').replaceAll('\n/', '\n');
    const known = new Set(pages.split('\n'));
    const wrong = files.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.md/g)]
        .filter(([page]) => !known.has(page)).map(([page]) => `${path}: ${page}`));
    expect(wrong).toEqual([]);
  });

  it('leaves no unfinished marks in the sources', () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b|not implemented/i;
    expect(files.filter((file) => marks.test(file.text)).map((file) => file.path)).toEqual([]);
  });
});
