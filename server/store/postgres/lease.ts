import type { Clock } from '../../base/clock.js';
import { StorageError } from '../../../src/base/errors.js';
import type { Connections } from './connection.js';
import { pause } from './outage.js';

const name = 'server';
const pollMs = 250;

interface LeaseRow {
  readonly holder: string;
  readonly token: bigint;
  readonly last: bigint;
  readonly left_ms: bigint;
}

/**
 * The right to write to this database. Only the database's clock is asked when it ends.
 *
 * Claim: after another server's taking has committed, no transaction of this one commits. Each
 * transaction begins with `begin_write`, which updates the row of the lease where it has this
 * token. Either it finds the new token and fails, or its lock on the row made the taking wait until
 * it had committed. So safety needs no clock: the times only decide how soon a dead server is
 * replaced.
 */
export class Lease {
  /** Number of the last transaction of this holder. */
  last = 0n;
  #cancel: (() => void) | undefined;
  #isReleased = false;

  private constructor(
    private readonly connections: Connections, private readonly clock: Clock,
    readonly token: bigint, private readonly ttlMs: number,
  ) {
    this.#renewLater();
  }

  /**
   * Takes the lease. Waits until it ends when its holder does not renew it any more.
   * @param holder names this process to operators.
   * @throws StorageError data-folder-in-use when another server renews it.
   */
  static async take(
    connections: Connections, clock: Clock, holder: string, ttlMs: number,
  ): Promise<Lease> {
    let seen: LeaseRow | undefined;
    for (;;) {
      const token = await tryTake(connections, holder, ttlMs);
      if (token !== undefined) return new Lease(connections, clock, token, ttlMs);
      const row = await connections.use(async (session) => (await session.text<LeaseRow>(
        `SELECT holder, token, last,
          ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint AS left_ms
          FROM leases WHERE name = $1`, [name]))[0]);
      // A holder that lives renews the lease or commits, so its row has more time than it had.
      const isAlive = row !== undefined && seen !== undefined
        && (row.left_ms > seen.left_ms || row.token !== seen.token || row.last !== seen.last);
      if (isAlive) throw new StorageError(
        `another server (${row.holder}) writes to this database: end it first, or name another `
        + 'database or schema', 'data-folder-in-use', { details: { holder: row.holder } });
      seen = row;
      await pause(clock, pollMs);
    }
  }

  /** The parameters of `begin_write`. */
  begin(number: bigint): readonly unknown[] {
    return [name, this.token, number, this.ttlMs];
  }

  /** Gives the lease back, so that the next server starts at once. */
  async release(): Promise<void> {
    this.#isReleased = true;
    this.#cancel?.();
    await this.connections.use((session) => session.text(
      'UPDATE leases SET expires_at = clock_timestamp() WHERE name = $1 AND token = $2',
      [name, this.token]));
  }

  #renewLater(): void {
    this.#cancel = this.clock.after(this.ttlMs / 3, () => {
      void this.connections.use((session) => session.text(
        `UPDATE leases SET expires_at = clock_timestamp() + $3 * interval '1 ms'
          WHERE name = $1 AND token = $2`, [name, this.token, this.ttlMs]))
        // What matters fails at the next write, which says why.
        .catch(() => undefined)
        .then(() => { if (!this.#isReleased) this.#renewLater(); });
    });
  }
}

async function tryTake(
  connections: Connections, holder: string, ttlMs: number,
): Promise<bigint | undefined> {
  const rows = await connections.use((session) => session.text<{ token: bigint }>(
    `INSERT INTO leases AS l (name, holder, token, last, expires_at)
      VALUES ($1, $2, 1, 0, clock_timestamp() + $3 * interval '1 ms')
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = l.token + 1, last = 0,
        expires_at = excluded.expires_at WHERE l.expires_at <= clock_timestamp()
      RETURNING token`, [name, holder, ttlMs]));
  return rows[0]?.token;
}
