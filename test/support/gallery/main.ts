import { closeStages } from '../dashboard-stage.js';
import { hasBrowser, launchBrowser } from '../browser.js';
import { Camera } from './camera.js';
import { dashboardScenes } from './dashboard-scenes.js';
import { embedScenes } from './embed-scenes.js';
import { heatScenes } from './heat-scenes.js';
import { labScenes } from './lab-scenes.js';
import { operatorScenes } from './operator-scenes.js';
import { planScenes } from './plan-scenes.js';

/** What a scene is played with, and what it is called. */
export type Scenes = Readonly<Record<string, (camera: Camera, name: string) => Promise<void>>>;

const scenes: Scenes = {
  ...dashboardScenes, ...operatorScenes, ...labScenes, ...embedScenes, ...heatScenes,
  ...planScenes,
};

/**
 * Pictures of the pages in every state, from scripted servers:
 * `npm run gallery -- [FOLDER [NAME,NAME...]]`. A name stands for every scene that begins with it.
 * Ends with 1 where a page is wider than its window or axe-core finds something serious.
 */
export async function main(
  [folder = 'screenshots/gallery', wanted = '']: readonly string[],
): Promise<number> {
  if (!hasBrowser) return 1;
  const chromium = await launchBrowser();
  let status = 0;
  try {
    const camera = new Camera(chromium.browser, folder);
    for (const [name, play] of Object.entries(scenes)) {
      if (!wanted.split(',').some((start) => name.startsWith(start))) continue;
      // One scene that fails keeps nobody from the others.
      const fault = await play(camera, name).then(() => '', String);
      await closeStages();
      if (fault !== '') status = 1;
      process.stdout.write(`${name}${fault === '' ? '' : `: ${fault}`}\n`);
    }
  } finally {
    await chromium.close();
  }
  return status;
}
