// Bundles the fuzzers and runs them over the built product: npm run fuzz:frames -- --help
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../', import.meta.url));
// Inside the project, so that the bundle finds the packages.
const folder = mkdtempSync(join(root, '.fuzz-'));
const bundle = join(folder, 'fuzz.mjs');
/** The product stays in its built files: the fuzzers test those, and coverage refers to them. */
const built = {
  name: 'built',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ importer, path }) => {
      const target = relative(root, resolve(dirname(importer), path));
      if (!/^(src|server|client|cli)\//.test(target)) return undefined;
      return { path: pathToFileURL(join(root, 'dist', target)).href, external: true };
    });
  },
};
try {
  await build({
    entryPoints: [join(root, 'test/support/fuzz/main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
    plugins: [built],
  });
  const { main } = await import(pathToFileURL(bundle).href);
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
