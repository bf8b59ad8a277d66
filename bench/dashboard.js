// The cost of the dashboard: in its browser, and on the server behind it. Needs Chromium.
// - page: a study of 4 columns with 2,000 releases: bytes of the first load as they are sent, from
//   the response to something that can be used, and one redraw of all four charts when a release
//   comes.
// - memory: further releases (8 hours of one every 6 seconds are 4,800): heap after a forced
//   collection on the way, and a heap snapshot near the beginning and at the end: bytes of
//   everything alive, and elements that no page shows.
// - overview: the list of 60 studies: from the response to all cards and a search that works, and
//   to the answers of all; then several releases of each study (one every 6 minutes in 8 hours are
//   80): heap for each release that the page keeps, and elements that no page shows.
// - subscribers: accepted batches per second with and without 500 subscribed dashboards, a release
//   every second, in turns; and what they take of one core. On a machine that does other things
//   only the latter means something: a miss is both.
// Exit status 1 when a target is not met.
/* global window, document, Event, PerformanceObserver, requestAnimationFrame */
import { existsSync } from 'node:fs';
import { scriptedServer } from './dashboard-server.js';
import { subscribersCost } from './dashboard-subscribers.js';
import { useTool } from '../scripts/tool.js';
import { median } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';

useTool('browser');
const { launch } = await import('puppeteer-core');

const values = optionsOf('What the dashboard costs its browser, and the server behind it.', {
  only: { usual: 'page,memory,overview,subscribers', means: 'parts' },
  history: { usual: 2_000, tiny: 100, means: 'releases that the page loads' },
  redraws: { usual: 40, tiny: 4, means: 'releases whose redrawing is timed' },
  releases: { usual: 5000, tiny: 200, means: 'further releases, for the heap' },
  studies: { usual: 60, tiny: 12, means: 'in the list' },
  listed: { usual: 80, tiny: 10, means: 'releases of each of them at first' },
  later: { usual: 80, tiny: 10, means: 'further releases of each of them' },
  seconds: { usual: 20, tiny: 1, means: 'of load with and without subscribers' },
  rounds: { usual: 3, tiny: 1, means: 'of load with and without subscribers' },
  subscribers: { usual: 500, tiny: 20, means: 'dashboards that follow' },
  json: { usual: false, means: 'print JSON' },
});
const wanted = values.only.split(',');
const chromium = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const targets = {
  firstLoadBytes: 125_000, redrawMs: 8, interactiveMs: 1_000, heapGrowth: 0.1, subscribersCost: 0.1,
  // Bytes that a page keeps of a release: its numbers and the line of the table.
  keptBytes: 4_000, detached: 100,
};
const note = (text) => process.stderr.write(`${text}\n`);

/** Opens the study's page. @returns the page, with the times that it records. */
async function opened(browser, server) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.evaluateOnNewDocument(() => {
    const noted = { longest: 0, tasks: [] };
    window.noted = noted;
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        noted.tasks.push([startTime, duration]);
      }
    }).observe({ type: 'longtask', buffered: true });
    const look = () => {
      if (document.querySelector('main.page .title h1') !== null) {
        noted.usableMs ??= performance.now();
      }
      if (document.querySelectorAll('.column canvas').length === 4) {
        return void (noted.drawnMs ??= performance.now());
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(server.page);
  await page.waitForFunction((count) => document.querySelectorAll('.column canvas').length === 4
    && document.body.textContent.includes(count), { timeout: 120_000, polling: 100 }, 'Live');
  return page;
}

/** Milliseconds from the server's answer to a page with a heading and working links. */
async function interactive(page) {
  return page.evaluate(() => {
    const [{ responseStart }] = performance.getEntriesByType('navigation');
    return { usableMs: window.noted.usableMs
      - responseStart, drawnMs: window.noted.drawnMs - responseStart };
  });
}

/**
 * Bytes of the page, its styles and its scripts on the wire, as far as the charts waited for them.
 * Without the answers about studies.
 */
function firstLoad(page) {
  return page.evaluate(() =>
    ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
      .filter(({ name, startTime }) => !new URL(name).pathname.startsWith('/v1/')
        && startTime < window.noted.drawnMs)
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0));
}

