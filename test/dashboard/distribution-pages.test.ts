// @module-tag slow
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askedIn } from '../../dashboard/base/model.js';
import { numbersOf, type NamedNumber } from '../../dashboard/base/numbers.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { answerTo, shippedStudies } from '../support/shipped-answers.js';
import { Stage } from './stage.js';

/** Not by frames: a busy machine has none. */
const polling = 50;
const shipped = shippedStudies.find(({ document }) => document.study === 'delay-distribution')!;
const [planned] = shipped.questions;
const outcome = answerTo(planned);
const leftOut = 'A row counts only if it has a value of minutes.';

/** A distribution with 152 cells and five quantiles, of a column that rows may lack. */
async function staged(): Promise<{ stage: Stage; numbers: readonly NamedNumber[] }> {
  const stage = await Stage.start({
    study: 'spread', columns: ['minutes'], types: [{ type: 'number', optional: true }],
    questions: [{
      name: 'spread', estimator: 'distribution', parameters: planned.question.parameters,
      columns: ['minutes'], where: [], reduce: 'one', part: 100,
    }],
  });
  stage.publish('spread', [outcome]);
  const [asked] = askedIn(stage.hub.study(stage.id('spread'))!.document);
  return { stage, numbers: numbersOf(asked!, outcome) };
}

/** The number that a text shows, which has a unit or a sign of its own. */
const read = (text: string): number => parseFloat(text.replaceAll(',', '').replace('−', '-'));

function isOf(words: NamedNumber, shown: { readonly name: string; readonly value: string }): void {
  const released = outcome.estimate[words.place]!;
  expect(shown.name).toBe(words.name);
  expect(Math.abs(read(shown.value) - released), `${shown.value} for ${released}`)
    .toBeLessThanOrEqual(0.5);
  expect(shown.value.endsWith(words.unit)).toBe(true);
}

describe.skipIf(!hasBrowser)('a distribution of many cells, on every page', () => {
  let chromium: LaunchedBrowser;
  const opened: Page[] = [];
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(() => chromium?.close());
  afterEach(async () => { for (const page of opened.splice(0)) await page.close(); });

  async function open(address: string): Promise<Page> {
    const page = await openPage(chromium.browser);
    opened.push(page);
    await page.goto(address);
    return page;
  }

  /** The name and the value that the chart on a page shows, once it is the one that is wanted. */
  async function chartOf(page: Page, wanted: string): Promise<{
    readonly name: string; readonly value: string; readonly note: string;
  }> {
    await page.waitForFunction((name) => document.querySelector('keelson-chart')?.shadowRoot
      ?.querySelector('.name')?.textContent === name, { polling }, wanted);
    return page.evaluate(() => {
      const root = document.querySelector('keelson-chart')!.shadowRoot!;
      const textOf = (part: string): string => root.querySelector(`.${part}`)!.textContent;
      return { name: textOf('name'), value: textOf('value'), note: textOf('note') };
    });
  }

  it('has the name, value and unit of each number in an embedded chart', async () => {
    const { stage, numbers } = await staged();
    const page = await open(`${stage.address}/embed/spread`);
    isOf(numbers[0]!, await chartOf(page, numbers[0]!.name));
    const charts = await page.evaluate(() => (document.querySelector('keelson-chart') as
      HTMLElement & { readonly charts: readonly string[] }).charts);
    expect(charts.length).toBeGreaterThanOrEqual(5);
    for (const [slot, name] of charts.entries()) {
      await page.evaluate((chart) =>
        document.querySelector('keelson-chart')!.setAttribute('chart', chart), name);
      const shown = await chartOf(page, numbers[slot]!.name);
      isOf(numbers[slot]!, shown);
      expect(shown.note).toBe(leftOut);
    }
  });

  it('has them on a screen', async () => {
    const { stage, numbers } = await staged();
    const page = await open(`${stage.address}/kiosk?every=3600`);
    isOf(numbers[0]!, await chartOf(page, numbers[0]!.name));
    await page.evaluate(() => {
      [...document.querySelectorAll('button')].find((each) => each.textContent === 'Next')!.click();
    });
    isOf(numbers[1]!, await chartOf(page, numbers[1]!.name));
  });

  it('has them on the page of the study, which says what is left out', async () => {
    const { stage, numbers } = await staged();
    const page = await open(stage.page('spread'));
    await page.waitForFunction((text) =>
      document.querySelector('.answer-parts')?.textContent.includes(text), { polling }, leftOut);
    await page.waitForSelector('.column .value');
    const shown = await page.$$eval('.column', (all) => all.map((each) => ({
      name: each.querySelector('h3')!.textContent,
      value: each.querySelector('.value')!.textContent,
    })));
    expect(shown.length).toBeGreaterThanOrEqual(5);
    shown.forEach((each, i) => isOf(numbers[i]!, each));
  });
});
