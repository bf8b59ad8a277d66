import { statSync } from 'node:fs';
import { boundStore } from '../../server/keys/bound-secrets.js';
import type { PostgresPlace } from '../../server/store/postgres/place.js';
import { openPostgresReader } from '../../server/store/postgres/reader.js';
import { postgresStatus, type PostgresStatus } from '../../server/store/postgres/status.js';
import { StorageError } from '../../src/base/errors.js';
import { budgetFindings } from './budgets.js';
import { atLeast, fail, ok, warn, type Finding } from './finding.js';
import { secretsFindings } from './secrets.js';

/** Where the secrets of a server on PostgreSQL are. */
export interface StoreFolders {
  readonly secrets: string;
  readonly encryptionKeys: string;
}

/**
 * Checks of a store in PostgreSQL and of the folders of the server that uses it, beside running
 * servers or without one. Changes nothing.
 * @throws InvalidParameterError for an address that cannot be read.
 */
export async function storeFindings(
  place: PostgresPlace, { secrets, encryptionKeys }: StoreFolders, nowMs: () => number,
): Promise<Finding[]> {
  const hasKeys = isFolder(encryptionKeys);
  const folders = isFolder(secrets) ? secretsFindings('secrets', secrets)
    : [warn('secrets', `there is no folder ${secrets} here`,
      'run this where the server runs, with its --secrets')];
  let status: PostgresStatus;
  const fromMs = nowMs();
  try {
    status = await postgresStatus(place, hasKeys ? encryptionKeys : undefined);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return [...folders, fail('database', error.message,
      'no server acknowledges or releases anything until this is mended')];
  }
  return [
    ...folders,
    ...boundFinding(secrets, status.store),
    status.refusal === null ? ok('database', `PostgreSQL ${status.server}, tables of version ${
      status.version}`) : fail('database', status.refusal, 'no server starts on it until then'),
    clockFinding(status.nowMs, fromMs, nowMs()),
    status.standbys > 0 ? ok('standby', 'has each commit before it is acknowledged')
      : warn('standby', 'none is synchronous: what is acknowledged is on one machine only',
        'run a synchronous standby, or take copies of the database often'),
    atLeast('connections', `${status.connectionsLeft} more`, status.connectionsLeft, {
      warnBelow: 20, failBelow: 1,
      remedy: 'raise max_connections of the database, or lower store.connections in the settings',
    }),
    ...status.nodes.map((node) => nodeFinding(node, status)),
    keysFinding(status, encryptionKeys, hasKeys),
    ...(status.refusal === null ? await budgetFindings(await openPostgresReader(place)) : []),
  ];
}

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A folder whose keys have served another store: no server starts with it. */
function boundFinding(secrets: string, store: string | null): Finding[] {
  const bound = boundStore(secrets);
  if (bound === undefined || store === null) return [];
  return [bound === store ? ok('store', `${store}, the one that these keys belong to`)
    : fail('store', `${store}, and the keys in ${secrets} belong to ${bound}`,
      'give the address of that store, or another folder with --secrets')];
}

/** In milliseconds. An epoch closes by the clock of a server, a lease ends by the database's. */
const clocksApartMs = 5_000;

function clockFinding(databaseMs: number, fromMs: number, toMs: number): Finding {
  const ahead = databaseMs > toMs ? databaseMs - toMs : Math.min(databaseMs - fromMs, 0);
  const text = `the database is ${Math.round(Math.abs(ahead) / 1000)} s ${
    ahead < 0 ? 'behind' : 'ahead of'} this machine`;
  return Math.abs(ahead) <= clocksApartMs ? ok('clock', 'the database has the same time')
    : warn('clock', text, 'run a time service such as chrony on both');
}

function nodeFinding(
  { name, studies, program, secondsAgo }: PostgresStatus['nodes'][number],
  { needed }: PostgresStatus,
): Finding {
  const text = `leads ${studies} ${studies === 1 ? 'study' : 'studies'}, seen ${secondsAgo} s ago`;
  return program >= needed ? ok(`server ${name}`, text)
    : warn(`server ${name}`, `${text}, of the older version ${program}`,
      'replace it with this version');
}

function keysFinding(
  { encryptionKeys, missingKeys }: PostgresStatus, folder: string, isThere: boolean,
): Finding {
  const check = 'encryption keys';
  if (encryptionKeys.length === 0) return ok(check, 'none is in use');
  if (!isThere) {
    return warn(check, `${encryptionKeys.length} in use, and there is no folder ${folder} here`,
      'run this where the server runs, with its --encryption-keys');
  }
  return missingKeys.length === 0 ? ok(check, `${encryptionKeys.length} in use, all in ${folder}`)
    : fail(check, `not in ${folder}: ${missingKeys.join(', ')}`,
      'mount the folder that all servers share, or restore it: no server starts without them');
}
