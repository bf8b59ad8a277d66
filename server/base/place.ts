import { existsSync, readFileSync } from 'node:fs';
import { InvariantError } from '../../src/base/errors.js';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

let found: { readonly root: URL; readonly version: string } | undefined;

/**
 * The folder of the package, which is the nearest above this code with a package.json of Keelson's:
 * the code may run from the sources, from the modules in dist/, or from a part of the bundle.
 */
function place(): { readonly root: URL; readonly version: string } {
  let folder = new URL('./', import.meta.url);
  for (;;) {
    const file = new URL('package.json', folder);
    const manifest: Manifest =
      existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Manifest : {};
    if (manifest.name === 'keelson' && manifest.version !== undefined) {
      return { root: folder, version: manifest.version };
    }
    const above = new URL('../', folder);
    if (above.href === folder.href) {
      throw new InvariantError('Keelson does not find its own files: leave the package in its '
        + 'folder, and do not bundle it into another program (mark it as external)');
    }
    folder = above;
  }
}

/** A file of the package, by its path from the package's folder. It may be missing. */
export function packageFile(path: string): URL {
  return new URL(path, (found ??= place()).root);
}

/** The version in the package's package.json. */
export function packageVersion(): string {
  return (found ??= place()).version;
}

/**
 * An entry of the bundle that runs as a thread or process of its own. Threads of tests come from
 * there too: a Worker cannot load TypeScript.
 * @param entry its path in the sources, without `.ts`: one of `scripts/bundle-node.js`.
 * @throws InvariantError when the build is missing.
 */
export function workerUrl(entry: string): URL {
  const built = packageFile(`dist/bundle/${entry}.js`);
  if (existsSync(built)) return built;
  throw new InvariantError(`${entry} is not built: run \`npm run build\` first`);
}
