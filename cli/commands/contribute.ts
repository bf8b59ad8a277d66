import { signing } from '#signing';
import {
  createContributor, openOutbox, type Contributor, type ContributorOptions, type RowsInput,
  type TypedRow,
} from '../../client/index.js';
import type { Settled, StudyDocument } from '../../client/index.js';
import { promiseOf, sealing } from '../../client/sealing.js';
import { requestToken } from '../../client/tokens.js';
import { readSecret } from '../../server/base/secret-files.js';
import { InvalidInputError, KeelsonError, WireError } from '../../src/base/errors.js';
import { aggregatorArgument, aggregatorUrl, serverKeyArgument } from '../base/address.js';
import { defineCommand } from '../base/command.js';
import { csvArgument, csvFlag, csvParts } from '../input/csv-flag.js';
import type { InputRequest } from '../input/rows.js';
import { readRows } from '../input/open.js';
import { readTypes, typeArguments, typedRow } from '../input/typed-columns.js';
import type { Io } from '../base/io.js';
import { UsageError } from '../base/errors.js';
import { readEnrolmentFile } from '../base/enrolments.js';
import { publicKeyFlag, readKeyFile } from '../base/keys.js';
import type { Output } from '../base/output.js';

export const contribute = defineCommand({
  name: 'contribute',
  summary: 'Send the rows of a file to a study, as one contributor\'s contribution.',
  details: [
    'All rows of the file are one contribution to one epoch, which is the open epoch or else the '
    + 'next one. The command ends once the aggregator has stored the rows on disk, or has refused '
    + 'them for good. If it is interrupted, the other rows stay in the outbox file, and the next '
    + 'run sends them first.',
    'With --withdraw, no release counts what this key sent to the open epoch, and the epoch takes '
    + 'no more rows of this key. Rows cannot be taken back from a closed epoch.',
  ],
  args: {
    url: aggregatorArgument,
    study: {
      type: 'string', required: true, valueHint: 'study', description: 'name or id of the study',
    },
    key: {
      type: 'string', required: true, valueHint: 'file',
      description: 'key file that "keelson keys new" wrote',
    },
    input: {
      type: 'string', valueHint: 'file',
      description: 'rows: .csv, .ndjson, .npy, .parquet or .arrow, also compressed by gzip or '
        + 'zstd, a database of SQLite or DuckDB, "sql:SELECT ...", or - for standard input',
    },
    withdraw: { type: 'boolean', description: 'instead of sending rows, take back what the open '
      + 'epoch has of this key' },
    columns: {
      type: 'string', valueHint: 'a,b',
      description: 'columns of the file to send, in the study\'s order (default: all)',
    },
    ...typeArguments,
    csv: {
      ...csvArgument.csv,
      description: 'what the file looks like: header=yes or no (default: judged by what the first '
        + 'line holds), separator=; or tab or pipe, decimal=comma; several with commas between',
    },
    retry: { type: 'boolean', description: 'wait for an aggregator that does not answer yet' },
    'encrypted-only': {
      type: 'boolean', description: 'send rows on encrypted channels alone, and end where the '
        + 'aggregator has none',
    },
    outbox: {
      type: 'string', valueHint: 'file',
      description: 'file for unsettled rows (default: the names of key file and study, .outbox)',
    },
    enrolment: {
      type: 'string', valueHint: 'file',
      description: 'file of tokens from "keelson keys enrol" or "keelson keys token", one of them '
        + 'for this key',
    },
    'token-from': {
      type: 'string', valueHint: 'url',
      description: 'issuer to get a blind token from, like https://tokens.example.org',
    },
    'code-file': {
      type: 'string', valueHint: 'file',
      description: 'with --token-from: file with your code, that only you can read',
    },
    'server-key': serverKeyArgument,
  },
  repeatable: ['type'],
  examples: [
    'keelson contribute ws://127.0.0.1:8787 --study flight-delays --key alice.key --input '
      + 'flights.csv',
    'keelson contribute ws://127.0.0.1:8787 --study flight-delays --key alice.key --withdraw',
  ],
  // The input may be a pipe that sends nothing. An interrupt ends the process while it waits for
  // rows.
  stopsGently: 'once-started',
  async run({ args, repeated, io, output }) {
    if (args.input === undefined && args.withdraw !== true) {
      throw new UsageError(
        '--input is missing: give a file of rows, or --withdraw to take back what was sent',
      );
    }
    if (args.input !== undefined && args.withdraw === true) {
      throw new UsageError('--input sends rows and --withdraw takes them back: give one of them');
    }
    const seed = readKeyFile(args.key);
    const serverKey = args['server-key'] === undefined
      ? undefined : publicKeyFlag(args['server-key'], '--server-key');
    const enrolment = enrolmentOf({
      file: args.enrolment, issuer: args['token-from'], codeFile: args['code-file'],
    }, seed, output);
    const rows = args.input === undefined
      ? [] : await allRows({
        path: args.input, missing: 'refuse', flags: ['columns', 'csv', 'type'],
        onNote: (text) => output.note(text),
        ...csvFlag(args.csv, csvParts.filter((part) => part !== 'missing')),
        ...await readTypes(args.columns, args.types, repeated['type'] ?? [], '--types'),
      }, io);
    const url = aggregatorUrl(args.url);
    io.onStarted?.();
    // The name of a study may have any character, and the outbox is a file beside the key.
    const named = args.study.slice(0, 64).replaceAll(/[/\\:]/g, '_');
    const outboxPath = args.outbox ?? `${args.key}.${named}.outbox`;
    const outbox = await openOutbox(outboxPath);
    const contributor = createContributor({
      url, study: args.study, seed, outbox, sealing, signal: io.interrupted,
      encryptedOnly: args['encrypted-only'] === true,
      ...(serverKey !== undefined && { serverKey }),
      ...(enrolment !== undefined && { enrolment }),
    });
    let unreachable: string | undefined;
    const told = tellStatus(contributor, outboxPath, output, args.retry === true ? undefined
      : (reason) => {
        unreachable = reason;
        contributor.abort();
      });
    try {
      if (args.input === undefined) return await takeBack(contributor, output);
      const result = await contributor.contribute(rows);
      const document = await contributor.study();
      await contributor.close();
      await told;
      return report(result, rows.length, contributor.ownSpend, document, output);
    } catch (error) {
      if (unreachable !== undefined && isClosed(error)) {
        throw new KeelsonError('transport-failed', `no aggregator answers at ${url} (${unreachable}`
          + '): check the address and that "keelson serve" runs there, or give --retry to wait for '
          + `it${rows.length === 0 ? '' : `; the rows wait in ${outboxPath}, and the next run for `
            + 'this study sends them first'}`);
      }
      if (!io.interrupted.aborted || !isClosed(error)) throw error;
      throw new KeelsonError('closed', args.input === undefined
        ? 'interrupted before the aggregator answered: run it again to take the rows back'
        : `interrupted before the aggregator had all rows: the rest waits in ${outboxPath}, `
          + 'and the next run for this study sends it first');
    } finally {
      // Rows that no epoch takes would keep the connection open.
      contributor.abort();
    }
  },
});

