// Lays out the contents of the container image, from this folder's build: node scripts/image.js
// FOLDER The Dockerfile calls it. Packages are copied from node_modules, which package-lock.json
// fixes.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('image FOLDER: give the folder that the image is laid out in');
  process.exit(2);
}
if (existsSync(target)) {
  console.error(`${target} exists already: give a folder that does not`);
  process.exit(1);
}
const root = fileURLToPath(new URL('../', import.meta.url));

// The image needs only a part of the published package.
const [{ files }] = JSON.parse(execFileSync(
  'npm', ['pack', '--dry-run', '--ignore-scripts', '--json'],
  { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
));
const isRun = (path) => /^(bin|data|dist)\//.test(path) && !path.endsWith('.d.ts')
  || ['package.json', 'LICENSE', 'NOTICE'].includes(path);
const own = files.map(({ path }) => path).filter(isRun);
const packages = neededPackages();
for (const path of [...own, ...packages]) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  cpSync(join(root, path), join(target, path), { recursive: true, dereference: true });
}
cpSync(join(root, 'deploy/container/healthy.js'), join(target, 'healthy.js'));
console.log(`${own.length} files and ${packages.length} packages: ${target}`);

/** Folders of the packages that the aggregator needs, and of the optional ones that are there. */
function neededPackages() {
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { dependencies, optionalDependencies } = locked[''];
  // Node 24 has SQLite. pg is for those who keep their data in PostgreSQL.
  const found = new Set();
  const waiting = [...Object.keys(dependencies), ...Object.keys(optionalDependencies), 'pg']
    .map((name) => `node_modules/${name}`);
  while (waiting.length > 0) {
    const folder = waiting.pop();
    if (found.has(folder) || !existsSync(join(root, folder))) continue;
    found.add(folder);
    const { dependencies: direct = {}, optionalDependencies: extra = {} } = locked[folder];
    for (const name of [...Object.keys(direct), ...Object.keys(extra)]) {
      // npm puts a package beside its user, or inside it where versions differ.
      const inside = `${folder}/node_modules/${name}`;
      waiting.push(inside in locked ? inside : `node_modules/${name}`);
    }
  }
  return [...found].sort();
}
