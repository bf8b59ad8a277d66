import type { Connections } from './connection.js';
import { ownVersion } from './migrations/index.js';
import type { Session } from './session.js';

/** After this time the row of a node that ended without a word is deleted. */
const forgottenAfter = '7 days';

/**
 * One start of a server, as the database knows it. Its row notes the number of its last
 * transaction, and when it was here last.
 */
export class StoreNode {
  /** Number of the last transaction of this node. */
  last = 0n;

  private constructor(
    private readonly connections: Connections,
    /** Short name of the node in the tables. */
    readonly id: bigint,
  ) {}

  /**
   * @param name names this process to operators.
   * @param check part of the transaction; see versions.ts.
   */
  static async enter(
    connections: Connections, name: string, check: (session: Session) => Promise<void>,
  ): Promise<StoreNode> {
    return connections.use((session) => session.transaction('', async () => {
      await check(session);
      await session.text(`DELETE FROM nodes
        WHERE seen_at < clock_timestamp() - interval '${forgottenAfter}'`);
      const [row] = await session.text<{ readonly node_id: bigint }>(`INSERT INTO nodes
        (name, last, seen_at, program) VALUES ($1, 0, clock_timestamp(), $2)
        RETURNING node_id`, [name, ownVersion]);
      return new StoreNode(connections, row!.node_id);
    }));
  }

  /** The parameters of `begin_write`. */
  begin(number: bigint): readonly unknown[] {
    return [this.id, number];
  }

  /** Forgets the node. Call it when nothing of it is under way. */
  async leave(): Promise<void> {
    await this.connections.use((session) =>
      session.text('DELETE FROM nodes WHERE node_id = $1', [this.id]));
  }
}
