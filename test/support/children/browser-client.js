// A program for the conformance kit whose client runs in Chromium: it passes lines on to a page and
// events back. Arguments: the browser, and the script of the page. Each outbox has a profile of its
// own, which outlives the browser. The browser hears this program by a pipe, and ends with it.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launch } from 'puppeteer-core';

const [executablePath, script] = process.argv.slice(2);
/** Nobody is asked there: the page comes from this program. Its storage is that of this origin. */
const address = 'http://localhost/';

async function openPage(userDataDir) {
  for (;;) {
    try {
      const browser = await launch({
        executablePath, userDataDir, pipe: true, timeout: 0, protocolTimeout: 0,
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run',
          '--disable-background-networking', '--disable-component-update', '--disable-sync',
          '--disable-dev-shm-usage',
          // The page comes from no server: the browser would ask before it speaks to this machine.
          '--disable-features=LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets'],
      });
      return await browser.newPage();
    } catch {
      // The browser of a program that was killed has the profile until it has ended, too.
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  }
}

async function start(line) {
  const place = line.outbox ?? join(mkdtempSync(join(tmpdir(), 'keelson-page-')), 'none');
  const page = await openPage(`${place}.profile`);
  await page.exposeFunction('tell', (text) => void process.stdout.write(`${text}\n`));
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const isPage = request.url() === address;
    if (request.url().startsWith('http://127.0.0.1:')) return void request.continue();
    void request.respond(isPage ? { contentType: 'text/html', body: '<!doctype html>' } : {
      status: 404,
    });
  });
  await page.goto(address);
  await page.addScriptTag({ content: readFileSync(script, 'utf8'), type: 'module' });
  await page.waitForFunction('globalThis.take !== undefined');
  return page;
}

const can = ['contribute', 'encrypt', 'encrypted-only', 'once', 'withdraw', 'typed', 'subscribe'];
process.stdout.write(`${JSON.stringify({ event: 'hello', can })}\n`);
let page = null;
for await (const text of createInterface({ input: process.stdin })) {
  page ??= await start(JSON.parse(text));
  await page.evaluate((line) => globalThis.take(line), text);
}
await page?.browser().close();
process.exit(0);
