import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

const entries = [
  'src/index.ts', 'src/robust/index.ts', 'src/advanced.ts', 'src/kit/index.ts', 'client/index.ts',
  'client/words.ts', 'server/index.ts', 'server/ledger/index.ts',
].map((path) => `${root}${path}`);
const program = ts.createProgram(entries, {
  module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023, strict: true, skipLibCheck: true, types: ['node'],
  lib: ['lib.es2024.d.ts'], noEmit: true,
});
const checker = program.getTypeChecker();

const unaliased = (symbol: ts.Symbol): ts.Symbol =>
  ((symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol));

/** What an entry exports, and what the namespaces that it exports hold, by name. */
function exportsOf(entry: string): ReadonlyMap<string, ts.Symbol> {
  const found = new Map<string, ts.Symbol>();
  const collect = (module: ts.Symbol, prefix: string): void => {
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = unaliased(exported);
      found.set(`${prefix}${exported.name}`, symbol);
      if (symbol.declarations?.some(ts.isSourceFile) === true) {
        collect(symbol, `${prefix}${exported.name}.`);
      }
    }
  };
  collect(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!, '');
  return found;
}

const isOurs = (node: ts.Node): boolean => {
  const { fileName } = node.getSourceFile();
  return fileName.startsWith(root) && !fileName.includes('/node_modules/');
};

/**
 * The project's types that a reader of this declaration meets. Bodies of functions and private
 * members are not read.
 */
function typesIn(declaration: ts.Node): ReadonlySet<ts.Symbol> {
  const found = new Set<ts.Symbol>();
  const visit = (node: ts.Node): void => {
    if (ts.isBlock(node) || ts.isPrivateIdentifier(node)) return;
    if (ts.canHaveModifiers(node)
      && ts.getModifiers(node)
        ?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true) return;
    if (ts.isPropertyDeclaration(node) && ts.isPrivateIdentifier(node.name)) return;
    const name = ts.isTypeReferenceNode(node) ? node.typeName : null;
    const symbol = name === null ? undefined : checker.getSymbolAtLocation(name);
    if (symbol !== undefined) {
      const target = unaliased(symbol);
      const isParameter = (target.flags & ts.SymbolFlags.TypeParameter) !== 0;
      if (!isParameter && target.declarations?.some(isOurs) === true) found.add(target);
    }
    // The value of a constant is not its type.
    if (ts.isVariableDeclaration(node)) {
      if (node.type !== undefined) visit(node.type);
      return;
    }
    ts.forEachChild(node, visit);
  };
  visit(declaration);
  return found;
}

const hasText = (symbol: ts.Symbol): boolean => symbol.getDocumentationComment(checker).length > 0;

/** What two entries build on: those who use them import these types from there. */
const shared = ['src/advanced.ts', 'client/index.ts'].flatMap((path) =>
  [...exportsOf(`${root}${path}`).values()]);

describe.each(entries.map((entry) =>
  [entry.slice(root.length), entry]))('what %s exports', (_, entry) => {
  const exported = exportsOf(entry);

  it('uses no type in a signature that it does not export', () => {
    const buildsOn = /(server\/index|ledger\/index|client\/words|kit\/index)\.ts$/.test(entry);
    const known = new Set([...exported.values(), ...buildsOn ? shared : []]);
    const missing = [...exported].flatMap(([name, symbol]) => (symbol.declarations ?? [])
      .filter((declaration) => isOurs(declaration) && !ts.isSourceFile(declaration))
      .flatMap((declaration) => [...typesIn(declaration)])
      // The package's own aliases lead to its build, where the same types are declared again.
      .filter((used) => !known.has(used) && !exported.has(used.name))
      .map((used) => `${name} uses ${used.name}`));
    expect([...new Set(missing)].sort()).toEqual([]);
  });

  it('has a comment for each name', () => {
    const bare = [...exported]
      .filter(([name, symbol]) => !name.startsWith('estimators.') && !hasText(symbol)
        && symbol.declarations?.some(ts.isSourceFile) !== true)
      .map(([name]) => name);
    expect(bare).toEqual([]);
  });
});
