import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { joinParts } from '../../scripts/join-parts.js';
import { Stage } from '../support/live-command.js';
import { root, sourceFiles } from '../support/sources.js';

const stage = new Stage();
afterAll(() => stage.end());

const { exports: entries } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
};
/** The names by which programs on Node import the parts of the bundle. */
const names = Object.entries(entries).flatMap(([entry, target]) =>
  (Object.values(target).some((path) => path.startsWith('./dist/bundle/'))
    ? [entry.replace('.', 'keelson')] : []));

/** Files of a bundle, as paths from `folder`, and their texts. */
function scriptsIn(folder: string): (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .map((path) => [path, readFileSync(`${folder}/${path}`, 'utf8')] as const);
}

const isForPages = (path: string): boolean => path.startsWith('browser/');
const ofNode = (folder: string): (readonly [string, string])[] =>
  scriptsIn(folder).filter(([path]) => !isForPages(path));

/** What files import by the name of a package. */
function packagesOf(files: readonly (readonly [string, string])[]): string[] {
  const found = files.flatMap(([path, text]) => {
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    const specifiers: string[] = [];
    const visit = (node: ts.Node): void => {
      if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
        && node.moduleSpecifier !== undefined) {
        specifiers.push((node.moduleSpecifier as ts.StringLiteral).text);
      }
      if (ts.isCallExpression(node) && node.arguments.length === 1
        && ts.isStringLiteralLike(node.arguments[0]!)
        && /^import$|^(__)?require\d*$/.test(node.expression.getText(tree))) {
        specifiers.push(node.arguments[0].text);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return specifiers;
  });
  // Older versions of Node do not know of node:sqlite.
  return [...new Set(found)]
    .filter((name) => !/^(\.|node:)/.test(name) && !isBuiltin(name)).sort();
}

function run(program: string): unknown {
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root, encoding: 'utf8',
  }));
}

