// @module-tag slow
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { refusal, Stage, valueOf } from './stage.js';

/** Not by frames: a busy machine has none. */
const polling = 50;
const counts = (shift: number): readonly number[] => [100 + shift, 300, 600 - shift];

describe.skipIf(!hasBrowser)('a distribution over time, on the page', () => {
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(() => chromium?.close());

  const says = (page: Page, selector: string, text: string): Promise<unknown> =>
    page.waitForFunction((where, wanted) =>
      document.querySelector(where)?.textContent.includes(wanted), { polling }, selector, text);

  it('reads out a cell with its interval, and shows a part, by keys and by pointer', async () => {
    const stage = await Stage.start({
      estimator: 'histogram', columns: ['delay'], parameters: { column: 0, edges: [0, 15] },
    });
    for (let i = 0; i < 12; i++) {
      stage.publish('flight-delays',
        i === 4 ? refusal : valueOf(counts(10 * i), [12, 12, 12]));
    }
    const page = await openPage(chromium.browser);
    await page.setViewport({ width: 1440, height: 1200 });
    await page.goto(stage.page('flight-delays'));
    await says(page, '.heat-strip .readout', '12 releases, one column each');
    await page.focus('.heat-strip canvas');
    await page.keyboard.press('Home');
    await says(page, '.heat-strip .readout',
      'epoch 7, below 0: 100 people, 95 % interval 88 to 112');
    await page.keyboard.press('ArrowUp');
    await says(page, '.heat-strip .readout', 'epoch 7, 0 to 15: 300 people, 95 % interval 288');
    expect(await page.$eval('.heat-strip canvas', (each) => each.getAttribute('aria-valuetext')))
      .toContain('300 people, 95 % interval');
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
    await says(page, '.heat-strip .readout', 'epoch 11: refused, fewer people took part');
    const box = (await (await page.$('.heat-strip canvas'))!.boundingBox())!;
    const at = (share: number): [number, number] => [box.x + box.width * share, box.y + 40];
    await page.mouse.move(...at(0.97));
    await says(page, '.heat-strip .readout', 'epoch 18, 15 and more: 490 people');
    await page.mouse.click(...at(0.97));
    await page.waitForFunction(() => location.hash.includes('epoch=18'), { polling });
    await says(page, '.heat-strip summary', 'Epoch 18 in numbers');
    await page.mouse.move(...at(0.5));
    await page.mouse.down();
    await page.mouse.move(...at(0.97), { steps: 3 });
    await page.mouse.up();
    await page.waitForFunction(() => location.hash.includes('from='), { polling });
    await page.mouse.move(2, 2);
    await page.waitForFunction(() => /^[3-8] releases/.test(
      document.querySelector('.heat-strip .readout')!.textContent), { polling });
    await page.evaluate(() => {
      [...document.querySelectorAll('button')].find((each) => each.textContent === 'All')!.click();
    });
    await says(page, '.heat-strip .readout', '12 releases');
    await page.close();
  });
});
