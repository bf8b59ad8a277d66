import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withPicture } from '../../scripts/layers.js';
import { importsOf, root, sourceFile, sourceFiles } from '../support/sources.js';

/** What each layer may import besides itself; ARCHITECTURE.md says why. Longest prefix wins. */
const library = ['src/base', 'src/random', 'src/numerics'];
const accounting = [...library, 'src/privacy/accounting'];
const privacy = [...library, 'src/privacy'];
const estimation = [...privacy, 'src/robust', 'src/estimators/contract'];
const pooling = [...estimation, 'src/estimators/summaries', 'src/estimators/pooled'];
const network = [
  'src', 'server/base', 'server/store', 'server/studies', 'server/metrics', 'server/checks',
];
const layers: Readonly<Record<string, readonly string[]>> = {
  'src/base': [],
  'src/random': ['src/base'],
  'src/numerics': ['src/base'],
  'src/signing': ['src/base'],
  'src/wire': ['src/base'],
  // Descriptions are a table that loads no estimator: the test below holds it to that.
  'src/answers': ['src/base', 'src/estimators/generated/descriptions.ts'],
  'src/log': ['src/base', 'src/signing', 'src/wire', 'src/answers'],
  'src/series': ['src/base', 'src/wire'],
  'src/privacy/accounting': library,
  'src/privacy/mechanisms': accounting,
  'src/privacy/running': accounting,
  'src/privacy/stages': [...accounting, 'src/privacy/mechanisms'],
  'src/robust': privacy,
  'src/estimators/contract': privacy,
  'src/estimators/summaries': [...privacy, 'src/estimators/contract'],
  'src/estimators/pooled': [...estimation, 'src/estimators/summaries'],
  'src/estimators/counts': pooling,
  'src/estimators/mean': [...pooling, 'src/estimators/counts'],
  'src/estimators/covariance': [...pooling, 'src/estimators/mean'],
  'src/estimators/distributions': [
    ...pooling, 'src/estimators/counts', 'src/estimators/covariance',
  ],
  'src/estimators/keyed': [...pooling, 'src/estimators/counts'],
  // The registry, and the runner of offline releases.
  'src/estimators': [...privacy, 'src/robust'],
  // The steps know neither events nor estimators; contributors need the shares alone.
  'src/sealed/shares': ['src/base', 'src/signing'],
  'src/sealed/steps': ['src/base', 'src/numerics', 'src/signing', 'src/sealed/shares'],
  'src/sealed/proof': [
    'src/base', 'src/numerics', 'src/sealed/shares', 'src/sealed/steps',
  ],
  'src/sealed/programs': [
    ...privacy, 'src/estimators', 'src/sealed/proof', 'src/sealed/shares', 'src/sealed/steps',
  ],
  'src/questions': [...privacy, 'src/estimators'],
  // The exact checks run sealed programs at three parties.
  'src/audit': [...privacy, 'src/robust', 'src/estimators', 'src/sealed', 'src/signing'],
  // The kit plans as the library does, and runs audits.
  'src/kit': ['src'],
  // The files at the top of src/ are what users of the library call.
  src: [],
  client: [
    'src/base', 'src/signing', 'src/wire', 'src/answers', 'src/log', 'src/series',
    // Whoever seals reduces its rows itself, as a server does that reads them.
    'src/sealed/shares', 'src/questions/reduction.ts',
  ],
  simulation: ['client', ...library, 'src/signing', 'src/wire', 'src/answers', 'src/log'],
  'server/base': ['src'],
  'server/store': ['src', 'server/base'],
  // The rows of a charge are those of the store's ledger.
  'server/ledger': ['src', 'server/base', 'server/store/rules/spend.ts'],
  'server/keys': ['src', 'server/base', 'server/store'],
  'server/compute': ['src', 'server/base'],
  'server/epochs': ['src', 'server/base', 'server/compute'],
  'server/studies': ['src', 'server/base', 'server/store', 'server/epochs'],
  'server/study-file': ['src', 'server/epochs', 'server/studies'],
  'server/checks': ['src', 'server/base'],
  'server/metrics': ['src', 'server/base', 'server/store', 'server/studies'],
  'server/network': network,
  'server/operator': [...network, 'server/network'],
  'server/sealed': [...network, 'server/epochs', 'server/network'],
  'server/listener': [...network, 'server/network', 'server/operator'],
  server: ['src'],
  cli: ['src', 'server', 'client', 'simulation'],
  dashboard: ['client', 'src/answers'],
  // It plans in the browser, by what commands and servers plan with.
  'dashboard/plan': ['client', 'src', 'dashboard/base'],
};

