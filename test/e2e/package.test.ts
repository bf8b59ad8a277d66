// @module-tag slow
import { execFileSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conformanceCases } from '../../cli/conform/runner.js';
import { root } from '../support/sources.js';
import { Stage, type Ended } from '../support/live-command.js';
import { addSqlite, hasSqlite } from '../support/native-sqlite.js';
import { npm, pack, type Packed } from '../support/packing.js';

const stage = new Stage();
let packed: Packed;

/** A page of a survey, as somebody writes it in the first hour. */
const surveyPage = `import 'keelson/chart';
import type { KeelsonChart } from 'keelson/chart';
import { createContributor, openOutbox, openSeed, subscribe } from 'keelson/client';
import { findingText, intervalOf } from 'keelson/client/words';

const study = { url: location.origin, study: 'commute' };
const contributor = createContributor<{ minutes: number }>({
  ...study, seed: await openSeed('me'), outbox: await openOutbox('me'),
});
const settled = await contributor.contribute([{ minutes: 35 }]);
document.title = settled.kind === 'accepted' ? 'epoch ' + settled.epoch : settled.error.code;
for await (const { release } of subscribe(study)) {
  const outcome = release.answers[0]?.outcome;
  if (outcome?.kind !== 'value') continue;
  const doubts = outcome.findings?.map((finding) => findingText(finding, release.columns));
  console.log(outcome.estimate[0], intervalOf(outcome, 0), doubts);
}
console.log(document.querySelector<KeelsonChart>('keelson-chart')?.charts);
`;

beforeAll(() => {
  // What is packed is the build that the other tests ran against.
  packed = pack(root, stage.folder);
});

afterAll(() => stage.end());

/** Builds and packs a copy of the tracked files. */
function builtAt(folder: string): Packed {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  for (const path of tracked.split('\0').filter((each) => each !== '')) {
    if (existsSync(`${root}${path}`)) cpSync(`${root}${path}`, `${folder}/${path}`);
  }
  symlinkSync(`${root}node_modules`, `${folder}/node_modules`);
  npm(['run', 'build'], folder);
  return pack(folder, folder);
}

