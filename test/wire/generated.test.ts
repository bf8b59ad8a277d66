import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

type Generate = (
  folder: string, names: readonly string[], inputs: readonly string[],
  make: () => Record<string, string>,
) => boolean;
// A script without declarations of its types.
const { generate } = await import(`${root}scripts/generated.js`) as { readonly generate: Generate };

const codeIn = (name: string): string =>
  readFileSync(join(root, 'src/wire/generated', name), 'utf8');

describe('generated sources', () => {
  it('are not tracked, but for the kernels, whose compiler is large', () => {
    const tracked = execFileSync(
      'git', ['ls-files', 'src', 'client', 'server', 'cli'], { cwd: root, encoding: 'utf8' },
    );
    expect(tracked.split('\n').filter((path) => path.includes('/generated/')))
      .toEqual(['src/numerics/kernels/generated/module.ts']);
  });

  it('are made again when an input changes, a file is missing, or the name of an output '
    + 'changes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-generated-'));
    const input = join(folder, 'input.txt');
    const output = join(folder, 'made');
    const made = (names: readonly string[]): boolean =>
      generate(output, names, [input], () =>
        Object.fromEntries(names.map((name) => [name, `// ${name}\n`])));
    try {
      writeFileSync(input, 'one');
      expect([made(['a.js', 'b.js']), made(['a.js', 'b.js'])]).toEqual([true, false]);
      expect(readFileSync(join(output, 'b.js'), 'utf8'))
        .toMatch(/^\/\/ Generated .*\n\/\/ b\.js\n$/);
      writeFileSync(input, 'two');
      expect([made(['a.js', 'b.js']), made(['a.js', 'b.js'])]).toEqual([true, false]);
      rmSync(join(output, 'b.js'));
      expect([made(['a.js', 'b.js']), made(['a.js', 'b.js'])]).toEqual([true, false]);
      expect([made(['a.js', 'c.js']), made(['a.js', 'c.js'])]).toEqual([true, false]);
      expect(readdirSync(output)).toEqual(['a.js', 'c.js']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('stay as they were when they cannot be made', () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-generated-'));
    const input = join(folder, 'input.txt');
    try {
      writeFileSync(input, 'one');
      generate(join(folder, 'made'), ['a.js'], [input], () => ({ 'a.js': 'first' }));
      writeFileSync(input, 'two');
      const fail = (): never => { throw new Error('no compiler'); };
      expect(() => generate(join(folder, 'made'), ['a.js'], [input], fail)).toThrow('no compiler');
      expect(readFileSync(join(folder, 'made/a.js'), 'utf8')).toMatch(/first$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('generated wire code', () => {
  it('writes in one pair of files and reads in the other', () => {
    for (const name of [
      'contributor-writer.js', 'once-writer.js', 'other-writer.js', 'peer-writer.js',
    ]) {
      expect(codeIn(name)).toContain('.encode = function');
      expect(codeIn(name)).not.toContain('.decode = function');
    }
    for (const name of ['contributor-reader.js', 'other-reader.js', 'peer-reader.js']) {
      expect(codeIn(name)).toContain('.decode = function');
      expect(codeIn(name)).not.toContain('.encode = function');
    }
  });

  it('bundles for browsers with signing and log, without Node modules or code from '
    + 'strings', async () => {
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
    // 64.2 KB today, of which the messages between sealed servers take 3, those of encrypted
    // channels 2, and the descriptions of answers 6: the log works them out, and a release states
    // them. A jump means that the reflection build, or something like it, came in.
    expect(gzipSync(text).length).toBeLessThan(64.75 * 1024);
  });
});
