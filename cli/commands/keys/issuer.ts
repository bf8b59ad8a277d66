import { systemClock } from '../../../server/base/clock.js';
import { parseDuration, parseTime } from '../../../server/study-file/durations.js';
import { durationText } from '../../../server/studies/release/guarantee.js';
import { protocolLimits } from '../../../src/base/limits.js';
import { issuerName, periodAt } from '../../../src/base/token-periods.js';
import { defineCommand } from '../../base/command.js';
import { UsageError } from '../../base/errors.js';
import { interruption, listening } from '../../base/listening.js';
import { listFlag, numberFlag } from '../../base/numbers.js';
import type { Output } from '../../base/output.js';
import { readText } from '../../base/text-files.js';
import { IssuerRecord, makeIssuer, readIssuer, type Issuer } from '../../issuer/folder.js';
import { serveIssuer } from '../../issuer/server.js';

const host = '127.0.0.1';
/** A proxy on this machine. */
const localProxies = ['127.0.0.0/8', '::1'];

export const issuer = defineCommand({
  name: 'keys issuer',
  summary: 'Run an issuer of blind tokens: one for each person and period.',
  details: [
    'A study with "admission: { tokens: ... }" accepts a key with a blind token. The issuer knows '
    + 'its people, and gives each of them one token in each period. It cannot tell which key uses '
    + 'a token, and the aggregator cannot tell whose token it is.',
    'Make an issuer once with --new, for one study. It prints the lines for the study file. With '
    + '--codes it prints a secret code for each person: hand them out, they are printed once. With '
    + '--port it runs.',
    'It speaks plain HTTP by RFC 9578. Put a reverse proxy with TLS in front of it, one that '
    + 'writes no log of requests. Run it on another machine than the aggregator, by other people '
    + 'if you can.',
  ],
  args: {
    folder: { type: 'positional', required: true, description: 'the folder of the issuer' },
    new: {
      type: 'boolean', description: 'make the issuer: its keys are in a file only you can read',
    },
    name: {
      type: 'string', valueHint: 'host', description: 'with --new: its host, tokens.example.org',
    },
    from: {
      type: 'string', valueHint: 'time',
      description: 'with --new: when the first period begins (UTC; default: this hour)',
    },
    per: {
      type: 'string', valueHint: 'duration', description: 'with --new: length of a period, 30d',
    },
    periods: {
      type: 'string', valueHint: 'count',
      description: `with --new: how many periods, 1 to ${protocolLimits.tokenPeriods} (default 12)`,
    },
    codes: {
      type: 'string', valueHint: 'count', description: 'make and print codes for so many people',
    },
    revoke: {
      type: 'string', valueHint: 'file',
      description: 'a file with one code in each line: these get no token any more',
    },
    port: { type: 'string', valueHint: 'port', description: 'run on this port; 0: any free port' },
    host: {
      type: 'string', valueHint: 'address', description: `address to listen on (default ${host})`,
    },
    'trust-proxy': {
      type: 'string', valueHint: 'a,b',
      description: 'reverse proxies whose X-Forwarded-For is believed, for the limit of requests '
        + 'per address (default: those of this machine)',
    },
  },
  examples: [
    'keelson keys issuer tokens --new --name tokens.example.org --per 30d --periods 12',
    'keelson keys issuer tokens --codes 200 > codes.txt',
    'keelson keys issuer tokens --port 8790',
  ],
  stopsGently: 'once-started',
  async run({ args, io, output }) {
    const { folder } = args;
    const port = numberFlag(args.port, '--port', { whole: true, atLeast: 0, atMost: 65_535 });
    const count = numberFlag(args.codes, '--codes', { whole: true, atLeast: 1, atMost: 1_000_000 });
    checkOneOf({ new: args.new, codes: args.codes, revoke: args.revoke, port: args.port });
    if (args.new === true) {
      tellIssuer(await makeIssuer(folder, ...newIssuer(args)), output);
      return 0;
    }
    const found = readIssuer(folder);
    const record = new IssuerRecord(folder);
    try {
      if (count !== undefined) tellCodes(record.addCodes(count), output);
      else if (args.revoke !== undefined) revoke(record, readText(args.revoke), output);
      else if (port === undefined) tellIssuer(found, output);
      else {
        record.lock();
        const options = {
          host: args.host ?? host, port, clock: systemClock,
          trustedProxies: listFlag(args['trust-proxy'], '--trust-proxy') ?? localProxies,
        };
        const running = await listening(
          port, options.host, () => serveIssuer(found, record, options));
        io.onStarted?.();
        output.jsonLine({ type: 'listening', address: running.address, people: record.people });
        output.text(`listening    ${running.address}`);
        output.text(`people       ${record.people}`);
        await interruption(io.interrupted);
        await running.close();
      }
    } finally {
      record.close();
    }
    return 0;
  },
});

