import type { Page } from 'puppeteer-core';
import { toHex } from '../../../src/base/bytes.js';
import { refusal, Stage, valueOf } from '../dashboard-stage.js';
import type { Camera } from './camera.js';
import type { Scenes } from './main.js';

/** A study with enough answers for a course, one of them refused. */
async function flights(): Promise<Stage> {
  const stage = await Stage.start({
    study: 'flights', title: 'How late planes are', columns: ['delay_minutes', 'distance'],
  });
  for (let i = 0; i < 30; i++) {
    const wave = Math.sin(i / 5) + 0.3 * Math.sin(i * 2.4);
    stage.publish('flights', i === 17 ? refusal : valueOf([8.2 + wave, 700 + 9 * wave], [0.8, 16]));
  }
  return stage;
}

/** A selector that waits does not see changes inside the element. */
const waitFor = (page: Page, selector: string): Promise<unknown> => page.waitForFunction((inside) =>
  document.querySelector('keelson-chart')?.shadowRoot?.querySelector(inside),
{ polling: 50 }, selector);

const scene = (address: (stage: Stage) => string): Scenes[string] =>
  async (camera: Camera, name) => {
    const stage = await flights();
    const page = await camera.page();
    await page.goto(address(stage));
    await waitFor(page, '.live');
    await camera.take(page, name);
    await page.browserContext().close();
  };

/** The pages for frames and screens, and the element in each of its states. */
export const embedScenes: Scenes = {
  'embed-chart': scene((stage) => `${stage.address}/embed/flights`),
  'embed-kiosk': scene((stage) => `${stage.address}/kiosk?every=600`),
  'embed-read-out': async (camera, name) => {
    const stage = await flights();
    const page = await camera.page();
    await page.goto(`${stage.address}/embed/flights`);
    await waitFor(page, '.live');
    await (await page.$('keelson-chart >>> .plot'))!.focus();
    for (let i = 0; i < 6; i++) await page.keyboard.press('ArrowLeft');
    await camera.take(page, name);
    await page.browserContext().close();
  },
  'embed-wrong-key': async (camera, name) => {
    const stage = await flights();
    const page = await camera.page();
    await page.goto(`${stage.address}/embed/flights`);
    await waitFor(page, '.live');
    await page.evaluate((key) => {
      document.querySelector('keelson-chart')!.setAttribute('server-key', key);
    }, toHex(stage.hub.serverKey.map((byte) => byte ^ 1)));
    await waitFor(page, '.bad');
    await camera.take(page, name);
    await page.browserContext().close();
  },
};
