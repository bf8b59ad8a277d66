// @module-tag slow
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { requestToken } from '../../client/tokens.js';
import { toHex } from '../../src/base/bytes.js';
import { BlindIssuer } from '../support/blind-issuer.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { root } from '../support/sources.js';

const bundle = readFileSync(`${root}dist/browser/keelson-tokens.js`);
const html = `<!doctype html><title>Tokens</title><script type="module">
import { requestToken } from '/tokens.js';
window.requestToken = requestToken;
</script>`;

describe.skipIf(!hasBrowser)('a page of another origin than the issuer', () => {
  const site = createServer((request, response) => {
    const isModule = request.url === '/tokens.js';
    response.setHeader('Content-Type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule ? bundle : html);
  });
  let issuer: BlindIssuer;
  let chromium: LaunchedBrowser;

  beforeAll(async () => {
    issuer = await BlindIssuer.start();
    await new Promise<void>((resolve) => { site.listen(0, '127.0.0.1', resolve); });
    chromium = await launchBrowser();
  });
  afterAll(async () => {
    await chromium?.close();
    site.close();
    await issuer?.end();
  });

  it('gets the same token that a program on Node gets', async () => {
    const [code, seed] = [issuer.person(), new Uint8Array(32).fill(5)];
    const page = await openPage(chromium.browser);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    const options = { issuer: issuer.running.address, code, seed: [...seed] };
    const study = { study: 'survey', admission: issuer.admission };
    await page.waitForFunction('window.requestToken');
    const shown = await page.evaluate((asked, of) => {
      const here = globalThis as unknown as { requestToken: typeof requestToken };
      return here.requestToken({ ...asked, seed: Uint8Array.from(asked.seed), study: of });
    }, options, study);
    expect(shown.enrolment).toBe(toHex(await issuer.token(seed, 'survey', code)));
  });
});
