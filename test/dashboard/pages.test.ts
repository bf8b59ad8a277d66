// @module-tag slow
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { HTTPRequest, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { keyFingerprint } from '../../src/signing/index.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { root } from '../support/sources.js';
import { refusal, Stage, valueOf } from './stage.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const value = valueOf([8.26, 731.5], [1, 16]);
/** An answer with everything that people should know about it. */
const doubtful = valueOf([8.26, 731.5], [1, 16], {
  interval95: { low: [7.26, -Infinity], high: [9.26, Infinity] },
  intervalIfFalse95: { low: [2.8, -Infinity], high: [13.7, Infinity] },
  radiusIfFalse95: 0.3,
  spread: [24, 361],
  findings: [
    { reason: 'skewed', columns: [0], amounts: [] },
    { reason: 'cluster-apart', columns: [], amounts: [0.031, 8.1, 706] },
    { reason: 'of-a-newer-server', columns: [1], amounts: [] },
  ],
});
/**
 * Not by frames: the machine may be too busy for them, and a page that is covered by another has
 * none.
 */
const polling = 50;

/** The file that the first chart is saved as, one character for each byte. */
async function saved(page: Page, form: string): Promise<string> {
  await page.evaluate((name) => {
    const target = globalThis as unknown as { saved?: string };
    delete target.saved;
    URL.createObjectURL = (blob) => {
      void (blob as Blob).arrayBuffer().then((bytes) => {
        target.saved = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte))
          .join('');
      });
      return '#';
    };
    HTMLAnchorElement.prototype.click = () => undefined;
    [...document.querySelectorAll<HTMLElement>('.save button')]
      .find((each) => each.textContent === name)!.click();
  }, form);
  const found = await page.waitForFunction(
    () => (globalThis as unknown as { saved?: string }).saved, { polling });
  return await found.jsonValue() as string;
}

const site = `${root}dist/dashboard/site/`;
/** The file that has the list of studies. */
const listFile = readdirSync(site).find((name) => name.endsWith('.js')
  && name.startsWith('part-')
  && readFileSync(site + name, 'utf8').includes('No study is like that'))!;

/** In which a chart can be saved. */
const formats = ['CSV', 'SVG', 'PNG'];

