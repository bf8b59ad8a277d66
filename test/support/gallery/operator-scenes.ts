import type { Page } from 'puppeteer-core';
import { Stage } from '../dashboard-stage.js';
import type { Camera } from './camera.js';
import type { Scenes } from './main.js';

const key = '358d152654541e4aa224abd99bf104d221113527b877b742af5fa801f9b1a6dc';
const health = {
  status: 'ok', overloaded: false, sockets: 8, channels: 4021, subscriptions: 12, queuedBatches: 5,
  queuedBytes: 88_500,
  store: {
    commits: 2952, batches: 30_300, commitSecondsMedian: 0.001, commitSeconds99: 0.012,
    fileBytes: 8e6, walBytes: 2e6,
  },
};
const study = (change: object = {}): object => ({
  id: 'aa'.repeat(32), name: 'flights-robust', state: 'open', epoch: '8',
  closesAtMs: Date.now() + 6_000, cohort: 3000, everyMs: 10_000, releases: 7,
  progress: { contributors: 1147, complete: 1031, groupsReached: 212, groups: 240 }, leftOut: 0,
  notes: [{ id: 1, atMs: 1_767_225_600_000, text: 'New version of the app' }], paused: false,
  questions: [], beyond: 30, automatic: false, quarantined: [],
  batches: { accepted: 15_160, duplicates: 3, refused: {} }, ...change,
});
const refused = {
  'mutated': 412, 'not-finite': 96, 'wrong-columns': 31, 'contributor-budget-exhausted': 4,
  'quarantined': 1,
};
const excluded = [0, 1, 2].map((i) => ({
  contributor: `${i}${key.slice(1)}`, fromEpoch: String(9 - i), distance: 100 / (i + 1),
  atMs: 1_767_225_600_000,
}));
const evidence = (change: object = {}): object => ({
  study: 'flights-robust', contributor: key, answer: { index: 6, epoch: '7' }, unit: 'spread',
  truncated: false, excludedFrom: null,
  epochs: [
    { epoch: '8', released: false, rows: 12, complete: false, distance: 41.2, farthest: 122 },
    { epoch: '7', released: true, rows: 64, complete: true, distance: 38.9, farthest: 120 },
  ], ...change,
});

const refusedAt = [4, 5, 17, 33];
const outcomes = (id: string): object => ({
  id, epochsLeft: 311, leftMs: 311 * 86_400_000, renewsMs: null,
  outcomes: Array.from({ length: 60 }, (_, i) => ({
    epoch: String(i + 1), closedAtMs: 1_767_225_600_000 + i * 86_400_000,
    answered: refusedAt.includes(i) ? 0 : 1,
    refused: refusedAt.includes(i)
      ? [{ question: 'answer', reason: 'participation-below-plan' }] : [],
  })),
  reasons: [{
    reason: 'participation-below-plan', count: 4, epoch: '34', question: 'answer',
    text: 'the noisy count is below a quarter of the 3000 contributors planned for',
    remedy: 'Too few people came: use longer epochs, or a smaller cohort.',
  }],
});
const past = (): object => ({
  samples: Array.from({ length: 360 }, (_, i) => ({
    atMs: Date.now() - (360 - i) * 10_000, seconds: 10, refused: i % 40 === 7 ? 90 : 3,
    accepted: 900 + 600 * Math.sin(i / 30) + 90 * Math.sin(i * 2.1), queued: 4,
    ackMedian: i % 50 < 3 ? null : 0.005,
    ack99: i % 50 < 3 ? null : 0.01 + (i % 90 === 0 ? 0.09 : 0),
    commit99: 0.012 + 0.004 * Math.sin(i / 11), storeBytes: 8e6 + i * 9_000,
  })),
  studies: ['aa', 'bb'].map((part) => outcomes(part.repeat(32))),
});

/** What the server of a scene answers by path: a status and a document, or nothing at all. */
type Answers = Readonly<Record<string, readonly [status: number, body: object] | null>>;

const figures = (
  studies: readonly object[], more: Answers = {}, ofHealth: object = {},
): Answers => ({
  '/v1/operator/progress': [200, {
    serverKey: 'ed42ea'.padEnd(64, '0a'), fingerprint: Array(8).fill('ed42').join(' '),
    atMs: Date.now(), studies, refused: {}, refusedStudies: [],
  }],
  '/healthz': [200, { ...health, ...ofHealth }], '/v1/operator/history': [200, past()], ...more,
});

async function open(camera: Camera, answers: () => Answers, shown: string): Promise<Page> {
  const stage = await Stage.start({});
  const page = await camera.page();
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const answer = answers()[pathname];
    if (answer === undefined) void request.continue();
    else if (answer !== null) void request.respond({
      status: answer[0], contentType: 'application/json', body: JSON.stringify(answer[1]),
    });
  });
  await page.goto(`${stage.address}/operator`);
  await page.waitForSelector(shown);
  return page;
}

