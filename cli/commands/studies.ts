import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';
import { aggregatorUrl } from '../base/address.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import { askedIn } from '../base/questions.js';
import { readText } from '../base/text-files.js';

/** An aggregator answers at once. Another kind of server may never finish. */
const answerMs = 10_000;
/** Larger than the list of all studies that a server can have. */
const answerBytesMax = 16 * 1024 * 1024;

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly epoch: string;
  readonly releases: number;
  /** The canonical facts, in base64. */
  readonly facts: string;
}

export const studies = defineCommand({
  name: 'studies',
  summary: 'List the studies of a running aggregator, end one for good, or resume one.',
  details: [
    'Anybody may list the studies. --end needs the operator token, from the file that the '
    + 'aggregator made in its data folder. The study\'s open epoch is still released as planned. '
    + 'No other epoch follows, and no restart opens the study again.',
    'A server of a sealed study holds it when it finds that a message of another server was wrong: '
    + 'then no epoch follows. --resume with the epoch that its log names lets the study go on, at '
    + 'each server that holds it. Find out before what ran at the other servers. --resume also '
    + 'ends the pause of a study.',
    'To add studies, or a new version of one, change the study files and send SIGHUP to the '
    + 'aggregator.',
  ],
  args: {
    url: {
      type: 'positional', required: true, description: 'where it listens, like ws://127.0.0.1:8787',
    },
    end: { type: 'string', valueHint: 'study', description: 'end this study, by name or id' },
    resume: {
      type: 'string', valueHint: 'study', description: 'resume this study, by name or id',
    },
    epoch: {
      type: 'string', valueHint: 'number', description: 'with --resume: the epoch in which a '
        + 'sealed study was held',
    },
    'token-file': { type: 'string', valueHint: 'file', description: 'the operator token (data '
      + 'folder, operator.token)' },
  },
  examples: [
    'keelson studies ws://127.0.0.1:8787',
    'keelson studies ws://127.0.0.1:8787 --end flights --token-file keelson-data/operator.token',
    'keelson studies ws://127.0.0.1:8787 --resume pay --epoch 12 --token-file '
    + 'keelson-data/operator.token',
  ],
  async run({ args, output }) {
    const base = new URL(aggregatorUrl(args.url).replace(/^ws/, 'http'));
    const file = args['token-file'];
    if (args.end !== undefined && args.resume !== undefined) {
      throw new UsageError('--end and --resume exclude each other: give one of them');
    }
    if (args.epoch !== undefined && args.resume === undefined) {
      throw new UsageError('--epoch goes with --resume');
    }
    const action = args.end !== undefined ? '--end' : args.resume !== undefined ? '--resume' : null;
    if (action !== null && file === undefined) {
      throw new UsageError(`${action} needs --token-file: operator.token in the data folder`);
    }
    if (args.resume !== undefined) {
      const epoch = args.epoch === undefined ? '' : `&epoch=${encodeURIComponent(args.epoch)}`;
      const path = `/v1/operator/resume-study?study=${encodeURIComponent(args.resume)}${epoch}`;
      await ask(base, path, 'POST', tokenIn(file!));
      output.text(`resumed      ${args.resume}`);
      output.json({ resumed: args.resume });
      return 0;
    }
    if (args.end !== undefined) {
      const path = `/v1/operator/end-study?study=${encodeURIComponent(args.end)}`;
      await ask(base, path, 'POST', tokenIn(file!));
      output.text(`ending       ${args.end}: its open epoch is released first`);
      output.json({ ending: args.end });
      return 0;
    }
    if (file !== undefined) {
      throw new UsageError('--token-file is for --end and --resume: anybody may list the studies');
    }
    const listed = listIn(await ask(base, '/v1/studies', 'GET'), base);
    const shown = listed.map(({ facts, ...study }) =>
      ({ ...study, asked: askedIn(Buffer.from(facts, 'base64')) }));
    output.json({ studies: shown.map(({ id, name, state, epoch, releases, asked }) => ({
      id, name, state, epoch, releases,
      ...(asked !== null && { questions: asked.questions }),
    })) });
    for (const { id, name, state, epoch, releases, asked } of shown) {
      output.text(`${name}: ${state}, ${epoch === '0' ? 'no open epoch' : `epoch ${epoch}`}, `
        + `${releases} releases`);
      if (asked !== null) output.text(`  ${asked.text}`);
      output.text(`  ${id}`);
    }
    return 0;
  },
});

/**
 * @throws InvalidInputError for a file that cannot be an operator token. The message does not show
 *   its text.
 */
function tokenIn(file: string): string {
  const token = readText(file).trim();
  if (/^[\x21-\x7e]{1,1024}$/.test(token)) return token;
  const text = `${file} holds no operator token: give operator.token of the data folder`;
  throw new InvalidInputError(text, { path: file });
}

/** @throws KeelsonError('transport-failed') if the answer does not come from an aggregator. */
function listIn(text: string, base: URL): readonly Listed[] {
  try {
    const { studies: listed } = JSON.parse(text) as { readonly studies: readonly Listed[] };
    const texts = listed.flatMap(({ id, name, state, epoch, facts }) =>
      [id, name, state, epoch, facts]);
    const isList = texts.every((text) => typeof text === 'string')
      && listed.every(({ releases }) => typeof releases === 'number');
    if (isList) return listed;
  } catch {
    // The text is not JSON, or has no list.
  }
  throw new KeelsonError('transport-failed', `${base.origin} is no aggregator: check the address`);
}

/**
 * The body of a successful answer. It does not use `fetch`, which sends no origin: the server
 * accepts changes only from its own pages, and this request must count as such.
 * @throws KeelsonError('transport-failed') if nobody answers; UsageError with the server's own
 *   message if it refuses.
 */
function ask(base: URL, path: string, method: 'GET' | 'POST', token?: string): Promise<string> {
  const send = base.protocol === 'https:' ? tlsRequest : plainRequest;
  const headers = {
    Origin: base.origin, ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(answerMs);
    const sent = send(new URL(path, base), { method, headers, signal }, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > answerBytesMax) {
          sent.destroy(new Error(`its answer has more than ${answerBytesMax} bytes`));
        } else parts.push(part);
      });
      response.on('error', (cause) => reject(unreachable(base, cause)));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const status = response.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(text);
        else reject(new UsageError(`${base.origin} refuses (${status}): ${reasonIn(text)}`));
      });
    });
    sent.on('error', (cause) => reject(unreachable(base, cause)));
    sent.end();
  });
}

function reasonIn(text: string): string {
  try {
    return (JSON.parse(text) as { readonly error: { readonly text: string } }).error.text;
  } catch {
    return 'this is not the answer of an aggregator: check the address';
  }
}

function unreachable(base: URL, cause: Error): KeelsonError {
  const isPlain = cause.message.includes('wrong version number');
  const why = isPlain ? 'it speaks no TLS: write ws: or http:'
    : cause.name === 'AbortError'
      ? `no whole answer within ${answerMs / 1000} s` : cause.message.split('\n')[0];
  const text = `${base.origin} does not answer (${why}): check the address and that it runs`;
  return new KeelsonError('transport-failed', text, { cause });
}
