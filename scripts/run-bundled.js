import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const here = (path) => join(root, path);

/**
 * Bundles a TypeScript entry point from its sources and runs its `main` with this process's
 * arguments.
 */
export async function runBundled(entry) {
  // Inside the project, so that the bundle finds the packages; two folders deep, like test/support.
  const folder = mkdtempSync(here('.simulation-'));
  const bundle = join(folder, 'run', 'main.mjs');
  mkdirSync(join(folder, 'run'));
  try {
    await build({
      entryPoints: [here(entry)],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      sourcemap: 'inline',
      logLevel: 'warning',
      alias: {
        '#signing': here('src/signing/node.ts'),
        '#async-signing': here('src/signing/async-node.ts'),
        '#protobuf': here('src/wire/protobuf-node.ts'),
        '#websocket': here('client/websocket/node.ts'),
        '#outbox': here('client/outbox/node.ts'),
      },
    });
    const { main } = await import(pathToFileURL(bundle).href);
    process.exitCode = await main(process.argv.slice(2));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
