import { existsSync } from 'node:fs';
import { InvariantError } from '../../src/base/errors.js';

/**
 * The location of a worker thread's built entry: `relative` (ending in .js) beside the importing
 * module. If that module is a TypeScript source, it is the same path under dist/: tests run
 * sources, and a Worker cannot load them.
 * @param importer the caller's `import.meta.url`.
 * @throws InvariantError when neither exists: the build is missing.
 */
export function workerUrl(importer: string, relative: string): URL {
  const beside = new URL(relative, importer);
  if (existsSync(beside)) return beside;
  for (const folder of ['/server/', '/cli/']) {
    const at = beside.href.lastIndexOf(folder);
    if (at < 0) continue;
    const built = new URL(`${beside.href.slice(0, at)}/dist${beside.href.slice(at)}`);
    if (existsSync(built)) return built;
  }
  throw new InvariantError(`the worker ${relative} is not built; run \`npm run build\` first`);
}
