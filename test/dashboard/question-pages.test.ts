// @module-tag slow
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';
import { valueOf } from '../support/dashboard-stage.js';
import { ridesAnswers, ridesStudy } from '../support/rides-stage.js';
import { Stage } from './stage.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const polling = 50;

describe.skipIf(!hasBrowser)('the page of a study with several questions', () => {
  let chromium: LaunchedBrowser;
  const opened: Page[] = [];
  const wrong: string[] = [];
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(() => chromium?.close());
  afterEach(async () => {
    for (const page of opened.splice(0)) await page.close();
    expect(wrong.splice(0)).toEqual([]);
  });

  async function open(address: string): Promise<Page> {
    const page = await openPage(chromium.browser);
    opened.push(page);
    page.on('pageerror', (error) => wrong.push(String(error)));
    page.on('console', (said) => { if (said.type() === 'error') wrong.push(said.text()); });
    await page.goto(address);
    return page;
  }

  const says = (page: Page, selector: string, text: string): Promise<unknown> =>
    page.waitForFunction((where, what) => [...document.querySelectorAll(where)]
      .some((each) => each.textContent.replace(/\s+/g, ' ').includes(what)),
    { polling }, selector, text);
  const textsOf = (page: Page, selector: string): Promise<string[]> =>
    page.$$eval(selector, (all) => all.map(({ textContent }) => textContent.trim()));
  const rowsOf = async (page: Page): Promise<string[]> =>
    (await textsOf(page, '.keyed tbody tr')).map((row) => row.replace(/\s+/g, ' '));

  it('lists its questions, each with its answer and facts at its own address', async () => {
    const stage = await Stage.start(ridesStudy, { study: 'second' });
    for (const shift of [0, 1]) stage.publish('rides', ridesAnswers(shift));
    const page = await open(stage.page('rides'));
    await says(page, '.value', '22.5');
    expect(await textsOf(page, '.questions a .code'))
      .toEqual(['delays', 'regions', 'apps', 'change']);
    expect(await textsOf(page, '[aria-current=page] .code')).toEqual(['delays']);
    await says(page, '.question', 'late is yes, and minutes is at least 5');
    await says(page, '.question', 'Its part of the privacy40 %');
    // By keyboard, and the focus stays on the link.
    await page.focus('.questions li:nth-child(2) a');
    await page.keyboard.press('Enter');
    await says(page, 'h2', 'Contributors by region');
    expect(await textsOf(page, '[aria-current=page] .code')).toEqual(['regions']);
    expect(await page.evaluate(() =>
      document.activeElement!.querySelector('.code')!.textContent)).toBe('regions');
    expect(await page.evaluate(() => location.hash)).toBe(`#/study/${stage.id('rides')}/regions`);
    await says(page, '.question', 'all public values; a person counts for 2 groups at most');
    await says(page, '.answer-parts', 'A person counts under at most 2 groups, chosen at random');
    expect(await textsOf(page, '.releases thead th'))
      .toEqual(['Epoch', 'north', 'south', 'east', 'west', 'other', 'Closed']);
    await page.waitForFunction((count) =>
      document.querySelectorAll('.column canvas').length === count, { polling }, 5);
    await page.reload();
    await says(page, 'h2', 'Contributors by region');
    await page.goto(`${stage.page('rides')}/nothing`);
    await says(page, '.empty h2', 'no such question');
  });

  it('shows a split answer as bars, in order of size or name, and filters many keys', async () => {
    const stage = await Stage.start(ridesStudy);
    stage.publish('rides', ridesAnswers());
    const page = await open(`${stage.page('rides')}/regions`);
    await says(page, 'h2', 'Contributors by region');
    expect(await rowsOf(page)).toEqual([
      'north402 ± 26', 'south251 ± 26', 'east198 ± 26', 'west149 ± 26', 'other0 to 17',
    ]);
    const widths = await page.$$eval('.bar-fill', (bars) =>
      bars.map((bar) => bar.getBoundingClientRect().width));
    expect(widths[1]! / widths[0]!).toBeCloseTo(251 / 402, 2);
    expect(widths[4]).toBe(0);
    expect(await page.$('input[type=search]')).toBeNull();
    await page.select('.key-controls select', 'name');
    await says(page, '.keyed tbody tr:first-child', 'east');
    await page.goto(`${stage.page('rides')}/change`);
    await says(page, 'h2', 'by region, late');
    expect((await rowsOf(page)).slice(0, 4)).toEqual(
      ['northfalse4.3 ± 2.0', 'northtrue−12.5 ± 3.0', 'southfalseno answer', 'southtrue30.0 ± 9.0'],
    );
    await page.select('.key-controls select', 'size');
    await says(page, '.keyed tbody tr:first-child', 'southtrue30.0');
    await says(page, '.keyed tbody tr:last-child', 'no answer');
    expect((await textsOf(page, '.column .value'))[2]).toBe('none');
  });

  it('cuts off a bar with a very wide interval, marks it, and leaves the others long', async () => {
    const stage = await Stage.start(ridesStudy);
    const [delays, , apps, change] = ridesAnswers();
    const sizes = [402, 251, 198, 149, 9];
    stage.publish('rides', [delays!, valueOf(sizes, [26, 1e6, 26, 26, 26], {
      groups: [['north'], ['south'], ['east'], ['west'], ['other']],
    }), apps!, change!]);
    const page = await open(`${stage.page('rides')}/regions`);
    await says(page, 'h2', 'Contributors by region');
    const placesOf = (selector: string): Promise<{ name: string; from: number; to: number }[]> =>
      page.$$eval(selector, (all) => all.map((each) => {
        const track = each.parentElement!.getBoundingClientRect();
        const { left, right } = each.getBoundingClientRect();
        const along = (at: number): number => (at - track.left) / track.width;
        return { name: each.className, from: along(left), to: along(right) };
      }));
    const whiskers = await placesOf('.whisker');
    expect(whiskers.map(({ name }) => name)).toEqual(
      ['whisker', 'whisker further-right', 'whisker', 'whisker', 'whisker']);
    for (const { from, to } of whiskers) {
      expect(from).toBeGreaterThan(-0.01);
      expect(to).toBeLessThan(1.01);
    }
    expect(whiskers[1]!.to).toBeCloseTo(1, 1);
    const bars = await placesOf('.bar-fill');
    expect(bars[0]!.to).toBeGreaterThan(0.25);
    expect(bars[2]!.to / bars[0]!.to).toBeCloseTo(198 / 402, 2);
  });

  it('shows keys that people sent as text, and says which may be mistaken', async () => {
    const stage = await Stage.start(ridesStudy);
    stage.publish('rides', ridesAnswers());
    const page = await open(`${stage.page('rides')}/apps`);
    await says(page, 'h2', 'Contributors by app');
    expect(await textsOf(page, '.keyed th bdi')).toEqual([
      'maps', 'Maps', 'p\u0430y', '<b>bold</b>', '\u05e9\u05dc\u05d5\u05dd', '"a\\u{3164}b"', 'a_b',
      'app 1', 'app 2', 'app 3', 'app 4', 'app 5', 'app 6', 'app 7',
    ]);
    expect(await textsOf(page, '.keyed .badge')).toEqual(
      ['look-alike', 'look-alike', 'mixed letters']);
    await says(page, '.keyed p', 'A look-alike differs from another group');
    await says(page, '.question', 'those that most people sent, at most 100');
    expect(await textsOf(page, '.releases td.found')).toEqual(['14 groups']);
    expect(await page.$('.column')).toBeNull();
    await page.type('input[type=search]', 'MAPS');
    await page.waitForFunction(
      () => document.querySelectorAll('.keyed tbody tr').length === 2, { polling },
    );
    // The next release keeps what was typed.
    stage.publish('rides', ridesAnswers(5));
    await says(page, '.keyed', '405');
    expect(await textsOf(page, '.keyed th bdi')).toEqual(['maps', 'Maps']);
  });

  it('fits both widths, and has nothing serious for axe-core in either theme', async () => {
    const stage = await Stage.start(ridesStudy);
    for (const shift of [0, 1, 2]) stage.publish('rides', ridesAnswers(shift));
    const page = await open(stage.address);
    for (const [width, theme] of [[380, 'dark'], [1440, 'light']] as const) {
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: theme },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      for (const name of ['apps', 'change']) {
        await page.goto('about:blank');
        await page.goto(`${stage.page('rides')}/${name}`);
        await page.waitForSelector('.keyed');
        await page.waitForSelector('.dot.live');
        expect(await page.evaluate('document.documentElement.scrollWidth'), `${name} at ${width}`)
          .toBeLessThanOrEqual(width);
        await page.evaluate(axe);
        const { violations } = await page.evaluate('axe.run()') as {
          readonly violations: readonly { readonly id: string; readonly impact: string }[];
        };
        expect(violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
          .map(({ id }) => id), `${name} at ${width}`).toEqual([]);
      }
    }
  });

  it('says in both lists which question has no answer', async () => {
    const stage = await Stage.start(ridesStudy, { study: 'second' });
    for (const refuses of [false, true]) stage.publish('rides', ridesAnswers(0, refuses));
    const page = await open(stage.address);
    await says(page, '.study', '4 questions: delays, regions, apps, change');
    await says(page, '.study h3', 'late is yes');
    await says(page, '.study .warn-text', 'Epoch 8 has no answer to delays: fewer people');
    expect(await textsOf(page, '.study .warn-text')).toHaveLength(1);
    await page.click('.study h2 a');
    await says(page, '.notice', 'Epoch 8 has no answer: fewer people took part');
    expect(await textsOf(page, '.questions .warn-text')).toEqual(['no answer']);
    await page.click('.questions li:nth-child(2) a');
    await says(page, 'h2', 'Contributors by region');
    expect(await page.$('.notice')).toBeNull();
  });
});
