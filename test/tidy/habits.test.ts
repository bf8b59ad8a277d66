import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root, sourceFiles } from '../support/sources.js';

const files = sourceFiles();

/** Only these may cross between what readers must not see and what was charged. */
const gates: Readonly<Record<string, readonly string[]>> = {
  openSensitive: ['src/privacy/mechanisms/'],
  releasedByMechanism: ['src/privacy/mechanisms/'],
  openSealed: ['src/privacy/mechanisms/', 'src/sealed/steps/'],
};
/** The file of the gates. `brands` gives out the wrappers, and nothing else of it. */
const gatesFile = /(^|\/)wrappers\.js$/;

/** What a file takes from the file of the gates by any form of import, or gives out of it. */
function takenFromGates(tree: ts.SourceFile): readonly string[] {
  const taken: string[] = [];
  const isGates = (node: ts.Node | undefined): boolean =>
    node !== undefined && ts.isStringLiteralLike(node) && gatesFile.test(node.text);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && isGates(node.moduleSpecifier)) {
      const named = node.importClause?.namedBindings;
      if (node.importClause?.name !== undefined) taken.push('everything');
      if (named !== undefined && ts.isNamespaceImport(named)) taken.push('everything');
      if (named !== undefined && ts.isNamedImports(named)) {
        taken.push(...named.elements.map(({ name, propertyName }) => (propertyName ?? name).text));
      }
    } else if (ts.isExportDeclaration(node) && isGates(node.moduleSpecifier)) {
      const named = node.exportClause;
      taken.push(...(named !== undefined && ts.isNamedExports(named)
        ? named.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
        : ['everything']));
    } else if (ts.isCallExpression(node) && node.arguments.some(isGates)) {
      taken.push('everything');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return taken;
}

function gatesTakenBy(path: string, tree: ts.SourceFile): readonly string[] {
  const wrappers = path === 'src/base/brands.ts' ? ['Released', 'Sealed', 'Sensitive'] : [];
  return takenFromGates(tree).filter((name) => !wrappers.includes(name)
    && gates[name]?.some((folder) => path.startsWith(folder)) !== true)
    .map((name) => `${path}: ${name}`);
}

/** Methods that put something into what they are called on. */
const putting =
  new Set(['push', 'unshift', 'splice', 'set', 'add', 'append', 'fill', 'copyWithin']);

/**
 * What functions that are given to `map` or `mapAsync` write to variables that they do not declare
 * themselves. For a `Sensitive` that would carry its content out. Arrays have a `map` too, so all
 * calls are looked at.
 */
function carriedOut(tree: ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const rootOf = (node: ts.Node): ts.Identifier | null => (ts.isIdentifier(node) ? node
    : ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)
      || ts.isNonNullExpression(node) ? rootOf(node.expression) : null);
  const check = (callback: ts.Node): void => {
    const own = new Set<string>();
    const declare = (node: ts.Node): void => {
      if ((ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))
        && ts.isIdentifier(node.name)) own.add(node.name.text);
      ts.forEachChild(node, declare);
    };
    declare(callback);
    const look = (node: ts.Node): void => {
      let target: ts.Node | null = null;
      if (ts.isBinaryExpression(node) && node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment
        && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment) target = node.left;
      const isStep = (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node))
        && [ts.SyntaxKind.PlusPlusToken, ts.SyntaxKind.MinusMinusToken].includes(node.operator);
      if (isStep) target = node.operand;
      // `state = summary.add(state, row)` makes a new state.
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
        && putting.has(node.expression.name.text) && !ts.isBinaryExpression(node.parent)) {
        target = node.expression.expression;
      }
      const root = target === null ? null : rootOf(target);
      if (root !== null && !own.has(root.text)) {
        const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
        found.push(`${line}: ${node.getText(tree).slice(0, 60)}`);
      }
      ts.forEachChild(node, look);
    };
    look(callback);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
      && ['map', 'mapAsync'].includes(node.expression.name.text)
      // Post-processing of what was released is free.
      && !node.expression.expression.getText(tree).startsWith('Released.')) {
      node.arguments.forEach(check);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function linesOf(node: ts.Node, tree: ts.SourceFile): number {
  const start = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line;
  return tree.getLineAndCharacterOfPosition(node.getEnd()).line - start + 1;
}

/** True if `base ** exponent` is a square, a square root, or a whole power of a power of two. */
function isSamePower(base: string, exponent: string): boolean {
  if (/\dn\b|BigInt/.test(base + exponent) || exponent === '2' || exponent === '0.5') return true;
  const isWhole = /^\(?(Math\.max\(0, )?Math\.(floor|ceil)/.test(exponent)
    || !/\/|\d\.\d|uniform/.test(exponent);
  return /^(2|4|16|128)$/.test(base) && isWhole;
}

describe('habits', () => {
  it('opens Sensitive and makes Released only in the mechanisms', () => {
    expect(files.flatMap(({ path, tree }) => gatesTakenBy(path, tree))).toEqual([]);
  });

  it.each([
    "import { openSensitive as look } from '../base/wrappers.js';",
    "import * as all from '../base/wrappers.js';",
    "export { openSealed } from './wrappers.js';",
    "export * from './wrappers.js';",
    "const { openSensitive } = await import('../base/wrappers.js');",
    "import { Sensitive } from '../base/wrappers.js';",
  ])('would see %s elsewhere', (text) => {
    const tree = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
    expect(gatesTakenBy('src/estimators/a.ts', tree)).toHaveLength(1);
    expect(gatesTakenBy('server/a.ts', tree)).toHaveLength(1);
  });

  it('carries nothing out of functions that are given to map, where estimators and questions '
    + 'have Sensitive', () => {
    const wrong = files.filter(({ path, text }) => path.startsWith('src/')
      && text.includes('Sensitive') && path !== 'src/base/wrappers.ts')
      .flatMap(({ path, tree }) => carriedOut(tree).map((each) => `${path}:${each}`));
    expect(wrong).toEqual([]);
  });

  it.each([
    'let kept; rows.map((block) => { kept = block; return block; });',
    'const kept = []; rows.map((block) => { kept.push(block.count); return block; });',
    'const kept = {}; rows.mapAsync(async (block) => { kept.a.b = block; return block; });',
    'let count = 0; rows.map((block) => { for (const row of block) count += 1; return block; });',
    'class A { take(rows) { rows.map((block) => { seen.set(1, block); return block; }); } }',
  ])('would see what %s carries out', (text) => {
    const tree = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true);
    expect(carriedOut(tree)).toHaveLength(1);
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
