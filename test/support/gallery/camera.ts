import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'puppeteer-core';

import { openPage } from '../browser.js';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');
const widths = [1440, 380];
const themes = ['light', 'dark'] as const;
const heightPx = 900;
/** Of one page on a sheet: what is further down is on its own picture. */
const sheetHeightPx = 1500;

/** Takes each page at two widths in two themes, and lays the four beside each other on a sheet. */
export class Camera {
  private readonly folder: string;

  constructor(private readonly browser: Browser, folder: string) {
    this.folder = resolve(folder);
    mkdirSync(this.folder, { recursive: true });
  }

  /** A page of its own; nothing that another one keeps is known to it. */
  async page(): Promise<Page> {
    const person = await this.browser.createBrowserContext();
    const page = await openPage(person);
    await page.setViewport({ width: 1440, height: heightPx });
    return page;
  }

  /**
   * @throws Error that lists what is wider than the window, and what axe-core finds serious, in any
   *   of the four.
   */
  async take(page: Page, name: string): Promise<void> {
    const found: string[] = [];
    await page.bringToFront();
    for (const width of widths) {
      for (const theme of themes) {
        await page.emulateMediaFeatures([
          { name: 'prefers-color-scheme', value: theme },
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ]);
        await page.setViewport({ width, height: heightPx });
        await pause(250);
        // What is below the edge of the window may not be laid out: the window is made as high as
        // the page.
        const height = Math.max(
          heightPx, await page.evaluate('document.documentElement.scrollHeight') as number,
        );
        await page.setViewport({ width, height });
        await pause(250);
        await page.screenshot({ path: this.#path(name, width, theme) });
        for (const fault of await faultsOf(page, width)) {
          found.push(`${width} px, ${theme}: ${fault}`);
        }
      }
    }
    await this.#sheet(name);
    if (found.length > 0) throw new Error(found.join('; '));
  }

  #path(name: string, width: number, theme: string): `${string}.png` {
    return `${join(this.folder, `${name}-${width}-${theme}`)}.png`;
  }

  async #sheet(name: string): Promise<void> {
    const page = await this.page();
    await page.setViewport({ width: 1560, height: 400 });
    const pictures = widths.flatMap((width) => themes.map((theme) =>
      `<div><img src="${pathToFileURL(this.#path(name, width, theme)).href}" `
        + `width="${width === 380 ? 190 : 570}"></div>`));
    const file = join(this.folder, 'sheet.html');
    writeFileSync(
      file,
      `<style>body { margin: 8px; display: flex; gap: 8px; background: #888; align-items: start }
      div { max-height: ${sheetHeightPx}px; overflow: hidden } img { display: block }</style>${pictures.join('')}`,
    );
    await page.goto(pathToFileURL(file).href);
    await page.screenshot({ path: `${join(this.folder, `sheet-${name}`)}.png`, fullPage: true });
    rmSync(file);
    await page.browserContext().close();
  }
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function faultsOf(page: Page, width: number): Promise<readonly string[]> {
  const wide = await page.evaluate('document.documentElement.scrollWidth') as number;
  // By the debugger's own channel: the page's policy forbids scripts from elsewhere.
  await page.evaluate(axe);
  const { violations } = await page.evaluate('axe.run()') as { violations: Violation[] };
  const serious = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  return [
    ...(wide > width ? [`${wide} px wide`] : []),
    ...serious.map(({ id, nodes }) =>
      `${id} in ${nodes.map(({ html }) => html.slice(0, 120)).join(', ')}`),
  ];
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
