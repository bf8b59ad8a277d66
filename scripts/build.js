// Builds the library, the server, the client and the command into dist/.
import { execFileSync } from 'node:child_process';
import {
  cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { withoutComments } from './blank-comments.js';
import { buildClient } from './build-client.js';
import { bundleNode } from './bundle-node.js';
import { bundlePage } from './bundle-page.js';
import { bundlePlanner } from './bundle-planner.js';
import './generate.js';
import { root, withoutLong } from './generated.js';
import { reached } from './reached.js';

const compile = (project) =>
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    cwd: root, stdio: 'inherit',
  });
compile('tsconfig.json');
// Only these files may use APIs that only browsers have.
compile('tsconfig.browser.json');
// The compiler leaves the outputs of sources that are gone. They must not reach the package.
for (const path of readdirSync(`${root}dist`, { recursive: true })) {
  const source = path.replace(/^declarations\b./, '').replace(/\.(js|js\.map|d\.ts)$/, '.ts');
  const isBundle = /^(browser|bundle|dashboard.site)\b/.test(path);
  if (source === path || isBundle) continue;
  const output = `${root}dist/${path}`;
  if (!existsSync(root + source)) rmSync(output, { recursive: true, force: true });
  else if (path.endsWith('.js')) {
    writeFileSync(output, withoutComments(readFileSync(output, 'utf8')));
  }
}
// The generated wire code is JavaScript with its own declarations: tsc does not copy it.
for (const place of ['src', 'declarations/src']) {
  const generated = `${root}dist/${place}/wire/generated`;
  rmSync(generated, { recursive: true, force: true });
  cpSync(`${root}src/wire/generated`, generated, { recursive: true });
}
// Beside the modules are only the declarations that a public entry reaches: a fifth of all.
const inDeclarations = (path) => path.replace('dist/', 'dist/declarations/');
const { exports: entries, imports } = JSON.parse(
  readFileSync(`${root}package.json`, 'utf8'),
  (_, value) => (typeof value === 'string' ? inDeclarations(value) : value),
);
const types = Object.values(entries).flatMap((entry) => entry.types?.slice(2) ?? []);
const kept = reached(types, imports).map((path) => path.replace('/declarations/', '/'));
for (const path of readdirSync(`${root}dist`, { recursive: true })) {
  const isBeside = path.endsWith('.d.ts') && !path.startsWith('declarations');
  if (isBeside) rmSync(`${root}dist/${path}`);
}
for (const path of kept) cpSync(root + inDeclarations(path), root + path);
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
  alias: { ...withoutLong, ...alias },
  external,
}).metafile);
// The client as one file for pages without a bundler: the whole client, and the part for
// contributors.
bundle('dist/client/index.js', 'dist/browser/keelson-client.js');
bundle('dist/client/contribute.js', 'dist/browser/keelson-contribute.js');
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