/** All live memory in a heap snapshot: bytes, and elements that are in no document. */
async function snapshotOf(session) {
  const chunks = [];
  const hear = ({ chunk }) => chunks.push(chunk);
  session.on('HeapProfiler.addHeapSnapshotChunk', hear);
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', hear);
  const { snapshot: { meta: { node_fields: fields } }, nodes } = JSON.parse(chunks.join(''));
  const [size, detached] = ['self_size', 'detachedness'].map((name) => fields.indexOf(name));
  const alive = { bytes: 0, detached: 0 };
  for (let at = 0; at < nodes.length; at += fields.length) {
    alive.bytes += nodes[at + size];
    // The value 2 marks a node as detached.
    if (nodes[at + detached] === 2) alive.detached += 1;
  }
  return alive;
}

/** Functions of the page that verify releases. Script below them is not drawing. */
const verifying = /sign\.detached\.verify$/;

/** Milliseconds of script in a profile: below functions whose name fits `fits`, and elsewhere. */
function scriptOf({ nodes, samples, timeDeltas }, fits) {
  const parents =
    new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isBelow = (id) => id !== undefined
    && (fits.test(byId.get(id).callFrame.functionName) || isBelow(parents.get(id)));
  const sums = { below: 0, elsewhere: 0 };
  samples.forEach((id, i) => {
    const { functionName } = byId.get(id).callFrame;
    if (!/^\((idle|program|root)\)$/.test(functionName)) {
      sums[isBelow(id) ? 'below' : 'elsewhere'] += timeDeltas[i] / 1_000;
    }
  });
  return sums;
}

/**
 * Milliseconds that one release costs on the page's thread: to verify it, and to redraw (script,
 * style and layout).
 */
async function redraws(page, server, count) {
  const session = await page.createCDPSession();
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 100 });
  // In processor time of the thread, so other load on the machine does not count.
  const spent = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name) => 1_000 * metrics.find((metric) => metric.name === name).value;
    return {
      script: of('ScriptDuration'), layout: of('RecalcStyleDuration') + of('LayoutDuration'),
    };
  };
  const settle = () => new Promise((done) => setTimeout(done, 300));
  const [drawn, verified] = [[], []];
  for (let i = 0; i < count; i++) {
    await settle();
    const before = await spent();
    await session.send('Profiler.start');
    server.publish();
    await settle();
    const { below, elsewhere } = scriptOf((await session.send('Profiler.stop')).profile, verifying);
    const after = await spent();
    const [script, layout] = [after.script - before.script, after.layout - before.layout];
    // The profile gives the shares of the script. Its milliseconds are wall-clock time.
    const share = below / Math.max(below + elsewhere, 1e-9);
    drawn.push(script * (1 - share) + layout);
    verified.push(script * share);
  }
  // The first redraws run code that is not compiled yet.
  const later = drawn.slice(Math.floor(count / 4));
  return {
    redrawMs: median(later), leastMs: Math.min(...later), mostMs: Math.max(...later),
    verifyMs: median(verified),
  };
}

/** Heap in bytes after a forced collection. */
async function heapOf(session) {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** Heap in bytes after a forced collection, measured after each tenth of the releases. */
async function heapOver(page, server, releases) {
  const session = await page.createCDPSession();
  const heaps = [];
  const snapshots = [];
  const steps = 10;
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < releases / steps; i += 20) {
      for (let j = 0; j < 20; j++) server.publish();
      await page.waitForFunction((text) =>
        document.querySelector('.releases')?.textContent.includes(text),
        { timeout: 60_000, polling: 20 }, server.newestText());
    }
    heaps.push(await heapOf(session));
    if (step === 0 || step === steps - 1) snapshots.push(await snapshotOf(session));
    note(`${(step + 1) * releases / steps} releases: heap ${(heaps.at(-1) / 1e6).toFixed(1)} MB`);
  }
  // At the first measurement the page already keeps as many releases as it ever does.
  return {
    heapMb: heaps.map((bytes) => bytes / 1e6), growth: heaps.at(-1) / heaps[0] - 1, snapshots,
  };
}

