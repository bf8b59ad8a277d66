import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** Path from the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Parsed when it is first asked for. To parse all sources takes seconds. */
  readonly tree: ts.SourceFile;
}

/** Every TypeScript source that git tracks or would track, generated code left out. */
export function sourceFiles(
  folders: readonly string[] = ['src', 'server', 'client', 'simulation', 'cli', 'dashboard'],
): SourceFile[] {
  const listed = execFileSync(
    'git', ['ls-files', '-co', '--exclude-standard', ...folders], { cwd: root, encoding: 'utf8' },
  );
  return listed
    .split('\n')
    .filter((path) => path.endsWith('.ts') && !path.includes('/generated/'))
    .map(sourceFile);
}

/** @param path - from the project's root. */
export function sourceFile(path: string): SourceFile {
  const text = readFileSync(`${root}${path}`, 'utf8');
  let tree: ts.SourceFile | undefined;
  return {
    path, text,
    get tree() { return tree ??= ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true); },
  };
}

/**
 * Module specifiers of every static and dynamic import and re-export of a file; `at start`: of
 * those that the file is loaded with.
 */
export function importsOf(file: SourceFile, kind: 'all' | 'at start' = 'all'): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
        && node.moduleSpecifier !== undefined) {
      const isType = ts.isExportDeclaration(node) ? node.isTypeOnly
        : node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      if (ts.isStringLiteral(node.moduleSpecifier) && !(isType && kind === 'at start')) {
        found.push(node.moduleSpecifier.text);
      }
    }
    const isLater = ts.isCallExpression(node)
      && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    if (isLater && kind === 'all') {
      const target = node.arguments[0];
      if (target !== undefined && ts.isStringLiteral(target)) found.push(target.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file.tree);
  return found;
}