const scene = (
  answers: () => Answers, shown: string, act?: (page: Page) => Promise<unknown>,
): Scenes[string] =>
  async (camera, name) => {
    const page = await open(camera, answers, shown);
    await act?.(page);
    await camera.take(page, name);
    await page.browserContext().close();
  };

const signedOut: Answers = { '/v1/operator/progress': [401, {}] };
const two = (): readonly object[] =>
  [study(), study({ id: 'bb'.repeat(32), name: 'flights-mean', beyond: null })];

/** So many that each is a row. */
const many = (): readonly object[] => [
  ...['robust', 'mean', 'share', 'ten'].map((name, i) => study({
    id: `${i}a`.repeat(32), name: `flights-${name}-${i + 1}`, paused: i === 2,
    batches: { accepted: 15_160, duplicates: 311, refused: i === 1 ? refused : {} },
  })),
  study({
    id: 'cc'.repeat(32), name: 'a-very-long-name-that-somebody-gave-to-a-study-without-thinking',
    state: 'ended', epoch: '0', closesAtMs: 0, progress: null,
  }),
];

const measure = async (page: Page): Promise<void> => {
  await page.type('input[name=contributor]', key);
  await page.click('.evidence form button');
  await page.waitForSelector('.evidence [role=status] p');
};

async function ofLostServer(camera: Camera, name: string): Promise<void> {
  let isGone = false;
  const page = await open(camera, () => (isGone
    ? { '/v1/operator/progress': [500, { error: { text: 'the store does not answer' } }] }
    : figures(two())), '.study');
  isGone = true;
  await page.waitForSelector('.notice');
  await camera.take(page, name);
  await page.browserContext().close();
}

/** Every state of the operator's page. */
export const operatorScenes: Scenes = {
  'operator-loading': scene(() => ({ '/v1/operator/progress': null }), '.ghost'),
  'operator-sign-in': scene(() => signedOut, 'input[name=token]'),
  'operator-wrong-token': scene(() =>
    ({ ...signedOut, '/v1/operator/sign-in': [401, {}] }), 'input[name=token]', async (page) => {
    await page.type('input[name=token]', 'no such token');
    await page.click('form button');
    await page.waitForSelector('.fault');
  }),
  'operator-none': scene(() => figures([]), '.empty'),
  'operator-two': scene(() => figures(two()), '.study'),
  'operator-busy': scene(() => figures([
    study({ batches: { accepted: 15_160, duplicates: 311, refused }, leftOut: 61, paused: true }),
    study({
      id: 'bb'.repeat(32), name: 'used-up', state: 'exhausted', epoch: '0', closesAtMs: 0,
      progress: null,
    }),
    study({
      id: 'cc'.repeat(32), name: 'ended', state: 'ended', epoch: '0', closesAtMs: 0, progress: null,
    }),
    study({
      id: 'dd'.repeat(32), name: 'a-very-long-name-that-somebody-gave-to-a-study-without-thinking',
      everyMs: null, closesAtMs: 0,
    }),
  ], {}, { overloaded: true, queuedBatches: 91_000, queuedBytes: 61e6 }), '.study'),
  'operator-many': scene(() => figures(many()), '.row', async (page) => {
    await page.click('.row summary');
    await page.waitForSelector('.row .study');
  }),
  'operator-many-searched': scene(() => figures(many()), '.row', async (page) => {
    await page.type('input[type=search]', 'robust 1');
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 1);
  }),
  'operator-stopping': scene(
    () => figures(two(), { '/healthz': [503, { ...health, status: 'stopping' }] }), '.notice',
  ),
  'operator-lost': ofLostServer,
  'operator-evidence':
    scene(() => figures(two(), { '/v1/operator/evidence': [200, evidence()] }), '.study', measure),
  'operator-evidence-near':
    scene(() => figures(two(), { '/v1/operator/evidence': [200, evidence({ epochs: [
      {
        epoch: '8', released: false, rows: 1, complete: true, distance: 0.8, farthest: 0.8,
      }] })] }), '.study', measure),
  'operator-evidence-none': scene(
    () => figures(two(), { '/v1/operator/evidence': [200, evidence({ epochs: [] })] }), '.study',
    measure,
  ),
  'operator-evidence-fault': scene(() => figures(two(), {
    '/v1/operator/evidence': [
      429, { error: { text: 'another contributor is being measured: ask again in a moment' } },
    ],
  }), '.study', measure),
  'operator-quarantine': scene(() => figures([study({ quarantined: excluded, automatic: true })], {
    '/v1/operator/evidence': [200, evidence({ excludedFrom: '9' })] }), '.study', measure),
};
