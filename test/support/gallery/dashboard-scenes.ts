import type { Page } from 'puppeteer-core';
import type { Outcome } from '../../../src/base/outcome.js';
import type { ShortFacts, ReleaseFacts } from '../../../src/wire/index.js';
import { refusal, Stage, valueOf, type StageStudy } from '../dashboard-stage.js';
import { ridesAnswers, ridesQuestions, ridesStudy } from '../rides-stage.js';
import type { Camera } from './camera.js';
import type { Scenes } from './main.js';

type Change = Partial<ShortFacts>;
type Prepare = (page: Page) => Promise<unknown>;

/** Numbers that are the same on every picture, from 0 to 1. */
function* numbers(): Generator<number, never> {
  for (let i = 1; ; i++) yield (i * 0.618034) % 1;
}
const next = ((source) => (): number => source.next().value)(numbers());

const around = (
  centre: readonly number[], half: readonly number[], change: object = {},
): Outcome =>
  valueOf(centre.map((each, i) => each + (next() - 0.5) * half[i]!), half, change);
const flights = (): Outcome => around([8.2, 500], [1.2, 18]);
const none = { kind: 'none' } as const;

/**
 * A study with `count` answers, or with those given; `second` is there so that the page has a way
 * back.
 */
async function stageOf(
  change: Change, outcomes: readonly Outcome[] | number,
  more: Partial<ReleaseFacts> = {},
): Promise<Stage> {
  const stage = await Stage.start({ study: 'flights', ...change }, { study: 'second' });
  const all = typeof outcomes === 'number' ? Array.from({ length: outcomes }, flights) : outcomes;
  stage.affords = Math.max(stage.affords, all.length);
  for (const outcome of all) stage.publish(change.study ?? 'flights', outcome, more);
  return stage;
}

async function show(
  camera: Camera, name: string, address: string, shown: string,
  prepare: Prepare = async () => undefined,
): Promise<Page> {
  const page = await camera.page();
  await prepare(page);
  await page.goto(address);
  await page.waitForSelector(shown);
  await camera.take(page, name);
  return page;
}

/** A scene that is one study's page. */
function study(
  change: Change, outcomes: readonly Outcome[] | number, shown: string,
  more: Partial<ReleaseFacts> = {},
): Scenes[string] {
  return async (camera, name) => {
    const stage = await stageOf(change, outcomes, more);
    const page = await show(camera, name, stage.page(change.study ?? 'flights'), shown);
    await page.browserContext().close();
  };
}

/** A slow course, in which the noise is larger than what changes from epoch to epoch. */
const slow = (count: number, half: number, centre: number, swing: number): readonly Outcome[] =>
  Array.from({ length: count }, (_, i) => {
    const exact = centre + swing * Math.sin(i / 14) + (i > count * 0.7 ? swing : 0);
    // The sum of three is close to normal.
    const noise = (next() + next() + next() - 1.5) * half;
    return valueOf([exact + noise], [half]);
  });

const delayWords = { version: 2, types: [{ type: 'number' }] } as const;
const named = (study: string, title: string, label: string, unit: string): Change => ({
  study, title, columns: [study], columnWords: [{ label, unit }], ...delayWords,
});

/** Numbers of several studies on one chart: two in minutes, one in kilometres. */
const ofComparison = (query: string): Scenes[string] => async (camera, name) => {
  const stage = await Stage.start(
    named('delay', 'Late planes', 'mean delay', 'minutes'),
    named('taxi', 'Taxi times', 'mean taxi time', 'minutes'),
    named('distance', 'Distances', 'mean distance', 'km'),
  );
  stage.affords = 80;
  const all = [slow(60, 3, 24, 4), slow(60, 2, 18, 1), slow(60, 40, 900, 60)];
  for (let i = 0; i < 60; i++) {
    ['delay', 'taxi', 'distance'].forEach((study, k) => stage.publish(study, all[k]![i]!));
  }
  const ids = ['delay', 'taxi', 'distance'].map((study) =>
    `${/[0-9a-f]{64}/.exec(stage.page(study))![0].slice(0, 12)}.answer.0`);
  const page = await show(camera, name,
    `${stage.page('delay')}?with=${ids.join('_')}${query}`, '.compare .panel.last canvas');
  await page.browserContext().close();
};