/** The list of all studies: times from the server's answer, and the memory that remains in use. */
async function overviewOf(browser, server, { studies, later }) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  await page.evaluateOnNewDocument((count) => {
    const noted = {};
    window.noted = noted;
    const look = () => {
      const cards = document.querySelectorAll('.studies > li').length;
      const search = document.querySelector('.list-search input');
      if (noted.cardsMs === undefined && cards === count && search !== null) {
        noted.cardsMs = performance.now();
        // A search that leaves one card.
        search.value = `dashboard-${count}`;
        search.dispatchEvent(new Event('input', { bubbles: true }));
      } else if (noted.cardsMs !== undefined && noted.usableMs === undefined && cards === 1) {
        noted.usableMs = performance.now();
        search.value = '';
        search.dispatchEvent(new Event('input', { bubbles: true }));
      } else if (noted.usableMs !== undefined && cards === count
          && document.querySelectorAll('.studies .dot.live').length === count) {
        return void (noted.answeredMs = performance.now());
      }
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, studies);
  await page.goto(server.list);
  await page.waitForFunction(() => window.noted.answeredMs !== undefined,
    { timeout: 300_000, polling: 100 });
  const times = await page.evaluate(() => {
    const [{ responseStart }] = performance.getEntriesByType('navigation');
    return { listMs: window.noted.usableMs - responseStart,
      answersMs: window.noted.answeredMs - responseStart };
  });
  const session = await page.createCDPSession();
  const before = [await heapOf(session), await snapshotOf(session)];
  for (let i = 0; i < later; i++) {
    server.publish();
    await page.waitForFunction((epoch) =>
      [...document.querySelectorAll('.studies > li')].every((card) =>
        card.textContent.includes(`poch ${epoch}`)),
    { timeout: 60_000, polling: 50 }, server.epochText());
  }
  const after = [await heapOf(session), await snapshotOf(session)];
  return {
    ...times, keptBytes: (after[0] - before[0]) / (studies * later),
    detachedMore: after[1].detached - before[1].detached,
  };
}

/** Runs an action on a page of a browser of its own, beside a server. */
async function inBrowser(facts, action) {
  if (!existsSync(chromium)) {
    throw new Error(`${chromium} is missing: apt-get install chromium, or set CHROMIUM_PATH`);
  }
  const server = await scriptedServer(facts);
  const browser = await launch({
    executablePath: chromium, userDataDir: ownFolder('browser'),
    args: [
      '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage',
    ],
  });
  try {
    await action(browser, server);
  } finally {
    await browser.close();
    await server.close();
  }
}

const result = {};
if (wanted.includes('page') || wanted.includes('memory')) {
  await inBrowser({ columns: 4, releases: values.history }, async (browser, server) => {
    const page = await opened(browser, server);
    if (wanted.includes('page')) result.firstLoadBytes = await firstLoad(page);
    if (wanted.includes('page')) {
      Object.assign(result, await interactive(page), await redraws(page, server, values.redraws));
    }
    if (wanted.includes('memory')) {
      Object.assign(result, await heapOver(page, server, values.releases));
    }
  });
}
if (wanted.includes('overview')) {
  await inBrowser({ columns: 2, releases: values.listed, studies: values.studies },
    async (browser, server) => {
      Object.assign(result, await overviewOf(browser, server, values));
    });
}
if (wanted.includes('subscribers')) Object.assign(result, await subscribersCost(values, note));

const [early, late] = result.snapshots ?? [];
const misses = [
  result.firstLoadBytes > targets.firstLoadBytes && 'first load',
  late !== undefined && late.bytes > (1 + targets.heapGrowth) * early.bytes && 'heap snapshot',
  result.usableMs > targets.interactiveMs && 'interactive',
  result.listMs > targets.interactiveMs && 'overview',
  result.keptBytes > targets.keptBytes && 'memory of the overview',
  result.detachedMore > targets.detached && 'elements of the overview',
  result.redrawMs > targets.redrawMs && 'redraw', result.growth > targets.heapGrowth && 'memory',
  result.cost > targets.subscribersCost && result.processor > targets.subscribersCost
    && 'subscribers',
].filter(Boolean);
if (values.json) console.log(JSON.stringify({ ...result, misses }));
else {
  for (const [name, value] of Object.entries(result)) console.log(name.padEnd(18), JSON.stringify(
    value, (_, each) => (typeof each === 'number' ? Number(each.toPrecision(3)) : each),
  ));
}
if (misses.length > 0) console.log(`missed: ${misses.join(', ')}`);
process.exitCode = values.tiny || misses.length === 0 ? 0 : 1;
