// @module-tag slow
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, describe, expect, it } from 'vitest';
import { conformanceCases, runConformance } from '../../cli/conform/runner.js';
import { chromiumPath, hasBrowser } from '../support/browser.js';
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

describe.skipIf(!hasBrowser)('the client in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-conform-browser-'));
  const program = `${root}test/support/children/browser-client.js`;

  const script = async (name: string, before: string): Promise<string> => {
    const outfile = join(folder, `${name}.js`);
    await build({
      entryPoints: [`${root}test/support/line-page.ts`], outfile, bundle: true, format: 'esm',
      platform: 'browser', banner: { js: before },
      alias: {
        '#signing': `${root}src/signing/browser.ts`,
        '#async-signing': `${root}src/signing/web.ts`,
        '#protobuf': `${root}src/wire/protobuf-browser.ts`,
        '#websocket': `${root}client/websocket/browser.ts`,
        '#outbox': `${root}client/outbox/browser.ts`,
      },
    });
    return outfile;
  };
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  /** Names and texts of the cases that were not passed. */
  async function unpassed(name: string, before: string, which: RegExp): Promise<string[]> {
    const own = mkdtempSync(join(folder, name));
    const cases = conformanceCases.filter((one) => which.test(one.name));
    expect(cases.length).toBeGreaterThan(5);
    const words = [process.execPath, program, chromiumPath, await script(name, before)];
    const results = await runConformance({ words, folder: own, limitMs: 120_000, cases });
    return results.filter(({ outcome }) => outcome !== 'passed')
      .map((result) => `${result.name}: ${result.text}`);
  }

  it('passes every case of encrypted channels', async () => {
    expect(await unpassed('whole', '', /^encrypted/)).toEqual([]);
  }, 1_200_000);

  // An aggregator takes no page of this origin, and a page verifies no log of a file. Sealing has a
  // test of its own.
  it('passes every case of signed batches and of single ones', async () => {
    expect(await unpassed('signed', '', /^(?!encrypted|sealed|log|.*aggregator)/)).toEqual([]);
  }, 1_200_000);

  it('agrees and signs without the curves of the browser', async () => {
    const kinds = 'a share|rows are split|encryptedOnly$|killed';
    const which = new RegExp(`^(encrypted: (${kinds})|once: (a row|a study)|a withdrawal)`);
    expect(await unpassed('without', withoutCurves, which)).toEqual([]);
  }, 600_000);
});
