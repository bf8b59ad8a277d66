import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { codeOf, StorageError } from '../../../src/base/errors.js';
import { toHex } from '../../../src/base/bytes.js';
import { keepOwner } from '../../base/owned-files.js';
import { syncFolder } from '../../base/secret-files.js';
import type { StudyId } from '../contract.js';
import { int8Array } from './arrays.js';
import { PostgresFailure } from './failures.js';
import type { Session } from './session.js';

/** The progress of one study when a server last looked. */
interface Position {
  /** Number of the ledger entry of its newest charge; 0 before the first charge. */
  readonly charge: bigint;
  readonly releases: number;
  /** SHA-512 of its newest release, hex; 128 zeros when there is none. */
  readonly digest: string;
}

type Positions = ReadonlyMap<StudyId, Position>;

/*
 * A server remembers, in a file on its own disk, how far the ledger and the logs of its store had
 * come. It refuses a database that holds less: an asynchronous standby that took over, or an old
 * backup. Such a database lacks charges whose noise was drawn, so budgets could be spent twice.
 *
 * Claim 1: a database that has lost nothing is never refused. A position is noted after it was read
 * from a committed state, and neither charges nor releases are ever deleted.
 * Claim 2: the file of the leader has every charge whose noise it drew, and the file of a server
 * has every release that it showed to anybody. Both are done after the note is durable.
 * Claim 3: a running server notices a database that took over before it writes anything there. Each
 * connection is compared before its first use, and a connection belongs to one database. With a
 * pooler in between it is noticed when the server next reads how its studies stand: each second.
 *
 * A standby has a prefix of the log of the primary. The charges and releases of one study follow
 * each other, so the newest ones of each study are enough to compare.
 *
 * Three things cannot be noticed: losses since the last charge or release (rows, withdrawals), what
 * only servers saw that do not come back, and a file that is set back with the database.
 */

/** Changes whenever the meaning of the file changes. */
const format = 'keelson seen 1';

const positionsText = `SELECT s.study_id, s.release_count, s.last_digest, coalesce((
    SELECT l.entry_id FROM ledger AS l
    WHERE l.study_key = s.study_key AND l.kind = 'charged' ORDER BY l.epoch DESC LIMIT 1), 0)
    AS charge
  FROM studies AS s`;

/** The studies that lack something that was seen. */
const missingText = `SELECT seen.study_id, coalesce(s.name, '') AS name FROM unnest(
    $1::text[], $2::bigint[], $3::bigint[], $4::text[]) AS seen (study_id, charge, releases, digest)
  LEFT JOIN studies AS s ON s.study_id = seen.study_id
  WHERE (seen.charge > 0 AND NOT EXISTS (SELECT 1 FROM ledger AS l
      WHERE l.entry_id = seen.charge AND l.study_key = s.study_key AND l.kind = 'charged'))
    OR (seen.releases > 0 AND NOT EXISTS (SELECT 1 FROM releases AS r
      WHERE r.study_key = s.study_key AND r.release_index = seen.releases - 1
        AND r.digest = seen.digest))
  ORDER BY seen.study_id`;

interface Missing {
  readonly study_id: StudyId;
  /** Empty when the study is missing too. */
  readonly name: string;
}

/**
 * The progress that this server has seen in its store. Several servers on one machine may share a
 * file.
 */
export class Seen {
  #positions: Positions;
  #tail: Promise<void> = Promise.resolve();

  private constructor(private readonly path: string, positions: Positions) {
    this.#positions = positions;
  }

  /**
   * @param path of the file; created with the first note.
   * @throws StorageError when the file cannot be read, or is not one of this program.
   */
  static async open(path: string): Promise<Seen> {
    return new Seen(path, await readPositions(path));
  }

