import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { root } from '../support/sources.js';

interface Conditions {
  readonly node: string;
  readonly default: string;
}

const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  readonly imports: Record<string, Conditions>;
};

/**
 * Follows the package's own import map as a browser bundler does, but to the sources, so that no
 * build is needed.
 */
const sourcesByDefaultCondition: Plugin = {
  name: 'import-map',
  setup(builder) {
    builder.onResolve({ filter: /^#/ }, ({ path: name }) => {
      const target = manifest.imports[name]!.default;
      // As package.json says of all modules but one.
      const path = target.replace(/^\.\/dist\//, root).replace(/\.js$/, '.ts');
      return { path, sideEffects: false };
    });
  },
};

/** Code that a page loads later, if at all, is no part of what it loads at first. */
const later: Plugin = {
  name: 'later',
  setup(builder) {
    builder.onResolve({ filter: /./ }, ({ kind, path }) =>
      (kind === 'dynamic-import' ? { path, external: true } : undefined));
  },
};

const bundle = (stdin: string) =>
  build({
    stdin: { contents: stdin, resolveDir: root, loader: 'ts' },
    bundle: true, write: false, minify: true, metafile: true,
    format: 'esm', platform: 'browser', conditions: ['browser'],
    plugins: [later, sourcesByDefaultCondition], logLevel: 'silent',
  });

const dynamicImports = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ imports }) => imports.map(({ path }) => path)).sort();

/** Of a page that only contributes. People who send once have an entry of their own, too. */
const contributorBytes = 30_000;

describe('the browser bundle', () => {
  it('holds no Node module, no eval and no Node variant', async () => {
    const result = await bundle("export * from './client/index.ts';");
    const text = result.outputFiles[0]!.text;
    const inputs = Object.keys(result.metafile.inputs);
    expect(text).not.toMatch(/["']node:/);
    expect(text).not.toMatch(/\brequire\(["'](?:fs|net|crypto|ws)["']\)/);
    expect(text).not.toMatch(/\beval\(|\bFunction\(/);
    const misplaced = /\/node\.ts$|node_modules\/ws\/|^simulation\/|^server\/|^cli\//;
    expect(inputs.filter((path) => misplaced.test(path))).toEqual([]);
    expect(inputs)
      .toEqual(expect.arrayContaining(['client/websocket/browser.ts', 'client/outbox/browser.ts']));
    const [plain, kilobytes] = [text.length / 1024, gzipSync(text).length / 1024];
    process.stdout
      .write(`browser bundle: ${plain.toFixed(1)} KiB, ${kilobytes.toFixed(1)} KiB compressed\n`);
    expect(kilobytes).toBeLessThan(63);
  });

  it.each([
    ['from the whole client', 'export { createContributor, openOutbox, openSeed } from '
      + "'./client/index.ts';"],
    ['by its own entry', "export * from './client/contribute.ts';"],
  ])('is small for a page that only contributes, %s', async (_name, contents) => {
    const result = await bundle(contents);
    const bytes = gzipSync(result.outputFiles[0]!.text).length;
    process.stdout.write(`contributor alone: ${bytes} bytes compressed\n`);
    expect(bytes).toBeLessThan(contributorBytes);
    // A contributor has no use for the code of a server, nor for the code that reads releases. It
    // loads tweetnacl, and requests in place of a WebSocket, where it needs them.
    const carried = Object.values(result.metafile.outputs)[0]!.inputs;
    expect(Object.keys(carried).filter((path) => /tweetnacl|uploads/.test(path))).toEqual([]);
    expect(dynamicImports(result.metafile)).toEqual(['./browser.js', './http/uploads.js']);
    const bytesOf = (name: string): number =>
      carried[`src/wire/generated/${name}.js`]?.bytesInOutput ?? 0;
    expect(['contributor-writer', 'contributor-reader'].map((name) => bytesOf(name) > 0))
      .toEqual([true, true]);
    expect(['other-writer', 'other-reader'].map(bytesOf)).toEqual([0, 0]);
  });

  it.each(['docs/guides/embed-the-client.md', 'client/package/README.md'])(
    'has the size that %s names', (page) => {
      expect(readFileSync(root + page, 'utf8').replaceAll(/\s+/g, ' '))
        .toContain(`less than ${contributorBytes.toLocaleString('en')} bytes compressed`);
    });

  it('has no sockets for a page of people who send once', async () => {
    const result = await bundle("export * from './client/once.ts';");
    const carried = Object.values(result.metafile.outputs)[0]!.inputs;
    const sent = (name: string): number => carried[name]?.bytesInOutput ?? 0;
    expect(sent('client/http/once.ts')).toBeGreaterThan(0);
    expect(['client/websocket/browser.ts', 'client/http/uploads.ts'].map(sent)).toEqual([0, 0]);
    expect(gzipSync(result.outputFiles[0]!.text).length).toBeLessThan(contributorBytes);
    expect(dynamicImports(result.metafile)).toEqual(['./browser.js']);
  });

  it('is small for a page that seals, with the boxes of tweetnacl', async () => {
    const result = await bundle(
      "export * from './client/contribute.ts'; export * from './client/sealing.ts';");
    const bytes = gzipSync(result.outputFiles[0]!.text).length;
    process.stdout.write(`contributor that seals: ${bytes} bytes compressed\n`);
    expect(bytes).toBeLessThan(50_000);
  });

  it('is as small as the file that is shipped for pages without a bundler', () => {
    const shipped = readFileSync(`${root}dist/browser/keelson-contribute.js`);
    expect(gzipSync(shipped).length).toBeLessThan(contributorBytes);
    expect(shipped.includes('keelson-contributor-reader')).toBe(true);
    expect(shipped.includes('keelson-other-')).toBe(false);
    const rest = readFileSync(`${root}dist/browser/keelson-contribute-rest.js`, 'utf8');
    expect(shipped.toString().match(/import\("[^"]*"\)/g))
      .toEqual(Array(2).fill('import("./keelson-contribute-rest.js")'));
    expect(rest).toMatch(/export\{\w+ as UploadTransport,\w+ as signing\}/);
  });
});

describe('the library in a bundle', () => {
  it('brings only the estimators that are used', async () => {
    const sizeOf = async (names: string): Promise<number> =>
      (await bundle(`import { estimate } from './src/index.ts'; import ${names}; `
        + 'console.log(estimate, used);'))
        .outputFiles[0]!.contents.length;
    const one = await sizeOf("{ mean as used } from './src/estimators/index.ts'");
    const every = await sizeOf("{ allEstimators as used } from './src/index.ts'");
    expect(one).toBeLessThan(every / 3);
  });
});
