import { InvariantError } from '../../../src/base/errors.js';
import type { Clock } from '../../base/clock.js';
import type { StudyId } from '../contract.js';
import { int8Array } from './arrays.js';
import type { Connections } from './connection.js';
import type { StoreNode } from './node.js';
import type { Session } from './session.js';
import type { Writer } from './writer.js';

/** The right to lead one study, as long as no other node has taken it. */
export interface Grant {
  readonly studyId: StudyId;
  /** Grows with every taking of the lease. */
  readonly token: bigint;
  /** Resolves when the grant is over: lost, or given back. Never rejects. */
  readonly ended: Promise<void>;
  /** Ends the grant. The lease is given back with the last grant under it. */
  release(): Promise<void>;
}

/** A lease that is in use now is left alone: there is another moment. */
const askText = `WITH led AS (
    SELECT node_id, count(*) AS budgets FROM leases
    WHERE expires_at > clock_timestamp() GROUP BY node_id)
  UPDATE leases SET asked_by = $1 WHERE budget_id = (
    SELECT l.budget_id FROM leases AS l JOIN led USING (node_id)
    WHERE l.node_id != $1 AND l.expires_at > clock_timestamp() AND l.asked_by = 0
      AND led.budgets >= 2 + coalesce((SELECT budgets FROM led WHERE node_id = $1), 0)
      AND EXISTS (SELECT 1 FROM studies AS s
        WHERE s.budget_id = l.budget_id AND s.study_id = ANY ($2))
      AND NOT EXISTS (SELECT 1 FROM studies AS s
        WHERE s.budget_id = l.budget_id AND s.state = 'open' AND s.study_id != ALL ($2))
    ORDER BY led.budgets DESC, l.budget_id LIMIT 1 FOR NO KEY UPDATE OF l SKIP LOCKED)
  AND NOT EXISTS (SELECT 1 FROM leases WHERE asked_by = $1 AND expires_at > clock_timestamp())`;

interface Held {
  readonly token: bigint;
  /** Callbacks, each of which ends one grant under this lease. */
  readonly grants: Set<() => void>;
}

/**
 * The leases of this node. Studies that share a budget are led together: so also the versions of a
 * study, and studies that take turns for a budget (server/studies/budget-turns.ts).
 *
 * Only the database's clock is asked when a lease ends. A node that was cut off may renew a lease
 * that has ended as long as nobody has taken it, since it then has the newest token.
 *
 * Claim: after a taking has committed, no transaction of an older token commits. Each transaction
 * of a leader runs `lead_write`, which shares a lock on the row of the lease and checks the token.
 * Either it finds the new token and fails, or the taking waits until it has committed. So safety
 * needs no clock: the times only decide how soon a dead leader is replaced.
 */
export class Leases {
  /** By the number of the budget. */
  readonly #held = new Map<bigint, Held>();
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(
    private readonly connections: Connections, private readonly writer: Writer,
    private readonly node: StoreNode, private readonly clock: Clock,
    private readonly ttlMs: number,
  ) {
    this.#renewLater();
  }

  /**
   * Takes the lease of the study's budget.
   * @param freeMs it must have been over for this long, in milliseconds.
   * @returns null while another node has it, or has had it until less than `freeMs` ago.
   */
  async take(studyId: StudyId, freeMs: number): Promise<Grant | null> {
    /** No budget: the study is not registered. */
    interface Row { readonly budget: bigint | null; readonly granted: bigint }
    const row = await this.writer.inOrder(() => this.writer.write<Row | undefined>(
      async (session, begin, note) => {
        await session.transaction('', async () => {
          await session.text('SELECT begin_write($1, $2)', begin);
          const rows = await session.text<Row>('SELECT * FROM take_lease($1, $2, $3, $4)',
            [studyId, this.node.id, this.ttlMs, freeMs]);
          note(rows[0]);
        });
        return true;
      }));
    if (row?.budget === null) {
      throw new InvariantError('a study is registered before it is led', { details: { studyId } });
    }
    return row === undefined ? null : this.#granted(studyId, row.budget, row.granted);
  }

  /** See `SharedStore.askToLead`. */
  async ask(studyIds: readonly StudyId[]): Promise<void> {
    await this.connections.use((session) => session.text(askText, [this.node.id, studyIds]));
  }

  /** Renews no more, and returns all leases. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel?.();
    for (const budget of [...this.#held.keys()]) this.#lose(budget);
    await this.connections.use((session) => session.text(
      `UPDATE leases SET expires_at = clock_timestamp(), node_id = 0 WHERE node_id = $1`,
      [this.node.id]));
  }

  #granted(studyId: StudyId, budget: bigint, token: bigint): Grant {
    if (this.#held.get(budget)?.token !== token) this.#lose(budget);
    const held = this.#held.get(budget) ?? { token, grants: new Set() };
    this.#held.set(budget, held);
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => { end = resolve; });
    held.grants.add(end);
    return {
      studyId, token, ended,
      release: async () => {
        end();
        held.grants.delete(end);
        if (held.grants.size > 0 || this.#held.get(budget) !== held) return;
        this.#held.delete(budget);
        await this.connections.use((session) => session.text(
          `WITH given AS (UPDATE leases SET expires_at = clock_timestamp(), node_id = 0
            WHERE budget_id = $1 AND token = $2 RETURNING budget_id)
          SELECT pg_notify(news_channel(), '') FROM given`, [budget, token]));
      },
    };
  }

  /** Ends every grant under a lease that another node has, or that is given back. */
  #lose(budget: bigint): void {
    const held = this.#held.get(budget);
    this.#held.delete(budget);
    for (const end of held?.grants ?? []) end();
  }

  #renewLater(): void {
    this.#cancel = this.clock.after(this.ttlMs / 3, () => {
      void this.connections.use((session) => this.#renew(session))
        // A node that cannot renew is replaced. Its next write or renewal reports it.
        .catch(() => undefined)
        .then(() => { if (!this.#isClosed) this.#renewLater(); });
    });
  }

  async #renew(session: Session): Promise<void> {
    const held = [...this.#held];
    const lost = await session.text<{ readonly budget: bigint }>(
      'SELECT renew_leases($1, $2, $3, $4) AS budget', [
        this.node.id, int8Array(held.map(([budget]) => budget)),
        int8Array(held.map(([, { token }]) => token)), this.ttlMs,
      ]);
    for (const { budget } of lost) {
      if (this.#held.get(budget) === held.find(([name]) => name === budget)?.[1]) {
        this.#lose(budget);
      }
    }
  }
}
