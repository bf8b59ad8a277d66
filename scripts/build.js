// Builds the library, the server, the client and the command into dist/.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { buildClient } from './build-client.js';
import { writeDeclarations } from './build-declarations.js';
import { bundleNode } from './bundle-node.js';
import { bundlePage } from './bundle-page.js';
import { bundlePlanner } from './bundle-planner.js';
import './generate.js';
import { root } from './generated.js';

// Modules for scripts, benchmarks and the bundles. Types are checked by `npm run types`.
const sources = ['src', 'server', 'client', 'simulation', 'cli', 'dashboard'].flatMap((folder) =>
  readdirSync(root + folder, { recursive: true }).map((path) => `${folder}/${path}`))
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /(?<!\.d)\.ts$/.test(path)
    && !/^(client\/package|src\/numerics\/kernels\/assembly)\//.test(path));
buildSync({
  absWorkingDir: root, entryPoints: sources, outbase: '.', outdir: 'dist', format: 'esm',
  target: 'es2023', sourcemap: true, legalComments: 'none', logLevel: 'warning',
});
// The generated wire code is JavaScript with its own declarations.
const generated = `${root}dist/src/wire/generated`;
rmSync(generated, { recursive: true, force: true });
cpSync(`${root}src/wire/generated`, generated, { recursive: true });
const { exports: entries, imports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const declared = writeDeclarations(
  Object.values(entries).flatMap(({ types }) => types?.slice(2) ?? []), imports,
);
// Outputs of sources that are gone must not reach the package.
for (const found of readdirSync(`${root}dist`, { recursive: true })) {
  const path = found.replaceAll('\\', '/');
  const source = path.replace(/\.(js|js\.map|d\.ts)$/, '.ts');
  if (source === path || /^(browser|bundle|dashboard\/site)\b/.test(path)) continue;
  const isKept = path.endsWith('.d.ts') ? declared.includes(`dist/${path}`)
    : sources.includes(source) || path.startsWith('src/wire/generated/');
  if (!isKept) rmSync(`${root}dist/${path}`);
}
const metafiles = [];
const bundle = (from, to, alias = {}, external = []) => metafiles.push(buildSync({
  absWorkingDir: root,
  entryPoints: [from],
  outfile: to,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  metafile: true,
  logLevel: 'warning',
  alias,
  external,
  preserveSymlinks: true,
}).metafile);
/**
 * The part for contributors, and beside it the code that most pages never load: for browsers
 * without Ed25519 or X25519, and for networks without WebSockets.
 */
function bundleContribute() {
  const later = ['./browser.js', './http/uploads.js'];
  const name = 'dist/browser/keelson-contribute';
  bundle('dist/client/contribute.js', `${name}.js`, {}, later);
  const text = later.reduce((found, path) => {
    if (!found.includes(`import("${path}")`)) throw new Error(`the client imports no ${path}`);
    return found.replace(path, './keelson-contribute-rest.js');
  }, readFileSync(`${root}${name}.js`, 'utf8'));
  writeFileSync(`${root}${name}.js`, text);
  bundle('scripts/contribute-rest.js', `${name}-rest.js`);
}

// The client as one file for pages without a bundler: the whole client, and the part for
// contributors.
bundle('dist/client/index.js', 'dist/browser/keelson-client.js');
bundleContribute();
bundle('dist/client/tokens.js', 'dist/browser/keelson-tokens.js');
bundle('dist/client/sealing.js', 'dist/browser/keelson-sealing.js');
bundle('dist/client/words.js', 'dist/browser/keelson-words.js');
bundle('dist/dashboard/element/index.js', 'dist/browser/keelson-chart.js');
const ofClient = [...metafiles];
// The dashboard: its scripts, and files as they are. Parts of an earlier build have other names.
const site = 'dist/dashboard/site';
rmSync(`${root}${site}`, { recursive: true, force: true });
mkdirSync(`${root}${site}`, { recursive: true });
for (const name of ['shell.css', 'dashboard.css', 'favicon.svg']) {
  cpSync(`${root}dashboard/${name}`, `${root}${site}/${name}`);
}
// The operator's page, the laboratory's and the what-if page are beside it.
for (const name of ['operator', 'lab', 'plan']) {
  cpSync(`${root}dashboard/${name}/index.html`, `${root}${site}/${name}.html`);
  cpSync(`${root}dashboard/${name}/${name}.css`, `${root}${site}/${name}.css`);
  bundle(`dist/dashboard/${name}/main.js`, `${site}/${name}.js`);
}
// Plans read no rows, so the decompositions of matrices stay away.
bundle('dist/dashboard/plan/worker.js', `${site}/plan-worker.js`, {
  'ml-matrix': `${root}scripts/no-matrices.cjs`,
});
cpSync(`${root}dashboard/embed/index.html`, `${root}${site}/embed.html`);
cpSync(`${root}dashboard/embed/embed.css`, `${root}${site}/embed.css`);
// The frame's page takes the element from the file that pages of other people load.
const element = '../element/index.js';
bundle('dist/dashboard/embed/main.js', `${site}/embed.js`, {}, [element]);
const embed = readFileSync(`${root}${site}/embed.js`, 'utf8');
writeFileSync(`${root}${site}/embed.js`, embed.replace(element, './keelson-chart.js'));
cpSync(`${root}node_modules/uplot/dist/uPlot.min.css`, `${root}${site}/uplot.css`);
metafiles.push(await bundlePage(site), await bundlePlanner(site));
// Beside each file its compressed form. The server reads only these, and only these are published.
for (const name of readdirSync(`${root}${site}`)) {
  const path = `${root}${site}/${name}`;
  if (name.endsWith('.gz')) continue;
  writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
}
// The bundles for Node.js, and the notices of all packages that are in bundles.
bundleNode(metafiles);
// The generated pages of the reference, and the JSON Schema of study files.
await import('./reference.js');
// The package of the client alone.
buildClient(ofClient);
