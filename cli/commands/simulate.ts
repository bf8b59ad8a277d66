import { signing } from '#signing';
import { findStudy } from '../../client/session/handshake.js';
import { attackNames, createFleet, type Fleet } from '../../simulation/index.js';
import { utf8 } from '../../src/base/bytes.js';
import type { KeelsonError } from '../../src/base/errors.js';
import { aggregatorArgument, aggregatorUrl, serverKeyArgument } from '../base/address.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import { connected } from '../demo/connecting.js';
import type { Io } from '../base/io.js';
import { publicKeyFlag } from '../base/keys.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import type { Output } from '../base/output.js';
import { readTypes, typeArguments } from '../input/typed-columns.js';
import { readRowsFile, rowsOfStudies } from '../simulate/rows.js';
import { readWelcome } from '../simulate/welcome.js';

/** At most one note about lost connections in this time. */
const noteEveryMs = 5_000;

export const simulate = defineCommand({
  name: 'simulate',
  summary: 'Let simulated contributors, honest and hostile, take part in a running study.',
  details: [
    'Every contributor has its own key, signs its own batches and contributes once per epoch, '
    + 'spread over the epoch. Rows come from a file. Nobody shares one unless the file has too '
    + 'few. Without a file a study whose columns are delay_minutes or distance_miles gets the '
    + 'built-in flights, and any other made-up rows that fit it.',
    'After a lost connection the contributors come back and go on by themselves. Contributors that '
    + 'an earlier run used leave out the epoch that is open when they come; another --seed makes '
    + 'new ones. Ctrl-C ends it.',
  ],
  args: {
    url: aggregatorArgument,
    study: {
      type: 'string', required: true, valueHint: 'study',
      description: 'name or id; several studies: a,b',
    },
    contributors: {
      type: 'string', required: true, valueHint: 'n', description: 'how many, up to 100,000',
    },
    liars: {
      type: 'string', valueHint: 'share', description: 'share that attacks, below 1 (default 0)',
    },
    attack: {
      type: 'enum', options: [...attackNames],
      description: 'what the hostile ones do (default shift)',
    },
    strength: {
      type: 'string', valueHint: 'spreads', description: 'how far the attack moves things',
    },
    input: {
      type: 'string', valueHint: 'file',
      description: 'rows: a file as "keelson estimate" reads, or - (default: flights, or generated '
        + 'rows)',
    },
    ...typeArguments,
    rows: { type: 'string', valueHint: 'n', description: 'rows per contribution (default 8, fewer '
      + 'where the study takes fewer)' },
    seed: {
      type: 'string', valueHint: 'text',
      description: 'keys, order and attacks follow from it (default 1)',
    },
    epochs: {
      type: 'string', valueHint: 'n', description: 'end after taking part in this many epochs',
    },
    retry: { type: 'boolean', description: 'wait for an aggregator that does not answer yet' },
    'server-key': serverKeyArgument,
  },
  repeatable: ['type'],
  examples: [
    'keelson simulate ws://127.0.0.1:8787 --study flights-robust --contributors 3000 --liars 0.1 '
      + '--attack shift',
    'keelson simulate ws://127.0.0.1:8787 --study heights --contributors 500 --input heights.csv '
      + '--rows 1',
    'keelson simulate ws://127.0.0.1:8787 --study rides --contributors 500 --input rides.csv '
      + '--types rides.yaml',
  ],
  // The input may be a pipe that sends nothing. An interrupt ends the process while it waits for
  // rows.
  stopsGently: 'once-started',
  async run({ args, repeated, io, output }) {
    const contributors =
      numberFlag(args.contributors, '--contributors', { whole: true, atLeast: 1, atMost: 100_000 });
    const rowsPer = numberFlag(args.rows, '--rows', { whole: true, atLeast: 1, atMost: 65_536 });
    const epochs = numberFlag(args.epochs, '--epochs', { whole: true, atLeast: 1 }) ?? Infinity;
    const strength = numberFlag(args.strength, '--strength', { atLeast: 0, atMost: 1e9 });
    const seed = signing.sha512(utf8(`keelson simulate ${args.seed ?? '1'}`)).slice(0, 32);
    const studies = listFlag(args.study, '--study')!;
    const stop = new AbortController();
    io.interrupted.addEventListener('abort', () => stop.abort(), { once: true });
    const url = aggregatorUrl(args.url);
    const { 'server-key': pinned } = args;
    const serverKey = pinned === undefined ? undefined : publicKeyFlag(pinned, '--server-key');
    const attack = args.attack ?? 'shift';
    const corruption = numberFlag(args.liars, '--liars', { atLeast: 0, below: 1 }) ?? 0;
    const note = (reason: string, retryInMs: number): void =>
      output.note(notConnected(reason, retryInMs));
    // Reads the file before connecting, so that its errors come first.
    if (args.input === undefined && (args.types ?? repeated['type']?.[0]) !== undefined) {
      throw new UsageError('--types and --type are for the rows of --input: give that too');
    }
    const typed = await readTypes(undefined, args.types, repeated['type'] ?? [], '--types');
    const file = args.input === undefined
      ? undefined : await readRowsFile(args.input, io, typed);
    io.onStarted?.();
    const welcome = await readWelcome({
      url, signal: stop.signal,
      ...(serverKey !== undefined && { serverKey }),
      ...(args.retry === true && { onRetry: note }),
    });
    if (welcome === null) return 0;
    const documents = studies.map((study) => findStudy(welcome, study).document);
    const rows = rowsOfStudies(documents, { file, rows: rowsPer, contributors, seed });
    rows.forEach(({ origin, rows: count }, i) =>
      output.note(
        `${studies[i]!}: ${origin}, ${count === 1 ? '1 row' : `${count} rows`} a contribution`,
      ));
    const sources = new Map(studies.map((study, i) => [study, rows[i]!]));
    const fleet = createFleet({
      url, studies, contributors, seed, signal: stop.signal, corruption, attack,
      rows: (contributor, epoch, study) => sources.get(study)!.source(contributor, epoch, study),
      texts: (study) => sources.get(study)!.texts,
      serverKey: welcome.server.publicKey,
      ...(strength !== undefined && { strength }),
    });
    fleet.onReconnecting(throttled(io, note));
    const gathered = connected(fleet, contributors, studies.length, io);
    try {
      return await follow(fleet, gathered, { studies, epochs, signal: stop.signal, output });
    } finally {
      stop.abort();
    }
  },
});

