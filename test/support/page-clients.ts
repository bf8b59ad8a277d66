import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createSite } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Browser, Page } from 'puppeteer-core';
import { launchBrowser, openPage } from './browser.js';
import { root } from './sources.js';

const can = ['contribute', 'encrypt', 'encrypted-only', 'once', 'withdraw', 'typed', 'subscribe'];
const hello = `${JSON.stringify({ event: 'hello', can })}\n`;

/** An empty page for one program. */
interface Place {
  readonly page: Page;
  /** Called when the program has ended. */
  close(): Promise<unknown>;
}

/** @param outbox the program's, as a path: a place with the same one was closed before. */
type Opening = (outbox: string) => Promise<Place>;

/** Pages of one browser. The next page finds what the one before has stored. */
export const pagesOf = (browser: Browser): Opening => async () => {
  const page = await openPage(browser);
  return { page, close: () => page.close() };
};

/** Browsers that are killed. The next one finds what is on the disk. */
export const killedBrowsers: Opening = async (outbox) => {
  const { browser } = await launchBrowser(`${outbox}.profile`);
  const child = browser.process()!;
  const ended = once(child, 'exit');
  return {
    page: await openPage(browser),
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
};

export interface PageClients {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Resolves when the places of all programs are closed. */
  close(): Promise<void>;
}

/**
 * Client programs for the conformance kit that run in Chromium: each is a process that passes lines
 * between the kit and a page.
 * @param folder that exists.
 * @param script of the page, as a module: test/support/line-page.ts.
 */
export async function pageClients(
  folder: string, script: string, open: Opening,
): Promise<PageClients> {
  const site = createSite(({ url }, response) => {
    const isPage = url === '/';
    response.setHeader('Content-Type', isPage ? 'text/html' : 'text/javascript');
    response.end(isPage ? '<!doctype html><script type="module" src="s.js"></script>' : script);
  });
  /** For each outbox: resolves when its last place is closed. */
  const closed = new Map<string, Promise<unknown>>();
  const relays = createServer((socket) => {
    // A program that is killed resets it.
    const gone = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
    const tell = (text: string): void => void socket.write(`${text}\n`);
    void takeLines(socket, async ({ outbox = join(folder, randomUUID()) }) => {
      const before = closed.get(outbox);
      const place = Promise.resolve(before).then(() => open(outbox));
      closed.set(outbox, Promise.all([place, gone]).then(([opened]) => opened.close()));
      const { page } = await place;
      await page.exposeFunction('tell', tell);
      await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);
      // The lock of a closed page may be free a moment later than the page is gone.
      await page.evaluate((name) => navigator.locks.request(name, () => undefined),
        `keelson/${outbox}`);
      return page;
    });
  });
  const path = join(folder, 'relays');
  relays.listen(path);
  site.listen(0, 'localhost');
  await Promise.all([once(relays, 'listening'), once(site, 'listening')]);
  return {
    words: [process.execPath, `${root}test/support/children/relay.js`, path],
    async close() {
      await Promise.all(closed.values());
      relays.close();
      site.close();
    },
  };
}

/** Hands each line of a program to its page, which the first one opens. */
async function takeLines(
  socket: Socket, open: (first: { readonly outbox?: string }) => Promise<Page>,
): Promise<void> {
  try {
    socket.write(hello);
    let page: Page | undefined;
    for await (const line of createInterface({ input: socket })) {
      page ??= await open(JSON.parse(line) as { readonly outbox?: string });
      await page.evaluate((text) => (globalThis as unknown as Taking).take(text), line);
    }
  } catch (error) {
    // The kit shows what is no event. Where the program was killed, nobody reads it.
    socket.end(`${String(error)}\n`);
  }
}

/** What the script of the page adds to it. */
interface Taking {
  readonly take: (line: string) => Promise<void>;
}
