import { join } from 'node:path';
import type { AggregatorOptions } from '../../server/aggregator.js';
import { allRoles, roleNames, type Role } from '../../server/base/roles.js';
import { bindSecrets } from '../../server/keys/bound-secrets.js';
import type { PostgresPlace } from '../../server/store/postgres/place.js';
import { openPostgresStore } from '../../server/store/postgres/open.js';
import { namePostgresStore } from '../../server/store/postgres/status.js';
import type { ServerSettings } from '../../server/study-file/settings.js';
import { UsageError } from './errors.js';

const dataDefault = 'keelson-data';
/** The folder of keys where --secrets is not given. */
export const secretsDefault = 'keelson-secrets';

/** Flags of `serve` that state the places of its files. */
export const storeArguments = {
  data: {
    type: 'string', valueHint: 'folder', description: `data folder (default ${dataDefault})`,
  },
  store: {
    type: 'string', valueHint: 'url',
    description: 'instead of a data folder: PostgreSQL, like postgres://user@host/database',
  },
  secrets: {
    type: 'string', valueHint: 'folder',
    description: `with --store: where the keys are (default ${secretsDefault})`,
  },
  'encryption-keys': {
    type: 'string', valueHint: 'folder',
    description: 'with --store: folder of the keys that encrypt rows, shared by all servers '
      + '(default row-keys in --secrets)',
  },
  roles: {
    type: 'string', valueHint: 'a,b',
    description: 'with --store: what the server does: ingest = take batches, lead = close epochs '
      + 'and release them, work = read rows back for other servers (default all three)',
  },
} as const;

/** The values of these flags. */
export interface StoreFlags {
  readonly data?: string | undefined;
  readonly store?: string | undefined;
  readonly secrets?: string | undefined;
  readonly 'encryption-keys'?: string | undefined;
  readonly roles?: string | undefined;
  readonly 'accept-rollback'?: boolean | undefined;
}

/**
 * The aggregator's options, from the flags.
 * @throws UsageError when they exclude each other.
 */
export function dataOf(
  flags: StoreFlags, settings: ServerSettings,
): Pick<AggregatorOptions, 'dataDirectory' | 'openStore' | 'roles'> {
  const { data, store, secrets = secretsDefault } = flags;
  if (store === undefined) {
    if (data !== undefined && /^postgres(ql)?:/.test(data)) {
      throw new UsageError('--data is the address of a database: give it with --store');
    }
    const alone = (['secrets', 'encryption-keys', 'roles'] as const)
      .find((name) => flags[name] !== undefined);
    if (alone !== undefined) {
      throw new UsageError(`--${alone} belongs to --store: add --store, or leave --${alone} out`);
    }
    if (settings.statesStore) {
      throw new UsageError('the settings state "store", which belongs to --store: add --store, or '
        + 'leave that key out');
    }
    return { dataDirectory: data ?? dataDefault };
  }
  if (data !== undefined) {
    throw new UsageError('--store and --data exclude each other: give the keys\' folder with '
      + '--secrets');
  }
  if (flags['accept-rollback'] === true) {
    throw new UsageError('--accept-rollback is for a data folder: leave it out with --store');
  }
  const place = placeOf(store, settings);
  const { connections: pool, lease: leaseMs } = settings.store;
  return {
    dataDirectory: secrets,
    roles: rolesOf(flags.roles),
    async openStore(directory, clock, leads) {
      bindSecrets(directory, await namePostgresStore(place));
      const seenFile = join(directory, 'seen.json');
      return openPostgresStore({
        ...place, pool, clock, leaseMs, seenFile, leads,
        encryptionKeys: flags['encryption-keys'] ?? encryptionKeysIn(directory),
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

/** The default place of the encryption keys. @param secrets the folder of the keys. */
export const encryptionKeysIn = (secrets: string): string => join(secrets, 'row-keys');

/**
 * The place that an address and the settings name.
 * @throws UsageError when it cannot be one. The address is not repeated: it may hold a password.
 */
export function placeOf(url: string, { store }: ServerSettings): PostgresPlace {
  if (!/^postgres(ql)?:\/\/./.test(url)) {
    throw new UsageError('the address of the store does not begin with postgres://: write '
      + 'postgres://user@host/database');
  }
  if (!URL.canParse(url)) {
    throw new UsageError('the address of the store cannot be read: write '
      + 'postgres://user@host/database, with special characters of the password as %XX');
  }
  return {
    url, ...(store.schema !== undefined && { schema: store.schema }),
    ...(store.direct !== undefined && { direct: store.direct }),
  };
}