/** A study whose file was changed twice, with two of the versions on one chart. */
const ofVersions: Scenes[string] = async (camera, name) => {
  const words = { columns: ['delay'], types: [{ type: 'number' }], version: 2,
    title: 'Late planes', columnWords: [{ label: 'mean delay', unit: 'minutes' }] } as const;
  const stage = await Stage.start(
    { ...words, cohort: 5_000 }, { ...words, cohort: 4_000 }, words);
  const [newest, before] = stage.hub.studies().map(({ studyId }) => studyId);
  const lines = [[newest, slow(30, 2, 25, 4), 300], [before, slow(30, 4, 23, 4), 0]] as const;
  for (const [id, outcomes, from] of lines) {
    outcomes.forEach((outcome, i) => stage.publish(id!, outcome,
      { closedAtMs: 1_767_225_600_000n + 1_000n * BigInt(from + 10 * i) }));
  }
  for (const { studyId } of stage.hub.studies().slice(1)) stage.stop(studyId, 'ended');
  const both = [newest, before].map((id) => `${id!.slice(0, 12)}.answer.0`).join('_');
  const page = await show(camera, name, `${stage.page(newest!)}?with=${both}`,
    '.compare .panel.last canvas');
  await page.browserContext().close();
};

/** Answers that the server withholds, for as long as the page is looked at. */
const withholding = (path: string): Prepare => async (page) => {
  await page.setRequestInterception(true);
  page.on('request', (request) => { if (!request.url().endsWith(path)) void request.continue(); });
};

/** A socket that opens and then says nothing after `messages` messages. */
const silentAfter = (messages: number): Prepare => (page) => page.evaluateOnNewDocument(`{
  const add = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (type, heard, ...rest) {
    let count = 0;
    add.call(this, type, (event) => { if (type !== 'message' || ++count <= ${messages}) heard.call(this, event); }, ...rest);
  };
}`);

const square = (size: number): readonly number[] => Array.from({ length: size * size }, (_, at) => {
  const [i, j] = [Math.floor(at / size), at % size];
  return 10 * Math.cos((i - j) * 0.9) * Math.exp(-Math.abs(i - j) / 4)
    * Math.sqrt((1 + i) * (1 + j));
});
const covariance = (size: number): Outcome =>
  around(square(size), square(size).map(() => 3), {
    shape: [size, size], parts: [{ name: 'covariance', shape: [size, size] }],
  });
const letters = (size: number): readonly string[] =>
  Array.from({ length: size }, (_, i) => `sensor_${i + 1}`);
const bounds = { 'variance-low': 1, 'variance-high': 1e4 };
const energy = ['electricity', 'gas', 'water', 'transport'];

const longColumns = [
  'average_waiting_time_before_the_first_answer_in_minutes',
  'satisfactionwiththeserviceasawholeonascalefromonetoten', 'x',
];
const longStudy = 'a-very-long-name-that-somebody-gave-to-a-study-without-thinking';
const hypotheses = JSON.stringify([
  { normal: { mean: 10, deviation: 40 } }, { laplace: { centre: -5, scale: 20 } },
  { uniform: { low: 0, high: 60 } },
]);

const clouds = {
  kind: 'value', shape: [14], uncertainty: none,
  estimate: [0.6, 0.4, -4, 500, 60, 1500, 90, 800, 800, 40_000, 500, 0, 0, 250_000],
  parts: [
    { name: 'weights', shape: [2] }, { name: 'means', shape: [2, 2] },
    { name: 'covariances', shape: [2, 2, 2] },
  ],
} as const;

