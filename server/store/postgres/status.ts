import type { PostgresPlace } from './place.js';
import { connected, type Connected } from './connection.js';
import { checkDatabase } from './schema.js';
import { ownVersion } from './migrations/index.js';
import { epochsUnder, encryptionKeysInUse } from './encryption-key-turns.js';
import { EncryptionKeys } from './encryption-keys.js';
import type { Session } from './session.js';
import { schemaVersions, seenLately } from './versions.js';

/** The contents of a database, as an operator sees them. */
export interface PostgresStatus {
  /** The version of PostgreSQL, in its own words. */
  readonly server: string;
  readonly schema: string;
  /** Version of the tables; 0 when there are none. */
  readonly version: number;
  /** Version that this program needs. */
  readonly needed: number;
  /** The oldest program that may use the tables, by the version that it writes. */
  readonly leastProgram: number;
  /** Names the store, also when its database is copied or moved; null when there are no tables. */
  readonly store: string | null;
  /** Servers that were here within the last minute, and how many studies each leads. */
  readonly nodes: readonly {
    readonly name: string; readonly studies: number; readonly secondsAgo: number;
    /** The version of the tables that its program writes. */
    readonly program: number;
  }[];
  /** Encryption keys that are not erased, and the epochs whose rows each encrypts, in words. */
  readonly encryptionKeys: readonly { readonly name: string; readonly epochs: string }[];
  /** Those of them that the folder lacks. */
  readonly missingKeys: readonly string[];
  /** The reason why no server starts on the database, and the remedy; null when servers start. */
  readonly refusal: string | null;
  /** Standbys that have each commit before it is acknowledged. */
  readonly standbys: number;
  /** The time of the database, in milliseconds since 1970. */
  readonly nowMs: number;
  /** How many more connections the database takes now. */
  readonly connectionsLeft: number;
}

/**
 * Changes nothing.
 * @param encryptionKeys a folder in which to look for the keys. Default: none is looked for.
 * @throws StorageError when the database cannot be reached.
 */
export function postgresStatus(
  place: PostgresPlace, encryptionKeys?: string,
): Promise<PostgresStatus> {
  return connected(place, (context) => statusOf(context, encryptionKeys));
}

/**
 * Checks that a store can be opened, and gives it a name if it has none.
 * @returns its name: see `PostgresStatus.store`.
 * @throws StorageError as `openPostgresStore`.
 */
export function namePostgresStore(place: PostgresPlace): Promise<string> {
  return connected(place, async ({ session }) => {
    await checkDatabase(session);
    await session.text(`INSERT INTO meta (name, value) SELECT 'store_id',
      ('x' || translate(left(gen_random_uuid()::text, 18), '-', ''))::bit(64)::bigint
      ON CONFLICT (name) DO NOTHING`);
    return (await nameOf(session))!;
  });
}

async function nameOf(session: Session): Promise<string | null> {
  const [row] = await session.text<{ readonly store: string }>(
    "SELECT to_hex(value) AS store FROM meta WHERE name = 'store_id'");
  return row?.store ?? null;
}

async function statusOf(
  { session, schema }: Connected, folder: string | undefined,
): Promise<PostgresStatus> {
  const { version, least } = await schemaVersions(session);
  const [server] = await session.text<{
    readonly version: string; readonly standbys: bigint; readonly now: bigint;
    readonly left: bigint;
  }>(`SELECT current_setting('server_version') AS version,
      (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))
        AS standbys,
      (1000 * extract(epoch FROM clock_timestamp()))::bigint AS now,
      current_setting('max_connections')::bigint
        - current_setting('superuser_reserved_connections')::bigint
        - (SELECT coalesce(sum(numbackends), 0) FROM pg_stat_database)::bigint AS left`);
  const nodes = version < ownVersion ? [] : await session.text<{
    readonly name: string; readonly studies: bigint; readonly ago: bigint;
    readonly program: bigint;
  }>(`SELECT n.name, n.program, (extract(epoch FROM clock_timestamp() - n.seen_at))::bigint AS ago,
      (SELECT count(*) FROM leases AS l JOIN studies USING (budget_id)
        WHERE l.node_id = n.node_id AND l.expires_at > clock_timestamp()) AS studies
    FROM nodes AS n WHERE ${seenLately} ORDER BY n.node_id`);
  const encryptionKeys = version < ownVersion ? [] : await keysOf(session);
  return {
    server: server!.version, schema, version, needed: ownVersion, leastProgram: least,
    store: version === 0 ? null : await nameOf(session),
    nodes: nodes.map(({ name, studies, ago, program }) => ({
      name, studies: Number(studies), secondsAgo: Number(ago), program: Number(program),
    })),
    encryptionKeys,
    missingKeys: folder === undefined ? [] : encryptionKeys.map(({ name }) => name)
      .filter((name) => !EncryptionKeys.isIn(folder, name)),
    refusal: await checkDatabase(session).then(() => null, (error: Error) => error.message),
    standbys: Number(server!.standbys),
    nowMs: Number(server!.now),
    connectionsLeft: Number(server!.left),
  };
}

async function keysOf(session: Session): Promise<PostgresStatus['encryptionKeys']> {
  const keys = [];
  for (const { name } of await encryptionKeysInUse(session)) {
    keys.push({ name, epochs: await epochsUnder(session, name) });
  }
  return keys;
}