describe('the package', () => {
  it('holds what runs and what explains it, and nothing else', () => {
    const paths = packed.files.map(({ path }) => path);
    const needed = [
      'package.json', 'LICENSE', 'NOTICE', 'bin/keelson.js', 'dist/bundle/NOTICE',
      'dist/bundle/cli/main.js', 'dist/bundle/src/index.js', 'dist/src/index.d.ts',
      'dist/bundle/client/index.js', 'dist/bundle/browser/client/index.js',
      'dist/bundle/server/index.js', 'dist/bundle/server/store/sqlite/worker.js',
      'dist/bundle/server/epochs/worker.js', 'dist/browser/keelson-chart.js',
      'data/flights.bin.br', 'proto/keelson/v1/wire.proto',
      'studies/flights-mean.yaml', 'docs/reference/protocol.md',
      'docs/reference/study-file.schema.json',
    ];
    expect(needed.filter((path) => !paths.includes(path))).toEqual([]);
    expect(packed.size).toBeLessThan(2_500_000);
    const folders = new Set(paths.map((path) => (path.includes('/') ? path.split('/')[0] : '')));
    const allowed = ['', 'bin', 'dist', 'data', 'examples', 'proto', 'studies', 'docs', 'deploy'];
    expect([...folders].filter((folder) => !allowed.includes(folder!))).toEqual([]);
    // What runs is the bundle: none of the modules that it was made of.
    expect(paths.filter((path) =>
      /^dist\/(?!bundle\/|browser\/).*\.js$/.test(path))).toEqual([]);
    expect(paths.filter((path) =>
      /\.test\.|^dist\/test|\.log$|demo-data|keelson-data|\.map$/.test(path))).toEqual([]);
  });

  it.each([['.', 'keelson'], ['client/package', '@keelson/client']])(
    'resolves, with its types, as an ES module: %s', async (folder, name) => {
      const { filename } = folder === '.' ? packed : pack(root + folder, stage.folder);
      const data = readFileSync(join(stage.folder, filename));
      // CommonJS, and the resolution of TypeScript before 4.7, do not reach entries of ES modules.
      const others = ['node10', 'node16-cjs'];
      const types = await checkPackage(createPackageFromTarballData(new Uint8Array(data)));
      expect(types.packageName).toBe(name);
      expect(types.types === false ? ['no types'] : types.problems.filter((problem) =>
        !('resolutionKind' in problem && others.includes(problem.resolutionKind)))).toEqual([]);
      const tarball = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
      const { messages } = await publint({ pack: { tarball } });
      expect(messages).toEqual([]);
    });

  it('holds each declaration that another one names, and none that no entry reaches', () => {
    const paths = packed.files.map(({ path }) => path).filter((path) => path.endsWith('.d.ts'));
    const named = paths.flatMap((path) => {
      const text = readFileSync(`${root}${path}`, 'utf8');
      return Array.from(text.matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g), ([, name]) =>
        join(dirname(path), `${name}.d.ts`));
    });
    const { exports: entries, imports } = JSON.parse(
      readFileSync(`${root}package.json`, 'utf8'),
    ) as Record<'exports' | 'imports', Record<string, Record<string, string>>>;
    const types = Object.values(entries).flatMap((entry) => entry.types?.slice(2) ?? []);
    const imported = Object.values(imports).flatMap((each) => Object.values(each))
      .map((path) => path.slice(2).replace(/\.js$/, '.d.ts'));
    expect(types.length).toBeGreaterThan(5);
    expect(named.filter((path) => !paths.includes(path))).toEqual([]);
    expect(paths.filter((path) => ![...named, ...types, ...imported].includes(path)))
      .toEqual([]);
  });

  it('holds no declaration whose source is gone', () => {
    const code =
      packed.files.map(({ path }) => /^dist\/(?!browser\/)(.*)\.d\.ts$/.exec(path)?.[1]);
    const names = code.filter((name) => name !== undefined);
    expect(names.length).toBeGreaterThan(100);
    const hasSource = (name: string): boolean =>
      existsSync(`${root}${name}.ts`) || existsSync(`${root}${name}.js`);
    expect(names.filter((name) => !hasSource(name))).toEqual([]);
  });

  it('is the same, byte for byte, wherever it is built', { timeout: 900_000 }, () => {
    expect(builtAt(stage.path('there')).integrity).toBe(packed.integrity);
  });

  it('comes with a list of what it needs, under licences that allow it', () => {
    const file = stage.path('sbom.json');
    execFileSync(process.execPath, ['scripts/sbom.js', file], { cwd: root });
    const { components } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly components: readonly { readonly purl: string }[];
    };
    const { dependencies } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    const bundled = JSON.parse(readFileSync(`${root}dist/bundle/packages.json`, 'utf8')) as {
      readonly name: string; readonly version: string;
    }[];
    const needed = [
      ...Object.entries(dependencies).map(([name, version]) => `${name}@${version}`),
      ...bundled.map(({ name, version }) => `${name}@${version}`),
    ];
    const listed = components.map(({ purl }) => decodeURIComponent(purl).replace('pkg:npm/', ''));
    expect(needed.filter((each) => !listed.includes(each))).toEqual([]);
    expect(listed.filter((each) => /^(vitest|typescript|esbuild)@/.test(each))).toEqual([]);
  });

  it('says in its README which of the pages that it links to are in the repository alone', () => {
    const paths = packed.files.map(({ path }) => path);
    const pages = [...new Set(paths.filter((path) => /^docs\/.*\//.test(path)).map(dirname))];
    const text = readFileSync(`${root}README.md`, 'utf8');
    const [, said] = /An installed package has ([^;]*);/.exec(text)!;
    expect([...said!.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder)).toEqual(pages.sort());
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link!);
    const missing = links.filter((link) => !/^[a-z]+:/.test(link) && !paths.includes(link));
    expect(missing.filter((link) => paths.some((path) => dirname(path) === dirname(link)
      && dirname(link) !== '.'))).toEqual([]);
  });
});