function notConnected(reason: string, retryInMs: number): string {
  return `not connected (${reason}); trying again in ${(retryInMs / 1000).toFixed(1)} s`;
}

/** Many sockets are lost at the same time. One line in some seconds is enough. */
function throttled(io: Io, tell: (reason: string, retryInMs: number) => void): typeof tell {
  let lastMs = -Infinity;
  return (reason, retryInMs) => {
    if (io.monotonicMs() - lastMs < noteEveryMs) return;
    lastMs = io.monotonicMs();
    tell(reason, retryInMs);
  };
}

interface Following {
  readonly studies: readonly string[];
  /** The number of epochs to take part in. */
  readonly epochs: number;
  readonly signal: AbortSignal;
  readonly output: Output;
}

/**
 * Prints one line when an epoch has ended, until enough epochs have ended, every study has ended,
 * or
 * an interrupt. The counts are those since the start.
 */
async function follow(
  fleet: Fleet, gathered: Promise<number>, { studies, epochs, signal, output }: Following,
): Promise<0 | 1> {
  const open = new Set(studies);
  const current = new Map<string, bigint>();
  const ended = new Map<string, number>();
  let failed = false;
  let finished = false;
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      if (finished) return;
      finished = true;
      const statistics = fleet.statistics();
      output.jsonLine({ type: 'summary', ...statistics });
      output.text(line('in all', statistics));
      resolve(failed ? 1 : 0);
    };
    signal.addEventListener('abort', finish, { once: true });
    fleet.onEpoch((study, epoch) => {
      // A study announces an epoch when it opens: the previous one has ended by then.
      const before = current.get(study);
      current.set(study, epoch);
      if (before === undefined) return;
      const statistics = fleet.statistics();
      output.jsonLine({ type: 'epoch', study, epoch: before, ...statistics });
      output.text(line(`${study}: epoch ${before}`, statistics));
      const count = (ended.get(study) ?? 0) + 1;
      ended.set(study, count);
      if (count >= epochs) open.delete(study);
      if (open.size === 0) void fleet.close().then(finish, reject);
    });
    fleet.onEnded((study, error) => {
      output.jsonLine({ type: 'ended', study, code: error.code, text: error.message });
      output.text(`${study}: ${error.message} (${error.code})`);
      failed ||= error.code !== 'budget-exhausted' && error.code !== 'study-ended';
      open.delete(study);
      if (open.size === 0) void fleet.close().then(finish, reject);
    });
    gathered.then(
      (tookMs) => {
        const { ready, turnedAway, usedBefore } = fleet.statistics();
        output.note(`${ready} sessions ready after ${(tookMs / 1000).toFixed(1)} s`);
        for (const [code, count] of Object.entries(turnedAway)) {
          output.note(`${count} sessions turned away (${code})`);
        }
        if (usedBefore > 0) {
          output.note(`${usedBefore} sessions are of contributors that took part before: they `
            + 'begin with the next epoch (another --seed makes new ones)');
        }
      },
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
