// @module-tag slow
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { conformanceCases, runConformance } from '../../cli/conform/runner.js';
import { hasBrowser, launchBrowser, type LaunchedBrowser } from '../support/browser.js';
import { pagesOf, killedBrowsers, pageClients } from '../support/page-clients.js';
import { root } from '../support/sources.js';

/** As in a browser without X25519 and Ed25519. */
const withoutCurves = `for (const name of ['generateKey', 'importKey']) {
  const own = SubtleCrypto.prototype[name];
  SubtleCrypto.prototype[name] = function (...words) {
    const asked = words.find((word) => /25519/.test(word?.name ?? word));
    return asked === undefined ? own.apply(this, words)
      : Promise.reject(new DOMException('no such curve', 'NotSupportedError'));
  };
}`;

/** These cases are about what is on the disk. In the others a page is closed, if anything is. */
const ofTheDisk = /killed|next run|run before|not sent again/;

describe.skipIf(!hasBrowser)('the client in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-conform-browser-'));
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(async () => {
    await chromium.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const script = async (before: string): Promise<string> => {
    const { outputFiles } = await build({
      entryPoints: [`${root}test/support/line-page.ts`], bundle: true, format: 'esm',
      platform: 'browser', banner: { js: before }, write: false,
      alias: {
        '#signing': `${root}src/signing/browser.ts`,
        '#async-signing': `${root}src/signing/web.ts`,
        '#protobuf': `${root}src/wire/protobuf-browser.ts`,
        '#websocket': `${root}client/websocket/browser.ts`,
        '#outbox': `${root}client/outbox/browser.ts`,
      },
    });
    return outputFiles[0]!.text;
  };

  /** Names and texts of the cases that were not passed. */
  async function unpassed(before: string, which: RegExp): Promise<string[]> {
    const text = await script(before);
    const tried = conformanceCases.filter((one) => which.test(one.name));
    expect(tried.length).toBeGreaterThan(5);
    const results = [pagesOf(chromium.browser), killedBrowsers].map(async (open) => {
      const own = mkdtempSync(join(folder, 'own-'));
      const clients = await pageClients(own, text, open);
      const results = await runConformance({
        words: clients.words, folder: own, limitMs: 120_000,
        cases: tried.filter(({ name }) => ofTheDisk.test(name) === (open === killedBrowsers)),
      });
      await clients.close();
      return results;
    });
    return (await Promise.all(results)).flat().filter(({ outcome }) => outcome !== 'passed')
      .map((result) => `${result.name}: ${result.text}`);
  }

  it('passes every case of encrypted channels', async () => {
    expect(await unpassed('', /^encrypted/)).toEqual([]);
  }, 1_200_000);

  // An aggregator takes no page of this origin, and a page verifies no log of a file. Sealing has a
  // test of its own.
  it('passes every case of signed batches and of single ones', async () => {
    expect(await unpassed('', /^(?!encrypted|sealed|log|.*aggregator)/)).toEqual([]);
  }, 1_200_000);

  it('agrees and signs without the curves of the browser', async () => {
    const kinds = 'a share|rows are split|encryptedOnly$|killed';
    const which = new RegExp(`^(encrypted: (${kinds})|once: (a row|a study)|a withdrawal)`);
    expect(await unpassed(withoutCurves, which)).toEqual([]);
  }, 600_000);
});