/** The token in a file, or a function that asks an issuer for one. */
function enrolmentOf(
  { file, issuer, codeFile }: {
    readonly file: string | undefined; readonly issuer: string | undefined;
    readonly codeFile: string | undefined;
  }, seed: Uint8Array, output: Output,
): ContributorOptions['enrolment'] {
  if ((issuer === undefined) !== (codeFile === undefined)) {
    throw new UsageError('--token-from and --code-file come together: give both, or neither');
  }
  if (issuer === undefined || codeFile === undefined) {
    return file === undefined
      ? undefined : readEnrolmentFile(file, signing.createSigner(seed).publicKey);
  }
  if (file !== undefined) {
    throw new UsageError('--enrolment has a token and --token-from gets one: give one of them');
  }
  const code = readSecret(codeFile);
  return async (study) => {
    try {
      return (await requestToken({ issuer, code, seed, study })).enrolment;
    } catch (error) {
      if ((error as KeelsonError).code === 'transport-failed') {
        output.note(`${(error as KeelsonError).message}; trying again`);
      }
      throw error;
    }
  };
}

function isClosed(error: unknown): boolean {
  return error instanceof KeelsonError && error.code === 'closed';
}

async function takeBack(contributor: Contributor, output: Output): Promise<0 | 1> {
  try {
    const epoch = await contributor.withdraw();
    output.json({ outcome: 'withdrawn', epoch });
    output.text(`withdrawn: nothing of this key counts in epoch ${epoch}`);
    return 0;
  } catch (error) {
    if (!(error instanceof WireError) || error.code !== 'too-late') throw error;
    output.json({ outcome: 'refused', code: error.code, text: error.message });
    output.text(`refused: ${error.message} (${error.code})`);
    return 1;
  }
}

