import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { root } from './generated.js';
import { reached } from './reached.js';

/**
 * Writes into dist/ the declarations that the public entries of the package reach: a fifth of all.
 * Types are not checked: `npm run types` does that. Each build begins anew, so that the members of
 * a type have the same order in all builds of the same sources.
 * @param entries - their declarations, as paths from the project's folder.
 * @param imports - the `imports` of the package.
 * @returns the files, as such paths.
 * @throws Error if TypeScript cannot write the declarations of a module.
 */
export function writeDeclarations(entries, imports) {
  const sourceOf = (path) => join(root, path.replace(/^dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts'));
  const others = Object.values(imports).flatMap((each) => Object.values(each))
    .map((path) => path.slice(2));
  const { options } = ts.getParsedCommandLineOfConfigFile(join(root, 'tsconfig.test.json'), {
    noCheck: true, declaration: true, noEmit: false, incremental: false, tsBuildInfoFile: undefined,
  }, { ...ts.sys, onUnRecoverableConfigFileDiagnostic: console.error });
  const program = ts.createProgram([...entries, ...others].map(sourceOf), options);
  return reached(entries, imports, (path) => {
    const source = sourceOf(path);
    const text = existsSync(source) ? declarationOf(program, source)
      // Generated code in JavaScript has declarations of its own.
      : readFileSync(source.replace(/\.ts$/, '.d.ts'), 'utf8');
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    return text;
  });
}

function declarationOf(program, source) {
  let text;
  const write = (_, written) => { text = written; };
  const { diagnostics } = program.emit(program.getSourceFile(source), write, undefined, true);
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ messageText }) =>
    `${source}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`).join('\n'));
  return text;
}
