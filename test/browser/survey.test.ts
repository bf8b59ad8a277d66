// @module-tag slow
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import type { BrowserContext, Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  hasBrowser, launchBrowser, openPage, type LaunchedBrowser,
} from '../support/browser.js';
import { freePort } from '../../cli/demo/free-port.js';
import { LiveCommand, Stage, type Served } from '../support/live-command.js';
import { root } from '../support/sources.js';

describe.skipIf(!hasBrowser)('the survey page', () => {
  const stage = new Stage();
  let served: Served;
  let site: LiveCommand;
  let chromium: LaunchedBrowser;
  let address: string;

  beforeAll(async () => {
    const port = await freePort();
    address = `http://127.0.0.1:${port}`;
    served = await stage.serve(
      [`${root}examples/survey/study.yaml`], { flags: ['--allow-origin', address] },
    );
    site =
      new LiveCommand([String(port), served.url, served.serverKey], { command: `${root}examples/survey/serve.js` });
    while (!site.stdout.includes(address)) await site.next();
    chromium = await launchBrowser();
  });

  afterAll(async () => {
    await chromium?.close();
    await site?.kill();
    await stage.end();
  });

  /** Opens the page as somebody with their own browser profile, and waits until it can send. */
  async function visit(person: BrowserContext): Promise<Page> {
    const page = await openPage(person);
    await page.goto(address);
    await page.waitForSelector('html[data-ready]');
    return page;
  }

  const says = (page: Page, text: string) =>
    page.waitForFunction(
      (wanted: string) => document.querySelector('#status')!.textContent.includes(wanted), {}, text,
    );

  async function accepted(): Promise<number> {
    const { paths } = served.listening as { readonly paths: { readonly operatorToken: string } };
    const headers = { Authorization: `Bearer ${readFileSync(paths.operatorToken, 'utf8').trim()}` };
    const response = await fetch(`${served.address}/v1/operator/progress`, { headers });
    return ((await response.json()) as {
      studies: { batches: { accepted: number } }[];
    }).studies[0]!.batches.accepted;
  }

  it('sends one row, and remembers who it is', async () => {
    const person = await chromium.browser.createBrowserContext();
    const page = await visit(person);
    await page.click('#send');
    await says(page, 'Thank you');
    expect(await accepted()).toBe(1);
    await page.close();
    const again = await visit(person);
    await again.click('#send');
    await says(again, 'contribution to this epoch is complete');
    expect(await accepted()).toBe(1);
    const second = await openPage(person);
    await second.goto(address);
    await says(second, 'another page uses the outbox');
    await person.close();
  });

  it('sends its row over HTTP where no WebSocket gets through', async () => {
    const person = await chromium.browser.createBrowserContext();
    const page = await openPage(person);
    const wrong: string[] = [];
    page.on('console', (said) => { if (said.type() === 'error') wrong.push(said.text()); });
    await page.evaluateOnNewDocument(() => {
      const Native = WebSocket;
      // Nothing listens at the discard port, so the connection fails as one that a proxy refuses.
      globalThis.WebSocket = new Proxy(Native, {
        construct: (_, [, protocols]: [string, string]) =>
          new Native('ws://127.0.0.1:9', protocols),
      });
    });
    await page.goto(address);
    await page.waitForSelector('html[data-ready]');
    const before = await accepted();
    await page.click('#send');
    await says(page, 'Thank you');
    expect(await accepted()).toBe(before + 1);
    // The policy lets requests to the server through, and forbids the port of the proxy.
    expect(wrong.filter((text) => !text.includes('127.0.0.1:9'))).toEqual([]);
    await person.close();
  });

  it('is closed before the ack, opened again, and its row has arrived exactly once', async () => {
    const person = await chromium.browser.createBrowserContext();
    const page = await visit(person);
    // The server hears nothing from here on.
    served.command.child.kill('SIGSTOP');
    await page.click('#send');
    await page.waitForFunction(() => new Promise((resolve) => {
      const opening = indexedDB.open('keelson/sleep-survey');
      opening.onsuccess = () => {
        const reading = opening.result.transaction('items').objectStore('items').getAll();
        reading.onsuccess = () => {
          opening.result.close();
          // Made into a batch when the page was connected in time, else as it is.
          resolve(reading.result.length > 0);
        };
      };
    }), { polling: 50 });
    await page.close();
    served.command.child.kill('SIGCONT');
    const again = await visit(person);
    await says(again, 'From your last visit. Thank you');
    expect(await accepted()).toBe(3);
    await person.close();
  });

  it('keeps the answers while there is no server, and says so', async () => {
    const person = await chromium.browser.createBrowserContext();
    const { port } = served;
    await served.command.interrupt();
    const page = await visit(person);
    await page.click('#send');
    await says(page, 'kept in this browser');
    await page.close();
    served = await stage.serve(
      [`${root}examples/survey/study.yaml`], { port, flags: ['--allow-origin', address] },
    );
    const again = await visit(person);
    await says(again, 'From your last visit. Thank you');
    expect(await accepted()).toBe(1);
    await person.close();
  });
});

describe.skipIf(!hasBrowser)('a page that keelson init has made', () => {
  const stage = new Stage();
  let chromium: LaunchedBrowser;
  afterAll(async () => {
    await chromium?.close();
    await stage.end();
  });

  it('takes an answer, and shows what all have answered', async () => {
    const folder = stage.path('lunch');
    const made = await stage.run([
      'init', folder, '--app', '--title', 'Where do you eat?', '--question', 'count-by-group',
      '--group-by', 'place', '--groups', 'canteen,home', '--cohort', '500', '--every', '1s',
    ]);
    expect([made.status, made.stderr]).toEqual([0, '']);
    // As `npm install` does in the folder.
    mkdirSync(`${folder}/node_modules/@keelson`, { recursive: true });
    symlinkSync(root, `${folder}/node_modules/keelson`);
    symlinkSync(`${root}client/package`, `${folder}/node_modules/@keelson/client`);
    const address = `http://127.0.0.1:${await freePort()}`;
    const { port } = new URL(address);
    const site = stage.start([port], { command: `${folder}/serve.js`, directory: folder });
    while (!site.stdout.includes(address)) await site.next();
    chromium = await launchBrowser();
    const page = await openPage(await chromium.browser.createBrowserContext());
    await page.goto(address);
    await page.waitForSelector('html[data-ready]');
    expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('Where do you eat?');
    await page.select('select[name=place]', 'canteen');
    await page.click('#send');
    await page.waitForFunction(() =>
      document.querySelector('#status')!.textContent.includes('Thank you'));
    // Canteen, home and other: each has an answer that this page has verified.
    await page.waitForFunction(() => [...document.querySelectorAll('keelson-chart')]
      .filter(({ shadowRoot }) => /verified/.test(shadowRoot!.textContent)
        && !/No answer/.test(shadowRoot!.textContent)).length === 3);
    const again = await stage.run(['init', folder, '--app']);
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining('not overwritten')]);
  });
});
