import { build } from 'esbuild';
import { root } from './generated.js';

/**
 * Bundles the worker of the what-if page into `site`. Plans read no rows, so the code that only
 * rows need is left out: decompositions of matrices, and the code of the kernels. So are sealed
 * studies, for which the page has no plans.
 * @returns esbuild's metafile of the bundle.
 */
export async function bundlePlanner(site) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['dist/dashboard/plan/worker.js'],
    outfile: `${site}/plan-worker.js`,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    logLevel: 'warning',
    alias: { 'ml-matrix': `${root}scripts/no-matrices.cjs` },
    preserveSymlinks: true,
    plugins: [withoutKernels, withoutSealed],
  });
  return metafile;
}

const withoutKernels = {
  name: 'without-kernels',
  setup(builder) {
    builder.onLoad({ filter: /kernels[\\/]generated[\\/]module\.js$/ }, () =>
      ({ contents: "export const moduleText = '';" }));
  },
};

const withoutSealed = {
  name: 'without-sealed',
  setup(builder) {
    builder.onLoad({ filter: /src[\\/]plan-sealed\.js$/ }, () =>
      ({ contents: 'export const [planSealed, withEntryBytes] = [];' }));
  },
};
