import { defineCommand } from '../base/command.js';
import { aggregatorUrl } from '../base/address.js';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';
import type { Output } from '../base/output.js';
import { readSettings, settingsArgument } from '../base/settings-file.js';
import {
  encryptionKeysIn, placeOf, secretsDefault, storeArguments, type StoreFlags,
} from '../base/store-flags.js';
import { passwordDetails } from './store/tables.js';
import type { Finding } from '../doctor/finding.js';
import { folderFindings } from '../doctor/folder.js';
import { machineFindings } from '../doctor/machine.js';
import { serverFindings } from '../doctor/server.js';
import { storeFindings } from '../doctor/store.js';
import { studyFileFindings } from '../doctor/study-file.js';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a data folder, a store, a server or a study file, and say what to mend.',
  details: [
    'Of a data folder it checks the Node version, open files, memory, the clock, the modes of the '
    + 'folder and of the keys, disk space, the database page by page, and how much of each budget '
    + 'is left. It may run beside the server, and changes nothing in it. With --disk it also times '
    + 'durable writes: it writes a small file into the folder and removes it.',
    'Of a store in PostgreSQL (--store) it checks what a start would refuse, the clock of the '
    + 'database, its standby and connections, the servers on it, and budgets. Where a server runs, '
    + 'it also checks the folders of its keys (--secrets, --encryption-keys). '
    + passwordDetails,
    'Of a server, given by its address, it checks what everybody may ask: health, clock, TLS '
    + 'certificate, dashboard, studies, that metrics are closed, and whether rows from here go '
    + 'encrypted.',
    'Of a study file, whose name ends in .yaml or .yml, it lists names of before the first release '
    + 'with the new ones, and plans the study. --write puts the new names into the file, where all '
    + 'else stays. --servers also asks the three servers of a sealed study: whether each answers, '
    + 'has its key, serves this study, and shares the time.',
    'Each line is ok, warn or fail, with what to do. The status is 1 if one line is fail.',
  ],
  args: {
    where: {
      type: 'positional', required: false, valueHint: 'folder|url|file',
      description: 'data folder of "keelson serve", a server like https://HOST, or a study file',
    },
    store: {
      ...storeArguments.store,
      description: 'instead: the store in PostgreSQL, like postgres://user@host/database',
    },
    secrets: storeArguments.secrets,
    'encryption-keys': storeArguments['encryption-keys'],
    ...settingsArgument,
    disk: { type: 'boolean', description: 'also time durable writes to the data folder' },
    write: { type: 'boolean', description: 'write new names into a study file' },
    servers: { type: 'boolean', description: 'also ask the three servers of a sealed study' },
  },
  examples: [
    'keelson doctor data', 'keelson doctor https://aggregator.example.org --json',
    'keelson doctor rides.yaml --write', 'keelson doctor sealed.yaml --servers',
    'keelson doctor --store postgres://keelson@db/keelson --secrets /var/lib/keelson/secrets',
  ],
  async run({ args, io, output }) {
    const findings = await found(args, io);
    const worst = (['fail', 'warn'] as const)
      .find((state) => findings.some((finding) => finding.state === state)) ?? 'ok';
    output.json({ state: worst, findings });
    describe(findings, output);
    return worst === 'fail' ? 1 : 0;
  },
});

interface Flags extends StoreFlags {
  readonly where?: string | undefined;
  readonly settings?: string | undefined;
  readonly disk?: boolean | undefined;
  readonly write?: boolean | undefined;
  readonly servers?: boolean | undefined;
}

/** @throws UsageError for flags that do not go together. */
async function found(flags: Flags, io: Io): Promise<Finding[]> {
  const { where, store, secrets = secretsDefault } = flags;
  if ((where === undefined) === (store === undefined)) {
    throw new UsageError(where === undefined
      ? 'give a data folder, an address or a study file, or the store in PostgreSQL with --store'
      : '--store is looked at alone: leave it out, or the other place');
  }
  const isStudyFile = where !== undefined && /\.ya?ml$/.test(where);
  refuseFlags(flags, ['write', 'servers'], isStudyFile,
    'a study file, whose name ends in .yaml or .yml');
  refuseFlags(flags, ['secrets', 'encryption-keys', 'settings'], store !== undefined,
    'a store in PostgreSQL, so it needs --store');
  const isUrl = where !== undefined && /^(https?|wss?):\/\//.test(where);
  refuseFlags(flags, ['disk'], where !== undefined && !isUrl && !isStudyFile, 'a data folder');
  const nowMs = (): number => Date.now();
  if (where === undefined) {
    const place = placeOf(store!, readSettings(flags.settings));
    const encryptionKeys = flags['encryption-keys'] ?? encryptionKeysIn(secrets);
    return [
      ...machineFindings(io.nodeVersion),
      ...await storeFindings(place, { secrets, encryptionKeys }, nowMs),
    ];
  }
  if (/^postgres(ql)?:/.test(where)) {
    throw new UsageError('this is the address of a database: give it with --store');
  }
  if (isUrl) return serverFindings(httpAddress(where), nowMs);
  if (isStudyFile) {
    return studyFileFindings(where, {
      mayWrite: flags.write === true, asksServers: flags.servers === true, nowMs,
    });
  }
  return [
    ...machineFindings(io.nodeVersion),
    ...await folderFindings(where, {
      nowMs: nowMs(), monotonicMs: () => io.monotonicMs(), mayWrite: flags.disk === true,
    }),
  ];
}

/** @throws UsageError when a flag is given that goes with another kind of place. */
function refuseFlags(
  flags: Flags, names: readonly (keyof Flags)[], isRight: boolean, right: string,
): void {
  const given = names.find((name) => flags[name] !== undefined && flags[name] !== false);
  if (given !== undefined && !isRight) throw new UsageError(`--${given} is for ${right}`);
}

/** @throws UsageError when it is no address. */
function httpAddress(typed: string): URL {
  return new URL(aggregatorUrl(typed).replace(/^ws/, 'http'));
}

function describe(findings: readonly Finding[], output: Output): void {
  for (const { check, state, found, remedy } of findings) {
    output.text(`${state.padEnd(5)} ${check}: ${found}`);
    if (remedy !== undefined) output.text(`      ${remedy}`);
  }
}
