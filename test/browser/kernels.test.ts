import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { kernelDigest } from '../support/kernel-digest.js';

describe.skipIf(!hasBrowser)('the kernels in a browser', () => {
  let chromium: LaunchedBrowser;
  let code: string;

  beforeAll(async () => {
    const built = await build({
      entryPoints: ['test/support/kernel-digest.ts'], bundle: true, write: false, format: 'iife',
      globalName: 'digest', platform: 'browser', target: 'es2022', logLevel: 'silent',
    });
    code = built.outputFiles[0]!.text;
    chromium = await launchBrowser();
  });

  afterAll(async () => chromium?.close());

  it('give the bits that they give in Node, and clip as the plain code does', async () => {
    const page = await openPage(chromium.browser);
    await page.evaluate(`${code}; globalThis.digest = digest;`);
    for (const [dimension, count] of [[1, 40], [3, 300], [10, 2_000]] as const) {
      const here = kernelDigest(dimension, count);
      const there =
        await page.evaluate(`digest.kernelDigest(${dimension}, ${count})`) as typeof here;
      expect(there).toEqual(here);
      expect(here['steps']).toBe(here['plain']);
      // Something was clipped and something was not.
      expect(new Set(here['steps']!.split(' ')).size).toBeGreaterThan(count / 4);
    }
  });
});
