// The cost of a sealed robust mean: three server processes that are joined by links with a delay
// and a limited rate, and the work of contributors and of taking in their entries. Processor time
// is the time used; a busy machine only lengthens the wall-clock seconds.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { privacyTarget } from '../dist/src/privacy/accounting/target.js';
import { createSealedMechanisms } from '../dist/src/privacy/mechanisms/sealed-noise.js';
import { secureNoise } from '../dist/src/random/secure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { Sealed } from '../dist/src/base/brands.js';
import { utf8 } from '../dist/src/base/bytes.js';
import { sealedRobustMean } from '../dist/src/sealed/programs/robust-mean.js';
import { columnGrid } from '../dist/src/sealed/shares/column-grid.js';
import { openEntry } from '../dist/src/sealed/shares/opening.js';
import { sealEntry } from '../dist/src/sealed/shares/sealing.js';
import { KeyElements } from '../dist/src/sealed/proof/field.js';
import { ChunkedProofs } from '../dist/src/sealed/proof/message-proofs.js';
import { KeyStream } from '../dist/src/sealed/steps/key-stream.js';
import { openSum, Verified } from '../dist/src/sealed/steps/open.js';
import { Party } from '../dist/src/sealed/steps/party.js';
import { boxKeysOf } from '../dist/src/signing/boxes.js';
import { signBatch } from '../dist/src/signing/index.js';
import { signing } from '../dist/src/signing/node.js';
import { makeRows } from './accuracy/data.js';
import { optionsOf } from './harness/options.js';
import { joinedTo, portOf } from './sealed/links.js';

const flag = 'KEELSON_BENCH_SERVER';
const options = optionsOf('A sealed robust mean: bytes, rounds, processor time, memory.', {
  contributors: { usual: [10_000, 100_000], tiny: [300], means: 'numbers of rows, with commas' },
  dimension: { usual: 10, tiny: 2, means: 'columns' },
  attacks: { usual: 'none,dense,rot3', tiny: 'dense', means: 'of a twentieth, with commas' },
  delay: { usual: [0, 20], tiny: [0, 2], means: 'milliseconds one way, with commas' },
  rate: { usual: 100, tiny: 1000, means: 'Mbit/s that a server sends, where there is a delay' },
  entries: { usual: 2_000, tiny: 5, means: 'that are sealed and taken in' },
});
const { dimension } = options;
const servers = [0, 1, 2];
const sha512 = (bytes) => signing.sha512(bytes);
/** Half the width of each column's range, in spreads: 256 steps to a spread. */
const reach = 120;

function programFor(contributors) {
  const grid = columnGrid(
    Array.from({ length: dimension }, () => [-reach, reach]), new Array(dimension).fill(1), 16,
  );
  return sealedRobustMean({
    dimension, cohort: contributors, participation: 'secret',
    target: privacyTarget({ epsilon: 1, delta: 1e-6 }),
  }, { grid, corruption: 0.05 });
}

if (process.env[flag] === undefined) await measureAll();
else await serve(Number(process.env[flag]));

/** One server: waits for a case, joins the others, runs, and reports its cost. */
async function serve(server) {
  const sockets = await portOf((port) => process.send({ port }));
  const { contributors, attack, delay, isProved, ports, keys } =
    await new Promise((resolve) => process.once('message', resolve));
  const program = programFor(contributors);
  const rows = sharesAt(server, program, contributors, attack);
  const { link, close } = await joinedTo(server, ports, sockets, { delay, rate: options.rate });
  const streamOf = (component) => KeyStream.ofKey(Buffer.from(keys[component], 'hex'));
  const party = new Party({
    server, link, own: streamOf(server), next: streamOf((server + 1) % 3),
    start: new Uint8Array(32), sha512,
    proofsOf: isProved ? (one) => new ChunkedProofs(one, (pair, use, chunk) => {
      const key = keys[pair === 'own' ? server : (server + 1) % 3];
      return new KeyElements(KeyStream.ofKey(sha512(utf8(`${key} ${use} ${chunk}`)).slice(0, 16)));
    }, sha512) : null,
  });
  const mechanisms =
    createSealedMechanisms(program.events, secureNoise(), async (noised) =>
      openSum(party, await Verified.of(party, noised)));
  // While rows still arrive.
  mechanisms.prepare(Infinity);
  const [start, used] = [performance.now(), process.cpuUsage()];
  const { value } = await program.run({ party, mechanisms, rows });
  const { user, system } = process.cpuUsage(used);
  process.send({
    outcome: value, sent: party.sentBytes, rounds: party.rounds,
    seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6,
    megabytes: process.resourceUsage().maxRSS / 1024,
  });
  await close();
  process.disconnect();
}

