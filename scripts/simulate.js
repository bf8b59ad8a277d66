// Bundles the simulation from its sources and runs it: npm run simulate -- --help
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
const here = (path) => join(root, path);
// Inside the project, so that its packages are found from there.
const folder = mkdtempSync(here('.simulation-'));
const bundle = join(folder, 'simulate.mjs');
try {
  await build({
    entryPoints: [here('test/support/simulation/main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
    alias: {
      '#signing': here('src/signing/node.ts'),
      '#websocket': here('client/websocket/node.ts'),
      '#outbox': here('client/outbox/node.ts'),
    },
  });
  const { main } = await import(pathToFileURL(bundle).href);
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
