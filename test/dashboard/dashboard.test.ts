import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';
import { root } from '../support/sources.js';

const imports = /(?:from|import)"\.(\/[^"]+)"/g;

it('loads a study and its charts in at most 124 KB in all, as it is sent', async () => {
  const rig = await startRig();
  const textOf = async (path: string): Promise<string> => (await fetch(rig.url(path))).text();
  const linked = linkedBy(await textOf('/'));
  expect(linked).toContain('/dashboard.js');
  // Nothing that runs at once may be missing from what is counted.
  for (const script of linked.filter((path) => path.endsWith('.js'))) {
    for (const [, path] of (await textOf(script)).matchAll(imports)) expect(linked).toContain(path);
  }
  const charts = await withUplot(await laterParts(textOf), textOf);
  const sizes =
    await Promise.all(['/', ...linked, ...charts].map((path) => bytesSent(rig.url(path))));
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(124_000);
});

it('loads charts and pictures later, from parts that are served by their names alone', async () => {
  const rig = await startRig();
  const textOf = async (path: string): Promise<string> => (await fetch(rig.url(path))).text();
  const later = await laterParts(textOf);
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

function linkedBy(page: string): readonly string[] {
  return [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path!);
}

/** The parts that the scripts of the page ask for when they are needed. */
async function laterParts(textOf: (path: string) => Promise<string>): Promise<readonly string[]> {
  const linked = linkedBy(await textOf('/'));
  const scripts = await Promise.all(linked.filter((path) => path.endsWith('.js')).map(textOf));
  const asked = scripts.flatMap((script) =>
    [...script.matchAll(/import\("\.(\/part-[A-Z0-9]{8}\.js)"\)/g)].map(([, path]) => path!));
  return asked.filter((path) => !linked.includes(path));
}

/** The part that draws charts, and what it imports besides the page. */
async function withUplot(
  parts: readonly string[], textOf: (path: string) => Promise<string>,
): Promise<readonly string[]> {
  const linked = linkedBy(await textOf('/'));
  const texts = await Promise.all(parts.map(textOf));
  const place = texts.findIndex((text) => text.includes('u-legend'));
  expect(place).toBeGreaterThanOrEqual(0);
  const more = [...texts[place]!.matchAll(imports)].map(([, path]) => path!);
  return [parts[place]!, ...more.filter((path) => !linked.includes(path))];
}

it('sends files uncompressed to clients that accept nothing else', async () => {
  const rig = await startRig();
  const [plain, packed] = [
    await bytesSent(rig.url('/dashboard.css'), 'identity'),
    await bytesSent(rig.url('/dashboard.css')),
  ];
  expect(plain).toBe(readFileSync(`${root}dist/dashboard/site/dashboard.css`).length);
  expect(packed).toBeLessThan(plain / 2);
  expect(await bytesSent(rig.url('/dashboard.css'), 'gzip;q=0')).toBe(plain);
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
