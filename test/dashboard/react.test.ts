// @module-tag slow
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { root } from '../support/sources.js';

/** A folder in which React and the package are installed, and the example is a file. */
describe('the example in React', () => {
  const stage = new Stage();
  const file = stage.path('traffic.tsx');
  mkdirSync(stage.path('node_modules/@types'), { recursive: true });
  for (const name of ['react', 'react-dom', '@types/react']) {
    symlinkSync(`${root}node_modules/${name}`, stage.path(`node_modules/${name}`));
  }
  symlinkSync(root, stage.path('node_modules/keelson'));
  copyFileSync(`${root}examples/react-chart/traffic.tsx`, file);
  afterAll(() => stage.end());

  function errorsOf(name: string): string {
    const words = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'esnext', '--jsx',
      'react-jsx', '--moduleResolution', 'bundler', '--types', 'react', name];
    try {
      const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
      return execFileSync(process.execPath, [compiler, ...words], {
        cwd: stage.folder, encoding: 'utf8',
      });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }

  it('has types, which know the attributes', () => {
    expect(errorsOf('traffic.tsx')).toBe('');
    const wrong = readFileSync(file, 'utf8').replace('study="commute"', 'studdy="commute"');
    writeFileSync(stage.path('wrong.tsx'), wrong);
    expect(errorsOf('wrong.tsx')).toMatch(/^wrong\.tsx.*studdy/);
  });

  it('is rendered by a server, with the key', async () => {
    const page = stage.write('page.mjs', `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { Traffic } from './traffic.tsx';
      export const html = renderToString(createElement(Traffic, {
        server: 'https://aggregator.example.org', serverKey: 'ed42'.repeat(16) }));`);
    const bundle = stage.path('bundle.mjs');
    await build({
      entryPoints: [page], outfile: bundle, bundle: true, format: 'esm', platform: 'node',
      jsx: 'automatic', banner: {
        js: 'import { createRequire } from "node:module";'
          + 'const require = createRequire(import.meta.url);',
      },
    });
    const { html } = await import(pathToFileURL(bundle).href) as { readonly html: string };
    expect(html).toContain(`study="commute" server-key="${'ed42'.repeat(16)}" last="30"`);
    expect(html).toContain('answers verified in this browser');
  });
});
