// @module-tag slow
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { LiveCommand } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { refusal, Stage, valueOf } from './stage.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const value = valueOf([8.26, 731.5], [1, 16]);
/** Not by frames: a busy machine has none. */
const polling = 50;

/** Reads the text of a part of the chart on a page; the first chart, if there are several. */
const textOf = (page: Page, part: string): Promise<string> => page.evaluate((name) =>
  document.querySelector('keelson-chart')!.shadowRoot!.querySelector(`.${name}`)!.textContent,
part);

const says = (page: Page, part: string, text: string): Promise<unknown> => page.waitForFunction(
  (name, wanted) => document.querySelector('keelson-chart:not([hidden])')?.shadowRoot
    ?.querySelector(`.${name}`)?.textContent.includes(wanted), { polling }, part, text);

describe.skipIf(!hasBrowser)('charts on pages of other people', () => {
  let chromium: LaunchedBrowser;
  /** A site of somebody else: another port is another origin. */
  let site: Server;
  let origin: string;
  let shownThere = '';
  const opened: Page[] = [];

  beforeAll(async () => {
    chromium = await launchBrowser();
    site = createServer((request, response) => {
      const isScript = request.url === '/keelson-chart.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? readFileSync(`${root}dist/browser/keelson-chart.js`) : shownThere);
    });
    await new Promise<void>((done) => { site.listen(0, '127.0.0.1', done); });
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await chromium?.close();
    site?.close();
  });
  afterEach(async () => { for (const page of opened.splice(0)) await page.close(); });

  async function show(html: string, address = origin): Promise<{ page: Page; wrong: string[] }> {
    shownThere = html;
    const page = await openPage(chromium.browser);
    opened.push(page);
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') wrong.push(message.text());
    });
    await page.goto(address);
    return { page, wrong };
  }

  const chartOf = (stage: Stage, key = toHex(stage.hub.serverKey), more = ''): string =>
    `<!doctype html><script type="module" src="/keelson-chart.js"></script>\n<keelson-chart server="${
      stage.address}" study="flight-delays"\nserver-key="${key}" ${more}></keelson-chart>`;

  /** A server that lets the other site's pages connect. */
  async function stageFor(allowed: readonly string[]): Promise<Stage> {
    const stage = await Stage.start({});
    await stage.down();
    await stage.up({ allowedOrigins: allowed, frameAncestors: allowed });
    return stage;
  }

  it('shows a live chart on a page of another origin by three lines of HTML', async () => {
    const stage = await stageFor([origin]);
    stage.publish('flight-delays', value);
    expect(chartOf(stage).split('\n')).toHaveLength(3);
    const { page, wrong } = await show(chartOf(stage));
    await says(page, 'value', '8.3');
    await says(page, 'range', '95 % interval 7.3 to 9.3');
    await says(page, 'state', '1 release verified');
    await says(page, 'state', 'Live');
    stage.publish('flight-delays', valueOf([12.5, 700], [1, 16]));
    await says(page, 'value', '12.5');
    stage.publish('flight-delays', refusal);
    await says(page, 'state', '3 releases verified');
    await says(page, 'range', 'epoch 8, the newest with an answer');
    await page.evaluate(() => {
      document.querySelector('keelson-chart')!.setAttribute('chart', '1');
    });
    await says(page, 'value', '700');
    expect(wrong).toEqual([]);
  });

  it('reads out releases by pointer, finger and keys, each with its interval', async () => {
    const stage = await stageFor([origin]);
    for (const delay of [8, 9, 10]) stage.publish('flight-delays', valueOf([delay, 1], [1, 1]));
    const { page } = await show(chartOf(stage));
    await says(page, 'state', '3 releases verified');
    const plot = (await page.$('keelson-chart >>> .plot'))!;
    const box = (await plot.boundingBox())!;
    await page.mouse.move(box.x + box.width - 4, box.y + 30);
    await says(page, 'readout', 'epoch 9: 10');
    expect(await textOf(page, 'readout')).toMatch(/, 9(\.0)? to 11/);
    await plot.focus();
    await page.keyboard.press('Home');
    await says(page, 'readout', 'epoch 7: 8');
    await page.keyboard.press('ArrowRight');
    await says(page, 'readout', 'epoch 8: 9');
    expect(await plot.evaluate((each) => each.getAttribute('aria-valuetext'))).toMatch(/8(\.0)? to 10/);
    await page.evaluate(axe);
    const { violations } = await page.evaluate('axe.run("keelson-chart")') as
      { violations: { id: string; impact: string }[] };
    expect(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))).toEqual([]);
  });

  it('shows nothing of a server with another key, nor what does not verify', async () => {
    const stage = await stageFor([origin]);
    stage.publish('flight-delays', value);
    const { page } = await show(chartOf(stage, 'ab'.repeat(32)));
    await says(page, 'state', 'another key than this page expects');
    expect(await textOf(page, 'value')).toBe('Nothing is shown');
    stage.publish('flight-delays', valueOf([99, 99], [1, 16]),
      { previousDigest: new Uint8Array(64).fill(1) });
    const { page: second } = await show(chartOf(stage));
    await says(second, 'state', 'does not verify');
    expect(await textOf(second, 'value')).toContain('8.3');
    const { page: third } = await show(chartOf(stage, ''));
    await says(third, 'state', 'server-key is not 64 digits');
  });

  it('reaches no server that does not list the origin', async () => {
    const stage = await stageFor(['https://elsewhere.example']);
    stage.publish('flight-delays', value);
    const { page } = await show(chartOf(stage));
    await says(page, 'state', 'No connection');
    expect(await textOf(page, 'value')).toBe('No answer yet');
  });

  it('shows a page of the server in a frame of a listed origin, and of no other', async () => {
    const framed = (stage: Stage): string =>
      `<iframe src="${stage.address}/embed/flight-delays?chart=1"></iframe>`;
    const stage = await stageFor([origin]);
    stage.publish('flight-delays', value);
    const { page } = await show(framed(stage));
    const frame = await page.waitForFrame((each) => each.url().startsWith(stage.address));
    await frame.waitForFunction(() => document.querySelector('keelson-chart')?.shadowRoot
      ?.querySelector('.value')?.textContent.includes('732'), { polling });
    const other = await stageFor([]);
    const { wrong, page: second } = await show(framed(other));
    await second.waitForFunction(() => document.readyState === 'complete', { polling });
    expect(wrong.join()).toMatch(/frame-ancestors|X-Frame-Options/);
  });

  it('shows one number after another on a screen, until a person holds it', async () => {
    const stage = await stageFor([]);
    stage.publish('flight-delays', value);
    const { page, wrong } = await show('', `${stage.address}/kiosk?every=3600`);
    await says(page, 'value', '8.3');
    await page.waitForFunction(() =>
      document.querySelector('nav')!.textContent.includes('Chart 1 of 2'), { polling });
    const press = (text: string): Promise<void> => page.evaluate((name) => {
      [...document.querySelectorAll('button')].find((each) => each.textContent === name)!.click();
    }, text);
    await press('Next');
    await says(page, 'value', '732');
    await press('Next');
    await says(page, 'value', '8.3');
    await press('Hold');
    expect(await page.$eval('[aria-pressed=true]', (each) => each.textContent)).toBe('Go on');
    // Without a hold the page goes on by itself.
    const { page: second } = await show('', `${stage.address}/embed/flight-delays?chart=all&every=3`);
    await says(second, 'value', '8.3');
    await says(second, 'value', '732');
    expect(wrong).toEqual([]);
  });

  it('runs the example, under its policy', async () => {
    const stage = await Stage.start({ study: 'commute', title: 'Minutes to work' });
    const key = toHex(stage.hub.serverKey);
    const served = new LiveCommand([key, '0', stage.address],
      { command: `${root}examples/embedded-chart/serve.js` });
    try {
      while (!served.stdout.includes('http')) await served.next();
      const address = /http:\S+/.exec(served.stdout)![0];
      await stage.down();
      await stage.up({ allowedOrigins: [address] });
      stage.publish('commute', value);
      const { page, wrong } = await show('', address);
      await says(page, 'study', 'Minutes to work');
      await says(page, 'value', '8.3');
      expect(wrong).toEqual([]);
    } finally {
      await served.kill();
    }
  });
});
