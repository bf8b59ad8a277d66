import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';
import { root } from '../support/sources.js';

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
  expect((await fetch(rig.url('/favicon.svg'))).headers.get('content-type')).toContain('image/svg+xml');
});