const window = {
  rhoSpent: 2n ** 62n, rhoCap: 2n ** 64n, deltaSpent: 4n, deltaCap: 2n ** 64n, epsilonSpent: 3.2,
  epsilonCap: 8,
};

async function ofMany(camera: Camera, name: string): Promise<void> {
  const stage = await Stage.start(
    { study: 'flights' }, { study: longStudy, columns: longColumns },
    { study: 'household-energy', columns: energy, estimator: 'covariance', parameters: bounds },
    {
      study: 'delay-kinds', columns: ['delay'], estimator: 'mixture-1d',
      parameters: { components: 2, resolution: 1 },
    },
    { study: 'refusing' }, { study: 'used-up' }, { study: 'ended' }, { study: 'empty' },
    ...Array.from({ length: 6 }, (_, i) => ({ study: `further-${i + 1}` })),
  );
  for (let i = 0; i < 20; i++) stage.publish('flights', flights());
  stage.publish(longStudy, valueOf([12.25, 7.1, 1e7], [1.5, 0.4, 2e5]));
  stage.publish('household-energy', covariance(4));
  stage.publish('delay-kinds', {
    kind: 'value', shape: [2, 3], uncertainty: none, estimate: [0.7, -4.2, 9.5, 0.3, 60, 22],
  });
  for (const outcome of [flights(), refusal]) stage.publish('refusing', outcome);
  for (let i = 0; i < stage.affords; i++) stage.publish('used-up', flights());
  stage.stop('used-up', 'exhausted');
  stage.publish('ended', flights());
  stage.stop('ended', 'ended');
  const page = await show(camera, name, `${stage.address}/`, '.newest');
  await page.browserContext().close();
}

async function ofLostServer(camera: Camera, name: string): Promise<void> {
  const stage = await stageOf({}, 8);
  const page = await camera.page();
  await page.goto(stage.page('flights'));
  await page.waitForSelector('.verdict.good');
  await stage.down();
  await page.waitForSelector('.notice.warn');
  await camera.take(page, name);
  await page.browserContext().close();
}

async function ofStopped(
  camera: Camera, name: string, state: 'exhausted' | 'ended',
): Promise<void> {
  const stage = await stageOf({}, state === 'exhausted' ? 40 : 6);
  stage.stop('flights', state);
  const page = await show(camera, name, stage.page('flights'), '.notice.accent');
  await page.browserContext().close();
}

async function ofBrokenLog(camera: Camera, name: string): Promise<void> {
  const stage = await stageOf({}, 5);
  stage.publish('flights', flights(), { previousDigest: new Uint8Array(64).fill(1) });
  const page = await show(camera, name, stage.page('flights'), '.notice.bad');
  await page.browserContext().close();
}

async function ofCatchingUp(camera: Camera, name: string): Promise<void> {
  const stage = await stageOf({}, 600, { ledger: { ...window, scope: 'study', rule: 'zcdp' } });
  const page =
    await show(camera, name, stage.page('flights'), '.notice progress', silentAfter(120));
  await page.browserContext().close();
}

const at = (address: (stage: Stage) => string, shown: string, prepare?: Prepare): Scenes[string] =>
  async (camera, name) => {
    const stage = await stageOf({}, 3);
    const page = await show(camera, name, address(stage), shown, prepare);
    await page.browserContext().close();
  };

/** One tab of a study with several questions. The first question was refused at last. */
const ofQuestion = (question: string, shown: string): Scenes[string] => async (camera, name) => {
  const stage = await Stage.start(ridesStudy, { study: 'second' });
  for (const shift of [0, 8, 3, 5]) stage.publish('rides', ridesAnswers(shift, shift === 5));
  const page = await show(camera, name, `${stage.page('rides')}/${question}`, shown);
  await page.browserContext().close();
};

