// @module-tag slow
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { SealedStage } from '../support/sealed-stage.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { root } from '../support/sources.js';

/** A page without a bundler, which says what it promises before anybody sends something. */
const html = `<!doctype html><title>Sealed</title><p id="promise"></p><p id="status"></p>
<script type="module">
import { createContributor } from '/keelson-contribute.js';
import { promiseOf, sealing } from '/keelson-sealing.js';
const show = (id, text) => { document.getElementById(id).textContent = text; };
const seed = crypto.getRandomValues(new Uint8Array(32));
const url = new URLSearchParams(location.search).get('url');
const contributor = createContributor({ url, study: 'shared', seed, sealing });
show('promise', promiseOf(await contributor.study()));
const { kind, epoch, error } = await contributor.contribute([[27]]);
show('status', kind === 'accepted' ? 'accepted ' + epoch : error.message);
</script>`;

const everyMs = 600_000;

describe.skipIf(!hasBrowser)('a page that seals', () => {
  const site = createServer(({ url = '/' }, response) => {
    const isModule = url.endsWith('.js');
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? readFileSync(`${root}dist/browser${url}`) : html);
  });
  const clock = new ShiftedClock();
  let stage: SealedStage;
  let chromium: LaunchedBrowser;
  let origin: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => { site.listen(0, '127.0.0.1', resolve); });
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    stage = await SealedStage.of({
      question: 'estimator: count\nparameters: { threshold: 25 }', everyMs, cohort: 40,
    });
    await stage.startAll({ clock, peerTimeoutMs: 20_000, network: { allowedOrigins: [origin] } });
    chromium = await launchBrowser();
  });
  afterAll(async () => {
    await chromium?.close();
    await stage?.close();
    site.close();
  });

  it('shows the promise, and its rows count in the release', async () => {
    // Each visit has a key of its own. Epsilon 4 has noise of deviation below 1.
    for (let visit = 0; visit < 9; visit++) {
      const page = await openPage(chromium.browser);
      await page.goto(`${origin}/?url=${encodeURIComponent(stage.url)}`);
      await page.waitForFunction('document.querySelector("#status").textContent !== ""');
      const shown = await page.evaluate(() =>
        ['#status', '#promise'].map((id) => document.querySelector(id)!.textContent));
      expect(shown[0]).toBe('accepted 1');
      expect(shown[1]).toContain('north, east, west');
      expect(shown[1]).toContain('does not protect against two of them together');
      await page.close();
    }
    clock.advance(everyMs);
    const outcome = await stage.release(0);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    // Fails by chance less than once in 10^6.
    expect(Math.abs(outcome.estimate[0]! - 9)).toBeLessThan(6);
  });
});
