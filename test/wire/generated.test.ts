import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('generated wire code', () => {
  it('is what the schema generates', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-generated-'));
    try {
      execFileSync(process.execPath, ['scripts/generate-proto.js', folder], { cwd: root });
      const modules = ['client-writer', 'client-reader', 'server-writer', 'server-reader', 'batches', 'logs'];
      for (const name of modules.flatMap((module) => [`${module}.js`, `${module}.d.ts`])) {
        const fresh = readFileSync(join(folder, name), 'utf8');
        const committed = readFileSync(join(root, 'src/wire/generated', name), 'utf8');
        expect(fresh === committed, `${name}: run npm run proto and commit`).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('bundles for browsers with signing and log, without Node modules or code from strings', async () => {
    const contents = [
      "export * from './src/wire/index.ts';",
      "export * from './src/log/index.ts';",
      "export * from './src/signing/index.ts';",
      "export { signing } from './src/signing/browser.ts';",
    ].join('\n');
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root, loader: 'ts' },
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
      logLevel: 'silent',
    });
    const text = outputFiles[0]!.text;
    expect(text).not.toMatch(/\bnode:|\beval\(|new Function\b|[^.\w]Function\(/);
    // 40 KB today: a jump means that the reflection build, or something like it, came in.
    expect(gzipSync(text).length).toBeLessThan(48 * 1024);
  });
});
