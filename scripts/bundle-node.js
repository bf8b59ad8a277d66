// Bundles the code that runs on Node: node scripts/bundle-node.js bundles the modules in dist/
// again.
import {
  mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { packagesIn, writeNotice } from './bundled-packages.js';
import { root } from './generated.js';
import { joinParts } from './join-parts.js';

/**
 * Packages that the bundle imports from the place of its installation: native, optional, or one per
 * process.
 */
export const outside = [
  '@duckdb/node-api', '@opentelemetry/api', 'better-sqlite3', 'bufferutil', 'nodemailer', 'pg',
  'utf-8-validate',
];

/** Programs that are started by themselves, besides the entries that package.json exports. */
const programs = [
  'cli/main', 'cli/audit/worker', 'cli/conform/own-client', 'server/checks/worker',
  'server/compute/worker', 'server/epochs/worker', 'server/store/sqlite/worker',
];

/** The modules, in dist/, that a package exports from a folder of bundles, without `.js`. */
function exported(folder, below) {
  const { exports: entries } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.values(entries).flatMap((entry) => Object.values(entry))
    .filter((path) => path.startsWith?.(below))
    .map((path) => path.slice(below.length).replace(/\.js$/, ''));
}

/**
 * One graph: code that several entries need is in parts that they share, so that it is loaded once
 * and each class exists once. Names stay as they are, for stack traces.
 * @param entries modules in dist/, without `.js`.
 */
function bundleGraph(entries, outdir, platform) {
  const isNode = platform === 'node';
  const form = {
    absWorkingDir: root,
    format: 'esm',
    platform,
    ...(isNode ? { target: 'node20.19' } : {}),
    minifyWhitespace: true,
    minifySyntax: true,
    charset: 'utf8',
    logLevel: 'warning',
  };
  const { metafile, outputFiles } = buildSync({
    ...form,
    entryPoints: Object.fromEntries(entries.map((entry) => [entry, `dist/${entry}.js`])),
    outdir,
    write: false,
    chunkNames: 'parts/[hash]',
    bundle: true,
    splitting: true,
    ...(isNode ? { external: outside } : {}),
    alias: {
      ...isNode && {
        long: `${root}scripts/long-bits.cjs`,
        '#signing': `${root}dist/src/signing/node.js`,
        '#async-signing': `${root}dist/src/signing/async-node.js`,
        '#protobuf': `${root}dist/src/wire/protobuf-node.js`,
        '#websocket': `${root}dist/client/websocket/node.js`,
        '#outbox': `${root}dist/client/outbox/node.js`,
      },
    },
    // NOTICE has the licences.
    legalComments: 'none',
    // Texts of the bundle name paths in node_modules, which may be a link.
    preserveSymlinks: true,
    metafile: true,
  });
  const texts = isNode ? joined(metafile, outputFiles, outdir, form)
    : outputFiles.map(({ path, text }) => [path, text]);
  for (const [path, text] of texts) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  removeOthers(outdir, texts.map(([path]) => path), isNode);
  return metafile;
}

/** The files of a graph whose parts are joined: their paths and texts. */
function joined({ outputs }, files, outdir, form) {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-bundle-'));
  try {
    const within = (path) => relative(outdir, join(root, path));
    for (const { path, text } of files) {
      const place = join(folder, relative(outdir, path));
      mkdirSync(dirname(place), { recursive: true });
      writeFileSync(place, text);
    }
    const described = Object.fromEntries(Object.entries(outputs).map(([path, output]) => {
      const imports = output.imports.map((each) =>
        (each.external === true ? each : { ...each, path: within(each.path) }));
      return [within(path), { ...output, imports }];
    }));
    return [...joinParts(described, folder, form)]
      .map(([path, text]) => [join(outdir, path), text]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Removes the scripts of an earlier build. They go last, so that a program that starts meanwhile
 * finds all that it needs.
 */
function removeOthers(outdir, made, isNode) {
  for (const path of readdirSync(outdir, { recursive: true })) {
    const isOfPages = isNode && /^browser\b/.test(path);
    const file = join(outdir, path);
    if (path.endsWith('.js') && !isOfPages && !made.includes(file)) rmSync(file);
  }
}

/**
 * The bundles of a package: `dist/bundle` for Node, and `dist/bundle/browser` for pages.
 * @param folder of its package.json.
 * @param more entries besides those that it exports.
 * @returns esbuild's metafile of each.
 */
export function bundlePackage(folder, more = []) {
  const here = join(folder, 'dist/bundle');
  const node = exported(folder, './dist/bundle/').filter((name) => !name.startsWith('browser/'));
  return [
    bundleGraph([...node, ...more], here, 'node'),
    bundleGraph(exported(folder, './dist/bundle/browser/'), join(here, 'browser'), 'browser'),
  ];
}

/**
 * The bundle of the whole package.
 * @param others metafiles of the other bundles in it.
 */
export function bundleNode(others = []) {
  const metafiles = [...bundlePackage(root, programs), ...others];
  const packages = packagesIn(metafiles);
  writeNotice(packages, join(root, 'dist/bundle'));
  writeFileSync(join(root, 'dist/bundle/packages.json'), `${JSON.stringify(
    packages.map(({ name, version }) => ({ name, version })), null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) bundleNode();