  /**
   * Compares a database with the noted progress.
   * @throws StorageError store-went-back when the database holds less.
   */
  async check(session: Session): Promise<void> {
    const seen = [...this.#positions];
    if (seen.length === 0) return;
    const missing = await session.text<Missing>(
      missingText, [
        seen.map(([studyId]) => studyId), int8Array(seen.map(([, { charge }]) => charge)),
        int8Array(seen.map(([, { releases }]) => BigInt(releases))),
        seen.map(([, { digest }]) => digest),
      ]);
    if (missing.length > 0) throw this.#wentBack(missing);
  }

  /** True if this many releases of a study were noted. */
  has(studyId: StudyId, releases: number): boolean {
    return (this.#positions.get(studyId) ?? nothing).releases >= releases;
  }

  /**
   * Compares, then notes the progress of all studies. Resolves when that is durable.
   * @throws StorageError store-went-back, or storage-failed when the file cannot be written.
   */
  async note(session: Session): Promise<void> {
    await this.check(session);
    const rows = await session.text<{
      readonly study_id: StudyId; readonly release_count: bigint; readonly last_digest: string;
      readonly charge: bigint;
    }>(positionsText);
    const found = new Map(rows.map((row): [StudyId, Position] => [row.study_id, {
      charge: row.charge, releases: Number(row.release_count), digest: row.last_digest,
    }]));
    const next = this.#tail.then(() => this.#keep(found));
    this.#tail = next.catch(() => undefined);
    return next;
  }

  async #keep(found: Positions): Promise<void> {
    const merged = merge(this.#positions, found);
    if (isSame(merged, this.#positions)) return;
    // Another server on this machine may have noted more.
    const kept = merge(merged, await readPositions(this.path));
    await writePositions(this.path, kept);
    this.#positions = kept;
  }

  #wentBack(missing: readonly Missing[]): PostgresFailure {
    const names = missing.map(({ name, study_id: id }) => (name === '' ? id.slice(0, 16) : name));
    return new PostgresFailure('the database lacks charges or releases that this server has seen ('
      + `${names.join(', ')}): an asynchronous standby took over, or an old backup was restored, so `
      + 'budgets could be spent twice. Give the address of the database that has everything. If it '
      + `is lost, read "When the database went back" in docs/operating/postgres.md (${this.path})`,
    'other', 'store-went-back');
  }
}

/** Per study the newer charge and the longer log. */
function merge(left: Positions, right: Positions): Positions {
  const merged = new Map(left);
  for (const [studyId, position] of right) {
    const known = merged.get(studyId) ?? nothing;
    const longer = position.releases > known.releases ? position : known;
    merged.set(studyId, {
      charge: position.charge > known.charge ? position.charge : known.charge,
      releases: longer.releases, digest: longer.digest,
    });
  }
  return merged;
}

const nothing: Position = { charge: 0n, releases: 0, digest: '0'.repeat(128) };

const isSame = (left: Positions, right: Positions): boolean =>
  left.size === right.size && [...left].every(([studyId, { charge, releases }]) => {
    const other = right.get(studyId);
    return other?.charge === charge && other.releases === releases;
  });

/** A file that is replaced as a whole, so a crash leaves the old one or the new one. */
async function writePositions(path: string, positions: Positions): Promise<void> {
  const studies = [...positions].map(([studyId, { charge, ...rest }]) =>
    ({ studyId, charge: String(charge), ...rest }));
  const draft = `${path}.${toHex(randomBytes(6))}.new`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      keepOwner(file.fd, draft);
      await file.writeFile(`${JSON.stringify({ format, studies }, null, 1)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    syncFolder(path);
  } catch (cause) {
    await rm(draft, { force: true });
    throw fileFailure(path, cause);
  }
}

async function readPositions(path: string): Promise<Positions> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return new Map();
    throw fileFailure(path, cause);
  }
  try {
    const { format: found, studies } = JSON.parse(text) as {
      readonly format: string;
      readonly studies: readonly (Omit<Position, 'charge'>
        & { readonly studyId: StudyId; readonly charge: string })[];
    };
    if (found !== format) throw new SyntaxError(found);
    return new Map(studies.map(({ studyId, charge, releases, digest }) =>
      [studyId, { charge: BigInt(charge), releases, digest }]));
  } catch (cause) {
    throw new StorageError(`${path} is damaged or of a newer keelson: put a copy of it back, or `
      + 'move it away where the database is surely the newest', 'storage-failed', { cause });
  }
}

function fileFailure(path: string, cause: unknown): StorageError {
  const reason = codeOf(cause);
  return new StorageError(`${path} cannot be read or written (${reason}): check its disk and who `
    + 'may write there', 'storage-failed', { details: { reason }, cause });
}
