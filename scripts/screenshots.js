// Pictures of every page and state, at both widths and in both themes:
//   npm run screenshots [-- FOLDER [server,states,survey,lab,demo]]
// The README's own are written into docs/images; all of them go into FOLDER (default: screenshots, which git ignores).
/* global document, fetch */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from 'puppeteer-core';
import { ofStates } from './screenshots/states.js';
import { ofSurvey } from './screenshots/survey.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'screenshots'));
const chromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
if (!existsSync(chromium)) throw new Error(`${chromium} is missing: apt-get install chromium, or set CHROMIUM_PATH`);

/** Committed: the README shows them. */
const inReadme = ['study-1440-light', 'study-1440-dark', 'lab-1440-light', 'lab-1440-dark', 'demo'];
const widths = [1440, 380];
const themes = ['light', 'dark'];
const triesMax = 4;

const scratch = mkdtempSync(join(tmpdir(), 'keelson-screenshots-'));
const running = [];
const port = 20_000 + (createHash('sha256').update(scratch).digest().readUInt16BE(0) % 20_000);

/** `keelson words...`; resolves with what `pattern` finds first in its output. */
function keelson(words, pattern) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const child = spawn(process.execPath, [`${root}bin/keelson.js`, ...words], { cwd: scratch, stdio });
  running.push(child);
  let said = '';
  return new Promise((found, failed) => {
    const hear = (chunk) => {
      said += chunk;
      const match = pattern.exec(said);
      if (match !== null) found(match);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('close', (status) => failed(new Error(`keelson ${words.join(' ')} ended with ${status}:\n${said}`)));
  });
}

/** Waits until `condition` of the document holds. */
const until = (page, condition, value) => page.waitForFunction(condition, { timeout: 180_000, polling: 250 }, value);

async function newPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(180_000);
  await page.setViewport({ width: 1440, height: 900 });
  return page;
}

async function take(page, name, height = 900) {
  for (const width of widths) {
    for (const theme of themes) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await page.setViewport({ width, height, deviceScaleFactor: 1 });
      await new Promise((done) => setTimeout(done, 700));
      // What is below the edge of the window may not be laid out: the window is made as high as the page.
      const whole = Math.max(height, await page.evaluate(() => document.documentElement.scrollHeight));
      if (width < 1000 || name !== 'lab') await page.setViewport({ width, height: whole, deviceScaleFactor: 1 });
      await new Promise((done) => setTimeout(done, 300));
      const path = join(folder, `${name}-${width}-${theme}.png`);
      await page.screenshot({ path, fullPage: width < 1000 || name !== 'lab' });
      console.log(path);
    }
  }
}

/** A pool of studies with people in them: its dashboard and its operator's page. */
async function ofServer(browser) {
  const studies = ['flights-mean', 'flights-robust'].map((name) => {
    const path = join(scratch, `${name}.yaml`);
    writeFileSync(path, `${readFileSync(`${root}studies/${name}.yaml`, 'utf8')}\nquarantine: { beyond: 30, automatic: true }\n`);
    return path;
  });
  const [, address] = await keelson(
    ['serve', ...studies, '--data', join(scratch, 'data'), '--port', String(port), '--log-level', 'error', '--json'],
    /"address":"(http:[^"]+)"/,
  );
  await keelson(
    ['simulate', address.replace('http', 'ws'), '--study', 'flights-mean,flights-robust', '--contributors', '2000',
      '--hostile', '0.1', '--epochs', '40'],
    /./,
  ).catch((error) => console.error(error.message));
  const page = await newPage(browser);
  const { studies: listed } = await (await fetch(`${address}/v1/studies`)).json();
  await page.goto(`${address}/#/study/${listed[1].id}`);
  await until(page, () => document.querySelectorAll('.releases tbody tr').length >= 6);
  await take(page, 'study');
  await page.goto(`${address}/#/`);
  await until(page, () => document.querySelectorAll('.newest dd').length >= 4);
  await take(page, 'dashboard');
  // Somebody a hundred scales away, for the operator to measure.
  const liar = join(scratch, 'liar.key');
  const [, key] = await keelson(['keygen', liar, '--json'], /"publicKey":\s*"(\w+)"/);
  writeFileSync(join(scratch, 'far.csv'), 'delay_minutes,distance_miles\n2000,500\n');
  await keelson(['contribute', address.replace('http', 'ws'), '--study', 'flights-robust', '--key', liar, '--input',
    join(scratch, 'far.csv')], /accepted/);
  await page.goto(`${address}/operator`);
  await page.waitForSelector('input[name=token]');
  await take(page, 'operator-sign-in');
  await page.type('input[name=token]', readFileSync(join(scratch, 'data/operator.token'), 'utf8').trim());
  await page.click('form button');
  await page.waitForSelector('.study');
  await until(page, () => [...document.querySelectorAll('.meters [role=meter]')]
    .some((meter) => Number(meter.ariaValueNow) > 0.3));
  await page.select('.evidence select', listed.find(({ name }) => name === 'flights-robust').id);
  await page.type('input[name=contributor]', key);
  await page.click('.evidence form button');
  await page.waitForSelector('.evidence table');
  await take(page, 'operator');
  await page.close();
}

