// Fills client/package, the package @keelson/client, with the parts of dist/ that the client needs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './generated.js';

const target = join(root, 'client/package');
const { imports } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));

/** The files of dist/ that `entries` import, and what these import, with the entries. */
function reached(entries) {
  const files = new Set(entries);
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const extension = file.endsWith('.d.ts') ? '.d.ts' : '.js';
    for (const [, name] of text.matchAll(/(?:\bfrom |\bimport\(|\bimport )['"]([.#][^'"]+)['"]/g)) {
      const found = name.startsWith('#')
        ? Object.values(imports[name]).map((path) => path.slice(2))
        : [join(dirname(file), name)];
      for (const path of found) files.add(path.replace(/\.js$/, extension));
    }
  }
  return [...files];
}

/** @throws Error if a file is missing in dist/: the build before it failed. */
export function buildClient() {
  rmSync(join(target, 'dist'), { recursive: true, force: true });
  const entries = ['dist/client/index', 'dist/client/contribute'];
  const files = [
    ...reached(entries.map((entry) => `${entry}.js`)),
    ...reached(entries.map((entry) => `${entry}.d.ts`)),
    'dist/browser/keelson-client.js', 'dist/browser/keelson-contribute.js',
  ];
  for (const file of [...files, 'LICENSE', 'NOTICE']) {
    if (!existsSync(join(root, file))) throw new Error(`${file} is missing: run npm run build`);
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}
