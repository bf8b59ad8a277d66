// The store's hot path: verified batches through `admit` with group commit, beside a raw file that
// is written and fdatasync'ed in pieces of the same size in the same run.
// With an address, the same cases run on PostgreSQL too, in turn with SQLite. It makes a schema of
// its own there, and leaves nothing. Its data should lie on the disk of --directory.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../dist/server/base/clock.js';
import { openPostgresStore } from '../dist/server/store/postgres/open.js';
import { dropSchema, migrateSchema } from '../dist/server/store/postgres/schema.js';
import { openSqliteStore } from '../dist/server/store/sqlite/open.js';
import { quantile } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder } from './harness/processes.js';

const {
  contributors, seconds, directory: place, postgres,
} = optionsOf('The store alone: admit with group commit, beside a raw file.', {
  contributors: { usual: 1_000_000, tiny: 5_000, means: 'rows of the replay table' },
  seconds: { usual: 5, tiny: 0.2, means: 'of each case' },
  directory: { usual: tmpdir(), means: 'where the data folder goes' },
  postgres: { usual: '', means: 'address of a database to measure beside SQLite' },
});
const studyId = 'ab'.repeat(32);
const directory = ownFolder('store', place);

const keyOf = (index) => index.toString(16).padStart(64, '0');
const digestOf = (index) => {
  const digest = new Uint8Array(64);
  new DataView(digest.buffer).setFloat64(0, index);
  return digest;
};
const signature = new Uint8Array(64).fill(7);

function batch(contributor, sequence, epoch, body) {
  return {
    studyId, contributor: keyOf(contributor), sequence: BigInt(sequence), epoch, last: true,
    rows: 1, digest: digestOf(contributor * 64 + sequence), body, signature, peopleMax: 2 ** 30,
  };
}

async function openEpoch(store, epoch) {
  if (epoch > 1n) await store.beginClose(studyId, epoch - 1n);
  await store.openEpoch({
    studyId, epoch, opensAtMs: 0, closesAtMs: 1, rho: 1n, delta: 0n,
    assignmentKey: new Uint8Array(32), workSeed: new Uint8Array(32), rowsMax: 1, late: 'next',
  });
}

/**
 * Adds one row per contributor to the replay table, in lists of the length that the store accepts.
 */
async function fill(store) {
  const body = new Uint8Array(16);
  const started = performance.now();
  for (let first = 0; first < contributors; first += 5_000) {
    const count = Math.min(5_000, contributors - first);
    await store.admit(Array.from({ length: count }, (_, i) => batch(first + i, 1, 1n, body)));
  }
  console.log(`filled ${contributors} replay rows in `
    + `${((performance.now() - started) / 1_000).toFixed(1)} s`);
}

/** `inFlight` callers with one batch each at a time, from contributors all over the table. */
async function measure(store, epoch, sequence, bytes, inFlight) {
  const body = new Uint8Array(bytes).map((_, i) => (i * 31) & 255);
  const latencies = [];
  const started = performance.now();
  const ends = started + seconds * 1_000;
  let next = 0;
  const before = await store.health();
  const caller = async () => {
    // Each contributor has one batch per epoch. A fast disk may use them up before the time is
    // over.
    while (performance.now() < ends && next < contributors) {
      // The stride has no common factor with the count, so contributors come in an order that does
      // not suit the file's pages.
      const contributor = (next++ * 7_919) % contributors;
      const asked = performance.now();
      const [result] = await store.admit([batch(contributor, sequence, epoch, body)]);
      if (result.verdict !== 'accepted') {
        throw new Error(`not accepted: ${result.code ?? result.verdict}`);
      }
      latencies.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  const took = (performance.now() - started) / 1_000;
  const after = await store.health();
  return {
    perSecond: latencies.length / took, median: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99), max: quantile(latencies, 1),
    perCommit: latencies.length / (after.commits - before.commits),
    commitMedian: after.commitSecondsMedian * 1_000, commit99: after.commitSeconds99 * 1_000,
    wal: after.walBytes,
  };
}

/**
 * Appends the same bytes in groups of the same size to a plain file, with one fdatasync per group.
 */
function measureRaw(bytes, perCommit) {
  const path = join(directory, 'raw');
  const file = openSync(path, 'w');
  const group = Buffer.alloc(Math.max(1, Math.round(bytes * perCommit)), 5);
  const started = performance.now();
  let groups = 0;
  while (performance.now() - started < Math.min(2, seconds) * 1_000) {
    writeSync(file, group);
    fdatasyncSync(file);
    groups += 1;
  }
  const took = (performance.now() - started) / 1_000;
  closeSync(file);
  rmSync(path);
  return (groups * perCommit) / took;
}

const schema = `bench_${process.pid}`;
const kinds = [{
  name: 'SQLite', open: () => openSqliteStore({ directory, clock: systemClock }),
}];
if (postgres !== '') {
  await migrateSchema({ url: postgres, schema });
  const encryptionKeys = join(directory, 'row-keys');
  kinds.push({
    name: 'PostgreSQL', open: () => openPostgresStore({ url: postgres, schema, encryptionKeys }),
  });
}

async function begin(kind) {
  kind.store = await kind.open();
  await kind.store.registerStudy({
    studyId, name: 'bench', document: '{}', nowMs: 0,
    budget: {
      key: 'study:bench', scope: 'study', rule: { rule: 'zcdp' }, rhoCap: 1_000n, deltaCap: 0n,
        epsilon: 1, delta: 0,
    },
  });
  await openEpoch(kind.store, 1n);
  await fill(kind.store);
}

/** Opened again, so that the store's own latencies belong to this case only. */
async function measureCase(kind, sequence, bytes, inFlight) {
  await kind.store.close();
  kind.store = await kind.open();
  const epoch = BigInt(sequence);
  await openEpoch(kind.store, epoch);
  const result = await measure(kind.store, epoch, sequence, bytes, inFlight);
  const raw = measureRaw(bytes, result.perCommit);
  console.log(`${kind.name}, ${bytes} B, ${inFlight} in flight: `
    + `${result.perSecond.toFixed(0)} batches/s, ${result.perCommit.toFixed(0)} per commit, `
    + `ack median ${result.median.toFixed(1)} ms, p99 ${result.p99.toFixed(1)} ms, max `
    + `${result.max.toFixed(0)} ms; commit median ${result.commitMedian.toFixed(1)} ms, p99 `
    + `${result.commit99.toFixed(1)} ms; raw write + fdatasync ${raw.toFixed(0)}/s, ratio `
    + `${(result.perSecond / raw).toFixed(2)}; log ${(result.wal / 1e6).toFixed(0)} MB`);
  return result;
}

try {
  for (const kind of kinds) await begin(kind);
  let sequence = 2;
  const cases = [[300, 512], [4_096, 64], [4_096, 512], [65_536, 64], [65_536, 256]];
  for (const [bytes, inFlight] of cases) {
    const results = [];
    for (const kind of kinds) results.push(await measureCase(kind, sequence, bytes, inFlight));
    const [sqlite, other] = results;
    if (other !== undefined) {
      console.log(`PostgreSQL / SQLite: ${(other.perSecond / sqlite.perSecond).toFixed(2)} of the `
        + `batches/s, ${(other.p99 / sqlite.p99).toFixed(2)} of p99`);
    }
    sequence += 1;
  }
  for (const { name, store } of kinds) {
    console.log(`${name}: ${((await store.health()).fileBytes / 1e6).toFixed(0)} MB`);
  }
} finally {
  for (const { store } of kinds) await store?.close();
  if (postgres !== '') await dropSchema({ url: postgres, schema });
}
