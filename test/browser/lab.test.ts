// @module-tag slow
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { Stage, type LiveCommand } from '../support/live-command.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

describe.skipIf(!hasBrowser)('the laboratory\'s page', () => {
  const stage = new Stage();
  let lab: LiveCommand;
  let chromium: LaunchedBrowser;
  let address: string;

  beforeAll(async () => {
    lab = stage.start([
      'lab', '--contributors', '300', '--every', '2', '--epsilon', '12', '--estimators', 'mean',
      '--page', '0', '--liars', '0.2',
    ]);
    while (!lab.stdout.includes('\n')) await lab.next();
    address = /http:\S+/.exec(lab.stdout)![0];
    chromium = await launchBrowser();
  });

  afterAll(async () => {
    await chromium?.close();
    await stage.end();
  });

  it('plays rounds, does what a person sets, starts anew, and is accessible at both '
    + 'widths', async () => {
    const page = await openPage(chromium.browser);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.setViewport({ width: 1440, height: 900 });
    await page.goto(address);
    await page.waitForSelector('.answer.truth');
    expect(await page.$$eval('.answer', (cards) => cards.length)).toBe(5);
    expect(await page.$eval('.rounds th:nth-child(4)', (cell) => cell.textContent)).toBe('mean');
    // 300 people, of whom a fifth lies.
    const drawn = await page.$$eval('.rows-plot .honest, .rows-plot .hostile', (rows) =>
      rows.map((each) => each.classList[0]));
    expect([drawn.length, drawn.filter((kind) => kind === 'hostile').length]).toEqual([300, 60]);
    const roundShown = async (): Promise<number> => Number(
      await page.$eval('tbody td', (cell) => cell.textContent));
    const click = async (text: string): Promise<void> => {
      await page.locator(`button ::-p-text(${text})`).click();
    };
    await click('Pause');
    await page.waitForSelector('button ::-p-text(Go on)');
    await page.waitForFunction(() =>
      document.querySelector('.title .badge')?.textContent === 'Paused');
    const before = await roundShown();
    // The round that was in progress is over, or this one is the next: one more comes at most.
    await click('One round');
    await page.waitForFunction((last) =>
      Number(document.querySelector('tbody td')?.textContent) > last, {}, before);
    await click('Go on');
    await page.waitForFunction((last) =>
      Number(document.querySelector('tbody td')?.textContent) > last + 2, {}, before);
    await page.select('#attack', 'far');
    await page.waitForFunction(() =>
      document.querySelector('tbody td:nth-child(2)')?.textContent === 'far');
    await page.$eval('#share', (slider) => {
      (slider as HTMLInputElement).value = '0';
      slider.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await page.waitForFunction(() =>
      document.querySelector('tbody td:nth-child(3)')?.textContent === '0 %');
    for (const width of [380, 1440]) {
      await page.setViewport({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth'))
        .toBeLessThanOrEqual(width);
    }
    await page.evaluate(axe);
    const found =
      await page.evaluate('axe.run()') as { violations: { id: string; impact: string }[] };
    expect(found.violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)))
      .toEqual([]);
    expect(await page.$eval('.command', (each) => each.textContent)).toMatch(
      /^keelson lab --data flights --estimators mean --contributors 300 .*--attack far --liars 0 /,
    );
    await page.$eval('#contributors', (field) => {
      (field as HTMLInputElement).value = '200';
      field.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await page.select('#data', 'gaussian');
    await page.waitForFunction(() =>
      document.querySelectorAll('.answer.truth .values span').length === 5);
    await page.select('.pair-choice label:first-child select', '3');
    await page.waitForFunction(() =>
      document.querySelector('.rows-plot .name')?.textContent === 'column 4');
    expect(await page.$eval('.command', (each) => each.textContent)).toContain(
      '--data gaussian --estimators mean --contributors 200 --epsilon 12 ',
    );
    expect(errors).toEqual([]);
  });

  it('takes orders from its own page only, and only such that can be played', async () => {
    const order = (path: string, body: string, headers: Record<string, string> = {}) =>
      fetch(new URL(path, address), { method: 'POST', body, headers });
    const setting = JSON.stringify({ attack: 'shift', corruption: 0.1 });
    const scene = (change: object): string => JSON.stringify(
      { data: 'flights', estimators: ['mean'], contributors: 300, epsilon: 12, ...change });
    expect((await order('/lab/setting', setting)).status).toBe(200);
    expect((await order('/lab/setting', setting, { Origin: 'http://elsewhere.example' })).status)
      .toBe(403);
    for (const [path, body, said] of [
      ['/lab/setting', '{"attack":"shfit","corruption":0.1}', 'did you mean'],
      ['/lab/setting', '{"attack":"shift","corruption":"0.1"}', 'corruption'],
      ['/lab/setting', 'nonsense', 'JSON object'],
      ['/lab/setting', ' '.repeat(5000), 'at most 4096'],
      ['/lab/scene', '{"data":"flights","estimators":[]}', 'one to eight'],
      ['/lab/scene', scene({ data: 'moon' }), 'use one of flights'],
      ['/lab/scene', scene({ contributors: 99.5 }), '100 to 100000 people'],
      ['/lab/scene', scene({ epsilon: 0 }), 'from 0.01 to 20'],
      ['/lab/pace', '{"pace":"faster"}', 'pause, go-on, step'],
    ] as const) {
      const answer = await order(path, body);
      expect(answer.status).toBe(400);
      expect(((await answer.json()) as { error: string }).error).toContain(said);
    }
    expect((await fetch(new URL('/elsewhere', address))).status).toBe(404);
    expect((await lab.interrupt()).status).toBe(0);
  });
});
