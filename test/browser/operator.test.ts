// @module-tag slow
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operatorToken, startRig, type Rig } from '../listener/harness.js';
import type { Quarantine } from '../../server/store/records.js';
import { hasBrowser, launchBrowser, openPage, type LaunchedBrowser } from '../support/browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const storeHealth = async () => ({
  commits: 412, batches: 31_240, retries: 0, commitSecondsMedian: 0.0031,
  commitSeconds99: 0.0184, commitSecondsTotal: 1.4,
  fileBytes: 48_200_000, walBytes: 3_100_000,
});

describe.skipIf(!hasBrowser)('the operator\'s page', () => {
  let chromium: LaunchedBrowser;
  beforeAll(async () => { chromium = await launchBrowser(); });
  afterAll(async () => { await chromium?.close(); });

  async function opened(rig: Rig): Promise<{ readonly page: Page; readonly errors: unknown[] }> {
    const person = await chromium.browser.createBrowserContext();
    const page = await openPage(person);
    const errors: unknown[] = [];
    page.on('pageerror', (error) => errors.push(error));
    await page.goto(rig.url('/operator'));
    await page.waitForSelector('input[name=token]');
    return { page, errors };
  }

  async function signIn(page: Page, token: string): Promise<void> {
    await page.$eval('input[name=token]', (field) => { (field).value = ''; });
    await page.type('input[name=token]', token);
    await page.click('form button');
  }

  async function expectAccessible(page: Page): Promise<void> {
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
  }

  it('lets in with the token only, shows exact figures, and lets out again', async () => {
    const rig = await startRig({ storeHealth });
    const { page, errors } = await opened(rig);
    await expectAccessible(page);
    await signIn(page, 'not the token');
    await page.waitForSelector('.fault');
    await signIn(page, operatorToken);
    await page.waitForSelector('.study');
    expect(await page.$$eval('.study', (cards) => cards.length)).toBe(2);
    expect(await page.$eval('.study', (card) => card.textContent)).toContain('41 of');
    expect(await page.$eval('.figures', (figures) => figures.textContent))
      .toContain('99 % within 18 ms');
    // Nothing that a script could read would let it in.
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await page.content()).not.toContain(operatorToken);
    rig.metrics.refused.add(7, { study: rig.hub.studies()[0]!.name, code: 'mutated' });
    await page.waitForFunction(() =>
      document.querySelector('.refusals')?.textContent.includes('mutated'));
    expect(await page.$eval('.refusals .count', (cell) => cell.textContent)).toBe('7');
    await page.reload();
    await page.waitForSelector('.study');
    await expectAccessible(page);
    await page.evaluate(() => {
      [...document.querySelectorAll('button')].find(({ textContent }) =>
        textContent === 'Sign out')!.click();
    });
    await page.waitForSelector('input[name=token]');
    await page.reload();
    await page.waitForSelector('input[name=token]');
    expect(errors).toEqual([]);
  });

  it('shows many studies as rows that open, and finds them by name', async () => {
    const rig = await startRig({ storeHealth });
    const { page, errors } = await opened(rig);
    // A server of six: those of the rig, and four more that are like the first.
    await page.evaluate(() => {
      const fetch = window.fetch.bind(window);
      window.fetch = async (...asked) => {
        const answer = await fetch(...asked);
        if (!answer.ok || !answer.url.endsWith('/v1/operator/progress')) return answer;
        const told = await answer.json() as { studies: { id: string; name: string }[] };
        const more = [1, 2, 3, 4].map((i) =>
          ({ ...told.studies[0]!, id: `${i}b`.repeat(32), name: `survey-${i}` }));
        return Response.json({ ...told, studies: [...told.studies, ...more] });
      };
    });
    await signIn(page, operatorToken);
    await page.waitForSelector('.row');
    expect(await page.$$eval('.row', (rows) => rows.length)).toBe(6);
    expect(await page.$$eval('.study', (cards) => cards.length)).toBe(0);
    await page.click('.row summary');
    await page.waitForSelector('.row .study');
    expect(await page.$eval('.row .study', (card) => card.textContent)).toContain('41 of');
    await expectAccessible(page);
    await page.type('input[type=search]', 'SURVEY 3');
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 1);
    expect(await page.$eval('.row strong', (name) => name.textContent)).toBe('survey-3');
    await page.type('input[type=search]', 'x');
    await page.waitForFunction(() =>
      document.body.textContent.includes('No study has such a name'));
    expect(errors).toEqual([]);
  });

  it('measures one contributor when asked, and tells when the server is gone or in '
    + 'trouble', async () => {
    const rig = await startRig({ storeHealth });
    const asked: string[] = [];
    rig.hub.evidence = async (_study, contributor) => {
      asked.push(Buffer.from(contributor).toString('hex'));
      return {
        study: 'x', contributor: asked.at(-1)!, answer: { index: 3, epoch: 9n }, unit: 'spread',
        truncated: false, excludedFrom: null,
        epochs: [
          { epoch: 10n, released: false, rows: 4, complete: true, distance: 6.3, farthest: 8.1 },
        ],
      };
    };
    const { page, errors } = await opened(rig);
    await signIn(page, operatorToken);
    await page.waitForSelector('input[name=contributor]');
    expect(asked).toEqual([]);
    await page.type('input[name=contributor]', 'AB'.repeat(32));
    await page.click('.evidence form button');
    await page.waitForSelector('.evidence table');
    expect(asked).toEqual(['ab'.repeat(32)]);
    expect(await page.$eval('.evidence tbody', (body) => body.textContent)).toContain('6.3');
    expect(await page.$('.exclude button')).toBeNull();
    rig.hub.overload = true;
    await page.waitForFunction(() => document.querySelector('.notice.bad') !== null);
    await rig.listener.close(false);
    await page.waitForFunction(() => document.querySelector('.notice.warn') !== null);
    expect(await page.$('.study')).not.toBeNull();
    expect(errors).toEqual([]);
  });

  it('excludes a key where the study says so, once the operator asks, and lists who is left '
    + 'out', async () => {
    const rig = await startRig({ storeHealth });
    const view = rig.hub.studies()[0]!;
    const key = 'ab'.repeat(32);
    rig.hub.change(view.studyId, { document: { ...view.document, quarantine: { beyond: 5 } } });
    rig.hub.evidence = async () => ({
      study: view.name, contributor: key, answer: { index: 3, epoch: 9n }, unit: 'spread',
      truncated: false, excludedFrom: null,
      epochs: [
        { epoch: 10n, released: false, rows: 4, complete: true, distance: 6.3, farthest: 8.1 },
      ],
    });
    const entries: Quarantine[] = [];
    rig.hub.quarantines = async (studyId) => (studyId === view.studyId ? entries : []);
    rig.hub.quarantine = async (studyId, contributor) => {
      const hex = Buffer.from(contributor).toString('hex');
      entries.push({
        studyId, contributor: hex, fromEpoch: 11n, distance: 6.3, beyond: 5, releaseIndex: 3,
        atMs: 1_767_225_600_000,
      });
      return { kind: 'excluded', fromEpoch: 11n, distance: 6.3, beyond: 5 };
    };
    const { page, errors } = await opened(rig);
    await signIn(page, operatorToken);
    await page.waitForSelector('input[name=contributor]');
    await page.type('input[name=contributor]', key);
    await page.click('.evidence form button');
    await page.waitForSelector('.exclude button');
    expect(entries).toEqual([]);
    await page.click('.exclude button');
    await page.waitForFunction(() =>
      document.querySelector('.evidence')!.textContent.includes('Excluded from epoch 11 on'));
    expect(entries.map(({ contributor }) => contributor)).toEqual([key]);
    await expectAccessible(page);
    expect(errors).toEqual([]);
  });

  it('tells why epochs have no answer and what to change, and pauses, ends and annotates a '
    + 'study', async () => {
    const rig = await startRig({ storeHealth });
    const done: string[] = [];
    let isPaused = false;
    Object.assign(rig.hub, {
      isPaused: (id: string) => isPaused && id === rig.study,
      pauseStudy: async (id: string) => { isPaused = true; done.push(`pause ${id}`); },
      resumeStudy: async (id: string) => { isPaused = false; done.push(`resume ${id}`); },
      endStudy: async (id: string) => void done.push(`end ${id}`),
    });
    rig.hub.publish(rig.study);
    rig.hub.publish(rig.study, '', { outcome: {
      kind: 'refused', reason: 'participation-below-plan', text: 'too few people came',
    } });
    const { page, errors } = await opened(rig);
    await signIn(page, operatorToken);
    await page.waitForSelector('.reasons');
    const text = await page.$eval('.study', (card) => card.textContent);
    expect(text).toContain('1 of 2');
    expect(text).toContain('Fewer people took part than the study was planned for');
    expect(text).toContain('What to change: Too few people came: use longer epochs');
    expect(await page.$$eval('.study:first-child .strip li', (cells) =>
      cells.map(({ className }) => className))).toEqual(['good', 'warn']);
    const press = (label: string) => page.evaluate((wanted) => {
      const card = document.querySelector('.study')!;
      [...card.querySelectorAll('button')].find((each) => each.textContent === wanted)!.click();
    }, label);
    await press('Pause after this epoch');
    await page.waitForFunction(() => document.querySelector('.study .badge')!.textContent
      === 'Paused');
    await press('Resume');
    await page.waitForFunction(() => document.querySelector('.study .badge')!.textContent
      === 'Open');
    await press('End the study…');
    expect(done).toEqual([`pause ${rig.study}`, `resume ${rig.study}`]);
    await page.waitForSelector('.study .final');
    await press('End for good');
    await page.waitForFunction(() => document.querySelector('.study .final') === null);
    await page.click('.study summary');
    await page.type('.study input[name=note]', 'A <b>holiday</b>');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.study .notes li');
    expect(await page.$eval('.study .notes li', (note) => note.textContent))
      .toContain('A <b>holiday</b>');
    expect(done.at(-1)).toBe(`end ${rig.study}`);
    await expectAccessible(page);
    await page.click('.study .notes li button');
    await page.waitForFunction(() => document.querySelector('.study .notes li') === null);
    expect(errors).toEqual([]);
  });
});