function checkOneOf(flags: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(flags).filter((name) => flags[name] !== undefined);
  if (given.length < 2) return;
  throw new UsageError(`--${given[0]!} and --${given[1]!} do different things: give one of them`);
}

/** @throws UsageError for flags of which no issuer can be made. */
function newIssuer(args: {
  readonly name?: string | undefined; readonly from?: string | undefined;
  readonly per?: string | undefined; readonly periods?: string | undefined;
}): readonly [facts: Omit<Issuer, 'keys'>, periods: number] {
  const { name = '', from, per = '' } = args;
  if (!issuerName.test(name)) {
    throw new UsageError('--name is the issuer\'s host in lower case, like tokens.example.org');
  }
  const perMs = parseDuration(per);
  if (perMs === undefined || perMs < 1_000 || perMs > 366 * 86_400_000) {
    throw new UsageError('--per is a duration from 1s to 366d, like 30d');
  }
  const nowMs = Date.now();
  const fromMs = from === undefined ? nowMs - nowMs % 3_600_000 : parseTime(from);
  if (!(fromMs > 0)) {
    throw new UsageError(`--from is a time like 2030-01-31 or 2030-01-31T12:00Z, not "${from}"`);
  }
  const periods = numberFlag(
    args.periods, '--periods', { whole: true, atLeast: 1, atMost: protocolLimits.tokenPeriods },
  );
  const facts = { issuer: name, fromMs, perMs };
  const { untilMs } = periodAt(facts, (periods ?? 12) - 1);
  if (untilMs <= nowMs) {
    throw new UsageError(`the last period ends at ${timeText(untilMs)}, which is over: give a later `
      + '--from, a longer --per or more --periods');
  }
  return [facts, periods ?? 12];
}

function tellIssuer({ issuer: name, fromMs, perMs, keys }: Issuer, output: Output): void {
  const ids = keys.map(({ id }) => id);
  const last = periodAt({ fromMs, perMs }, ids.length - 1);
  output.json({ issuer: name, fromMs, perMs, keys: ids });
  output.text('late: drop');
  output.text('admission:');
  output.text('  tokens:');
  output.text(`    issuer: ${name.includes(':') ? `"${name}"` : name}`);
  output.text(`    from: ${timeText(fromMs)}`);
  output.text(`    per: ${perMs % 1_000 === 0 ? `${perMs / 1_000}s` : `${perMs}ms`}`);
  output.text('    keys:');
  for (const id of ids) output.text(`      - "${id}"`);
  output.note(`${ids.length} periods of ${durationText(perMs)}, until ${timeText(last.untilMs)}`);
}

/** The duration as study files write it. */
const timeText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

function tellCodes(codes: readonly string[], output: Output): void {
  output.json({ codes });
  for (const code of codes) output.text(code);
  output.note(`${codes.length} codes. They are printed once: the folder has only their hashes`);
}

function revoke(record: IssuerRecord, text: string, output: Output): void {
  const codes = text.split(/\s+/).filter((code) => code !== '');
  const revoked = codes.filter((code) => record.revoke(code)).length;
  output.json({ revoked, unknown: codes.length - revoked });
  output.text(`${revoked} revoked, ${codes.length - revoked} unknown`);
}