/** 200 keys as people write them: long, look-alike, from right to left, and without an answer. */
const manyKeys = [
  'a-very-long-name-without-a-space-that-somebody-typed-once-and-64',
  'A long name with many words that somebody typed and that goes on',
  'maps', 'Maps', 'm\u0430ps', '\u05de\u05e4\u05d5\u05ea \u05d5\u05e0\u05d9\u05d5\u05d5\u05d8',
  '\u062e\u0631\u0627\u0626\u0637 12 \u0643\u0645', '\u5730\u56fe', '=SUM(A1)', '<i>maps</i>',
  ...Array.from({ length: 190 }, (_, i) => `app ${i + 1}`),
];
const manyStudy: StageStudy = {
  study: 'apps', columns: ['app', 'minutes'],
  types: [{ type: 'text', bytes: 64 }, { type: 'number', low: 0, high: 240 }],
  questions: [
    {
      ...ridesQuestions[2]!, name: 'people', part: 50,
      by: { columns: ['app'], groupsMax: 1, discover: { top: 200, prefilter: 2 } },
    },
    {
      name: 'medians', estimator: 'quantile', columns: ['minutes'], where: [], reduce: 'mean',
      parameters: { range: [0, 240], probabilities: [0.5] }, part: 50,
      by: { columns: ['app'], groupsMax: 1, groups: manyKeys.map((key) => [key]) },
    },
  ],
};

const ofManyKeys = (question: string): Scenes[string] => async (camera, name) => {
  const stage = await Stage.start(manyStudy);
  const groups = manyKeys.map((key) => [key]);
  const counts = groups.map((_, i) => 12_345 / (i + 1) ** 0.7);
  const minutes = groups.map((_, i) => (i % 7 === 3 ? 0 : 20 + ((i * 37) % 150)));
  for (let release = 0; release < 3; release++) {
    stage.publish('apps', [
      valueOf(counts, counts.map(() => 26), { groups }),
      {
        kind: 'value', estimate: minutes, shape: [groups.length], uncertainty: none, groups,
        answered: groups.map((_, i) => i % 7 !== 3),
      },
    ]);
  }
  const page = await show(camera, name, `${stage.page('apps')}/${question}`, '.keyed');
  await page.browserContext().close();
};

/** Totals and means beside the counts of keys that nobody listed, and that are shown again. */
const timeBy = {
  columns: ['app'], groupsMax: 2, discover: { top: 100, prefilter: 2, remember: 80 },
} as const;
const timeStudy: StageStudy = {
  study: 'time', columns: ['app', 'minutes'],
  types: [{ type: 'text', bytes: 64 }, { type: 'number', low: 0, high: 240 }],
  questions: [
    { ...ridesQuestions[2]!, name: 'people', part: 30, by: timeBy },
    {
      name: 'minutes', estimator: 'sum', columns: ['minutes'], where: [], reduce: 'sum',
      parameters: { cap: [240] }, part: 40, by: timeBy,
    },
    {
      name: 'average', estimator: 'mean', columns: ['minutes'], where: [], reduce: 'mean',
      parameters: { range: [0, 240] }, part: 30, by: timeBy,
    },
  ],
};

const ofTime = (question: string): Scenes[string] => async (camera, name) => {
  const stage = await Stage.start(timeStudy, { study: 'second' });
  const names = ['letters', 'maps', 'a-long-name-of-an-app-that-somebody-typed', '=1+1', 'gone'];
  const keys = names.map((each) => [each]);
  for (const shift of [0, 4, 2]) {
    // The last key was shown before. Nobody has it any more.
    const counts = [820, 410, 97, 41 + shift, -6 + shift];
    stage.publish('time', [
      valueOf(counts, counts.map(() => 26), { groups: keys }),
      valueOf(counts.map((count) => 95 * count), counts.map(() => 4_300), {
        groups: keys, shape: [5, 1],
      }),
      valueOf([95, 96 + shift, 91, 104, 0], [4, 8, 34, 80, 0], {
        groups: keys, shape: [5, 1], answered: [true, true, true, true, false],
        interval95: { low: [91, 88, 57, 24, -Infinity], high: [99, 104, 125, 184, Infinity] },
      }),
    ]);
  }
  const page = await show(camera, name, `${stage.page('time')}/${question}`, '.keyed');
  await page.browserContext().close();
};

