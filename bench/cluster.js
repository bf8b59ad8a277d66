// The same study on SQLite, on one PostgreSQL server and on several over one PostgreSQL: whole
// servers, with signing contributors in another process. All stores are on one disk, and they are
// measured in turn, so that other work on the machine hits all of them.
// It needs PostgreSQL's programs. Exit status 1 when anything is lost.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadText, quantile, sum } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';
import { startDatabase } from './load/database.js';
import { measureSpace } from './load/space.js';
import { startContributors, startServer } from './load/rig.js';

const {
  only, rounds, seconds, contributors: people, every, lease, keys, directory: place,
} = optionsOf('The same study on SQLite, and on one and two PostgreSQL servers.', {
  only: { usual: 'rates,closes,kills,space', means: 'parts, separated by commas' },
  rounds: { usual: 5, tiny: 1, means: 'in which the stores take turns; kills of leaders' },
  seconds: { usual: 8, tiny: 1, means: 'of load in each turn; twice as many for closes' },
  contributors: { usual: 512, tiny: 32, means: 'that send, each with one batch in flight' },
  keys: { usual: 200_000, tiny: 2_000, means: 'that send one batch each, for space' },
  every: { usual: '2s', tiny: '1s', means: 'length of an epoch for closes and kills' },
  lease: { usual: 10, tiny: 2, means: 'seconds of a lease' },
  directory: { usual: tmpdir(), means: 'where all data go' },
});
const columns = 8;
/** Rows of a batch, by the size of their numbers. */
const sizes = [['4 KiB', 64], ['256 B', 4]];
const directory = ownFolder('cluster', place);
// Not in that folder: PostgreSQL runs as another user where this runs as root.
const database = await startDatabase(place);
const running = new Set();
let lost = 0;

const middle = (list) => {
  const sorted = [...list].sort((left, right) => left - right);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)])
    / 2;
};
const range = (list, digits = 0) => `${middle(list).toFixed(digits)} `
  + `(${Math.min(...list).toFixed(digits)} to ${Math.max(...list).toFixed(digits)})`;

/** Servers with one study, and contributors who are spread over them. */
class Cluster {
  constructor(name, options) {
    this.name = name;
    this.options = options;
    this.servers = [];
  }

  /** @param count of servers; 0: one on SQLite. */
  static async start(name, count, epoch) {
    const cluster = new Cluster(name, {
      directory: mkdtempSync(join(directory, 'store-')), columns, every: epoch,
      leaseMs: lease * 1_000,
      ...(count > 0 && { database: await database.create() }),
    });
    running.add(cluster);
    for (let i = 0; i < Math.max(1, count); i++) cluster.servers.push(await cluster.serve());
    cluster.contributors = await startContributors({
      url: cluster.servers.map(({ url }) => url), studyId: cluster.servers[0].studyId, first: 0,
      contributors: people, sockets: 16, rows: sizes[0][1], columns,
    });
    return cluster;
  }

  serve(port = 0) {
    return startServer({ ...this.options, port });
  }

  samples() {
    return Promise.all(this.servers.map((server) => server.sample()));
  }

  /** Load for a while, once the queues are full. */
  async load(rows, time) {
    const command = { offer: 1e6, inFlight: 1, rows };
    await this.contributors.ask({ ...command, seconds: Math.min(1, time) });
    const [before, databaseBefore] = [await this.samples(), database.cpuSeconds()];
    const result = await this.contributors.ask({ ...command, seconds: time });
    const [after, databaseAfter] = [await this.samples(), database.cpuSeconds()];
    await this.settle();
    const grown = (figure) => sum(after.map(figure)) - sum(before.map(figure));
    const batches = grown(({ health }) => health.batches);
    const serverCpu = grown(({ cpu }) => cpu.user + cpu.system);
    return {
      ...result, turnsMs: after.flatMap(({ turnsMs }) => turnsMs),
      lists: grown(({ health }) => health.commits), retries: grown(({ health }) => health.retries),
      serverUs: serverCpu / batches, databaseUs: (databaseAfter - databaseBefore) * 1e6 / batches,
      pauseMs: Math.max(...result.pausesMs),
    };
  }

  async settle() {
    const { waiting, lost: refused } = await this.contributors.ask({ settle: 120 });
    lost += waiting + refused;
  }

  async stop() {
    this.contributors?.stop();
    for (const server of this.servers) server.stop();
    running.delete(this);
  }
}

/** All stores, each in a cluster of its own. */
async function startAll(names, epoch) {
  const counts = { 'SQLite': 0, 'one server': 1, 'two servers': 2 };
  const clusters = [];
  for (const name of names) clusters.push(await Cluster.start(name, counts[name], epoch));
  return clusters;
}

