import { StorageError } from '../../../src/base/errors.js';
import { ownVersion } from './migrations/index.js';
import type { Session } from './session.js';

/*
 * Programs and schemas have one sequence of numbers: the program of version p writes schema p. It
 * may also run on a newer schema s, if `meta.least_program` is at most p. Each migration sets it.
 *
 * Claim: after a migration has committed, no program below its least one admits a batch or changes
 * a study. The migration locks `nodes` against writing, finds none of these programs seen lately,
 * and deletes the rows of those that were away for longer. A transaction of this kind begins with
 * the row of its node (`begin_write`), so it commits before the migration reads the rows, or finds
 * no row and fails. A node that enters meanwhile takes the lock first and reads the versions then.
 * A node may go on reading for a second: then it finds the versions and ends.
 */

/** The condition of a node that counts as running. */
export const seenLately = "seen_at > clock_timestamp() - interval '1 minute'";

/**
 * Part of a transaction. Until it ends, no node enters and none writes. Nodes that are away can
 * write nothing any more.
 * @param which nodes: a condition.
 * @throws StorageError that names those which were seen lately.
 */
export async function keepNodesOut(
  session: Session, which: string, fault: string,
): Promise<void> {
  await session.execute('LOCK TABLE nodes IN SHARE ROW EXCLUSIVE MODE');
  const nodes = await session.text<{ readonly name: string }>(
    `SELECT name FROM nodes WHERE ${which} AND ${seenLately} ORDER BY node_id`);
  if (nodes.length > 0) {
    const servers = nodes.map(({ name }) => name);
    throw new StorageError(`${fault}: ${servers.join(', ')}. Stop them, then run this again. A `
      + 'server that was killed counts as running for a minute', 'storage-failed',
    { details: { servers } });
  }
  await session.text(`DELETE FROM nodes WHERE ${which}`);
}

/** Versions of a database. */
export interface SchemaVersions {
  /** 0 when there is no schema. */
  readonly version: number;
  /** The oldest program that may use it. */
  readonly least: number;
}

/** @throws StorageError when the schema is another program's. */
export async function schemaVersions(session: Session): Promise<SchemaVersions> {
  const [table] = await session.text<{ found: string | null }>(
    "SELECT to_regclass(current_schema() || '.meta')::text AS found");
  return (table?.found ?? null) === null ? { version: 0, least: 0 } : readVersions(session);
}

async function readVersions(session: Session): Promise<SchemaVersions> {
  const [row] = await session.text<{ version: bigint | null; least: bigint | null }>(
    `SELECT max(value) FILTER (WHERE name = 'schema_version') AS version,
      max(value) FILTER (WHERE name = 'least_program') AS least FROM meta`);
  if ((row?.version ?? null) === null) throw new StorageError(
    'the schema belongs to another program: name another schema');
  const version = Number(row!.version);
  // Before version 7 there was no such number: each schema was for its own programs.
  return { version, least: Number(row!.least ?? version) };
}

/** @throws StorageError schema-too-new when this program may not use the database. */
export function refuseNewer({ version, least }: SchemaVersions): void {
  if (least <= ownVersion) return;
  throw new StorageError(`the database has schema ${version}, which programs of schema ${least} and `
    + `later may use, and this program is of ${ownVersion}: install the newer program`,
  'schema-too-new', { details: { found: version, least, supported: ownVersion } });
}

/** Checks whether a running node may go on. @throws StorageError schema-too-new. */
export async function checkProgram(session: Session): Promise<void> {
  refuseNewer(await readVersions(session));
}

/** Part of the transaction by which a node enters. @throws StorageError schema-too-new. */
export async function checkEntry(session: Session): Promise<void> {
  await session.execute('LOCK TABLE nodes IN ROW EXCLUSIVE MODE');
  await checkProgram(session);
}
