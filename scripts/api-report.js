// Writes what each public entry exports into test/e2e/api, from the built declarations: names and
// signatures, without comments. `node scripts/api-report.js` after a build; a test compares.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { root } from './generated.js';

const printer = ts.createPrinter({ removeComments: true, omitTrailingSemicolon: false });

/**
 * Each public entry: its name, and the file of its declarations. The entries of @keelson/client are
 * made from the same modules.
 */
function publicEntries() {
  const { name, exports: all } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.entries(all).filter(([, { types }]) => types !== undefined)
    .map(([entry, { types }]) => ({ name: entry.replace('.', name), file: join(root, types) }));
}

const isHidden = (member) => ts.isPrivateIdentifier(member.name ?? member)
  || (ts.canHaveModifiers(member)
    && (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword));

/** Without private members, and with unions of literals in one order: builds differ in it. */
const plain = (context) => {
  const visit = (node) => {
    const next = ts.visitEachChild(node, visit, context);
    if (ts.isClassDeclaration(next)) {
      return ts.factory.updateClassDeclaration(next, next.modifiers, next.name,
        next.typeParameters, next.heritageClauses, next.members.filter((each) => !isHidden(each)));
    }
    if (!ts.isUnionTypeNode(next) || !next.types.every(ts.isLiteralTypeNode)) return next;
    const textOf = ({ literal }) => literal.text ?? '';
    const sorted = [...next.types].sort((one, other) =>
      (textOf(one) < textOf(other) ? -1 : textOf(one) > textOf(other) ? 1 : 0));
    return ts.factory.updateUnionTypeNode(next, ts.factory.createNodeArray(sorted));
  };
  return visit;
};

/** A declaration on one line: the signature alone. */
function signature(declaration) {
  const isVariable = ts.isVariableDeclaration(declaration);
  const node = isVariable ? declaration.parent.parent : declaration;
  const { transformed: [bare] } = ts.transform(node, [plain]);
  return printer.printNode(ts.EmitHint.Unspecified, bare, node.getSourceFile())
    .replace(/^export (declare |default )?/, '').replace(/^declare /, '')
    .replace(/\s+/g, ' ').replace(/;?\s*$/, '');
}

function reportOf(checker, source, known) {
  const lines = [];
  const shared = new Map();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  for (const symbol of exported) {
    const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
    const first = known.get(target);
    if (first?.name === symbol.name) {
      shared.set(first.entry, [...(shared.get(first.entry) ?? []), symbol.name]);
      continue;
    }
    const renamed = target.name === symbol.name ? '' : `${symbol.name} = `;
    const texts = (target.declarations ?? []).map(signature);
    lines.push(...texts.map((text) => [symbol.name, `${renamed}${text}`]));
  }
  lines.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const again = [...shared].map(([entry, names]) =>
    `as in ${entry}: ${names.sort().join(', ')}`);
  return { exported, text: [...again, ...lines.map(([, line]) => line), ''].join('\n') };
}

const fileOf = (name) => `${name.replaceAll('/', '-')}.txt`;

export function apiReports() {
  const entries = publicEntries();
  const program = ts.createProgram(entries.map(({ file }) => file), {
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2023, strict: true, skipLibCheck: true, types: ['node'],
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'], noEmit: true,
  });
  const checker = program.getTypeChecker();
  const known = new Map();
  return new Map(entries.map(({ name, file }) => {
    const { exported, text } = reportOf(checker, program.getSourceFile(file), known);
    for (const symbol of exported) {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
      if (!known.has(target)) known.set(target, { entry: name, name: symbol.name });
    }
    return [fileOf(name), text];
  }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = join(root, 'test/e2e/api');
  mkdirSync(folder, { recursive: true });
  const reports = apiReports();
  for (const name of readdirSync(folder)) if (!reports.has(name)) rmSync(join(folder, name));
  for (const [name, text] of reports) writeFileSync(join(folder, name), text);
}
