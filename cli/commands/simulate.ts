import { signing } from '#signing';
import { attackNames, createFleet, datasetSource, type Fleet, type RowSource } from '../../client/simulation/index.js';
import { utf8 } from '../../src/base/bytes.js';
import { InvalidInputError, type KeelsonError } from '../../src/base/errors.js';
import { seededWork } from '../../src/random/work.js';
import { aggregatorUrl } from '../address.js';
import { defineCommand } from '../command.js';
import { loadFlights } from '../data/flights.js';
import { readRows } from '../input/open.js';
import type { Io } from '../io.js';
import { publicKeyFlag } from '../keys.js';
import { listFlag, numberFlag } from '../numbers.js';
import type { Output } from '../output.js';

export const simulate = defineCommand({
  name: 'simulate',
  summary: 'Let simulated contributors, honest and hostile, take part in a running study.',
  details: [
    'Every contributor has its own key, signs its own batches and contributes once per epoch, spread over the epoch. '
    + 'Rows come from a file, dealt out so that nobody shares one, or else from the built-in flights (delay, '
    + 'distance). After a lost connection the contributors come back and go on by themselves. Ctrl-C ends it.',
  ],
  args: {
    url: { type: 'positional', required: true, description: 'the aggregator, like ws://127.0.0.1:8787' },
    study: { type: 'string', required: true, valueHint: 'study', description: 'name or id; several studies: a,b' },
    contributors: { type: 'string', required: true, valueHint: 'n', description: 'how many, up to 100,000' },
    hostile: { type: 'string', valueHint: 'share', description: 'share that attacks, below 1 (default 0)' },
    attack: { type: 'enum', options: [...attackNames], description: 'what the hostile ones do (default shift)' },
    strength: { type: 'string', valueHint: 'scales', description: 'how far the attack moves things' },
    input: {
      type: 'string', valueHint: 'file',
      description: 'rows to deal out: .csv, .ndjson, .npy, or - (default: flights)',
    },
    rows: { type: 'string', valueHint: 'n', description: 'rows per contribution (default 8)' },
    seed: { type: 'string', valueHint: 'text', description: 'keys, order and attacks follow from it (default 1)' },
    epochs: { type: 'string', valueHint: 'n', description: 'end after taking part in this many epochs' },
    'server-key': {
      type: 'string', valueHint: 'key',
      description: 'the only aggregator to talk to, 64 hexadecimal digits',
    },
  },
  examples: [
    'keelson simulate ws://127.0.0.1:8787 --study flights-robust --contributors 3000 --hostile 0.1 --attack shift',
    'keelson simulate ws://127.0.0.1:8787 --study heights --contributors 500 --input heights.csv --rows 1',
  ],
  stopsGently: true,
  async run({ args, io, output }) {
    const contributors = numberFlag(args.contributors, '--contributors', { whole: true, atLeast: 1, atMost: 100_000 });
    const rowsPer = numberFlag(args.rows, '--rows', { whole: true, atLeast: 1, atMost: 65_536 }) ?? 8;
    const epochs = numberFlag(args.epochs, '--epochs', { whole: true, atLeast: 1 }) ?? Infinity;
    const strength = numberFlag(args.strength, '--strength', { atLeast: 0, atMost: 1e9 });
    const seed = signing.sha512(utf8(`keelson simulate ${args.seed ?? '1'}`)).slice(0, 32);
    const { values, columns } = await dataset(args.input, io);
    const rows: RowSource = datasetSource({ values, columns, rows: rowsPer, contributors, seed: seededSeed(seed) });
    const stop = new AbortController();
    io.interrupted.addEventListener('abort', () => stop.abort(), { once: true });
    const fleet = createFleet({
      url: aggregatorUrl(args.url), studies: listFlag(args.study, '--study')!,
      contributors, seed, rows, signal: stop.signal,
      hostileShare: numberFlag(args.hostile, '--hostile', { atLeast: 0, below: 1 }) ?? 0,
      attack: args.attack ?? 'shift',
      ...(strength !== undefined && { strength }),
      ...(args['server-key'] !== undefined && { serverKey: publicKeyFlag(args['server-key'], '--server-key') }),
    });
    try {
      return await follow(fleet, listFlag(args.study, '--study')!, epochs, stop.signal, output);
    } finally {
      stop.abort();
    }
  },
});