/** The components of all rows that a server holds. All servers make the same ones. */
function sharesAt(server, program, contributors, attack) {
  const { values } =
    makeRows(attack, { dimension, contributors, corruption: 0.05, seed: 1 });
  const random = seededRandom(utf8('shares'));
  const bytes = new Uint8Array(8 * dimension);
  const words = new Uint32Array(bytes.buffer);
  const mask = 2 ** program.form.bits - 1;
  return Array.from({ length: contributors }, (_, i) => {
    const row = program.valuesOf(values.subarray(i * dimension, (i + 1) * dimension));
    random.fill(bytes);
    const first = words.slice(0, dimension).map((word) => word & mask);
    const second = words.slice(dimension).map((word) => word & mask);
    const components =
      [first, second, row.map((entry, j) => (entry - first[j] - second[j]) & mask)];
    return Sealed.of({ own: components[server], next: components[(server + 1) % 3] });
  });
}

/** One case in three processes. */
async function measured(contributors, attack, delay, isProved) {
  const children = servers.map((server) => fork(process.argv[1], process.argv.slice(2), {
    env: { ...process.env, [flag]: String(server) },
  }));
  const next = (child) => new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a server ended with status ${code}`)));
  });
  const ports = (await Promise.all(children.map(next))).map(({ port }) => port);
  const random = secureNoise();
  const keys = servers.map(() => {
    const key = new Uint8Array(16);
    random.fill(key);
    return Buffer.from(key).toString('hex');
  });
  const results = children.map(next);
  for (const child of children) {
    child.send({ contributors, attack, delay, isProved, ports, keys });
  }
  try {
    return await Promise.all(results);
  } catch (error) {
    for (const child of children) child.kill();
    throw error;
  }
}

async function measureAll() {
  console.log(`${availableParallelism()} cores for three servers; d = ${dimension}, k = 16, `
    + `256 steps to a spread; links of ${options.rate} Mbit/s where there is a delay`);
  console.log('contributors  attack            delay  proofs  bytes/person  rounds  cpu s  MB   '
    + 'seconds');
  for (const contributors of options.contributors) {
    for (const attack of options.attacks.split(',')) {
      for (const [delay, isProved] of options.delay.flatMap((ms) => [[ms, false], [ms, true]])) {
        const each = await measured(contributors, attack, delay, isProved);
        const most = (part) => Math.max(...each.map((one) => one[part]));
        const answers = new Set(each.map(({ outcome }) => JSON.stringify(outcome)));
        if (answers.size !== 1) throw new Error('the servers have different answers');
        console.log([
          String(contributors).padStart(12), ` ${attack.padEnd(16)}`, `${delay} ms`.padStart(6),
          (isProved ? 'yes' : 'no').padStart(6),
          `${Math.round(Math.min(...each.map(({ sent }) => sent)) / contributors)} to `
            + `${Math.round(most('sent') / contributors)}`.padEnd(4),
          String(most('rounds')).padStart(7), most('cpu').toFixed(2).padStart(6),
          most('megabytes').toFixed(0).padStart(4), most('seconds').toFixed(2).padStart(7),
        ].join(' '));
      }
    }
  }
  measureEntries();
}

/** The work of a contributor, and of a server that takes in an entry. */
function measureEntries() {
  const filled = (byte) => new Uint8Array(32).fill(byte);
  const program = programFor(10_000);
  const forms = [program.form];
  const [contributor, front] = [signing.createSigner(filled(7)), signing.createSigner(filled(9))];
  const secrets = servers.map((server) => filled(20 + server));
  const place = { studyId: filled(3), epoch: 5n, sequence: 1n };
  const context = { serverKey: front.publicKey, studyId: place.studyId };
  const boxKeys = secrets.map((secret) => boxKeysOf(secret).publicKey);
  const row = program.valuesOf(new Float64Array(dimension).fill(0.5));
  const sealOne = () => {
    const body = sealEntry(
      signing, [row], { forms, place, contributorKey: contributor.publicKey, boxKeys },
    );
    return { body, signature: signBatch(contributor, context, signing.sha512(body)) };
  };
  const { body, signature } = sealOne();
  const verifier = signing.createVerifier(contributor.publicKey);
  const seal = perCall(sealOne);
  const open = perCall((i) => openEntry(signing, verifier, body, signature, {
    server: i % 3, forms, boxSecret: secrets[i % 3], frontKey: front.publicKey, ...place,
  }));
  console.log(`entry: ${body.length + signature.length} bytes, sealed in ${seal.toFixed(2)} ms, `
    + `taken in in ${open.toFixed(2)} ms at each server (processor time)`);
}

/** Milliseconds of processor time of one call. */
function perCall(work) {
  for (let i = 0; i < Math.min(50, options.entries); i++) work(i);
  const used = process.cpuUsage();
  for (let i = 0; i < options.entries; i++) work(i);
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000 / options.entries;
}
