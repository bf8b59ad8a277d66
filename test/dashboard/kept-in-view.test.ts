// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { imagesOf } from '../support/pdf-images.js';
import { Stage, valueOf } from './stage.js';

const regions = ['Mecklenburg-Vorpommern', 'Baden-Württemberg', 'other'];
const wide = 1e9;

describe.skipIf(!hasBrowser)('what must not be cut off', () => {
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(() => chromium?.close());

  it.each([1440, 700, 380])(
    'the newest epochs of a chart that is printed from a window of %i pixels', async (width) => {
      const stage = await Stage.start({});
      for (let i = 0; i < 30; i++) stage.publish('flight-delays', valueOf([i, 700], [1, 16]));
      const page = await openPage(chromium.browser);
      await page.setViewport({ width, height: 900 });
      await page.goto(stage.page('flight-delays'));
      await page.waitForFunction(() =>
        document.querySelectorAll('.column canvas').length === 2
          && document.querySelector('.verdict')?.textContent.includes('All 30 releases verified'),
      { polling: 50 });
      const drawn = await page.$$eval('.column canvas', (all) =>
        all.map(({ width: across, height }) => across / height));
      for (const format of ['A4', 'A6'] as const) {
        const { width: paper, images } = imagesOf(await page.pdf({ format }));
        expect(images, JSON.stringify({ format, paper, images })).toHaveLength(2);
        images.forEach(({ left, right, shown, tall }, i) => {
          expect(left).toBeGreaterThan(0);
          expect(right).toBeLessThan(paper);
          // Nothing around the chart cuts it off, and it keeps its shape.
          expect(shown).toBeGreaterThan(right - 1);
          expect((right - left) / tall / drawn[i]!).toBeCloseTo(1, 1);
        });
      }
      await page.close();
    },
  );

  it('names of keys on the cards of the overview, beside wide intervals', async () => {
    const stage = await Stage.start({
      study: 'spending', version: 2, columns: ['amount', 'region'],
      types: [{ type: 'number' }, { type: 'category', of: regions.slice(0, 2), other: true }],
      questions: [{
        name: 'change', estimator: 'mean', columns: ['amount'], reduce: 'mean', where: [],
        part: 100, parameters: { range: [-wide, wide] }, by: { columns: ['region'], groupsMax: 2 },
      }],
    }, { study: 'second' });
    for (const shift of [0, 1]) {
      stage.publish('spending', valueOf([123_456_789 + shift, -98_765_432, 7],
        [4_321_000, 123_456_789, 987_654_321], { groups: regions.map((key) => [key]) }));
    }
    const page = await openPage(chromium.browser);
    await page.goto(stage.address);
    for (const width of [1440, 1000, 700, 380]) {
      await page.setViewport({ width, height: 900 });
      await page.waitForSelector('.newest .spark');
      const rows = await page.$$eval('.newest > div', (all) => all.map((row) => {
        const name = row.querySelector('dt')!;
        const inside = row.closest('.card')!.getBoundingClientRect().right;
        return {
          name: name.textContent, isWhole: name.scrollWidth <= name.clientWidth,
          isRoomy: name.clientWidth >= 80,
          isInside: [...row.children].every((each) =>
            each.getBoundingClientRect().right <= inside - 16),
        };
      }));
      expect(rows.map(({ name, ...rest }) => [regions.some((key) => name.includes(key)), rest]))
        .toEqual(regions.map(() => [true, { isWhole: true, isRoomy: true, isInside: true }]));
    }
    await page.close();
  });
});
