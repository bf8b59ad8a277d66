import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';
import { root } from '../support/sources.js';

it('loads in at most 120 KB in all, as it is sent', async () => {
  const rig = await startRig();
  const page = await (await fetch(rig.url('/'))).text();
  const linked = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!);
  expect(linked).toContain('/dashboard.js');
  // Nothing that runs at once may be missing from what is counted.
  for (const script of linked.filter((path) => path.endsWith('.js'))) {
    const text = await (await fetch(rig.url(script))).text();
    const imported = [...text.matchAll(/(?:from|import)"\.(\/[^"]+)"/g)].map(([, path]) => path);
    for (const path of imported) expect(linked).toContain(path);
  }
  const sizes = await Promise.all(['/', ...linked].map((path) => bytesSent(rig.url(path))));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(120_000);
});

it('loads charts and pictures later, from parts that are served by their names alone', async () => {
  const rig = await startRig();
  const page = await (await fetch(rig.url('/'))).text();
  const script = await (await fetch(rig.url('/dashboard.js'))).text();
  const later = [...script.matchAll(/import\("\.(\/part-[A-Z0-9]{8}\.js)"\)/g)]
    .map(([, path]) => path!).filter((path) => !page.includes(path));
  expect(later.length).toBeGreaterThanOrEqual(2);
  for (const path of later) {
    const answer = await fetch(rig.url(path));
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await answer.text()).not.toBe('');
  }
  for (const path of ['/part-AAAAAAAA.js', '/part-..%2f..%2fx.js', '/part-A.js']) {
    expect((await fetch(rig.url(path))).status).toBe(404);
  }
});

it('sends files uncompressed to clients that accept nothing else', async () => {
  const rig = await startRig();
  const [plain, packed] = [
    await bytesSent(rig.url('/dashboard.js'), 'identity'),
    await bytesSent(rig.url('/dashboard.js')),
  ];
  expect(plain).toBe(readFileSync(`${root}dist/dashboard/site/dashboard.js`).length);
  expect(packed).toBeLessThan(plain / 2);
  expect(await bytesSent(rig.url('/dashboard.js'), 'gzip;q=0')).toBe(plain);
});

/** Of the body, before it is unpacked. */
function bytesSent(url: string, encoding = 'gzip, deflate'): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'Accept-Encoding': encoding } }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => { bytes += chunk.length; });
      answer.on('end', () => (answer.statusCode === 200
        ? resolve(bytes) : reject(new Error(`${url}: ${answer.statusCode}`))));
    }).on('error', reject);
  });
}

it('is served under a policy that allows nothing inline', async () => {
  const rig = await startRig();
  const answer = await fetch(rig.url('/'));
  expect(answer.headers.get('content-type')).toContain('text/html');
  const policy = answer.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self'");
  expect(policy).not.toMatch(/unsafe|data:/);
  expect((await fetch(rig.url('/favicon.svg'))).headers.get('content-type'))
    .toContain('image/svg+xml');
});
