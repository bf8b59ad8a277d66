import type { Page } from 'puppeteer-core';
import { labFiles } from '../../../cli/lab/files.js';
import type { Round } from '../../../cli/lab/rounds.js';
import { LabSession, type LabState } from '../../../cli/lab/session.js';
import { serveLab, type LabWeb } from '../../../cli/lab/web.js';
import type { Camera } from './camera.js';
import type { Scenes } from './main.js';

const names = ['mean', 'prime', 'robust-mean', 'populous-mean'];
const setting = { attack: 'krum-evader', corruption: 0.1 };
/** Never played: it only says what there is to choose. */
const session = new LabSession({
  epochMs: 5000, promise: 0.1,
  scene: { data: 'flights', estimators: names, contributors: 2000, epsilon: 4 },
  setting, seed: 'gallery', host: '127.0.0.1', port: 0, signal: new AbortController().signal,
});
const playing: LabState = {
  ...session.state, phase: 'playing', connected: 8000, sessions: 8000,
  address: 'http://127.0.0.1:8787', serverKey: '00'.repeat(32),
};

/** Rows in two columns: most are honest, and the others stand far away on one side. */
function pictureOf(corruption: number): object {
  const rows = Array.from({ length: 500 }, (_, i) => {
    const isHostile = i < 500 * corruption;
    const [angle, far] = [i * 2.4, 0.1 * Math.sqrt(i % 97)];
    return {
      values: [
        8 + (isHostile ? 90 : 0) + 20 * far * Math.cos(angle), 731 + 300 * far * Math.sin(angle),
      ],
      isHostile, isKept: !isHostile && i % 97 < 94,
    };
  });
  return { rows, leftOut: { honest: 54, hostile: 200 }, centre: [8, 731], reach: 2.1 };
}

/**
 * A round as the laboratory tells it; `spread` is what the attack does to those who believe
 * everybody.
 */
function round(index: number, spread: number, corruption: number, refuses = false): Round {
  const wobble = 1 + 0.3 * Math.sin(index * 2.4);
  const answer = (estimator: string, error: number, promised: number | null): object => ({
    estimator, study: estimator, outcome: refuses && estimator === 'prime' ? 'refused' : 'value',
    ...(refuses && estimator === 'prime' && { reason: 'subsamples-disagree' }),
    estimate: refuses && estimator === 'prime' ? null : [8.2 + error, 731.4 - 30 * error],
    error: refuses && estimator === 'prime' ? null : error, promised,
  });
  const past = corruption > 0.1;
  return {
    index, setting: { attack: 'krum-evader', corruption }, truth: [8.2, 731.4],
    honest: Math.round(2000 * (1 - corruption)), hostile: Math.round(2000 * corruption),
    baselines: {
      'naive-mean': spread * wobble, 'coordinate-median': 0.1 * wobble,
      'robust-filter': 0.02 * wobble,
    },
    baselineEstimates: {
      'naive-mean': [208.2, 3731.4], 'coordinate-median': [7.9, 719], 'robust-filter': [8.3, 733],
    },
    picture: pictureOf(corruption),
    answers: [
      answer('mean', 0.9 * spread * wobble, 0.06),
      answer('prime', 0.11 * wobble, past ? null : 0.12),
      answer('robust-mean', 0.07 * wobble, past ? null : 0.1),
      answer('populous-mean', 0.4 * wobble, 0.15),
    ],
  } as unknown as Round;
}

async function labOf(state: LabState, rounds: readonly Round[]): Promise<LabWeb> {
  const scripted = {
    state, rounds, programme: () => session.programme(), listen: () => () => undefined,
  };
  return serveLab(scripted as unknown as LabSession, labFiles(), '127.0.0.1', 0);
}

const scene = (
  state: LabState, rounds: readonly Round[], shown: string,
  act?: (page: Page, lab: LabWeb) => Promise<unknown>,
): Scenes[string] => async (camera: Camera, name) => {
  const lab = await labOf(state, rounds);
  const page = await camera.page();
  await page.goto(lab.address);
  await page.waitForSelector(shown);
  await act?.(page, lab);
  await camera.take(page, name);
  await page.browserContext().close();
  await lab.close();
};

const many =
  Array.from({ length: 24 }, (_, i) => round(i, i < 8 ? 0.4 : 2e5, i < 16 ? 0.1 : 0.3, i === 23));

/** Every state of the laboratory's page. */
export const labScenes: Scenes = {
  'lab-connecting': scene({ ...playing, phase: 'connecting', connected: 1210 }, [], '.controls'),
  'lab-no-round-yet': scene(playing, [], '.controls'),
  'lab-first': scene(playing, [round(0, 0.4, 0.1)], '.answer'),
  'lab-many': scene({ ...playing, setting: { ...setting, corruption: 0.3 } }, many, '.answer'),
  'lab-late': scene(playing, [{ ...round(0, 0.4, 0.1), honest: 900 }], '.answer'),
  'lab-stopped': scene({ ...playing, phase: 'stopped' }, many.slice(0, 9), '.answer'),
  'lab-lost': scene(playing, many.slice(0, 9), '.answer', async (page, lab) => {
    await lab.close();
    await page.waitForSelector('.notice');
  }),
};