describe.skipIf(!hasBrowser)('the pages of the dashboard', () => {
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(() => chromium?.close());

  const opened: Page[] = [];
  /** A page that outlives its server tries to reconnect, at the cost of the tests that follow. */
  afterEach(async () => { for (const page of opened.splice(0)) await page.close(); });

  /**
   * A page of its own, and whatever its console said that it should not: policy violations, missing
   * files, errors.
   */
  async function open(
    address: string, prepare?: (page: Page) => Promise<void>,
  ): Promise<{ page: Page; wrong: string[] }> {
    const page = await openPage(chromium.browser);
    opened.push(page);
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on(
      'console', (message) => { if (message.type() === 'error') wrong.push(message.text()); },
    );
    await page.setViewport({ width: 1440, height: 900 });
    await prepare?.(page);
    await page.goto(address);
    return { page, wrong };
  }

  const says = (
    page: Page, selector: string, text: string,
  ): Promise<unknown> => page.waitForFunction(
    (where, what) =>
      [...document.querySelectorAll(where)].some((each) => each.textContent.includes(what)),
    { polling }, selector, text,
  );

  /** Answers a request for the list of studies, with some of them. */
  async function answerWith(request: HTTPRequest, keeps: (name: string) => boolean): Promise<void> {
    const all = await (await fetch(request.url())).json() as { studies: { name: string }[] };
    const studies = all.studies.filter(({ name }) => keeps(name));
    const body = JSON.stringify({ ...all, studies });
    await request.respond({ contentType: 'application/json', body });
  }

  it('shows answers as they come, a refusal in words, and that the budget is used up', async () => {
    const stage = await Stage.start({});
    const { page, wrong } = await open(stage.address);
    await says(page, '.empty', 'No answer yet');
    await says(page, '[role=status]', 'Live');
    stage.publish('flight-delays', value);
    await says(page, '.value', '8.3');
    await says(page, '.range', '95 % interval 7.3 to 9.3');
    await says(page, '.title', 'Epoch 8 is open');
    stage.publish('flight-delays', refusal);
    await says(page, '.notice', 'Epoch 8 has no answer: fewer people took part');
    await says(page, 'td.refusal', 'fewer people took part');
    expect(await page.$eval('.value', (each) => each.textContent)).toBe('8.3');
    await says(page, '.facts', '37 more epochs, about 6\u00a0min');
    await says(page, '.facts', 'anybody');
    for (let i = 2; i < stage.affords; i++) stage.publish('flight-delays', value);
    stage.stop('flight-delays', 'exhausted');
    await says(page, '.notice', 'The privacy budget is used up');
    await says(page, '.verdict.good', 'All 40 releases verified');
    await says(page, '.facts', 'no further epoch');
    const link = await page.$eval('a[download]', (each) => (each).href);
    expect((await (await fetch(link)).text()).trim().split('\n')).toHaveLength(stage.affords + 2);
    expect(wrong).toEqual([]);
  });

  it('shows the key that serve prints, by the same names, and leads to the operator', async () => {
    const stage = await Stage.start({});
    stage.publish('flight-delays', value);
    const { page } = await open(stage.address);
    await says(page, '.verdict', 'The only release is verified');
    const key = toHex(stage.hub.serverKey);
    const shown = await page.$$eval('.side .facts.stacked div', (all) =>
      all.map((each) => [...each.children].map((part) => part.textContent.trim())));
    expect(shown).toEqual([
      ["Fingerprint of the server's key", keyFingerprint(stage.hub.serverKey, signing)],
      ['Server key', key],
    ]);
    await page.click('.bar-link[href="/operator"]');
    await page.waitForSelector('input[name=token]');
    await page.type('input[name=token]', 'a-token-for-tests');
    await page.keyboard.press('Enter');
    await says(page, '.first-contact', key);
    await says(page, '.first-contact', shown[0]![1]!);
    await says(page, '.first-contact', `${stage.address}/`);
    await page.click('.brand');
    await says(page, '.verdict', 'The only release is verified');
  });

  it('shows the interval that liars cannot break, and what to know of the rows, when a release has '
    + 'them', async () => {
    const stage = await Stage.start({});
    const { page, wrong } = await open(stage.address);
    await says(page, '[role=status]', 'Live');
    stage.publish('flight-delays', doubtful);
    await says(page, '.range', '13.7, also if up to 5 % lie');
    await says(page, '.range', 'if nobody lies: 7.3 to 9.3');
    await says(page, '.range', 'without an interval that holds also if up to 5 % lie');
    await says(page, '.range', 'if nobody lies: no interval');
    await says(page, '.notice', 'reaches farther to one side than to the other');
    await says(page, '.notice', '"of-a-newer-server"');
    stage.publish('flight-delays', value);
    await says(page, '.as-of', 'epoch 8');
    expect(await page.$$eval('.notice', (all) => all.length)).toBe(0);
    expect(wrong).toEqual([]);
  });

  it('says that the server is gone, and continues automatically when it is back', async () => {
    const stage = await Stage.start({});
    stage.publish('flight-delays', value);
    const { page } = await open(stage.address);
    await says(page, '.verdict', 'The only release is verified');
    await stage.down();
    await says(page, '.notice.warn', 'The connection was lost');
    await says(page, '[role=status]', 'Reconnecting');
    await says(page, '.notices[role=status]', 'The connection was lost');
    await says(page, '.title', 'Epoch 8 was open');
    await page.waitForFunction((count) =>
      document.querySelectorAll('.column canvas').length === count, { polling }, 2);
    stage.publish('flight-delays', valueOf([12.5, 700], [1, 16]));
    await stage.up();
    await says(page, '.value', '12.5');
    await says(page, '.verdict', 'All 2 releases verified');
    expect(await page.$('.notice')).toBeNull();
  });

  it('shows nothing of a log after the place where it does not verify', async () => {
    const stage = await Stage.start({});
    stage.publish('flight-delays', value);
    stage.publish(
      'flight-delays', valueOf([99, 99], [1, 16]), { previousDigest: new Uint8Array(64).fill(1) },
    );
    const { page } = await open(stage.address);
    await says(page, '[role=alert]', 'This log does not verify');
    await says(page, '.verdict.bad', 'does not verify');
    expect(await page.$eval('.value', (each) => each.textContent)).toBe('8.3');
    expect(await page.$$('tbody tr')).toHaveLength(1);
  });

  it('says that studies or the server are missing, and finds them when they come', async () => {
    const none = await Stage.start();
    const { page: empty } = await open(none.address);
    await says(empty, '.empty', 'No study yet');
    const stage = await Stage.start({});
    const { page: elsewhere } = await open(`${stage.address}/#/study/${'0'.repeat(64)}`);
    await says(elsewhere, '.empty', 'no such study');
    await says(elsewhere, '.asked', '0'.repeat(64));
    const { page: nowhere } = await open(`${stage.address}/#/study/flight-delays`);
    await says(nowhere, '.empty h1', 'no such page');
    await says(nowhere, '.asked', '/study/flight-delays');
    await nowhere.click('.empty a');
    await says(nowhere, 'h1', 'flight-delays');
    let isGone = true;
    const { page } = await open(stage.address, async (fresh) => {
      await fresh.setRequestInterception(true);
      fresh.on('request', (request) => {
        void (isGone && request.url().endsWith('/v1/studies')
          ? request.abort() : request.continue());
      });
    });
    await says(page, '.empty', 'The aggregator does not answer');
    isGone = false;
    await page.click('.empty button');
    await says(page, 'h1', 'flight-delays');
  });

  it('asks the server again when an address names a study that was not listed before', async () => {
    const stage = await Stage.start({}, { study: 'second' });
    let asked = 0;
    const { page } = await open(stage.address, async (fresh) => {
      await fresh.setRequestInterception(true);
      fresh.on('request', (request) => {
        if (!request.url().endsWith('/v1/studies') || asked++ > 0) return void request.continue();
        void answerWith(request, (name) => name === 'flight-delays');
      });
    });
    await says(page, 'h1', 'flight-delays');
    await page.evaluate((id) => { location.hash = `#/study/${id}`; }, stage.id('second'));
    await says(page, 'h1', 'second');
    expect(asked).toBe(2);
  });

  it('shows the list also when it comes after a drawing and before its effects', async () => {
    const stage = await Stage.start({}, { study: 'second' });
    const arrived: (() => void)[] = [];
    const { page } = await open(stage.address, async (fresh) => {
      // Effects follow a drawing by a timer without a delay.
      await fresh.evaluateOnNewDocument(() => {
        const [real, late]: [typeof setTimeout, (() => void)[]] = [setTimeout, []];
        const timer = (action: () => void, delayMs?: number): unknown =>
          (delayMs === undefined ? late.push(action) : real(action, delayMs));
        Object.assign(globalThis, {
          setTimeout: timer, runEffects: () => {
            Object.assign(globalThis, { setTimeout: real });
            late.forEach((action) => action());
          },
        });
      });
      await fresh.setRequestInterception(true);
      fresh.on('request', (request) => {
        if (request.url().endsWith(listFile)) arrived.push(() => void request.continue());
        else void request.continue();
      });
    });
    await page.waitForSelector('#content > .page:empty');
    const isThere = page.waitForResponse((response) => response.url().endsWith(listFile));
    arrived.forEach((go) => go());
    await (await isThere).buffer();
    await page.evaluate('new Promise((run) => setTimeout(run, 200)).then(() => runEffects())');
    await page.waitForFunction(
      () => document.querySelectorAll('.study').length === 2, { polling });
  });

  it('follows dozens of studies, urgent ones first, and finds them by their words', async () => {
    const studies = Array.from({ length: 60 }, (_, i) => ({
      study: `study-${i}`, ...(i === 59 && { title: 'How late planes are' }),
    }));
    const stage = await Stage.start(...studies);
    stage.publish('study-50', refusal);
    for (let i = 0; i < 2; i++) stage.publish('study-40', value);
    const { page, wrong } = await open(stage.address);
    await page.waitForFunction(
      () => document.querySelectorAll('.study .dot.live').length === 60, { polling },
    );
    expect(await page.$eval('.study', (each) => each.textContent)).toContain('study-50No answer');
    await says(page, '.list-controls', 'Needs a look');
    const found = (count: number): Promise<unknown> => page.waitForFunction(
      (wanted) => document.querySelectorAll('.study').length === wanted, { polling }, count);
    await page.type('input[type=search]', 'LATE planes');
    await found(1);
    await says(page, '.study h2', 'How late planes are');
    await says(page, '[role=status]', '1 study');
    await page.type('input[type=search]', ' x');
    await says(page, '.empty h2', 'No study is like that');
    await page.click('.empty button');
    await found(60);
    await page.click('.list-controls .segments button:nth-child(2)');
    await found(1);
    await page.click('.list-controls .segments button:first-child');
    await found(60);
    // A number has its interval, and its course the band.
    const listed = await page.$$eval('.study', (all) =>
      all.find(({ textContent }) => textContent.includes('study-40'))!.querySelector('.newest')!
        .innerHTML);
    expect(listed).toContain('7.3 to 9.3');
    expect(listed).toContain('spark-band');
    expect(wrong).toEqual([]);
  });

  it('shows ranges and parts of the log, and the address keeps them', async () => {
    const stage = await Stage.start({});
    for (let i = 0; i < 30; i++) {
      stage.publish('flight-delays', valueOf([i, 700], [1, 16]),
        { closedAtMs: 1_767_225_600_000n + BigInt(i) * 3_600_000n });
    }
    const { page, wrong } = await open(stage.address);
    await says(page, '.verdict', 'All 30 releases verified');
    await page.waitForSelector('.column canvas');
    const press = (name: string): Promise<void> => page.evaluate((text) => {
      [...document.querySelectorAll('button')].find((each) => each.textContent === text)!.click();
    }, name);
    const address = (): Promise<string> => page.evaluate(() => location.hash);
    /** The epochs in a file of the chart: what is shown is what is saved. */
    const epochs = async (): Promise<readonly number[]> => (await saved(page, 'CSV')).trim()
      .split('\r\n').slice(1).map((line) => Number(line.split(',')[2]));
    expect(await epochs()).toHaveLength(30);
    await press('Last 20');
    expect(await address()).toBe(`#/study/${stage.id('flight-delays')}?range=20`);
    await says(page, '.segments [aria-pressed=true]', 'Last 20');
    expect(await epochs()).toHaveLength(20);
    await press('Day');
    await says(page, '.segments [aria-pressed=true]', 'Day');
    expect(await epochs()).toHaveLength(24);
    await press('All');
    await says(page, '.segments [aria-pressed=true]', 'All');
    const box = (await (await page.$('.u-over'))!.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await says(page, '.segments [aria-pressed=true]', 'Chosen');
    const part = await epochs();
    expect(part.length).toBeGreaterThan(5);
    expect(part.length).toBeLessThan(15);
    await press('Epochs');
    await says(page, '.segments [aria-pressed=true]', 'Epochs');
    await page.click('.u-over');
    await page.waitForFunction(() => location.hash.includes('epoch='), { polling });
    const kept = await address();
    expect(kept).toContain('axis=epoch');
    await page.mouse.move(0, 0);
    const read = await page.$eval('.readout', (each) => each.textContent);
    expect(read).toMatch(/epoch \d+: [\d.]+, [\d.]+ to [\d.]+/);
    // A link has the same part, axis and release for whoever opens it.
    await page.goto('about:blank');
    await page.goto(`${stage.address}/${kept}`);
    await says(page, '.verdict', 'All 30 releases verified');
    await says(page, '.readout', read);
    expect(await epochs()).toEqual(part);
    await page.$eval('.range-end input', (field) => {
      field.value = '12';
      field.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await page.waitForFunction(() => location.hash.includes('from=12'), { polling });
    expect((await epochs())[0]).toBe(12);
    expect(wrong).toEqual([]);
  });

  it('shows the smoothed line beside the answers, and saves both', async () => {
    const stage = await Stage.start({ columns: ['delay'] });
    for (const each of [8, 9, 8.4, 8.8]) stage.publish('flight-delays', valueOf([each], [1]));
    const { page, wrong } = await open(stage.page('flight-delays'));
    await page.waitForSelector('.column canvas');
    // It comes with the third answer, and the chart with the first.
    await page.waitForSelector('.ranges input[type=checkbox]');
    await page.click('.ranges input[type=checkbox]');
    await says(page, '.derived', 'smoothed 8.6');
    await says(page, '.value', '8.8');
    await says(page, '.answers', 'computed from the published answers alone, so it costs nobody');
    const lines = (await saved(page, 'CSV')).trim().split('\r\n');
    expect(lines[0]).toMatch(/,refusal,smoothed,smoothed_low95,smoothed_high95$/);
    const [estimate, low, high, , smoothed, from, to] = lines[4]!.split(',').slice(4).map(Number);
    expect([estimate, Math.round(low! * 1e6) / 1e6, high]).toEqual([8.8, 7.8, 9.8]);
    expect(smoothed).toBeGreaterThan(8.4);
    expect(smoothed).toBeLessThan(8.8);
    expect(to! - from!).toBeLessThan(high! - low!);
    expect(await saved(page, 'SVG')).toContain('thick line: smoothed');
    expect(wrong).toEqual([]);
  });

  it('lists what the operator noted, and marks it in the charts', async () => {
    const stage = await Stage.start({ columns: ['delay'] });
    const closed = [10_000, 20_000, 30_000].map(BigInt);
    closed.forEach((closedAtMs, i) =>
      stage.publish('flight-delays', valueOf([8 + i], [1]), { closedAtMs }));
    for (const [at, text] of [[15_000, 'New clients from here on'], [90_000, 'Not yet']] as const) {
      const query = new URLSearchParams({ study: 'flight-delays', at: String(at), text });
      const added = await fetch(`${stage.address}/v1/operator/add-note?${query}`, {
        method: 'POST',
        headers: { authorization: 'Bearer a-token-for-tests', origin: stage.address },
      });
      expect(added.status).toBe(200);
    }
    const { page, wrong } = await open(stage.page('flight-delays'), async (fresh) => {
      await fresh.evaluateOnNewDocument(() => {
        const target = globalThis as unknown as { dashes: number[][] };
        target.dashes = [];
        const { prototype } = CanvasRenderingContext2D;
        const inner = Reflect.get(prototype, 'setLineDash');
        prototype.setLineDash = function setLineDash(dash: number[]): void {
          target.dashes.push(dash);
          inner.call(this, dash);
        };
      });
    });
    await says(page, '.notes li:first-child', 'New clients from here on');
    await says(page, '.notes li:last-child', 'Not yet');
    await page.waitForFunction(() =>
      (globalThis as unknown as { dashes: number[][] }).dashes.some(([dash]) => dash === 4),
    { polling });
    expect(wrong).toEqual([]);
  });

  it('compares numbers of studies, by unit, and a link has the same comparison', async () => {
    const minutes = { title: 'Late planes', version: 2, types: [{ type: 'number' }] } as const;
    const stage = await Stage.start(
      { ...minutes, columns: ['delay'], columnWords: [{ label: 'delay', unit: 'minutes' }] },
      {
        ...minutes, study: 'taxi', title: 'Taxi', columns: ['time'],
        columnWords: [{ label: 'taxi time', unit: 'minutes' }],
      },
      { study: 'far', columns: ['distance'] },
    );
    for (let i = 0; i < 10; i++) {
      stage.publish('flight-delays', valueOf([20 + i], [1]));
      stage.publish('taxi', valueOf([10 + i], [1]));
      stage.publish('far', valueOf([700 + i], [16]));
    }
    const { page, wrong } = await open(stage.page('flight-delays'));
    await page.waitForSelector('.column canvas');
    await page.focus('.compare-button');
    await page.keyboard.press('Enter');
    await says(page, '.legend', '29.0, 28.0 to 30.0 minutes');
    const named = (study: string): string => `${stage.id(study).slice(0, 12)}.answer.0`;
    for (const [study, text] of [['taxi', 'taxi time'], ['far', 'distance']] as const) {
      await page.waitForSelector(`.adder option[value="${named(study)}"]`);
      await page.select('.adder select', named(study));
      await says(page, '.legend', text);
    }
    // Numbers in minutes are on one axis.
    const panels = (): Promise<string[]> =>
      page.$$eval('.compare .panel h3', (all) => all.map((each) => each.textContent));
    await page.waitForFunction(
      () => document.querySelectorAll('.compare canvas').length === 2, { polling });
    expect(await panels()).toEqual(['minutes', 'distance']);
    const link = await page.evaluate(() => location.href);
    expect(link).toContain(`?with=${['flight-delays', 'taxi', 'far'].map(named).join('_')}`);
    await page.goto('about:blank');
    await page.goto(link);
    await says(page, '.legend', '709, 693 to 725');
    await page.waitForFunction(
      () => document.querySelectorAll('.compare canvas').length === 2, { polling });
    await page.click('.legend li:nth-child(2) .remove');
    await page.waitForFunction(() => document.querySelectorAll('.legend li').length === 2,
      { polling });
    await page.evaluate(axe);
    const { violations } = await page.evaluate('axe.run()') as { violations: Violation[] };
    expect(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id }) => id)).toEqual([]);
    await page.click('.compare-button');
    await page.waitForFunction(() => document.querySelector('.compare') === null, { polling });
    expect(wrong).toEqual([]);
  });

  it('lists the versions of a study with their changes, and compares two on one axis', async () => {
    const words = { columns: ['delay'], columnWords: [{ label: 'delay', unit: 'minutes' }],
      version: 2, types: [{ type: 'number' }] } as const;
    const stage = await Stage.start({ ...words, cohort: 4_000 }, { ...words, cohort: 3_000 });
    const [newer, older] = stage.hub.studies().map(({ studyId }) => studyId) as [string, string];
    const at = (seconds: number) => ({ closedAtMs: 1_767_225_600_000n + 1_000n * BigInt(seconds) });
    for (let i = 0; i < 8; i++) stage.publish(older, valueOf([20 + i], [1]), at(10 * i));
    for (let i = 0; i < 8; i++) stage.publish(newer, valueOf([40 + i], [1]), at(100 + 10 * i));
    const { page, wrong } = await open(stage.page(newer));
    await says(page, '.versions', 'first version');
    expect(await page.$$eval('.versions ul li', (all) =>
      all.map((each) => each.textContent.replaceAll(/\s+/g, ' '))))
      .toEqual(['Contributors: about 4,000 an epoch before: about 3,000 an epoch']);
    // The label of the mark is drawn, so the test listens to what is drawn.
    await page.evaluate(() => {
      const drawn: string[] = [];
      const canvas = CanvasRenderingContext2D.prototype;
      const fillText: CanvasText['fillText'] = Reflect.get(canvas, 'fillText');
      canvas.fillText = function (this: CanvasRenderingContext2D, ...text) {
        drawn.push(text[0]);
        fillText.apply(this, text);
      };
      Object.assign(window, { drawn });
    });
    await page.click('.versions .button');
    await says(page, '.legend', '27.0, 26.0 to 28.0 minutes');
    await says(page, '.legend', 'first version');
    await page.waitForFunction(
      () => (window as unknown as { drawn: string[] }).drawn.includes('new version'), { polling });
    expect(await page.$$('.compare canvas')).toHaveLength(1);
    await page.click('.versions a[href*="study"]:not(.button)');
    await says(page, '.value', '27.0 minutes');
    expect(await page.$eval('.versions ol > li:last-child', (each) => each.textContent))
      .toContain('this version');
    expect(wrong).toEqual([]);
  });

  it('selects a part of the log by a finger that moves sideways', async () => {
    const stage = await Stage.start({ columns: ['delay'] });
    for (let i = 0; i < 30; i++) stage.publish('flight-delays', valueOf([i], [1]));
    const { page, wrong } = await open(stage.page('flight-delays'), (each) =>
      each.setViewport({ width: 380, height: 800, hasTouch: true, isMobile: true }));
    // What is below the chart has its place then, and the chart has all releases.
    await says(page, '.verdict', 'All 30 releases verified');
    await page.waitForSelector('.column canvas');
    const [x, y, width] = await page.$eval('.u-over', (each) => {
      each.scrollIntoView({ block: 'center' });
      const box = each.getBoundingClientRect();
      return [box.x, box.y, box.width] as const;
    });
    await page.touchscreen.touchStart(x + width * 0.4, y + 40);
    for (const share of [0.5, 0.6, 0.7]) {
      await page.touchscreen.touchMove(x + width * share, y + 40);
    }
    await page.touchscreen.touchEnd();
    await page.waitForFunction(() => location.hash.includes('from='), { polling });
    const [, from, to] = /from=(\d+)&to=(\d+)/.exec(await page.evaluate(() => location.hash))!;
    expect(Number(to) - Number(from)).toBeGreaterThan(5);
    expect(Number(to) - Number(from)).toBeLessThan(13);
    expect(wrong).toEqual([]);
  });

  it('saves a chart as numbers with their sign, and as a picture that stands alone', async () => {
    const stage = await Stage.start({
      study: 'people', estimator: 'count', columns: ['delay'], parameters: { threshold: 60 },
      title: 'Late planes', version: 2, types: [{ type: 'number' }],
      columnWords: [{ label: 'a delay', unit: 'minutes' }],
    });
    for (const count of [-12, 40, 9]) stage.publish('people', valueOf([count], [31]));
    const { page, wrong } = await open(stage.address);
    await says(page, 'h1', 'Late planes');
    await says(page, '.column h3', 'people with a delay of at least 60 minutes');
    // The noise is larger than the number, so the interval is the answer.
    await says(page, '.value', '0 to 40');
    await says(page, '.range', 'cut at what is possible');
    await says(page, '.releases tbody', '0 to 19');
    expect(await page.$eval('.answers', (each) => each.textContent)).not.toContain('−');
    expect((await saved(page, 'CSV')).split('\r\n').slice(0, 2)).toEqual([
      'study,name,epoch,closed_at,estimate,low95,high95,refusal',
      '"people","people with a delay of at least 60 minutes",'
        + '7,2026-01-01T00:00:10.000Z,-12,-43,19,',
    ]);
    const svg = await saved(page, 'SVG');
    expect(svg).toContain('people with a delay of at least 60 minutes');
    expect(svg).toContain('The signatures were verified in the browser.');
    expect(await page.evaluate((text) => new DOMParser()
      .parseFromString(text, 'image/svg+xml').querySelector('parsererror'), svg)).toBeNull();
    expect(await saved(page, 'PNG')).toMatch(/^.PNG/);
    expect(wrong).toEqual([]);
  });

  it('leads by keyboard from the list to a study, its table and its theme', async () => {
    const stage = await Stage.start({}, { study: 'second', columns: ['a'] });
    stage.publish('flight-delays', value);
    const { page } = await open(stage.address);
    await page.waitForSelector('.newest');
    const tab = async (): Promise<string> => {
      await page.keyboard.press('Tab');
      return page.evaluate(() =>
        `${document.activeElement!.tagName} ${document.activeElement!.textContent}`);
    };
    expect(await tab()).toBe('A Skip to the content');
    await page.keyboard.press('Enter');
    expect(await tab()).toBe('A flight-delays');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.column canvas');
    expect(await page.evaluate(() => document.activeElement!.id)).toBe('content');
    const seen: string[] = [];
    while (seen.length < 30 && seen.at(-1) !== 'SUMMARY What the parameters mean') {
      seen.push((await tab()).slice(0, 40).replace(/^DIV Epoch.*/, 'DIV Epoch'));
    }
    expect(seen).toEqual([
      'A ← All studies', 'SUMMARY What an interval says',
      ...['Last 20', 'Day', 'Week', 'All', 'Chosen', 'Time', 'Epochs', 'Compare']
        .map((name) => `BUTTON ${name}`),
      ...[...formats, ...formats].map((name) => `BUTTON ${name}`),
      'SUMMARY Compare the key', 'SUMMARY In exact words', 'A Download the log',
      'DIV Epoch', 'SUMMARY What the parameters mean',
    ]);
    const colour = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body.parentElement!).backgroundColor);
    const before = await colour();
    await page.evaluate(
      () => { (document.querySelector('.column canvas') as HTMLElement).dataset['old'] = 'yes'; },
    );
    await page.focus('.segments button:last-child');
    await page.keyboard.press('Enter');
    expect(await colour()).not.toBe(before);
    await page.waitForFunction(
      () => document.querySelector('.column canvas[data-old]') === null, { polling },
    );
    await page.reload();
    await page.waitForSelector('.column canvas');
    expect(await colour()).not.toBe(before);
    await page.click('.segments button:first-child');
    expect(await colour()).toBe(before);
  });
});