async function allRows(request: InputRequest, io: Io): Promise<RowsInput> {
  const { path, types } = request;
  const numbers: number[][] = [];
  const typed: TypedRow[] = [];
  for await (const batch of readRows(request, io.stdin)) {
    const width = batch.columns.length;
    for (let i = 0; i < batch.count; i++) {
      if (types !== undefined) typed.push(typedRow(batch, i, types));
      else numbers.push(Array.from(batch.values.subarray(i * width, (i + 1) * width)));
    }
  }
  const rows = types === undefined ? numbers : typed;
  if (rows.length === 0) {
    throw new InvalidInputError(`${path} holds no rows: a contribution has at least one`, { path });
  }
  return rows;
}

/** Failed attempts before the first connection. The client tries HTTP within them, too. */
const attemptsMax = 5;

/**
 * Reports the status until the contributor has ended.
 * @param onUnreachable - called where the first attempts have all failed.
 */
async function tellStatus(
  contributor: Contributor, outboxPath: string, output: Output,
  onUnreachable: ((reason: string) => void) | undefined,
): Promise<void> {
  let wasConnected = false;
  let kept: 'no' | 'yes' | 'told' = 'no';
  let isNewKeyTold = false;
  for await (const status of contributor.status()) {
    wasConnected ||= status.kind === 'ready' || status.kind === 'waiting-for-epoch';
    if (status.kind === 'kept') {
      kept = 'yes';
    } else if (status.kind === 'reconnecting' && !wasConnected && status.attempt >= attemptsMax
      && onUnreachable !== undefined) {
      onUnreachable(status.reason);
    } else if (status.kind === 'reconnecting') {
      output.note(`not connected (${status.reason}); trying again in `
        + `${(status.retryInMs / 1000).toFixed(1)} s`);
    } else if (status.kind === 'put-off' && status.code === 'too-many-new-keys') {
      if (!isNewKeyTold) {
        output.note('the study takes no more new keys for now; trying again until it does');
      }
      isNewKeyTold = true;
    } else if (status.kind === 'waiting-for-epoch') {
      output.note('connected; waiting for the next epoch to open');
    } else if (status.kind === 'recovered') {
      const { result } = status;
      const outcome = result.kind === 'accepted' ? 'accepted' : result.error.message;
      output.note(`rows of an earlier run are settled: ${outcome}`);
    }
    // Usually the rows are sent at once. Reports only if the user has to wait.
    const waits = contributor.state.kind === 'reconnecting'
      || contributor.state.kind === 'waiting-for-epoch';
    if (kept === 'yes' && waits) {
      output.note(`the rows wait in ${outboxPath}, also if this command is stopped`);
      kept = 'told';
    }
  }
}

/** @param ownSpend what this contributor has spent, if the study's budget is per contributor. */
function report(
  result: Settled, rows: number, ownSpend: Contributor['ownSpend'], document: StudyDocument,
  output: Output,
): 0 | 1 {
  const spent = ownSpend === null ? {} : { ownSpend };
  if (result.kind === 'refused') {
    output.json({
      outcome: 'refused', code: result.error.code, text: result.error.message, ...spent,
    });
    output.text(`refused: ${result.error.message} (${result.error.code})`);
  } else {
    const { sealed } = document;
    output.json({
      outcome: 'accepted', epoch: result.epoch, rows, batches: result.sequences.length, ...spent,
      ...(sealed !== undefined && {
        sealed: { against: sealed.against, servers: sealed.servers.map(({ name }) => name) },
      }),
    });
    output.text(`accepted: ${rows} row${rows === 1 ? '' : 's'}, durable, in epoch ${result.epoch}`);
    if (sealed !== undefined) {
      output.text(`sealed against ${sealed.against}: ${promiseOf(document)!}`);
    }
  }
  if (ownSpend !== null) {
    output.text(`your own budget: ${(100 * ownSpend.rho / ownSpend.rhoCap).toFixed(1)} % spent`);
  }
  return result.kind === 'refused' ? 1 : 0;
}