describe('the bundle', () => {
  it('asks only for packages that are native, optional, or once in a process', () => {
    expect(packagesOf(ofNode(`${root}dist/bundle`))).toEqual([
      '@duckdb/node-api', '@opentelemetry/api', 'better-sqlite3', 'bufferutil', 'nodemailer', 'pg',
      'utf-8-validate',
    ]);
    expect(packagesOf(ofNode(`${root}client/package/dist/bundle`)))
      .toEqual(['bufferutil', 'utf-8-validate']);
  });

  it.each(['dist/bundle/browser', 'client/package/dist/bundle/browser'])(
    'asks in %s for nothing that a page does not have', (folder) => {
      const files = scriptsIn(`${root}${folder}`);
      expect(files.length).toBeGreaterThan(4);
      expect(packagesOf(files)).toEqual([]);
      expect(files.filter(([, text]) => text.includes('node:')).map(([path]) => path)).toEqual([]);
    });

  it('names no file of another folder, also where the project is beside that of the parts', () => {
    // As a clone in the folder of temporary files: external names are compared with whole paths.
    const folder = mkdtempSync(join(tmpdir(), 'keelson-parts-'));
    try {
      const files = {
        'one.js': "export { b } from './b.js'; import('./late.js');",
        'two.js': "import { b } from './b.js'; console.log(b);", 'three.js': "import './a.js';",
        'a.js': 'export const a = process.pid;', 'late.js': 'console.log(2);',
        'b.js': "import { a } from './a.js'; export const b = process.ppid + a;",
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      const form = { absWorkingDir: folder, format: 'esm', logLevel: 'warning' } as const;
      const { metafile, outputFiles } = buildSync({
        ...form, entryPoints: ['one.js', 'two.js', 'three.js'], bundle: true, splitting: true,
        write: false, outdir: 'out', chunkNames: 'parts/[hash]', metafile: true,
        minifyWhitespace: true,
      });
      for (const { path, text } of outputFiles) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
      const outputs = Object.fromEntries(Object.entries(metafile.outputs)
        .map(([path, output]) => [path.slice(4), {
          ...output, imports: output.imports.map((each) => ({ ...each, path: each.path.slice(4) })),
        }]));
      const texts = joinParts(
        outputs, join(folder, 'out'), { ...form, absWorkingDir: join(folder, 'project') });
      const named = [...texts].flatMap(([path, text]) => [...text.matchAll(/"(\.[^"]*\.js)"/g)]
        .map(([, from]) => join(dirname(path), from!)));
      expect(named.length).toBeGreaterThan(2);
      expect(named.filter((path) => !texts.has(path))).toEqual([]);
      expect(texts.size).toBe(outputFiles.length - 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is loaded in few files, none of which imports one that imports it', () => {
    const texts = new Map(ofNode(`${root}dist/bundle`));
    const importsOf = (path: string): string[] =>
      [...texts.get(path)!.matchAll(/(?:^|;)import(?:\{[^}]*\}from)?"(\.[^"]*)"/gm)]
        .map(([, from]) => join(dirname(path), from!));
    const loaded = (path: string, found = new Set<string>()): Set<string> => {
      for (const each of importsOf(path)) {
        if (found.has(each)) continue;
        found.add(each);
        loaded(each, found);
      }
      return found;
    };
    const files = loaded('server/index.js').size;
    expect(files).toBeGreaterThan(4);
    expect(files).toBeLessThan(43);
    expect([...texts.keys()].filter((path) => loaded(path).has(path))).toEqual([]);
  });

  it('has each class of errors once, by its name', () => {
    const own = new Set(sourceFiles().flatMap(({ path, text }) =>
      (/^(src|server|client|cli)\//.test(path)
        ? [...text.matchAll(/^(?:export )?class (\w+Error) extends (?:\w*Error)\b/gm)] : [])
        .map(([, name]) => name!)));
    expect(own.size).toBeGreaterThan(8);
    const text = ofNode(`${root}dist/bundle`).map(([, each]) => each).join('\n');
    const times = [...own].map((name) => [name, [...text.matchAll(
      new RegExp(`\\bclass ${name}\\b|\\b${name}=class\\b`, 'g'))].length]);
    expect(times).toEqual([...own].map((name) => [name, 1]));
  });

  it('gives the same classes and functions from every entry', () => {
    expect(names.length).toBeGreaterThan(7);
    const { apart, errors } = run(`
      const entries = await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));
      const first = new Map();
      const apart = new Set();
      for (const [name, value] of entries.flatMap(Object.entries)) {
        if (!/^[A-Z]/.test(name)) continue;
        if (first.has(name) && first.get(name) !== value) apart.add(name);
        first.set(name, value);
      }
      const errors = [...first.keys()].filter((name) => name.endsWith('Error'));
      const named = errors.filter((name) => first.get(name).name !== name);
      console.log(JSON.stringify({ apart: [...apart, ...named], errors }));`) as {
      readonly apart: readonly string[]; readonly errors: readonly string[];
    };
    expect(errors).toEqual(expect.arrayContaining(['KeelsonError', 'LogError', 'WireError']));
    expect(apart).toEqual([]);
  });

  it('gives the errors of its threads the class that programs import', () => {
    const folder = stage.write('a-file', '');
    expect(run(`
      import { KeelsonError } from 'keelson';
      import { openSqliteStore, systemClock } from 'keelson/server';
      const error = await openSqliteStore({
        directory: ${JSON.stringify(folder)}, clock: systemClock,
      }).catch((reason) => reason);
      console.log(JSON.stringify([error instanceof KeelsonError, error.name]));`))
      .toEqual([true, 'StorageError']);
  });

  it('says which packages it holds, and under which licences', () => {
    const list = JSON.parse(readFileSync(`${root}dist/bundle/packages.json`, 'utf8')) as {
      readonly name: string; readonly version: string;
    }[];
    const held = list.map(({ name }) => name);
    expect(held).toEqual(expect.arrayContaining([
      'ml-matrix', 'preact', 'protobufjs', 'tweetnacl', 'ws', 'yaml',
    ]));
    const notice = readFileSync(`${root}dist/bundle/NOTICE`, 'utf8');
    for (const { name, version } of list) expect(notice).toContain(`\n${name} ${version}\n\n`);
    expect(notice).toMatch(/Permission is hereby granted/);
  });
});

describe('the audit of what is shipped', () => {
  const audit = (report: string): { readonly status: number | null; readonly text: string } => {
    const { status, stdout } = spawnSync(process.execPath, [`${root}scripts/audit.js`], {
      input: report, encoding: 'utf8',
    });
    return { status, text: stdout };
  };
  /** What npm says of a hole in a package. */
  const hole = (severity: string, name: string): string => JSON.stringify({
    vulnerabilities: { [name]: { name, severity, nodes: [`node_modules/${name}`] } },
  });

  it.each([
    ['in the bundle', 'ws'], ['that an installation brings', 'nodemailer'],
  ])('is red for a grave hole in a package %s', (_where, name) => {
    for (const severity of ['high', 'critical']) {
      const { status, text } = audit(hole(severity, name));
      expect(status).toBe(1);
      expect(text).toContain(`${name}: ${severity}\n`);
    }
  });

  it.each([
    ['that is not grave', hole('moderate', 'ws')], ['in a tool', hole('critical', 'vitest')],
  ])('is green for a hole %s', (_which, report) => {
    expect(audit(report)).toEqual({
      status: 0, text: 'audit of dependencies: 0 of grade high or worse in what is shipped\n',
    });
  });

  it('says that the registry could not be asked', () => {
    for (const report of ['', '{"error":{"code":"ENOTFOUND"}}']) {
      expect(audit(report)).toEqual({
        status: 0, text: 'audit of dependencies: the registry could not be asked\n',
      });
    }
  });
});
