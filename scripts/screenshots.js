// The pictures of the README and the guides, from real servers with simulated people:
//   npm run screenshots [-- FOLDER [survey,lab,demo,questions]]
// They are written into docs/images, and into FOLDER (default: screenshots, which git ignores) at
// both widths and in both themes. `npm run gallery` has every state of the pages.
/* global document, fetch */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ofQuestions } from './screenshots/questions.js';
import { ofSurvey } from './screenshots/survey.js';
import { useTool } from './tool.js';

useTool('browser');
const { launch } = await import('puppeteer-core');
const root = fileURLToPath(new URL('../', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'screenshots'));
const chromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
if (!existsSync(chromium)) {
  throw new Error(`${chromium} is missing: apt-get install chromium, or set CHROMIUM_PATH`);
}

/** Committed, because the README and the first steps show them. */
const inReadme = ['study-1440-light', 'study-1440-dark', 'lab-1440-light'];
/** Committed, because guides show them. */
const inGuides = [
  'people-by-country', 'median-by-device', 'apps-nobody-listed', 'riders-total', 'delay-total',
  'delay-distribution', 'rides-questions',
];
const widths = [1440, 380];
const themes = ['light', 'dark'];
const triesMax = 4;

const scratch = mkdtempSync(join(tmpdir(), 'keelson-screenshots-'));
const running = [];
const port = 20_000 + (createHash('sha256').update(scratch).digest().readUInt16BE(0) % 20_000);

/** Starts `keelson words...`. `heard(pattern)` resolves with its first match in the output. */
function start(words) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child =
    spawn(process.execPath, [`${root}bin/keelson.js`, ...words], { cwd: scratch, stdio });
  running.push(child);
  let said = '';
  const streams = [child.stdout, child.stderr];
  for (const stream of streams) stream.on('data', (chunk) => { said += chunk; });
  const heard = (pattern) => new Promise((found, failed) => {
    const look = () => {
      const match = pattern.exec(said);
      if (match !== null) found(match);
    };
    look();
    for (const stream of streams) stream.on('data', look);
    child.on('close', (status) =>
      failed(new Error(`keelson ${words.join(' ')} ended with ${status}:\n${said}`)));
  });
  return { heard };
}

/** Starts `keelson words...`, and resolves with the first match of `pattern` in its output. */
const keelson = (words, pattern) => start(words).heard(pattern);

/** Waits until `condition` of the document holds. */
const until = (page, condition, value) =>
  page.waitForFunction(condition, { timeout: 180_000, polling: 250 }, value);

async function newPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(180_000);
  await page.setViewport({ width: 1440, height: 900 });
  return page;
}

async function take(page, name, height = 900, widthsTaken = widths) {
  for (const width of widthsTaken) {
    for (const theme of themes) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await page.setViewport({ width, height, deviceScaleFactor: 1 });
      await new Promise((done) => setTimeout(done, 700));
      // The browser may not lay out what is below the edge of the window, so the window is made as
      // high as the page.
      const whole =
        Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight));
      if (width < 1000 || name !== 'lab') {
        await page.setViewport({ width, height: whole, deviceScaleFactor: 1 });
      }
      await new Promise((done) => setTimeout(done, 300));
      const path = join(folder, `${name}-${width}-${theme}.png`);
      await page.screenshot({ path, fullPage: width < 1000 || name !== 'lab' });
      console.log(path);
    }
  }
}

async function ofLab(browser) {
  const [, address] = await keelson(
    [
      'lab', '--page', '0', '--contributors', '2000', '--every', '8', '--liars', '0.1',
      '--epsilon', '4',
    ],
    /laboratory is at (\S+)/,
  );
  const page = await newPage(browser);
  await page.goto(address);
  const rounds = (count) => until(
    page, (wanted) => document.querySelectorAll('.rounds tbody tr').length >= wanted, count);
  await rounds(4);
  for (const [attack, upTo] of [['direction', 7], ['krum-evader', 10], ['far', 12]]) {
    await page.select('#attack', attack);
    await rounds(upTo);
  }
  // On a busy machine people are late, and the page says so.
  await until(page, () => document.querySelector('.results .warn-text') === null);
  await take(page, 'lab', 1180);
  await page.close();
}

/**
 * Runs the demonstration until no epoch refuses. A machine that is too busy makes epochs refuse.
 * The README shows the page of the robust study.
 */
async function ofDemo(browser) {
  for (let i = 0; i < triesMax; i++) {
    const isTaken = await demoOnce(browser);
    for (const child of running.splice(0)) child.kill('SIGKILL');
    if (isTaken) return;
    console.error('the machine was too busy for the demonstration: once more');
  }
  throw new Error(`the machine was too busy for the demonstration ${triesMax} times`);
}

/** One run. False if an epoch had no answer, or the run ended before the picture. */
async function demoOnce(browser) {
  const demo = start(['demo', '--epochs', '5']);
  const whole = demo.heard(/^[^]*?(?=\n+check the releases)/);
  const [, address] = await demo.heard(/dashboard at (\S+)\/ /);
  const page = await newPage(browser);
  const { studies: listed } = await (await fetch(`${address}/v1/studies`)).json();
  await page.goto(`${address}/#/study/${listed.find(({ name }) => name === 'flights-robust').id}`);
  await until(page, () => document.querySelectorAll('.releases tbody tr').length === 4);
  await take(page, 'study', 900, [1440]);
  const isLive = await page.evaluate(() => document.querySelector('.dot.live') !== null
    && document.querySelectorAll('.releases tbody tr').length === 4);
  await page.close();
  const [said] = await whole;
  // The summary of the study with ten questions says "none refused".
  return isLive && !said.replaceAll('none refused', '').includes('refused');
}

mkdirSync(folder, { recursive: true });
const browser = await launch({
  executablePath: chromium,
  userDataDir: join(scratch, 'profile'),
  args: [
    '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
    '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  ],
});
const shared = {
  keelson, newPage: () => newPage(browser), take, until, scratch, root, running, port, folder,
};
const makers = {
  survey: () => ofSurvey(shared), lab: ofLab, demo: ofDemo, questions: () => ofQuestions(shared),
};
const parts = (process.argv[3] ?? Object.keys(makers).join()).split(',');
try {
  for (const part of parts) {
    await makers[part](browser);
    for (const child of running.splice(0)) child.kill('SIGKILL');
  }
  for (const name of [...inReadme, ...inGuides]) {
    const part = inGuides.includes(name) ? 'questions' : name.startsWith('lab') ? 'lab' : 'demo';
    const isTaken = parts.includes(part);
    if (isTaken) copyFileSync(join(folder, `${name}.png`), `${root}docs/images/${name}.png`);
  }
} finally {
  await browser.close();
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
