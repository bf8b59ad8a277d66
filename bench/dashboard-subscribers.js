// The cost of subscribed dashboards for an aggregator, for bench/dashboard.js. It compares accepted
// batches per second with 500 dashboards and without any, in turns, on one server that releases
// every second.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { fromHex } from '../dist/src/base/bytes.js';
import { decodeServerFrame, encodeClientFrame, subprotocol } from '../dist/src/wire/index.js';
import { createAggregator, createLogger, parseStudyText } from '../dist/server/index.js';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const [rows, columns] = [64, 8];

/**
 * Two studies: one takes the load. Nobody sends to the other one, which releases to all subscribers
 * every second.
 */
const study = (name, every, epsilon) => parseStudyText(`
study: ${name}
columns: [${Array.from({ length: columns }, (_, i) => `c${i}`).join(', ')}]
cohort: 1000000
epoch: { every: ${every} }
contribution: { reduce: mean, rowsMax: 1000000000 }
estimator: mean
parameters: { scale: 10 }
privacy: { epsilon: ${epsilon}, delta: 1e-9 }
budget: { epsilon: 100, delta: 1e-3, scope: study }
`, { name: `${name}.yaml` });

if (process.argv[2] === 'serve') {
  const aggregator = await createAggregator({
    dataDirectory: process.argv[3],
    studies: [study('bench-load', '1h', 1), study('bench-news', '1s', 1)], port: 0,
    logger:
      createLogger({ level: 'warn', destination: { write: (line) => process.stderr.write(line) } }),
  });
  const [load, news] = aggregator.hub.studies().map(({ studyId }) => studyId);
  console.log(JSON.stringify({ url: aggregator.address.replace('http', 'ws'), load, news }));
  process.on('message', () => process.send(process.cpuUsage()));
  process.on('disconnect', () => process.exit(0));
}

/**
 * Opens sockets that read the log and then follow the releases without reacting, as far as the
 * server can see.
 */
async function follow(url, studyId, count) {
  const sockets = [];
  const heard = { releases: 0 };
  for (let i = 0; i < count; i++) {
    const socket = new WebSocket(url, subprotocol);
    socket.binaryType = 'nodebuffer';
    await new Promise(
      (done, failed) => { socket.once('message', done); socket.once('error', failed); },
    );
    const caughtUp = new Promise((done) => {
      socket.on('message', (bytes) => {
        const { kind } = decodeServerFrame(bytes);
        if (kind === 'release') heard.releases += 1;
        else if (kind === 'head') done();
      });
    });
    socket.send(
      encodeClientFrame({ kind: 'subscribe', studyId: fromHex(studyId), fromRelease: 0n }),
    );
    await caughtUp;
    sockets.push(socket);
  }
  return { heard, end: () => sockets.forEach((socket) => socket.terminate()) };
}

/** Accepted batches per second, over the given seconds. */
async function ingest(url, studyId, seconds) {
  const options = {
    url, studyId, rows, columns, contributors: 256, inFlight: 256, sockets: 8, seconds,
    warmUpSeconds: 3,
  };
  const child = spawn(process.execPath, [here('load-generator.js'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const news = JSON.parse(line);
    if (news.type === 'done') return news;
  }
  throw new Error('the load ended early');
}

/**
 * Processor time of the server, in seconds per second, over the given seconds: only releases, no
 * batches.
 */
async function processorShare(server, seconds) {
  const spent = async () => {
    server.send('cpu');
    const [{ user, system }] = await once(server, 'message');
    return (user + system) / 1e6;
  };
  const [before, startMs] = [await spent(), performance.now()];
  await new Promise((done) => setTimeout(done, 1_000 * seconds));
  return (await spent() - before) / ((performance.now() - startMs) / 1_000);
}

/**
 * @returns rates without and with the dashboards, and `cost`, the share of throughput that they
 *   take: medians over rounds. `processor` is their share of the one core that limits ingest. Other
 *   load on the machine does not change it.
 */
export async function subscribersCost({ seconds, rounds, subscribers: dashboards }, note) {
  const directory = mkdtempSync(join(tmpdir(), 'keelson-bench-'));
  const server = spawn(process.execPath, [here('dashboard-subscribers.js'), 'serve', directory], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const { value: first, done } =
      await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
    if (done) throw new Error('the server did not start');
    const { url, load, news } = JSON.parse(first);
    const [without, withThem] = [[], []];
    let heard = 0;
    for (let round = 0; round < rounds; round++) {
      without.push((await ingest(url, load, seconds)).perSecond);
      const followers = await follow(url, news, dashboards);
      withThem.push((await ingest(url, load, seconds)).perSecond);
      heard += followers.heard.releases;
      followers.end();
      note(`round ${round + 1}: ${without.at(-1).toFixed(0)} batches a second alone, `
        + `${withThem.at(-1).toFixed(0)} with ${dashboards} dashboards`);
    }
    const middle = (list) =>
      [...list].sort((left, right) => left - right)[Math.floor(list.length / 2)];
    const idle = await processorShare(server, seconds);
    const followers = await follow(url, news, dashboards);
    const followed = await processorShare(server, seconds);
    followers.end();
    const processor = followed - idle;
    note(`processor seconds a second without load: ${idle.toFixed(3)} alone, `
      + `${followed.toFixed(3)} with ${dashboards} dashboards`);
    return {
      processor, alone: middle(without), withDashboards: middle(withThem), heard,
      cost: 1 - middle(withThem) / middle(without),
    };
  } finally {
    server.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}
