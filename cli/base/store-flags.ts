import { join } from 'node:path';
import type { AggregatorOptions } from '../../server/aggregator.js';
import { allRoles, roleNames, type Role } from '../../server/base/roles.js';
import { bindSecrets } from '../../server/keys/bound-secrets.js';
import type { PostgresPlace } from '../../server/store/postgres/place.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { namePostgresStore } from '../../server/store/postgres/status.js';
import { UsageError } from './errors.js';
import { numberFlag } from './numbers.js';

const defaults = { data: 'keelson-data', secrets: 'keelson-secrets' } as const;

/** Flags that say where the tables of PostgreSQL are. */
export const schemaArgument = {
  'store-schema': {
    type: 'string', valueHint: 'name', description: 'schema of its tables (default keelson)',
  },
} as const;

/** Flags of `serve` that say where everything is kept. */
export const storeArguments = {
  data: {
    type: 'string', valueHint: 'folder', description: `data folder (default ${defaults.data})`,
  },
  store: {
    type: 'string', valueHint: 'url',
    description: 'instead of a data folder: PostgreSQL, like postgres://user@host/database',
  },
  secrets: {
    type: 'string', valueHint: 'folder',
    description: `with --store: where the keys are (default ${defaults.secrets})`,
  },
  'row-keys': {
    type: 'string', valueHint: 'folder',
    description: 'with --store: folder of the keys that seal rows, shared by all servers '
      + '(default row-keys in --secrets)',
  },
  ...schemaArgument,
  roles: {
    type: 'string', valueHint: 'a,b',
    description: 'with --store: what the server does: ingest = take batches, lead = close epochs '
      + 'and release them, work = read rows back for other servers (default all three)',
  },
  'store-pool': {
    type: 'string', valueHint: 'n', description: 'most connections to --store (default 8)',
  },
  'store-direct': {
    type: 'string', valueHint: 'url',
    description: 'the database itself, where --store names a pooler that breaks LISTEN',
  },
  'store-lease': {
    type: 'string', valueHint: 'seconds',
    description: 'how long the studies of a dead server wait for another (default 10)',
  },
} as const;

/** The values of these flags. */
export interface StoreFlags {
  readonly data?: string | undefined;
  readonly store?: string | undefined;
  readonly secrets?: string | undefined;
  readonly 'row-keys'?: string | undefined;
  readonly roles?: string | undefined;
  readonly 'store-schema'?: string | undefined;
  readonly 'store-pool'?: string | undefined;
  readonly 'store-direct'?: string | undefined;
  readonly 'store-lease'?: string | undefined;
  readonly 'accept-rollback'?: boolean | undefined;
}

/**
 * The options that the flags give to the aggregator.
 * @throws UsageError when they exclude each other.
 */
export function dataOf(
  flags: StoreFlags,
): Pick<AggregatorOptions, 'dataDirectory' | 'openStore' | 'roles'> {
  const { data, store, secrets = defaults.secrets } = flags;
  if (store === undefined) {
    if (data !== undefined && /^postgres(ql)?:/.test(data)) {
      throw new UsageError('--data is the address of a database: give it with --store');
    }
    const ofStore = [
      'secrets', 'row-keys', 'roles', 'store-schema', 'store-pool', 'store-direct',
      'store-lease',
    ] as const;
    const alone = ofStore.find((name) => flags[name] !== undefined);
    if (alone !== undefined) {
      throw new UsageError(`--${alone} belongs to --store: add --store, or leave --${alone} out`);
    }
    return { dataDirectory: data ?? defaults.data };
  }
  if (data !== undefined) {
    throw new UsageError('--store and --data exclude each other: give the keys\' folder with '
      + '--secrets');
  }
  if (flags['accept-rollback'] === true) {
    throw new UsageError('--accept-rollback is for a data folder: leave it out with --store');
  }
  const schema = flags['store-schema'];
  const direct = flags['store-direct'];
  const place = {
    ...placeOf(store, schema),
    ...(direct !== undefined && { direct: placeOf(direct, schema).url }),
  };
  const pool =
    numberFlag(flags['store-pool'], '--store-pool', { whole: true, atLeast: 4, atMost: 500 }) ?? 8;
  const lease =
    numberFlag(flags['store-lease'], '--store-lease', { atLeast: 1, atMost: 600 }) ?? 10;
  return {
    dataDirectory: secrets,
    roles: rolesOf(flags.roles),
    async openStore(directory, clock, leads) {
      bindSecrets(directory, await namePostgresStore(place));
      const seenFile = join(directory, 'seen.json');
      return openPostgresStore({
        ...place, pool, clock, leaseMs: lease * 1_000, seenFile, leads,
        rowKeys: flags['row-keys'] ?? rowKeysIn(directory),
      });
    },
  };
}

function rolesOf(text: string | undefined): ReadonlySet<Role> {
  if (text === undefined) return allRoles;
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !(roleNames as readonly string[]).includes(name));
  if (wrong !== undefined) {
    throw new UsageError(`--roles is "${text}": write one or more of ${roleNames.join(', ')}, with `
      + 'commas between, or leave it out for all');
  }
  return new Set(names as Role[]);
}

/** Where the row keys are when nothing else is said. @param secrets the folder of the keys. */
export const rowKeysIn = (secrets: string): string => join(secrets, 'row-keys');

/**
 * The place that an address and a schema name.
 * @throws UsageError when they cannot be one. The address is not repeated: it may hold a password.
 */
export function placeOf(url: string, schema: string | undefined): PostgresPlace {
  if (!/^postgres(ql)?:\/\/./.test(url)) {
    throw new UsageError('the address of the store does not begin with postgres://: write '
      + 'postgres://user@host/database');
  }
  try {
    new URL(url);
  } catch {
    throw new UsageError('the address of the store cannot be read: write '
      + 'postgres://user@host/database, with special characters of the password as %XX');
  }
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new UsageError(`--store-schema is "${schema}": write up to 63 lower-case letters, `
      + 'digits and _, with no digit first');
  }
  return { url, ...(schema !== undefined && { schema }) };
}
