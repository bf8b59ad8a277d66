// Durable, verified batches per second of one aggregator, end to end: signed by contributors in
// another process, over WebSockets, verified, journalled, and acknowledged after the fsync. Beside
// it the best rate of this machine in each single stage, measured in the same run. The server is
// killed at the end, and its journal compared with the acks. Exit status 1 when a target is not
// met; with --tiny only those that hold at any size are judged.
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { systemClock } from '../dist/server/base/clock.js';
import { checkThreadsFor } from '../dist/server/checks/threads.js';
import { openSqliteStore } from '../dist/server/store/sqlite/open.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';
import { appendAndSync, rawWebSocket, verifySignatures } from './load/ceilings.js';
import { beside, memoryOf, report, verdictsOf } from './load/report.js';
import { startFloor, startLoad, startServer } from './load/rig.js';

const values = optionsOf('Durable, verified batches per second of one aggregator, end to end.', {
  seconds: { usual: 60, tiny: 1, means: 'of load for each shape' },
  preload: { usual: 1_000_000, tiny: 2_000, means: 'rows in the replay table before it begins' },
  contributors: { usual: 1024, tiny: 64, means: 'that send' },
  shapes: {
    usual: '64x8,64x8e,64x8h,64x8t,256x32,256x32e', tiny: '4x2,4x2e,4x2h,4x2t',
    means: 'rows x columns of a batch, separated by commas; t: the last column is a text; h: over '
      + 'HTTP requests; e: on encrypted channels',
  },
  checks: {
    usual: checkThreadsFor(availableParallelism()), means: 'threads that check signatures',
  },
  requestBatches: { usual: 16, means: 'batches in a request, in shapes with h' },
  sockets: { usual: 16, tiny: 4, means: 'that carry them' },
  directory: { usual: tmpdir(), means: 'where the data folder goes' },
  profile: { usual: null, means: 'folder for a CPU profile of the server' },
  json: { usual: false, means: 'print JSON' },
});
const { seconds, preload, contributors, tiny } = values;
const note = (text) => process.stderr.write(`${text}\n`);
/**
 * Bytes of batches that are sent at the same time: half of the capacity of the server's queue, in
 * rows and bodies.
 */
const inFlightBytes = 16 * 1024 * 1024;

/** Options of the server of one shape. */
const serverOptions = (directory, { columns, texts }) => ({
  directory, columns, texts, people: 100_000, contributors, checkThreads: values.checks,
});

/** Fills the replay table. @returns the seconds it took. */
async function preloadStore(directory, shape) {
  const { seconds: took, ended } =
    await startServer({ ...serverOptions(directory, shape), preload });
  await ended;
  return took;
}

function loadOf(shape, { url, studyId }, warmUpSeconds) {
  const bytes = shape.rows * shape.columns * 8;
  const inFlight = Math.min(contributors, Math.max(64, Math.floor(inFlightBytes / bytes)));
  const load = startLoad({
    url, studyId, rows: shape.rows, columns: shape.columns,
    texts: shape.texts, encrypted: shape.encrypted,
    batchesPerRequest: shape.http ? values.requestBatches : 0, contributors,
    inFlight, sockets: values.sockets, seconds, warmUpSeconds,
  });
  return { ...load, inFlight };
}

/**
 * The position of the last row in the journal. Positions start at 1 and have no gaps until a purge.
 */
async function countJournalled(directory, studyId) {
  const store = await openSqliteStore({ directory, clock: systemClock });
  try {
    let low = 0n;
    let high = 1n << 40n;
    while (low < high) {
      const middle = (low + high) / 2n;
      const [entry] = await store.journal(studyId, 1n, middle, 1);
      if (entry === undefined) high = middle;
      else low = entry.position;
    }
    return Number(low);
  } finally {
    await store.close();
  }
}

async function ceilingsOf(bytes) {
  const ceilingSeconds = Math.min(2, seconds);
  const webSocket = await rawWebSocket(bytes + 200, ceilingSeconds);
  const [start, before] = [performance.now(), process.cpuUsage()];
  const verify = verifySignatures(bytes, ceilingSeconds);
  const { user, system } = process.cpuUsage(before);
  const checked = verify * (performance.now() - start) / 1_000;
  return {
    webSocket, verify,
    disk: appendAndSync(bytes, ceilingSeconds, values.directory),
    verifyCpuUs: (user + system) / checked,
  };
}

/**
 * Mean of the values before and after the load, because other load on the machine changes in
 * between.
 */
function meanOf(before, after) {
  return Object.fromEntries(
    Object.keys(before).map((name) => [name, (before[name] + after[name]) / 2]),
  );
}

/** Milliseconds of processor time that a batch costs the least server of encrypted channels. */
async function floorOf(shape, warmUpSeconds) {
  const floor = await startFloor({ directory: ownFolder('floor', values.directory) });
  const load = loadOf(shape, floor, warmUpSeconds);
  await load.measuring;
  const first = await floor.sample();
  await load.done;
  const last = await floor.sample();
  await floor.stop();
  return (last.cpu.user + last.cpu.system - first.cpu.user - first.cpu.system) / 1_000
    / (last.batches - first.batches);
}

