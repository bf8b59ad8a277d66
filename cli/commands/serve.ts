import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import type { TlsIdentity } from '../../server/listener/index.js';
import { createLogger, type Logger } from '../../server/base/logger.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { noStudyStarts } from '../../server/studies/refused-study.js';
import { reloadStudies } from '../../server/studies/hub/reload.js';
import { durationText } from '../../server/studies/release/guarantee.js';
import { signing } from '#signing';
import { toHex } from '../../src/base/bytes.js';
import { keyFingerprint } from '../../src/signing/index.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import { interruption, listening } from '../base/listening.js';
import { refuseInsecureSeed } from '../base/noise.js';
import { listFlag, numberFlag, timeFlag } from '../base/numbers.js';
import type { Output } from '../base/output.js';
import { askedText } from '../base/questions.js';
import { alertsIn, readSettings } from '../base/settings-file.js';
import { readStudies, readStudyFiles, type StudyFiles } from '../base/study-files.js';
import { dataOf, storeArguments } from '../base/store-flags.js';
import { readText } from '../base/text-files.js';

const defaults = { port: 8787, host: '127.0.0.1' } as const;
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run the aggregator with one or more studies.',
  details: [
    'It takes signed batches over WebSocket, and releases each study\'s answer at the end of every '
    + 'epoch. Everything that it acknowledged is in the data folder: after a crash it continues '
    + 'from there. Logs are JSON lines on standard error. Ctrl-C finishes work in progress; open '
    + 'epochs continue at the next start.',
    'On a public network, give it --tls-cert and --tls-key (SIGHUP reads renewed files). Or put a '
    + 'reverse proxy in front of it and name that with --trust-proxy, so that limits apply to '
    + 'clients and not to the proxy.',
    'SIGHUP reads the study files again, but not the settings. A file with changed facts is a new '
    + 'version of its study, which opens at once; the version before ends with its open epoch. '
    + '"keelson studies" lists the running studies, and ends a study for good.',
    'With --store everything but the secrets is in PostgreSQL ("keelson store init" makes the '
    + 'tables). The password comes from the address, PGPASSWORD or ~/.pgpass. '
    + 'docs/operating/postgres.md has the rest.',
    'A sealed study runs on three servers of three operators. Each runs this command with the same '
    + 'study file, its own data folder, and --as with its name in the file. "keelson keys server" '
    + 'prints the key that the file needs.',
    'If a study cannot start, the server reports it and runs the others. With --strict nothing '
    + 'starts then, and SIGHUP changes nothing as long as one file cannot be used.',
  ],
  args: {
    studies: {
      type: 'positional', required: true, valueHint: 'file...',
      description: 'study files (.yaml), as many as you like',
    },
    ...storeArguments,
    settings: {
      type: 'string', valueHint: 'file',
      description: 'what is set once: alerts, the release tick, the store in PostgreSQL, frames, '
        + 'encrypted rows, traces (.yaml; docs/reference/settings-file.md)',
    },
    port: {
      type: 'string', valueHint: 'port', description: `default ${defaults.port}; 0: any free port`,
    },
    host: {
      type: 'string', valueHint: 'address',
      description: `address to listen on (default ${defaults.host})`,
    },
    populations: {
      type: 'string', valueHint: 'file', description: 'budgets that studies share (.yaml)',
    },
    'allow-origin': {
      type: 'string', valueHint: 'a,b', description: 'origins of other web pages that may connect',
    },
    'allow-host': {
      type: 'string', valueHint: 'a,b',
      description: 'names under which browsers may reach this server',
    },
    'tls-cert': {
      type: 'string', valueHint: 'file', description: 'speak TLS: certificate chain (.pem)',
    },
    'tls-key': {
      type: 'string', valueHint: 'file', description: 'private key of that certificate (.pem)',
    },
    'trust-proxy': {
      type: 'string', valueHint: 'a,b',
      description: 'reverse proxies whose X-Forwarded-For is believed, like 10.0.0.0/8',
    },
    'confirm-clock': {
      type: 'string', valueHint: 'time',
      description: 'for one start after the clock was wrong: the time now, like 2030-01-31T12:00Z',
    },
    as: {
      type: 'string', valueHint: 'name',
      description: 'in sealed studies: which of the three servers this is',
    },
    strict: { type: 'boolean', description: 'start only if every study can start (default: leave '
      + 'out those that cannot)' },
    'accept-rollback': {
      type: 'boolean',
      description: 'for one start: continue with an older database than the folder has held '
        + '(docs/operating/operations.md)',
    },
    'log-level': { type: 'enum', options: [...logLevels], description: 'default info' },
  },
  examples: ['keelson serve studies/flights-mean.yaml studies/flights-robust.yaml --data data'],
  stopsGently: 'once-started',
  async run({ args, io, output }) {
    refuseInsecureSeed(io, 'serve');
    const files = [args.studies, ...args._.slice(1)];
    const strict = args.strict === true;
    const read = (): StudyFiles => {
      if (strict) readStudies(files, args.populations);
      const found = readStudyFiles(files, args.populations);
      if (strict && found.refused.length > 0) throw found.refused[0]!.error;
      return found;
    };
    const { studies, refused } = read();
    // Checked before the data folder is made.
    if (studies.length === 0) throw noStudyStarts(refused);
    const settings = readSettings(args.settings);
    const data = dataOf(args, settings);
    const allowedOrigins = listFlag(args['allow-origin'], '--allow-origin');
    const allowedHosts = listFlag(args['allow-host'], '--allow-host');
    const level = (args['log-level']) ?? 'info';
    const port = numberFlag(args.port, '--port', { whole: true, atLeast: 0, atMost: 65_535 })
      ?? defaults.port;
    const host = args.host ?? defaults.host;
    const confirmedTimeMs = timeFlag(args['confirm-clock'], '--confirm-clock');
    const trustedProxies = listFlag(args['trust-proxy'], '--trust-proxy');
    const alerts = alertsIn(settings, args.settings);
    const readTls = tlsReader(args['tls-cert'], args['tls-key']);
    const logger =
      createLogger({ level, destination: { write: (line) => void io.stderr.write(line) } });
    const aggregator = await listening(port, host, () => createAggregator({
      ...data, studies, refused, strict, host, port, logger,
      releaseTickMs: settings.releaseTickMs,
      ...(confirmedTimeMs !== undefined && { confirmedTimeMs }),
      ...(alerts !== undefined && { alerts }),
      ...(args.as !== undefined && { as: args.as }),
      acceptRollback: args['accept-rollback'] === true, tracing: settings.traces,
      network: {
        ...(allowedOrigins !== undefined && { allowedOrigins }),
        ...(allowedHosts !== undefined && { allowedHosts }),
        frameAncestors: settings.frameAncestors,
        encryptedOnly: settings.encryptedOnly,
        ...(trustedProxies !== undefined && { trustedProxies }),
        ...(readTls !== undefined && { tls: readTls() }),
      },
    }));
    io.onStarted?.();
    let reloading = Promise.resolve();
    io.onHangUp?.(() => {
      if (readTls !== undefined) renewTls(aggregator, readTls, logger);
      reloading = reloading.then(() => reload(aggregator, read, logger));
    });
    announce(aggregator, studies, output);
    try {
      await Promise.race([interruption(io.interrupted), aggregator.failed]);
    } catch (error) {
      // Its threads would keep the process alive, and a supervisor restarts a failed server only
      // when it has ended.
      await aggregator.close()
        .catch((cause: unknown) => logger.error({ err: cause }, 'the server did not close well'));
      throw error;
    }
    const hint = 'interrupt again to cut it short';
    logger.info({}, `the server is stopping: it finishes what is under way (${hint})`);
    await aggregator.close();
    logger.info({}, 'the server has stopped');
    return 0;
  },
});

