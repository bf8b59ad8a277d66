import type { Page } from 'puppeteer-core';
import { Stage } from '../dashboard-stage.js';
import type { Camera } from './camera.js';
import type { Scenes } from './main.js';

const scene = (
  hash: string, shown: string, act?: (page: Page) => Promise<unknown>,
): Scenes[string] => async (camera: Camera, name) => {
  const stage = await Stage.start({});
  const page = await camera.page();
  await page.goto(`${stage.address}/plan${hash}`);
  await page.waitForSelector(shown);
  await page.waitForFunction(() => document.querySelectorAll('.line').length === 0
    || document.querySelector('.line')!.getAttribute('d')!.split('L').length > 3);
  await act?.(page);
  await camera.take(page, name);
  await page.browserContext().close();
};

/** The what-if page. */
export const planScenes: Scenes = {
  'plan-first': scene('', '.best .value'),
  'plan-goal': scene('#spread=20&error=0.08&people=3000&hostile=0.02', '.ways button'),
  'plan-none': scene('#people=100&columns=10', '.notice'),
  'plan-covariance': scene('#question=covariance&people=100000&columns=4', '.best .value'),
  'plan-share': scene('#question=share&delta=0&epochs=90&every=7d&error=0.08', '.ways'),
};
