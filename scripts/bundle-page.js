import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { buildSync } from 'esbuild';
import { root } from './generated.js';

/**
 * Bundles the page of studies into `site`. What is not on the first view is in parts of its own,
 * which the page loads later. The page names the parts that it needs at once, so that the browser
 * asks for all of them together.
 */
export function bundlePage(site) {
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: { dashboard: 'dist/dashboard/main.js' },
    outdir: site,
    chunkNames: 'part-[hash]',
    splitting: true,
    metafile: true,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    logLevel: 'warning',
  });
  const needed = neededBy(metafile.outputs, `${site}/dashboard.js`)
    .map((path) => `<link rel="modulepreload" href="/${basename(path)}">`);
  const page = readFileSync(`${root}dashboard/index.html`, 'utf8');
  writeFileSync(`${root}${site}/index.html`, page.replace('</head>', `${needed.join('\n')}\n</head>`));
}

/** What a script imports before it runs, directly or through others. */
function neededBy(outputs, path, found = new Set()) {
  for (const { path: next, kind } of outputs[path].imports) {
    if (kind !== 'import-statement' || found.has(next)) continue;
    found.add(next);
    neededBy(outputs, next, found);
  }
  return [...found];
}