const matrix = valueOf(
  [1420, -5200, 300, -5200, 348000, 1200, 300, 1200, 90], [30, 900, 20, 900, 9000, 100, 20, 100, 5],
  { shape: [3, 3], parts: [{ name: 'covariance', shape: [3, 3] }] },
);
const hypotheses =
  JSON.stringify([{ normal: { mean: 10, deviation: 40 } }, { laplace: { centre: -5, scale: 20 } }]);
const mixture = { kind: 'value', shape: [3, 3], uncertainty: { kind: 'none' } } as const;

const cloudParts = [
  { name: 'weights', shape: [2] }, { name: 'means', shape: [2, 2] },
  { name: 'covariances', shape: [2, 2, 2] },
];
const clouds = {
  kind: 'value', shape: [14], parts: cloudParts, uncertainty: { kind: 'none' },
  estimate: [0.6, 0.4, -4, 500, 60, 1500, 90, 800, 800, 40_000, 500, 0, 0, 250_000],
} as const;

/** What axe-core found. */
interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

describe.skipIf(!hasBrowser)('the pictures of the dashboard', () => {
  let chromium: LaunchedBrowser;
  let page: Page;
  let stage: Stage;
  const wrong: string[] = [];
  // A page that outlives its server tries to reconnect, and the next test would be blamed for it.
  afterEach(async () => {
    await page.goto('about:blank');
    wrong.length = 0;
  });

  async function start(): Promise<void> {
    stage = await Stage.start(
      {},
      {
        study: 'covariance', estimator: 'covariance', columns: ['delay', 'distance', 'taxi'],
        parameters: { 'variance-low': 1, 'variance-high': 1e7 },
      },
      {
        study: 'mixture', estimator: 'mixture-1d', columns: ['delay'],
        parameters: { components: 3, resolution: 1 },
      },
      {
        study: 'clouds', estimator: 'mixture', columns: ['delay', 'distance'],
        parameters: { components: 2 },
      },
      {
        study: 'histogram', estimator: 'histogram', parameters: { column: 0, edges: [-15, 0, 15] },
      },
      {
        study: 'select', estimator: 'select', columns: ['delay'],
        parameters: { alpha: 0.1, hypotheses },
      },
    );
    for (const outcome of [value, refusal]) stage.publish('flight-delays', outcome);
    stage.publish('covariance', matrix);
    stage.publish('mixture', { ...mixture, estimate: [0.7, -4.2, 9.5, 0.3, 60, 22, 0, 0, 0] });
    stage.publish('clouds', clouds);
    stage.publish('histogram', valueOf([214, 880, 431, -3], [18, 18, 18, 18]));
    stage.publish('select', { ...mixture, estimate: [1], shape: [1] });
  }

  beforeAll(async () => {
    chromium = await launchBrowser();
    page = await openPage(chromium.browser);
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on(
      'console', (message) => { if (message.type() === 'error') wrong.push(message.text()); },
    );
  });
  afterAll(() => chromium?.close());

  /** Fits both widths, and nothing serious for axe-core in either theme. */
  async function inspect(address: string, wait: string): Promise<void> {
    for (const [width, theme] of [[380, 'dark'], [1440, 'light']] as const) {
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: theme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await page.goto('about:blank');
      await page.goto(address);
      await page.waitForSelector(wait);
      await page.waitForFunction(() => document.querySelector('.dot.live') !== null, { polling });
      const seen = await page.evaluate('document.documentElement.scrollWidth');
      expect(seen, `${address} at ${width} px`).toBeLessThanOrEqual(width);
      // By the debugger's own channel: the page's policy forbids scripts from elsewhere.
      await page.evaluate(axe);
      const { violations } = await page.evaluate('axe.run()') as { violations: Violation[] };
      const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
      expect(serious.map(({ id, nodes }) =>
        [id, nodes.map(({ html }) => html)]), `${address} in ${theme}`).toEqual([]);
    }
  }

  it('fit narrow and wide pages and are accessible, on the list and on a study', async () => {
    await start();
    await inspect(`${stage.address}/`, '.newest');
    await inspect(stage.page('flight-delays'), '.column canvas');
    expect(wrong).toEqual([]);
  });

  it('are a heat map with an ellipse for two columns that are chosen', async () => {
    await start();
    await inspect(stage.page('covariance'), '.ellipse');
    expect(await page.$$eval('.heat tbody td', (cells) => cells.map((cell) => cell.textContent)))
      .toEqual(
        ['37.7', '−0.23', '0.84', '−0.23', '590', '0.21', '0.84', '0.21', '9.49'],
      );
    const text = (cells: readonly Element[]): string[] => cells.map((cell) => cell.textContent);
    expect(await page.$$eval('.variances tbody tr', (rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent))))
      .toEqual([
        ['delay', '1,420 ± 30', '37.7'], ['distance', '348,000 ± 9,000', '590'],
        ['taxi', '90.0 ± 5.0', '9.49'],
      ]);
    expect(await page.$$eval('.pairs tbody tr', text)).toEqual(
      [
        'delay and taxi0.84300 ± 20', 'delay and distance−0.23−5,200 ± 900',
        'distance and taxi0.211,200 ± 100',
      ]);
    expect(await page.$$eval('.releases thead th', text))
      .toEqual(['Epoch', 'variance of delay', 'variance of distance',
        'variance of taxi', 'Closed']);
    await page.waitForFunction((count) =>
      document.querySelectorAll('.column canvas').length === count, { polling }, 3);
    await page.select('.pair select', '2');
    const said = 'taxi and distance: correlation 0.21';
    await page.waitForFunction(
      (text) => document.querySelector('.ellipse')!.ariaLabel!.startsWith(text), { polling }, said,
    );
    const [rx, ry] = await page.$eval('.ring-1', (ring) =>
      ['rx', 'ry'].map((name) => Number(ring.getAttribute(name))));
    // The half axes along (1, 1) and (1, -1) in standard deviations: sqrt(1 + r) and sqrt(1 - r).
    expect((rx! / ry!) ** 2)
      .toBeCloseTo((1 + 1200 / Math.sqrt(90 * 348000)) / (1 - 1200 / Math.sqrt(90 * 348000)), 6);
    expect(wrong).toEqual([]);
  });

  it('are a density, bars with their intervals, or the best of a list', async () => {
    await start();
    await inspect(stage.page('mixture'), '.density');
    expect(await page.$eval('.density', (each) => each.getAttribute('aria-label')))
      .toContain('70\u00a0% around −4.2');
    expect(await page.$$('.density .part')).toHaveLength(2);
    await inspect(stage.page('clouds'), '.clouds');
    expect(await page.$eval('.clouds', (each) => each.getAttribute('aria-label')))
      .toBe('delay and distance: 60\u00a0% around −4.00, 500; 40\u00a0% around 60.0, 1,500');
    expect(await page.$$('.clouds path')).toHaveLength(4);
    await page.goto(stage.page('histogram'));
    await page.waitForSelector('.bins');
    const text = (cells: readonly Element[]): string[] => cells.map((cell) => cell.textContent);
    expect(await page.$$eval('.bins tbody th', text))
      .toEqual(['below −15', '−15 to 0', '0 to 15', '15 and more']);
    expect(await page.$$eval('.bin-count', text))
      .toEqual(['214 ± 18', '880 ± 18', '431 ± 18', '0 to 15']);
    const widths = await page.$$eval('.bar-fill', (bars) =>
      bars.map((bar) => bar.getBoundingClientRect().width));
    expect(widths[0]! / widths[1]!).toBeCloseTo(214 / 880, 2);
    expect(widths[3]).toBe(0);
    await page.goto(stage.page('select'));
    await page.waitForSelector('.chosen');
    expect(await page.$eval('.chosen', (each) => each.textContent))
      .toContain('laplace, centre −5, scale 20');
    expect(await page.$eval('.releases tbody td', (each) => each.textContent))
      .toBe('laplace, centre −5, scale 20');
    expect(wrong).toEqual([]);
  });
});
