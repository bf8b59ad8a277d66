import { buildSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

describe('the kernels as a module', () => {
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
