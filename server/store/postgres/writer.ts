import type { Clock } from '../../base/clock.js';
import type { Steps } from '../rules/steps.js';
import type { Connections } from './connection.js';
import { forgotten, PostgresFailure } from './failures.js';
import type { StoreNode } from './node.js';
import { outageStepMs, pause, throughOutage } from './outage.js';
import type { Session } from './session.js';

/** The locks of a change: studies by their ids, and for a registration the budget by its key. */
export interface Locks {
  readonly studies: readonly string[];
  readonly budget?: string;
  /** The grant under which a leader writes. */
  readonly grant?: { readonly studyId: string; readonly token: bigint };
  /** True if it may seal secrets of an epoch, and so needs an encryption key of this day. */
  readonly seals?: boolean;
}

/** The stage of a server on its way to its end. */
export interface Stops {
  /** Its store closes: nothing waits for a database any more. */
  readonly isClosing: () => boolean;
  /** It was asked to end: nothing waits for room any more, which may take days. */
  readonly endsSoon: () => boolean;
}

/** After a refused write the database counts as full for this long, unless a write succeeds. */
const fullMs = 10_000;
/** Tries of one transaction that others got in the way of. */
const triesMost = 20;

/**
 * Runs the transactions of this node that write, one after another.
 *
 * Each has a number, and its first statement notes the number in the row of the node. So when the
 * connection is lost while a transaction is being committed, the row says afterwards whether it
 * was. The statement that asks also takes the number, so a transaction that is still on its way
 * fails.
 */
export class Writer {
  #tail: Promise<unknown> = Promise.resolve();
  /** The last write that the database refused, if none has succeeded since. */
  #full: { readonly why: string; readonly atMs: number } | null = null;

  constructor(
    private readonly connections: Connections, private readonly node: StoreNode,
    private readonly clock: Clock, private readonly stops: Stops,
    /** Makes sure that there is an encryption key of this day. */
    private readonly renewKey: (session: Session) => Promise<void>,
  ) {}

  /** The reason why the database accepts no writes at the moment; null when it accepts them. */
  get fullBecause(): string | null {
    const isOver = this.#full === null || this.clock.monotonicMs() - this.#full.atMs > fullMs;
    return isOver ? null : this.#full!.why;
  }

  /** Runs an action after those that were passed in before it. */
  inOrder<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(action);
    this.#tail = result.catch(() => undefined);
    return result;
  }

  /** Resolves when everything that was passed in is done. */
  async idle(): Promise<void> {
    await this.#tail;
  }

  /**
   * One transaction: checks the grant, takes the locks, then runs the steps. The steps read nothing
   * older than the locks, since each statement sees all that was committed before it.
   * @throws StorageError lease-lost when another node has taken the lease.
   */
  change<T>({ studies, budget, grant, seals }: Locks, steps: () => Steps<T>): Promise<T> {
    return this.inOrder(() => this.write(async (session, begin, note) => {
      if (seals === true) await this.renewKey(session);
      await session.transaction('', async () => {
        await session.text('SELECT begin_write($1, $2)', begin);
        if (grant !== undefined) {
          await session.text('SELECT lead_write($1, $2)', [grant.studyId, grant.token]);
        }
        await session.text('SELECT lock_studies($1, $2)', [studies, budget ?? null]);
        note(await session.perform(steps()));
      });
      return true;
    }));
  }

  /**
   * Runs one transaction until its outcome is known. It may run several times, and is committed
   * once.
   * @param action gets the parameters of `begin_write`. It notes its result before it commits, and
   *   returns whether it wrote anything.
   * @param options.waitsWhileFull whether it waits for a database that accepts no writes until
   *   there is room, or the server ends. Else it throws the database's error.
   */
  async write<T>(
    action: (
      session: Session, begin: readonly unknown[], note: (result: T) => void,
    ) => Promise<boolean>,
    { waitsWhileFull = true }: { readonly waitsWhileFull?: boolean } = {},
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const number = this.node.last + 1n;
      let noted: { readonly result: T } | undefined;
      try {
        const wrote = await this.connections.use((session) =>
          action(session, this.node.begin(number), (result) => { noted = { result }; }));
        if (wrote) this.node.last = number;
        if (wrote) this.#full = null;
        return noted!.result;
      } catch (error) {
        if (!(error instanceof PostgresFailure) || error.kind === 'other'
            || error.kind === 'taken' || tries >= triesMost) throw error;
        if (error.kind === 'full') {
          // The database answered, so nothing was written. It waits without a limit: a server that
          // ends does not come back by itself once there is room.
          this.#full = { why: error.message, atMs: this.clock.monotonicMs() };
          if (!waitsWhileFull || this.stops.endsSoon() || this.stops.isClosing()) throw error;
          tries = 0;
          await pause(this.clock, outageStepMs);
        } else if (error.kind === 'lost') {
          if (await this.#isCommitted(number)) return noted!.result;
        } else {
          await pause(this.clock, tries * tries);
        }
      }
    }
  }

  /**
   * True if the transaction of this number is committed. Waits for a database that is gone. A
   * transaction that is not committed yet never will be.
   */
  async #isCommitted(number: bigint): Promise<boolean> {
    this.node.last = await throughOutage(this.clock, () =>
      this.connections.use((session) => this.#lastOf(session, number)), this.stops.isClosing);
    return this.node.last === number;
  }

  /** Skips two numbers when the transaction is not committed, so that asking again is harmless. */
  async #lastOf(session: Session, number: bigint): Promise<bigint> {
    const { id } = this.node;
    await session.text('UPDATE nodes SET last = $2 WHERE node_id = $1 AND last = $3',
      [id, number + 1n, number - 1n]);
    const [row] = await session.text<{ last: bigint }>(
      'SELECT last FROM nodes WHERE node_id = $1', [id]);
    if (row === undefined) throw forgotten();
    return row.last;
  }
}