/** Reads both files, now and each time they are renewed; undefined without TLS. */
function tlsReader(
  certificatePath: string | undefined, keyPath: string | undefined,
): (() => TlsIdentity) | undefined {
  if (certificatePath === undefined && keyPath === undefined) return undefined;
  if (certificatePath === undefined || keyPath === undefined) {
    throw new UsageError('--tls-cert and --tls-key come together: give both, or neither');
  }
  return () => ({ certificate: readText(certificatePath), key: readText(keyPath) });
}

/** If a renewed certificate cannot be used, the present one stays in use. */
function renewTls(aggregator: Aggregator, read: () => TlsIdentity, logger: Logger): void {
  try {
    aggregator.renewTls(read());
    logger.info({}, 'the TLS certificate is renewed for new connections');
  } catch (error) {
    logger.error({ err: error }, 'the TLS certificate stays as it was');
  }
}

/** A file that cannot be used does not change the study that runs under its name. Never rejects. */
async function reload(
  aggregator: Aggregator, read: () => StudyFiles, logger: Logger,
): Promise<void> {
  try {
    const { studies, refused } = read();
    logger.info(
      await reloadStudies(aggregator.hub, studies, logger, refused),
      'the study files were read again',
    );
  } catch (error) {
    logger.error({ err: error }, 'the studies stay as they were');
  }
}