/** In turn, so that each is measured in every round. @returns results by cluster. */
async function inTurn(clusters, rows, time) {
  const results = clusters.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, cluster] of clusters.entries()) results[i].push(await cluster.load(rows, time));
  }
  return results;
}

async function measureRates() {
  const clusters = await startAll(['SQLite', 'one server', 'two servers'], '1h');
  for (const [size, rows] of sizes) {
    const results = await inTurn(clusters, rows, seconds);
    console.log(`\n${size}, ${people} in flight, ${rounds} rounds of ${seconds} s`);
    console.log('store         batches/s (least to most)   p50 ms   p99 ms   server us   '
      + 'database us   lists   retries');
    results.forEach((each, i) => {
      const of = (name) => each.map((result) => result[name]);
      console.log([
        clusters[i].name.padEnd(12), range(of('perSecond')).padStart(26),
        middle(of('p50')).toFixed(0).padStart(8), middle(of('p99')).toFixed(0).padStart(8),
        middle(of('serverUs')).toFixed(0).padStart(11),
        // SQLite has none; the remaining work of the database belongs to the others.
        (i === 0 ? '-' : middle(of('databaseUs')).toFixed(0)).padStart(13),
        String(sum(of('lists'))).padStart(7), String(sum(of('retries'))).padStart(9),
      ].join(' '));
    });
    const [sqlite, one, two] = results;
    for (const [what, left, right] of [
      ['one server / SQLite', one, sqlite], ['two servers / one', two, one],
    ]) {
      const ratio = (name) => range(left.map((result, i) => result[name] / right[i][name]), 2);
      console.log(`${size}, ${what}: ${ratio('perSecond')} of the batches/s, ${ratio('p99')} of p99`);
    }
  }
  for (const cluster of clusters) await cluster.stop();
}

async function measureCloses() {
  const clusters = await startAll(['SQLite', 'two servers'], every);
  const results = await inTurn(clusters, sizes[0][1], 2 * seconds);
  // A busy machine may not reach a close in a short turn.
  for (const [i, cluster] of clusters.entries()) {
    while (results[i].every(({ turnsMs }) => turnsMs.length === 0)) {
      results[i].push(await cluster.load(sizes[0][1], 2 * seconds));
    }
  }
  console.log(`\ncloses every ${every} under full load of 4 KiB, ${rounds} rounds of `
    + `${2 * seconds} s`);
  results.forEach((each, i) => {
    const turns = each.flatMap(({ turnsMs }) => turnsMs);
    const at = (part) => quantile(turns, part).toFixed(0);
    console.log(`${clusters[i].name}: ${turns.length} closes, p50 ${at(0.5)}, p99 `
      + `${at(0.99)} ms; longest pause of acks ${range(each.map((one) => one.pauseMs))} `
      + `ms, p99 of acks ${range(each.map((one) => one.p99))} ms; `
      + `${middle(each.map((one) => one.perSecond)).toFixed(0)} batches/s`);
  });
  for (const cluster of clusters) await cluster.stop();
}

async function measureKills() {
  const cluster = await Cluster.start('kills', 2, every);
  const [afterMs, pausesMs] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const samples = await cluster.samples();
    const leader = samples.findIndex(({ leads }) => leads > 0);
    const [old, other] = [cluster.servers[leader], cluster.servers[1 - leader]];
    const { epoch } = await other.sample();
    const load = cluster.contributors.ask({ offer: 500, inFlight: 1, seconds: lease + 5 });
    const killedMs = performance.now();
    old.stop();
    for (let now = epoch; now <= epoch;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      ({ epoch: now } = await other.sample());
    }
    afterMs.push(performance.now() - killedMs);
    pausesMs.push((await load).pausesMs[1 - leader]);
    cluster.servers[leader] = await cluster.serve(Number(new URL(old.url).port));
    await cluster.settle();
  }
  console.log(`\n${rounds} leaders killed, lease ${lease} s, epochs of ${every}: next epoch after `
    + `${range(afterMs.map((ms) => ms / 1_000), 1)} s; longest pause of acks on the other server `
    + `${range(pausesMs)} ms`);
  await cluster.stop();
}

/** 20 numbers, with the head of the body. */
const bodyBytes = 200;

async function measureParts() {
  const lines =
    await measureSpace(database, keys, bodyBytes, join(directory, 'row-keys'));
  console.log(`\n${keys} people with one batch of 20 numbers each, on one connection`);
  for (const line of lines) console.log(line);
}

const parts = {
  rates: measureRates, closes: measureCloses, kills: measureKills, space: measureParts,
};
try {
  console.log(loadText());
  for (const name of only.split(',')) await parts[name]();
  console.log(`${lost} lost`);
  process.exitCode = lost === 0 ? 0 : 1;
} finally {
  for (const cluster of running) await cluster.stop();
  await database.stop();
}
