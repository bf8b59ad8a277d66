// @module-tag slow
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRig } from '../listener/harness.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

describe.skipIf(!hasBrowser)('the what-if page', () => {
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(async () => chromium?.close());

  const says = (page: Page, selector: string, text: string): Promise<unknown> =>
    page.waitForFunction((where, wanted) =>
      document.querySelector(where)?.textContent.includes(wanted), { polling: 50 }, selector, text);
  const errors: string[] = [];
  const planPage = async (hash = ''): Promise<Page> => {
    const rig = await startRig();
    const page = await openPage(chromium.browser);
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.setViewport({ width: 1440, height: 1000 });
    await page.goto(rig.url(`/plan${hash}`));
    return page;
  };

  it('plans while a person moves a slider by keys, and the address keeps it', async () => {
    const page = await planPage();
    await says(page, '.best', 'robust-mean');
    const before = await page.$eval('.best .value', (each) => each.textContent);
    await page.focus('#hostile');
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((text) =>
      document.querySelector('.best .value')!.textContent !== text, { polling: 50 }, before);
    expect(await page.evaluate('location.hash')).toBe('#hostile=0');
    await page.reload();
    await says(page, '.best', 'mean');
    expect(await page.$eval('#hostile', (each) => each.getAttribute('aria-valuetext')))
      .toContain('0');
    await page.$eval('[aria-label="People in each epoch, as a number"]', (field) => {
      (field as HTMLInputElement).value = '12.5';
      field.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await says(page, '#people-rule', 'From 10 to 10,000,000, whole.');
    expect(errors).toEqual([]);
    await page.close();
  });

  it('says what a wanted error takes, and takes it', async () => {
    const page = await planPage('#people=500&hostile=0.02&error=0.2');
    await says(page, '.ways', 'at least');
    await page.click('.ways button');
    await page.waitForFunction(() => !location.hash.includes('people=500&'), { polling: 50 });
    await says(page, '.ways', 'you have that');
    await says(page, '.file', 'estimator: ');
    await page.waitForSelector('.curve .line');
    await page.close();
  });

  it.each(['', '#people=100&columns=10', '#question=share&delta=0&error=0.08'])(
    'is accessible and no wider than its window, with %s', async (hash) => {
      const page = await planPage(hash);
      await page.waitForSelector('.compared');
      for (const width of [390, 1440]) {
        await page.setViewport({ width, height: 900 });
        expect(await page.evaluate('document.documentElement.scrollWidth'))
          .toBeLessThanOrEqual(width);
        await page.evaluate(axe);
        const { violations } = await page.evaluate('axe.run()') as {
          violations: { id: string; impact: string }[];
        };
        expect(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)))
          .toEqual([]);
      }
      await page.close();
    },
  );
});
