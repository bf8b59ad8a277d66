// Fills client/package, the package @keelson/client, with the files that the client needs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundlePackage } from './bundle-node.js';
import { packagesIn, writeNotice } from './bundled-packages.js';
import { root } from './generated.js';
import { reached } from './reached.js';

const target = join(root, 'client/package');
const { exports: entries } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * @param others metafiles of the other bundles in it.
 * @throws Error if a file is missing in dist/: the build before it failed.
 */
export function buildClient(others) {
  rmSync(join(target, 'dist'), { recursive: true, force: true });
  const paths = [...new Set(Object.values(entries).flatMap((entry) => Object.values(entry)))]
    .map((path) => path.slice(2));
  const files = [
    ...reached(paths.filter((path) => path.endsWith('.d.ts')), imports),
    ...paths.filter((path) => path.startsWith('dist/browser/')),
  ];
  for (const file of [...files, 'LICENSE', 'NOTICE']) {
    if (!existsSync(join(root, file))) throw new Error(`${file} is missing: run npm run build`);
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(join(root, file), join(target, file));
  }
  const metafiles = [...bundlePackage(target), ...others];
  writeNotice(packagesIn(metafiles), join(target, 'dist/bundle'));
}