function announce(aggregator: Aggregator, asked: readonly StudyDefinition[], output: Output): void {
  const refused = aggregator.hub.refused();
  const leftOut = new Set(refused.map(({ study }) => study));
  const studies = asked.filter(({ document }) => !leftOut.has(document.study));
  const serverKey = toHex(aggregator.serverKey);
  output.jsonLine({
    type: 'listening', address: aggregator.address, serverKey, paths: aggregator.paths,
    studies: studies.map((study) =>
      ({ study: study.document.study, releases: study.releases, lastsMs: lifetimeMs(study) })),
    refused: refused.map(({ study, error }) => ({ study, reason: error.message })),
  });
  output.text(`listening    ${aggregator.address.replace(/^http/, 'ws')}`);
  output.text(`dashboard    ${aggregator.address}/`);
  output.text(`operator     ${aggregator.address}/operator`);
  output.text(`server key   ${serverKey}`);
  output.text(`fingerprint  ${keyFingerprint(aggregator.serverKey, signing)}`);
  for (const path of aggregator.created) {
    output.text(`made         ${path} (secret, only you can read it)`);
  }
  for (const study of studies) {
    const { document, releases } = study;
    const lasts = lifetimeMs(study);
    const { study: name, privacy } = document;
    output.text(`study        ${name}: ${askedText(document)}, `
      + `epsilon ${privacy.epsilon} per release`);
    const { perMs } = document.budget;
    output.text(`             the budget pays for ${releases} release${releases === 1 ? '' : 's'}`
      + (perMs === undefined ? '' : ` within any ${durationText(perMs)}`)
      + (document.budget.scope === 'contributor' ? ' with the same contributor' : '')
      + (lasts === null ? '' : `, ${duration(lasts)} of epochs`));
  }
  for (const { study, error: { message } } of refused) {
    // A message about a file begins with its path, which is all that is known of some studies.
    output.text(`left out     ${message.startsWith(study) ? '' : `${study}: `}${message}`);
  }
}

/**
 * How long a fresh budget lasts in real time; null if epochs close on a count, or if time does not
 * use it up.
 */
function lifetimeMs(
  { document, releases }: Pick<StudyDefinition, 'document' | 'releases'>,
): number | null {
  const { epoch, budget } = document;
  const isUsedUp = budget.scope !== 'contributor' && budget.perMs === undefined;
  return 'everyMs' in epoch && isUsedUp ? releases * epoch.everyMs : null;
}

function duration(milliseconds: number): string {
  const units = [
    ['day', 86_400_000], ['hour', 3_600_000], ['minute', 60_000], ['second', 1000],
  ] as const;
  const [name, unit] = units.find(([, size]) => milliseconds >= 2 * size) ?? units[3];
  return `${Number((milliseconds / unit).toFixed(1))} ${name}s`;
}