async function measure(shape) {
  const directory = ownFolder('ingest', values.directory);
  const warmUpSeconds = Math.min(10, Math.max(Math.min(2, seconds), seconds / 6));
  note(`${shape.name}: preloading ${preload} replay rows`);
  const preloadSeconds = preload > 0 ? await preloadStore(directory, shape) : 0;
  const bytes = shape.rows * shape.columns * 8;
  const before = await ceilingsOf(bytes);
  const server = await startServer(serverOptions(directory, shape), values.profile);
  note(`${shape.name}: preloaded in ${preloadSeconds.toFixed(1)} s, load for ${seconds} s`);
  const load = loadOf(shape, server, warmUpSeconds);
  await load.measuring;
  const samples = [await server.sample()];
  const busyBefore = busySeconds();
  const done = { result: undefined };
  load.done.then((result) => { done.result = result; }, () => undefined);
  while (done.result === undefined) {
    await Promise.race([load.done, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    samples.push(await server.sample());
  }
  const busy = busyBefore === null ? null : busySeconds() - busyBefore;
  // The server is killed without warning: acknowledged batches must be in the journal already.
  await server.stop();
  const journalled = await countJournalled(directory, server.studyId);
  const ceilings = meanOf(before, await ceilingsOf(bytes));
  const floorMs = shape.encrypted ? await floorOf(shape, warmUpSeconds) : null;
  return summary(shape, {
    ceilings, preloadSeconds, load, samples, busy, done: done.result, journalled, floorMs,
  });
}

function summary(
  shape, { ceilings, preloadSeconds, load, samples, busy, done, journalled, floorMs },
) {
  const first = samples[0];
  const last = samples.at(-1);
  const took = (last.atMs - first.atMs) / 1_000;
  const commits = last.health.commits - first.health.commits;
  const batches = last.health.batches - first.health.batches;
  const cpuSeconds = (last.cpu.user + last.cpu.system - first.cpu.user - first.cpu.system) / 1e6;
  const busyMs = last.loop.active - first.loop.active;
  const { verifyCpuUs, ...rates } = ceilings;
  const busiestThreadUs = busiestThread(first, last, batches);
  return {
    shape: shape.name, bytes: shape.rows * shape.columns * 8, target: shape.target,
    perSecond: done.perSecond, seconds: done.seconds,
    latencyMs: { p50: done.p50, p99: done.p99, p999: done.p999 }, inFlight: load.inFlight,
    contributors, replayRows: preload, preloadSeconds,
    acked: done.acked, journalled, refused: done.refused, refusals: done.refusals,
    commits, batchesPerCommit: batches / commits, commitsPerSecond: commits / took,
    commitMs: {
      median: last.health.commitSecondsMedian * 1_000, p99: last.health.commitSeconds99 * 1_000,
    },
    cpu: {
      serverMsPerBatch: cpuSeconds * 1_000 / batches, serverCores: cpuSeconds / took,
      floorMsPerBatch: floorMs,
      busiestThreadUs, verifyUs: verifyCpuUs,
      // Both are processor time, so other load on the machine changes the ratio little.
      ofVerify: busiestThreadUs === null
        ? null : verifyCpuUs / (busiestThreadUs * Math.max(1, values.checks)),
      mainThreadShare: busyMs / (took * 1_000), loadCores: done.cpuShare,
      otherCores: busy === null
        ? null : Math.max(0, busy / took - cpuSeconds / took - done.cpuShare),
    },
    memory: memoryOf(samples),
    fileBytes: last.health.fileBytes - first.health.fileBytes, walBytes: last.health.walBytes,
    checkThreads: values.checks,
    ceilings: rates,
    ratios: Object.fromEntries(
      Object.entries(rates).map(([name, rate]) => [name, done.perSecond / rate]),
    ),
    load: loadavg(),
  };
}

/**
 * Processor time per batch of the server's thread that uses most, in microseconds; null if the
 * system does not report it. With a core for each thread it is what limits.
 */
function busiestThread(first, last, batches) {
  if (last.threads === null) return null;
  const used = Object.entries(last.threads).map(([id, us]) => us - (first.threads[id] ?? 0));
  return Math.max(...used) / batches;
}

function shapesOf(text) {
  const targets = { '64x8': 3_000, '256x32': 1_000 };
  return text.split(',').map((name) => {
    const [texts, http, encrypted] = ['t', 'h', 'e'].map((end) => name.endsWith(end));
    const [rows, columns] = name.replace(/[the]$/, '').split('x').map(Number);
    return { name, rows, columns, texts, http, encrypted, target: targets[name] ?? 0 };
  });
}

/**
 * Core-seconds of work of all processes on this machine; null if the system does not report them.
 */
function busySeconds() {
  if (!existsSync('/proc/stat')) return null;
  const ticks = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  const [user, nice, system, , , interrupts, soft, stolen] = ticks;
  return (user + nice + system + interrupts + soft + stolen) / 100;
}

/** In a memory file system every fsync is free, so the figures would be worthless. */
function fileSystem() {
  const names = {
    0xef53: 'ext4', 0x58465342: 'xfs', 0x9123683e: 'btrfs', 0x794c7630: 'overlayfs',
    0x01021994: 'tmpfs',
  };
  const { type } = statfsSync(values.directory);
  return names[type] ?? `0x${type.toString(16)}`;
}

const machine = {
  cpus: cpus().length, model: cpus()[0].model, node: process.version, fileSystem: fileSystem(),
  load: loadavg(),
};
const results = [];
for (const shape of shapesOf(values.shapes)) results.push(await measure(shape));
const verdicts = [
  ...results.flatMap((result) => verdictsOf(result, machine)), ...beside(results),
].filter(({ atAnySize }) => atAnySize || !tiny);
if (values.json) console.log(JSON.stringify({ machine, results, verdicts }));
else console.log(report(machine, results, verdicts));
process.exitCode = verdicts.every((verdict) => verdict.met) ? 0 : 1;