/** The order of the data must not be the order of the keys. */
function seededSeed(seed: Uint8Array): Uint8Array {
  const derived = new Uint8Array(32);
  seededWork(seed).fork('dataset').fill(derived);
  return derived;
}

interface Dataset {
  /** Row-major. */
  readonly values: Float64Array;
  readonly columns: number;
}

async function dataset(path: string | undefined, io: Io): Promise<Dataset> {
  if (path === undefined) {
    const { count, columns: { delay, distance } } = loadFlights();
    const values = new Float64Array(2 * count);
    for (let i = 0; i < count; i++) values.set([delay[i]!, distance[i]!], 2 * i);
    return { values, columns: 2 };
  }
  const parts: Float64Array[] = [];
  let columns = 0;
  for await (const batch of readRows({ path, missing: 'refuse', flags: [] }, io.stdin)) {
    columns = batch.columns.length;
    if (batch.count > 0) parts.push(batch.values.slice(0, batch.count * columns));
  }
  if (parts.length === 0) {
    throw new InvalidInputError(`${path} holds no rows: give one or more per person`, { path });
  }
  const values = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    values.set(part, offset);
    offset += part.length;
  }
  return { values, columns };
}

/** Tells what happens, one line per epoch, until enough epochs have passed, every study has ended, or an interrupt. */
async function follow(
  fleet: Fleet, studies: readonly string[], epochs: number, signal: AbortSignal, output: Output,
): Promise<0 | 1> {
  const open = new Set(studies);
  const seen = new Map<string, number>();
  let failed = false;
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      const statistics = fleet.statistics();
      output.jsonLine({ type: 'summary', ...statistics });
      output.text(line('in all', statistics));
      resolve(failed ? 1 : 0);
    };
    signal.addEventListener('abort', finish, { once: true });
    fleet.onEpoch((study, epoch) => {
      const statistics = fleet.statistics();
      output.jsonLine({ type: 'epoch', study, epoch, ...statistics });
      output.text(line(`${study}: epoch ${epoch}`, statistics));
      const count = (seen.get(study) ?? 0) + 1;
      seen.set(study, count);
      if (count > epochs) open.delete(study);
      if (open.size === 0) void fleet.close().then(finish, reject);
    });
    fleet.onEnded((study, error) => {
      output.jsonLine({ type: 'ended', study, code: error.code, text: error.message });
      output.text(`${study}: ${error.message} (${error.code})`);
      failed ||= error.code !== 'budget-exhausted' && error.code !== 'study-ended';
      open.delete(study);
      if (open.size === 0) void fleet.close().then(finish, reject);
    });
    fleet.ready().then(
      () => output.note(`${fleet.statistics().ready} sessions ready`),
      (error: KeelsonError) => { if (!signal.aborted && open.size > 0) reject(error); },
    );
  });
}

function line(label: string, statistics: ReturnType<Fleet['statistics']>): string {
  const { sent, accepted, refused, abuses, reconnections, latencyMs } = statistics;
  const { median, p99 } = latencyMs;
  const parts = [
    `sent ${sent}, accepted ${accepted}`,
    ...Object.entries(refused).map(([code, count]) => `refused ${count} (${code})`),
    ...(abuses === 0 ? [] : [`abuses ${abuses}`]),
    ...(reconnections === 0 ? [] : [`reconnections ${reconnections}`]),
    ...(Number.isNaN(median) ? [] : [`ack ${median.toFixed(0)} ms (p99 ${p99.toFixed(0)})`]),
  ];
  return `${label.padEnd(28)} ${parts.join(', ')}`;
}
