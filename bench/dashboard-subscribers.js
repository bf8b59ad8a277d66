// The cost of subscribed dashboards for an aggregator, for bench/dashboard.js. It compares accepted
// batches per second with 500 dashboards and without any, in turns, on one server that releases
// every second.
import { WebSocket } from 'ws';
import { fromHex } from '../dist/src/base/bytes.js';
import { decodeServerFrame, encodeClientFrame, subprotocol } from '../dist/src/wire/index.js';
import { median } from './harness/measure.js';
import { ownFolder } from './harness/processes.js';
import { startLoad, startServer } from './load/rig.js';

const [rows, columns] = [64, 8];

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
async function ingest({ url, studyId }, seconds) {
  const { perSecond } = await startLoad({
    url, studyId, rows, columns, contributors: 256, inFlight: 256, sockets: 8, seconds,
    warmUpSeconds: 3,
  }).done;
  return perSecond;
}

/**
 * Processor time of the server, in seconds per second, over the given seconds: only releases, no
 * batches.
 */
async function processorShare(server, seconds) {
  const spent = async () => {
    const { cpu } = await server.sample();
    return (cpu.user + cpu.system) / 1e6;
  };
  const [before, startMs] = [await spent(), performance.now()];
  await new Promise((done) => setTimeout(done, 1_000 * seconds));
  return (await spent() - before) / ((performance.now() - startMs) / 1_000);
}

/**
 * @returns rates without and with the dashboards, and `cost`, the share of throughput that they
 *   cost: medians over rounds. `processor` is their share of the one core that limits ingest. Other
 *   load on the machine does not change it.
 */
export async function subscribersCost({ seconds, rounds, subscribers: dashboards }, note) {
  // Nobody sends rows to the second study, which releases to all subscribers every second.
  const server = await startServer({ directory: ownFolder('subscribers'), columns, news: '1s' });
  const { url, newsId } = server;
  try {
    const [without, withThem] = [[], []];
    let heard = 0;
    for (let round = 0; round < rounds; round++) {
      without.push(await ingest(server, seconds));
      const followers = await follow(url, newsId, dashboards);
      withThem.push(await ingest(server, seconds));
      heard += followers.heard.releases;
      followers.end();
      note(`round ${round + 1}: ${without.at(-1).toFixed(0)} batches a second alone, `
        + `${withThem.at(-1).toFixed(0)} with ${dashboards} dashboards`);
    }
    const idle = await processorShare(server, seconds);
    const followers = await follow(url, newsId, dashboards);
    const followed = await processorShare(server, seconds);
    followers.end();
    const processor = followed - idle;
    note(`processor seconds a second without load: ${idle.toFixed(3)} alone, `
      + `${followed.toFixed(3)} with ${dashboards} dashboards`);
    return {
      processor, alone: median(without), withDashboards: median(withThem), heard,
      cost: 1 - median(withThem) / median(without),
    };
  } finally {
    await server.stop();
  }
}
