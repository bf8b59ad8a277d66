// The cost of one contributor of one row in a PostgreSQL store: time, log and disk. Keys are new,
// bodies are ready-made, and nobody signs: so these are the costs of the store alone.
import { openPostgresStore } from '../../dist/server/store/postgres/open.js';
import { psql } from '../../dist/cli/demo/cluster/private-postgres.js';

const studyId = 'ab'.repeat(32);
const rules = { study: 'study:bench', scope: 'study', rule: { rule: 'zcdp' } };
/** The number of batches that a server commits at once. */
const listBatches = 512;
const pageRows = 5_000;

const bytesOf = (index, length) => {
  const bytes = new Uint8Array(length).map((_, i) => (i * 31 + index) & 255);
  new DataView(bytes.buffer).setFloat64(0, index);
  return bytes;
};

function batch(index, sequence, bodyBytes) {
  return {
    studyId, contributor: Buffer.from(bytesOf(index, 32)).toString('hex'), epoch: BigInt(sequence),
    sequence: BigInt(sequence), last: false, rows: 1, peopleMax: 2 ** 30,
    digest: bytesOf(index * 8 + sequence, 64),
    body: bytesOf(index, bodyBytes), signature: bytesOf(index, 64),
  };
}

async function openStore(url, encryptionKeys) {
  const store = await openPostgresStore({ url, encryptionKeys });
  await store.registerStudy({
    studyId, name: 'bench', document: '{}', nowMs: 0,
    budget: {
      key: rules.study, scope: rules.scope, rule: rules.rule, rhoCap: 1_000n, deltaCap: 0n,
      epsilon: 1, delta: 0,
    },
  });
  return store;
}

/**
 * @param database from `startDatabase`.
 * @param encryptionKeys a folder for the encryption keys.
 * @returns lines of the measurements, for people who come once and again, and for reading back.
 */
export async function measureSpace(database, people, bodyBytes, encryptionKeys) {
  const url = await database.create();
  const store = await openStore(url, encryptionKeys);
  const sql = async (text) => Number(await psql(url, `set search_path = keelson; ${text}`));
  const walBytes = () => sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')");
  const timed = async (action, count = people) => {
    const before = {
      ms: performance.now(), cpu: process.cpuUsage(), database: database.cpuSeconds(),
      wal: await walBytes(),
    };
    await action();
    const { user, system } = process.cpuUsage(before.cpu);
    return `${(count / (performance.now() - before.ms) * 1_000).toFixed(0)} a second, `
      + `${((user + system) / count).toFixed(0)} us of the server, `
      + `${((database.cpuSeconds() - before.database) * 1e6 / count).toFixed(0)} us of the `
      + `database, ${((await walBytes() - before.wal) / count).toFixed(0)} bytes of log`;
  };
  const admit = async (sequence, most = people) => {
    for (let first = 0; first < most; first += listBatches) {
      const count = Math.min(listBatches, most - first);
      await store.admit(Array.from({ length: count }, (_, i) => {
        // The stride has no common factor with the count: people come in another order.
        const index = sequence === 1 ? first + i : ((first + i) * 7_919) % people;
        return batch(index, sequence, bodyBytes);
      }));
    }
  };
  const openEpoch = (epoch) => store.openEpoch({
    studyId, epoch, opensAtMs: 0, closesAtMs: 1, rho: 1n, delta: 0n,
    assignmentKey: new Uint8Array(32), workSeed: new Uint8Array(32), rowsMax: 1, late: 'next',
  });
  const readBack = async () => {
    for (let after = 0n, page; page === undefined || page.length > 0;) {
      page = await store.journal(studyId, 1n, after, pageRows);
      after = page.at(-1)?.position ?? after;
    }
  };
  try {
    await openEpoch(1n);
    const lines = [`the first batch of each key: ${await timed(() => admit(1))}`];
    const size = (name) => sql(`select pg_total_relation_size('${name}')`);
    const journal = await sql(`select pg_total_relation_size('journal_'
      || (select epoch_key from epochs where epoch = 1))`);
    const keys = await size('contributors') + await size('replay');
    lines.push(`on disk: ${(journal / people).toFixed(0)} bytes of journal for each batch, `
      + `${(keys / people).toFixed(0)} bytes for each key`);
    lines.push(`reading back: ${await timed(readBack)}`);
    await store.beginClose(studyId, 1n);
    await openEpoch(2n);
    lines.push(`another batch of each key: ${await timed(() => admit(2))}`);
    await store.beginClose(studyId, 2n);
    await openEpoch(3n);
    await psql(url, 'checkpoint');
    const few = Math.ceil(people / 100);
    const sparse = await timed(() => admit(3, few), few);
    lines.push(`from one key in a hundred, after a checkpoint: ${sparse}`);
    return lines;
  } finally {
    await store.close();
  }
}
