import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { root } from '../support/sources.js';

const { generateKernels } = await import(`${root}scripts/generate-kernels.js`) as {
  readonly generateKernels: (folder: string) => boolean;
};

describe('the kernels as a module', () => {
  it('are tracked as their sources compile', { tags: ['slow'] }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-kernels-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const textIn = (place: string): string => readFileSync(join(place, 'module.ts'), 'utf8');
    expect(generateKernels(folder)).toBe(true);
    expect(textIn(`${root}src/numerics/kernels/generated`)).toBe(textIn(folder));
    // The build makes it anew after a change of the sources. CI sees whether that was committed.
    expect(readFileSync(`${root}.ci/run`, 'utf8'))
      .toMatch(/^git diff --exit-code -- src\/numerics\/kernels\/generated /m);
  });

  it('bundle for browsers as one file without Node, files or network', () => {
    const { outputFiles } = buildSync({
      absWorkingDir: root,
      stdin: {
        contents: `import { createKernels } from './src/numerics/kernels/index.ts';
          const sum = new Float64Array(1);
          createKernels().gram(Float64Array.of(3, 4), 1, 2, {}, sum);
          globalThis.answer = sum[0];`,
        resolveDir: root,
      },
      bundle: true, write: false, format: 'iife', platform: 'browser',
    });
    const { text } = outputFiles[0]!;
    expect(text).not.toMatch(/\bfetch\(|require\(|node:/);
    // With what every browser has, and nothing of Node.
    const given = {
      WebAssembly: (globalThis as unknown as { WebAssembly: unknown }).WebAssembly, atob,
    };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
    new Function('globalThis', 'atob', 'process', 'Buffer', text)(
      given, atob, undefined, undefined,
    );
    expect((given as { answer?: number }).answer).toBe(25);
  });
});