/** Each third-party package has one importing folder, so that replacing it touches one place. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  tweetnacl: ['src/signing'],
  'protobufjs/minimal': ['src/wire'],
  'ml-matrix': ['src/numerics'],
  // The rules of transactions have no connection.
  'better-sqlite3': ['server/store/sqlite'],
  pg: ['server/store/postgres'],
  kysely: ['server/store'],
  // Two ends of one protocol: the server's listener and the client's Node transport. Both ends of
  // that between servers. And the server with which the conformance kit tries clients.
  ws: ['server/listener', 'server/sealed', 'client/websocket', 'cli/conform'],
  pino: ['server/base/logger.ts'],
  nodemailer: ['server/alerts'],
  '@opentelemetry/api': ['server/base/tracing.ts'],
  yaml: ['server/study-file'],
  valibot: ['server/study-file'],
  citty: ['cli'],
  'cli-table3': ['cli'],
  'csv-parse': ['cli/input'],
  hyparquet: ['cli/input'],
  'hyparquet/src/column.js': ['cli/input'],
  fzstd: ['cli/input'],
  'hyparquet-writer': ['cli/export'],
  // Reads Arrow and writes it.
  '@uwdata/flechette': ['cli/input', 'cli/export'],
  '@duckdb/node-api': ['cli/input'],
  uplot: ['dashboard'],
  preact: ['dashboard'],
  'preact/hooks': ['dashboard'],
  htm: ['dashboard'],
  '@preact/signals': ['dashboard'],
};

const aliases: Readonly<Record<string, string>> = {
  '#signing': 'src/signing/node.ts',
  '#async-signing': 'src/signing/async-node.ts',
  '#protobuf': 'src/wire/protobuf-node.ts',
  '#websocket': 'client/websocket/node.ts',
  '#outbox': 'client/outbox/node.ts',
};

const inside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

function layerOf(path: string): string | undefined {
  return Object.keys(layers)
    .filter((layer) => inside(path, layer))
    .sort((left, right) => right.length - left.length)[0];
}

/** The imported file's path, or undefined for a package or a Node module. */
function resolved(from: string, specifier: string): string | undefined {
  if (specifier in aliases) return aliases[specifier];
  if (!specifier.startsWith('.')) return undefined;
  return posix.normalize(posix.join(posix.dirname(from), specifier)).replace(/\.js$/, '.ts');
}

// What is generated from the table of estimators imports the estimators.
const files = [
  ...sourceFiles(),
  ...['descriptions', 'exports'].map((name) => sourceFile(`src/estimators/generated/${name}.ts`)),
];

