import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, type Browser, type BrowserContext, type Page } from 'puppeteer-core';

/** Where Debian's Chromium is, or another that the environment names. */
export const chromiumPath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** False where there is no browser: tests that need one are skipped, and say so. */
export const hasBrowser = existsSync(chromiumPath);
if (!hasBrowser) {
  process.stdout.write(
    `tests in a browser are skipped: ${chromiumPath} is missing (apt-get install chromium)\n`,
  );
}

/** A browser of its own, with a profile that goes with it. */
export interface LaunchedBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** @param profile its folder. Default: an empty one. */
export async function launchBrowser(
  profile = mkdtempSync(join(tmpdir(), 'keelson-chromium-')),
): Promise<LaunchedBrowser> {
  const browser = await launch({
    executablePath: chromiumPath,
    userDataDir: profile,
    // A busy machine is slow: only the test's own limit ends a wait.
    timeout: 0,
    protocolTimeout: 0,
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Less than a test's own limit, so that the wait whose event never comes is the one that fails. */
const waitMs = 240_000;

/** A page whose waits have room for a busy machine. */
export async function openPage(holder: Browser | BrowserContext): Promise<Page> {
  const page = await holder.newPage();
  page.setDefaultTimeout(waitMs);
  return page;
}
