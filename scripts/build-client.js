// Fills client/package, the package @keelson/client, with the parts of dist/ that the client needs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './generated.js';
import { reached } from './reached.js';

const target = join(root, 'client/package');
const { imports } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));

/** @throws Error if a file is missing in dist/: the build before it failed. */
export function buildClient() {
  rmSync(join(target, 'dist'), { recursive: true, force: true });
  const entries = ['dist/client/index', 'dist/client/contribute', 'dist/client/once',
    'dist/client/tokens', 'dist/client/sealing'];
  const files = [
    ...reached(entries.map((entry) => `${entry}.js`), imports),
    ...reached([...entries, 'dist/dashboard/element/index'].map((entry) => `${entry}.d.ts`), imports),
    'dist/browser/keelson-client.js', 'dist/browser/keelson-contribute.js',
    'dist/browser/keelson-tokens.js', 'dist/browser/keelson-sealing.js',
    'dist/browser/keelson-chart.js',
  ];
  for (const file of [...files, 'LICENSE', 'NOTICE']) {
    if (!existsSync(join(root, file))) throw new Error(`${file} is missing: run npm run build`);
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
}