describe('layers', () => {
  it('sees the sources', () => {
    expect(files.length).toBeGreaterThan(20);
  });

  it('are drawn in ARCHITECTURE.md as the imports are', () => {
    const page = readFileSync(`${root}ARCHITECTURE.md`, 'utf8');
    expect(page, 'draw them anew by `node scripts/layers.js`').toBe(withPicture(page));
  });

  it('fit ARCHITECTURE.md into 15 KB', () => {
    expect(readFileSync(`${root}ARCHITECTURE.md`).length).toBeLessThanOrEqual(15 * 1024);
  });

  it('imports only downwards', () => {
    const wrong: string[] = [];
    for (const file of files) {
      const layer = layerOf(file.path);
      if (layer === undefined) wrong.push(`${file.path} is in no layer`);
      for (const specifier of importsOf(file)) {
        const target = resolved(file.path, specifier);
        if (target === undefined || layer === undefined || inside(target, layer)) continue;
        const allowed = layers[layer]!.some((prefix) => inside(target, prefix));
        if (!allowed) wrong.push(`${file.path} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('keeps sockets, files, clocks and the environment out of src/', () => {
    const wrong = files
      .filter((file) => inside(file.path, 'src')
        && ![
          'src/signing/node.ts', 'src/signing/block-cipher.ts', 'src/signing/channel-keys-node.ts',
        ].includes(file.path))
      .flatMap((file) => importsOf(file)
        .filter((name) => name.startsWith('node:')).map((name) => `${file.path}: ${name}`));
    expect(wrong).toEqual([]);
  });

  it('keeps the seeded noise source out of server/', () => {
    const wrong = files
      .filter((file) => inside(file.path, 'server'))
      .filter((file) => importsOf(file).some((name) => name.includes('random/insecure')))
      .map((file) => file.path);
    expect(wrong).toEqual([]);
  });

  it('shows what mechanisms are given to the audits alone', () => {
    const wrong = files
      .filter((file) => !inside(file.path, 'src/audit'))
      .filter((file) => importsOf(file).some((name) => name.includes('mechanisms/observed')))
      .map((file) => file.path);
    expect(wrong).toEqual([]);
  });

  it('gives each package one importing folder', () => {
    const wrong: string[] = [];
    for (const file of files) {
      for (const specifier of importsOf(file)) {
        if (specifier.startsWith('.') || specifier.startsWith('node:') || specifier in aliases) {
          continue;
        }
        const name = Object.keys(packageHomes)
          .find((home) => specifier === home || specifier.startsWith(`${home}/`)
            || specifier === `${home}.js`);
        const homes = name === undefined ? [] : packageHomes[name]!;
        if (!homes.some((home) => inside(file.path, home))) {
          wrong.push(`${file.path} imports ${specifier}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  const imports = files.flatMap((file) => importsOf(file)
    .map((name) => resolved(file.path, name))
    .filter((target) => target !== undefined)
    .map((target): readonly [string, string] => [file.path, target]));

  it('have no import cycles of files', () => {
    expect(cyclesOf(imports)).toEqual([]);
  });

  it('have no import cycles of folders, at any depth', () => {
    const folders = imports
      .map(([from, to]): readonly [string, string] => [posix.dirname(from), posix.dirname(to)])
      .filter(([from, to]) => from !== to);
    expect(cyclesOf(folders)).toEqual([]);
  });

  const described = reachedFrom('src/estimators/generated/descriptions.ts', imports);

  // All estimators together take longer to load than these commands take to run.
  it.each([
    'contribute', 'keys enrol', 'keys new', 'keys rotate', 'keys server', 'simulate', 'studies',
  ])(
    'load no estimator for keelson %s', (command) => {
      const reached = reachedFrom(`cli/commands/${command.replace(' ', '/')}.ts`, imports);
      expect(reached.length).toBeGreaterThan(1);
      const found = reached.filter((path) => inside(path, 'src/estimators'));
      expect(found.filter((path) => !described.includes(path))).toEqual([]);
    },
  );

  it('load no estimator for the descriptions of answers', () => {
    const parts = /^src\/estimators\/(generated\/descriptions|contract\/[a-z-]+|.*\/describe)\.ts$/;
    const found = described.filter((path) => inside(path, 'src/estimators'));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((path) => !parts.test(path))).toEqual([]);
  });

  it('loads nothing for keelson estimate that only other commands or estimators need', () => {
    const atStart = files.flatMap((file) => importsOf(file, 'at start')
      .map((name) => resolved(file.path, name)).filter((target) => target !== undefined)
      .map((target): readonly [string, string] => [file.path, target]));
    const reached = reachedFrom('cli/commands/estimate.ts', atStart);
    expect(reached.length).toBeGreaterThan(80);
    const needless = new RegExp('yaml-text|text-table|study-file/(check|parse)'
      + '|wire/(reader|generated)|^src/choose'
      + '|^src/estimators/(mean|counts|covariance|distributions|pooled)/');
    expect(reached.filter((path) => needless.test(path) && !described.includes(path))).toEqual([]);
  });
});

/** @param arrows from importer to imported. */
function reachedFrom(
  path: string, arrows: readonly (readonly [string, string])[],
): readonly string[] {
  const reached = new Set([path]);
  // The loop also visits what it adds.
  for (const from of reached) {
    for (const [importer, target] of arrows) if (importer === from) reached.add(target);
  }
  return [...reached];
}

/** @param arrows from importer to imported. */
function cyclesOf(arrows: readonly (readonly [string, string])[]): readonly string[] {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of arrows) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  const state = new Map<string, 'open' | 'done'>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      return;
    }
    state.set(path, 'open');
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    state.set(path, 'done');
  };
  for (const path of graph.keys()) visit(path, []);
  return cycles;
}
