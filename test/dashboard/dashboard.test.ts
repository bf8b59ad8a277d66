import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';
import { hasBrowser, launchBrowser } from '../support/browser.js';
import { root } from '../support/sources.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

it('loads in at most 120 KB gzip in all', () => {
  const names = ['index.html', 'favicon.svg', 'shell.css', 'dashboard.css', 'dashboard.js', 'uplot.css'];
  const sizes = names.map((name) => gzipSync(readFileSync(`${root}dist/dashboard/site/${name}`)).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(120_000);
});

it('is served under a policy that allows nothing inline', async () => {
  const rig = await startRig();
  const answer = await fetch(rig.url('/'));
  expect(answer.headers.get('content-type')).toContain('text/html');
  const policy = answer.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).not.toMatch(/unsafe|data:/);
});

it.skipIf(!hasBrowser)('shows releases as they come, fits narrow pages, and is accessible', async () => {
  const rig = await startRig();
  const launched = await launchBrowser();
  try {
    const page = await launched.browser.newPage();
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(`${rig.url('/')}#/study/${rig.study}`);
    await page.waitForSelector('.title');
    expect(await page.$$('.column')).toHaveLength(0);
    rig.hub.publish(rig.study);
    await page.waitForSelector('.column canvas');
    for (const width of [380, 1440]) {
      await page.setViewport({ width, height: 900 });
      const seen = await page.evaluate('document.documentElement.scrollWidth');
      expect(seen).toBeLessThanOrEqual(width);
    }
    // By the debugger's own channel: the page's policy forbids scripts from elsewhere.
    await page.evaluate(axe);
    const found = await page.evaluate('axe.run()') as { violations: { id: string; impact: string }[] };
    expect(found.violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))).toEqual([]);
    expect(errors).toEqual([]);
  } finally {
    await launched.close();
  }
}, 30_000);