describe('an installation of the package', () => {
  let place: string;
  let command: string;

  beforeAll(() => {
    place = stage.path('place');
    command = `${place}/node_modules/.bin/keelson`;
    mkdirSync(place);
    npm(['init', '--yes'], place);
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
    npm(
      ['install', ...quiet, '--ignore-scripts', '--omit=dev', stage.path(packed.filename)], place,
    );
    addSqlite(place);
  });

  /** What a program in the folder prints as JSON. */
  const printed = (program: string): unknown => JSON.parse(execFileSync(
    process.execPath, ['--input-type=module', '-e', program], { cwd: place, encoding: 'utf8' }));

  it('warns of Node 20, once', async () => {
    const run = await stage.run(['estimators'], {
      command, directory: place, environment: { NODE_NO_WARNINGS: '' },
    });
    expect(run.stderr.split('\n')).toEqual(hasSqlite ? ['']
      : [expect.stringMatching(/^warning: .* needs Node 22\.16 or later$/), '']);
  });

  it('says what it lacks on a Node without SQLite', async ({ skip }) => {
    if (hasSqlite) skip('this Node has SQLite');
    const [native, aside] = ['node_modules/better-sqlite3', 'aside']
      .map((name) => `${place}/${name}`) as [string, string];
    const study = 'node_modules/keelson/studies/flights-mean.yaml';
    const serve = (): Promise<Ended> => stage.run(
      ['serve', study, '--port', '0', '--data', stage.path('none')], { command, directory: place });
    renameSync(native, aside);
    const missing = await serve();
    // As after the installation of another Node.
    mkdirSync(native);
    writeFileSync(`${native}/index.js`, 'throw new Error("another ABI");');
    const broken = await serve();
    rmSync(native, { recursive: true });
    renameSync(aside, native);
    expect([missing.status, broken.status]).toEqual([2, 2]);
    expect(missing.stderr).toMatch(/better-sqlite3 is not installed: .*npm install better-sqlite3/);
    expect(broken.stderr).toMatch(/better-sqlite3 does not load in it: .*npm install better-sqlite3/);
  });

  it('brings few packages besides itself, and none that has to be compiled', () => {
    const { packages } = JSON.parse(
      readFileSync(`${place}/node_modules/.package-lock.json`, 'utf8'),
    ) as { packages: Record<string, object> };
    // Those of bufferutil bring it ready-made, and it may be missing.
    expect(Object.keys(packages).map((path) => path.replace('node_modules/', '')).sort())
      .toEqual(['@opentelemetry/api', 'bufferutil', 'keelson', 'node-gyp-build', 'nodemailer']);
  });

  it('gives programs each public entry, and each class once', () => {
    const { exports: entries } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      exports: Record<string, unknown>;
    };
    // The chart is for pages.
    const names = Object.keys(entries).filter((entry) => !/chart|json/.test(entry))
      .map((entry) => entry.replace('.', 'keelson'));
    expect(names.length).toBeGreaterThan(7);
    const { found, apart } = printed(`
      const found = {};
      const classes = new Map();
      const apart = [];
      for (const entry of ${JSON.stringify(names)}) {
        const all = await import(entry);
        found[entry] = Object.keys(all);
        for (const [name, value] of Object.entries(all)) {
          if (!/^[A-Z]/.test(name)) continue;
          if ((classes.get(name) ?? value) !== value) apart.push(name);
          classes.set(name, value);
        }
      }
      console.log(JSON.stringify({ found, apart }));`) as {
      found: Record<string, string[]>; apart: string[];
    };
    expect(apart).toEqual([]);
    expect(names.filter((name) => found[name]!.length === 0)).toEqual([]);
    expect(found['keelson']).toContain('KeelsonError');
    expect(found['keelson/client'])
      .toEqual(expect.arrayContaining(['createContributor', 'subscribe', 'openOutbox']));
    expect(found['keelson/server']).toContain('createAggregator');
  });

  it('lets a web developer write a page: strict types, one bundle, and a server that '
    + 'renders', async () => {
    const compilerOptions = {
      noEmit: true, strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
      target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], module: 'esnext',
      moduleResolution: 'bundler', types: [],
    };
    writeFileSync(`${place}/tsconfig.json`, JSON.stringify({ compilerOptions, files: ['page.ts'] }));
    const errorsOf = async (page: string): Promise<string> => {
      writeFileSync(`${place}/page.ts`, page);
      const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
      return (await stage.run(['-p', place], { command: compiler, directory: place })).stdout;
    };
    const wrong = surveyPage.replace('{ minutes: 35 }', '{ minuets: 35 }');
    expect(await errorsOf(wrong)).toMatch(/^page\.ts\(10,.*minuets/);
    expect(await errorsOf(surveyPage)).toBe('');
    const { outputFiles: [bundle], warnings } = await build({
      entryPoints: [`${place}/page.ts`], bundle: true, format: 'esm', platform: 'browser',
      minify: true, write: false, outfile: 'page.js',
    });
    expect(warnings).toEqual([]);
    expect(bundle!.text).not.toMatch(/node:/);
    // Where a server renders the page there is no element, and nothing is in the way.
    expect(printed(`const { KeelsonChart } = await import('keelson/chart');
      console.log(JSON.stringify([typeof KeelsonChart, typeof customElements]))`))
      .toEqual(['function', 'undefined']);
  });

  it('runs the demonstration', async () => {
    expect(existsSync(`${place}/node_modules/vitest`)).toBe(false);
    const few = [
      '--contributors', '300', '--epochs', '1', '--every', '6', '--epsilon', '12', '--liars',
      '0.05',
    ];
    const run = await stage.run(['demo', ...few, '--json'], { command, directory: place });
    expect(run.stderr).toBe('');
    const types = run.stdout.trimEnd()
      .split('\n').map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types)
      .toEqual(['started', 'connected', 'release', 'release', 'release', 'summary']);
  });

  it('runs what reads files of the package', async () => {
    const own = { command, directory: place };
    const answer = await stage.run(
      ['estimate', 'count', 'flights', '--epsilon', '1', '--delta', '1e-6', '--json'], own);
    expect([answer.stderr, answer.status]).toEqual(['', 0]);
    const made = await stage.run([
      'init', 'asked.yaml', '--question', 'mean', '--columns', 'a', '--range', 'a=0..1',
      '--cohort', '1000',
    ], own);
    expect([made.stderr, made.status]).toEqual(['', 0]);
    const app = await stage.run([
      'init', 'page', '--app', '--question', 'mean', '--columns', 'a', '--range', 'a=0..1',
      '--cohort', '1000',
    ], own);
    expect([app.stderr, app.status]).toEqual(['', 0]);
    expect(readdirSync(`${place}/page`)).toContain('serve.js');
    const [, schema] = /\$schema=(\S+)/.exec(readFileSync(`${place}/asked.yaml`, 'utf8'))!;
    expect(existsSync(join(place, schema!))).toBe(true);
    const planned = await stage.run(
      ['plan', 'node_modules/keelson/studies/flights-robust.yaml', '--json'], own);
    expect([planned.stderr, planned.status]).toEqual(['', 0]);
    const audited = await stage.run([
      'audit', 'count', '--epsilon', '1', '--delta', '1e-6', '--trials', '2000', '--json',
    ], own);
    expect(audited.stderr).toBe('');
    expect(JSON.parse(audited.stdout)).toMatchObject({ estimator: 'count' });
  });

  it('passes every case of the conformance kit', { timeout: 480_000 }, async () => {
    const { stderr, status, stdout } =
      await stage.run(['conform', '--json'], { command, directory: place });
    expect([stderr, status]).toEqual(['', 0]);
    const { failed, leftOut, cases } = JSON.parse(stdout) as {
      failed: number; leftOut: number; cases: readonly object[];
    };
    expect({ failed, leftOut, cases: cases.length })
      .toEqual({ failed: 0, leftOut: 0, cases: conformanceCases.length });
  });

  it('serves each study that comes with it, and its pages', async () => {
    const studies = readdirSync(`${place}/node_modules/keelson/studies`)
      .map((name) => `node_modules/keelson/studies/${name}`);
    const server = stage.start([
      'serve', ...studies, 'node_modules/keelson/examples/commute/study.yaml', '--port', '0',
      '--json', '--log-level', 'warn',
    ], { command, directory: place });
    const address = String((await server.line(({ type }) => type === 'listening'))['address']);
    const pages = ['/', '/plan', '/plan-worker.js', '/operator', '/keelson-chart.js', '/healthz'];
    for (const page of pages) {
      const { status } = await fetch(address + page);
      expect([page, status]).toEqual([page, 200]);
    }
    const { status } = await server.interrupt();
    expect(status).toBe(0);
  });

  it('shows the laboratory', async () => {
    const lab = stage.start(['lab', '--port', '0'], { command, directory: place });
    const address = /http:\/\/\S+/;
    while (!address.test(lab.stdout)) await lab.next();
    expect((await fetch(address.exec(lab.stdout)![0])).status).toBe(200);
    expect((await lab.interrupt()).stderr).toBe('');
  });
});