const twenty = letters(20).map((_, i) => 3 * i - 4);

/** Every state of the list and of a study's page. */
export const dashboardScenes: Scenes = {
  'list-loading': at(({ address }) => `${address}/`, '.ghost', withholding('/v1/studies')),
  'list-none': async (camera, name) => {
    const page = await show(camera, name, `${(await Stage.start()).address}/`, '.empty');
    await page.browserContext().close();
  },
  'list-unreachable': at(({ address }) => `${address}/`, '.empty', async (page) => {
    await page.setRequestInterception(true);
    page.on('request', (request) =>
      void (request.url().endsWith('/v1/studies') ? request.abort() : request.continue()));
  }),
  'list-many': ofMany,
  'study-unknown': at(({ address }) => `${address}/#/study/${'0'.repeat(64)}`, '.empty'),
  'page-unknown': at(({ address }) => `${address}/#/study/flights-mean`, '.empty'),
  'study-connecting': at((stage) => stage.page('flights'), '.dot.connecting', silentAfter(0)),
  'study-checking': ofCatchingUp,
  'study-empty': study({}, 0, '.empty'),
  'study-first': study({}, 1, '.column canvas'),
  'study-live': study({}, 30, '.column canvas'),
  'study-words': study({
    study: 'late-planes', title: 'Late planes', version: 2, estimator: 'count',
    description: 'Of all flights of the day, how many leave an hour late or later. Airports send '
      + 'one row for each flight.',
    columns: ['delay'], types: [{ type: 'number' }], parameters: { threshold: 60 },
    columnWords: [{ label: 'a delay', unit: 'minutes' }],
  }, Array.from({ length: 40 }, (_, i) => around([30 + 28 * Math.sin(i / 5)], [31])),
  '.column canvas'),
  'study-smoothed': async (camera, name) => {
    const stage = await stageOf(named('delay', 'Late planes', 'mean delay', 'minutes'),
      slow(90, 5, 24, 3));
    const page = await show(camera, name, `${stage.page('delay')}?smooth=1`, '.derived');
    await page.browserContext().close();
  },
  'study-compared': ofComparison(''),
  'study-versions': ofVersions,
  'study-compared-smoothed': ofComparison('&smooth=1'),
  'study-refused': study({}, [flights(), flights(), refusal, flights(), refusal], '.notice.warn'),
  'study-only-refused': study({}, [refusal, refusal], '.notice.warn'),
  'study-reconnecting': ofLostServer,
  'study-exhausted': (camera, name) => ofStopped(camera, name, 'exhausted'),
  'study-ended': (camera, name) => ofStopped(camera, name, 'ended'),
  'study-forged': ofBrokenLog,
  'study-long-names':
    study({ study: longStudy, columns: longColumns }, Array.from({ length: 6 }, () =>
      around([12.25, 7.1, 1e7], [1.5, 0.4, 2e5])), '.column canvas'),
  'study-20-columns': study({ columns: letters(20) }, Array.from({ length: 9 }, () =>
    around(twenty, twenty.map(() => 2))), '.column canvas'),
  'study-one-column': study(
    { columns: ['minutes'] }, Array.from({ length: 9 }, () => around([3e-7], [1e-8])),
    '.column canvas',
  ),
  'study-window':
    study({ budget: {
      epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'contributor', perMs: 30 * 86_400_000,
    } }, 6,
      '.column canvas', { ledger: {
        ...window, scope: 'contributor', rule: 'zcdp', windowMs: BigInt(30 * 86_400_000),
      } }),
  'study-on-count':
    study({ epoch: { contributors: 3000 }, participation: 'public' }, 6, '.column canvas'),
  'study-covariance': study(
    { estimator: 'covariance', columns: energy, parameters: bounds },
    Array.from({ length: 7 }, () => covariance(4)), '.ellipse',
  ),
  'study-covariance-20': study(
    { estimator: 'covariance', columns: letters(20), parameters: bounds }, [covariance(20)],
    '.heat-canvas',
  ),
  'study-gaussian': study({
    estimator: 'gaussian', columns: energy, parameters: bounds,
  }, Array.from({ length: 4 }, () => around(
    [5, 8, 3, 4, ...square(4)], [0.5, 0.5, 0.5, 0.5, ...square(4).map(() => 3)],
    { parts: [{ name: 'mean', shape: [4] }, { name: 'covariance', shape: [4, 4] }] })), '.ellipse'),
  'study-subspace': study({
    estimator: 'subspace', parameters: { unit: 1 },
  }, [{ kind: 'value', shape: [5], uncertainty: none,
    estimate: [0.2, 0.4, 0.4, 0.8, 1],
    parts: [{ name: 'projector', shape: [2, 2] }, { name: 'rank', shape: [1] }] }], '.heat'),
  'study-mixture':
    study({
      estimator: 'mixture-1d', columns: ['delay'], parameters: { components: 3, resolution: 1 },
    }, [
      {
        kind: 'value', shape: [3, 3], uncertainty: none,
        estimate: [0.7, -4.2, 9.5, 0.3, 60, 22, 0, 0, 0],
      }],
      '.density'),
  'study-clouds': study(
    { estimator: 'mixture', columns: ['delay', 'distance'], parameters: { components: 2 } },
    [clouds], '.clouds',
  ),
  'study-histogram':
    study({
      estimator: 'histogram', columns: ['delay'],
      parameters: { column: 0, edges: [-15, 0, 15, 30, 60] },
    }, [
      valueOf([214, 880, 431, 120, 40, -3], [18, 18, 18, 18, 18, 18])], '.bins'),
  'study-distribution':
    study({
      estimator: 'distribution', columns: ['delay'],
      parameters: { column: 0, range: [-60, 240], cells: 60, probabilities: [0.05, 0.5, 0.95] },
    }, [spreadOf()], '.curve'),
  'study-questions-delays': ofQuestion('delays', '.column canvas'),
  'study-questions-regions': ofQuestion('regions', '.keyed'),
  'study-questions-apps': ofQuestion('apps', '.keyed'),
  'study-questions-change': ofQuestion('change', '.keyed'),
  'study-questions-many-people': ofManyKeys('people'),
  'study-questions-many-medians': ofManyKeys('medians'),
  'study-questions-time-people': ofTime('people'),
  'study-questions-time-minutes': ofTime('minutes'),
  'study-questions-time-average': ofTime('average'),
  'study-questions-unknown': ofQuestion('nothing', '.empty'),
  'study-select':
    study({ estimator: 'select', columns: ['delay'], parameters: { alpha: 0.1, hypotheses } }, [
      { kind: 'value', shape: [1], uncertainty: none, estimate: [1] }], '.chosen'),
};

/** A distribution of 2,000 people over 60 cells, with a band. */
function spreadOf() {
  const below = [...Array.from({ length: 61 }, (_, i) => 2_000 / (1 + Math.exp((14 - i) / 2))),
    2_000];
  const quantiles = [-28, 10, 40];
  const around = (half: number): readonly number[] => [
    ...quantiles.map((each) => each + half / 10), ...below.map((each) => each + half)];
  return {
    kind: 'value', estimate: [...quantiles, ...below], shape: [65], uncertainty: none,
    parts: [{ name: 'quantiles', shape: [3] }, { name: 'below', shape: [62] }],
    interval95: { low: around(-70), high: around(70) },
  } as const;
}