async function ofLab(browser) {
  const [, address] = await keelson(
    ['lab', '--page', '0', '--contributors', '2000', '--every', '8', '--hostile', '0.1', '--epsilon', '4'],
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
  // A machine that is busy makes people late, and the page says so.
  await until(page, () => document.querySelector('.results .warn-text') === null);
  await take(page, 'lab', 1180);
  await page.close();
}

/** Runs of the demonstration until the machine had time for everybody: a refusal tells about it, not about estimators. */
async function demoInTime() {
  for (let i = 0; i < triesMax; i++) {
    const [said] = await keelson(['demo'], /^[^]*(?=\n+check the releases)/);
    if (!said.includes('refused')) return said;
    console.error('the machine was too busy for the demonstration: once more');
    for (const child of running.splice(0)) child.kill('SIGKILL');
  }
  throw new Error(`the machine was too busy for the demonstration ${triesMax} times`);
}

/** What `keelson demo` prints, as a terminal shows it; the robust study's lines in green. */
async function ofDemo(browser) {
  const said = await demoInTime();
  const escaped = said.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const lines = escaped.split('\n').map((line) => (/^ *(\d+ )?flights-robust .*(of|closer)/.test(line) ? `<b>${line}</b>` : line));
  const page = await newPage(browser);
  await page.setViewport({ width: 990, height: 200, deviceScaleFactor: 1.33 });
  await page.setContent(`<style>body { margin: 0; background: #0d1117; }
    pre { margin: 0; padding: 30px; font: 16px/1.5 'DejaVu Sans Mono', monospace; color: #e6edf3; }
    b { font-weight: normal; color: #7ee2a8; } i { font-style: normal; color: #79b8ff; }</style>
    <pre><i>$ npm run demo</i>\n\n${lines.join('\n')}</pre>`);
  await page.screenshot({ path: join(folder, 'demo.png'), fullPage: true });
  await page.close();
}

mkdirSync(folder, { recursive: true });
const browser = await launch({
  executablePath: chromium,
  userDataDir: join(scratch, 'profile'),
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
});
const shared = { keelson, newPage: () => newPage(browser), take, until, scratch, root, running, port };
const makers = { server: ofServer, states: () => ofStates(shared), survey: () => ofSurvey(shared), lab: ofLab, demo: ofDemo };
const parts = (process.argv[3] ?? Object.keys(makers).join()).split(',');
try {
  for (const part of parts) {
    await makers[part](browser);
    for (const child of running.splice(0)) child.kill('SIGKILL');
  }
  for (const name of inReadme) {
    const part = name.startsWith('study') ? 'server' : name.split('-')[0];
    const isTaken = parts.includes(part);
    if (isTaken) copyFileSync(join(folder, `${name}.png`), `${root}docs/images/${name}.png`);
  }
} finally {
  await browser.close();
  for (const child of running) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}
