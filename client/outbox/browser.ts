import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import { signing } from '#signing';
import { KeelsonError } from '../../src/base/errors.js';
import type { Outbox, OutboxContents, OutboxItem, OutboxPin } from './contract.js';
import { sequenceAfter } from './records.js';

/**
 * Everything of one location. Values are structured clones, which keep 64-bit integers and byte
 * arrays unchanged.
 */
interface Schema extends DBSchema {
  /** One record each: the pin of the outbox, the contributor's seed, and the next sequence. */
  facts: { key: 'pin' | 'seed' | 'next'; value: OutboxPin | Uint8Array | bigint };
  items: { key: number; value: OutboxItem };
}
type Database = IDBPDatabase<Schema>;

/** For writes that must be on the medium, not only in the system's buffers. */
const durable = { durability: 'strict' } as const;

/**
 * Opens or creates the outbox of one contributor in one study, in the browser's IndexedDB. It
 * outlives the page. The user may delete it with the site's data.
 * @param location a name within this origin.
 * @throws KeelsonError('outbox-failed') when another page or tab has it open, or when the browser
 *   stores nothing here
 * (then use `memoryOutbox`, and wait for `send` before leaving the page).
 */
export async function openOutbox(location: string): Promise<Outbox> {
  const unlock = await lock(location);
  try {
    const database = await openDatabase(location);
    return new IndexedOutbox(database, location, unlock);
  } catch (error) {
    unlock();
    throw asOutboxError(error, location);
  }
}

/**
 * The contributor's secret seed stored at `location`, created by the first call. Every script on
 * this origin can read it. Two simultaneous calls get the same seed.
 * @throws KeelsonError('outbox-failed') when the browser stores nothing here.
 */
export async function openSeed(location: string): Promise<Uint8Array> {
  try {
    const database = await openDatabase(location);
    try {
      const transaction = database.transaction('facts', 'readwrite', durable);
      let seed = await transaction.store.get('seed');
      if (!(seed instanceof Uint8Array)) {
        seed = signing.generateSeed();
        await transaction.store.put(seed, 'seed');
      }
      await transaction.done;
      return seed;
    } finally {
      database.close();
    }
  } catch (error) {
    throw asOutboxError(error, location);
  }
}

/** One transaction for each write. The browser runs them in order. */
class IndexedOutbox implements Outbox {
  private failure: KeelsonError | null = null;
  private next = 1n;
  /** Deletions of settled items that are in progress. */
  private readonly forgetting = new Set<Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly location: string,
    private readonly unlock: () => void,
  ) {}

  load(): Promise<OutboxContents> {
    return this.attempt(async () => {
      const transaction = this.database.transaction(['facts', 'items']);
      const facts = transaction.objectStore('facts');
      const [pin, next, items] = await Promise.all([
        facts.get('pin'),
        facts.get('next'),
        // Sorted by id.
        transaction.objectStore('items').getAll(),
      ]);
      this.next = (next ?? 1n) as bigint;
      return { pin: (pin ?? null) as OutboxPin | null, items, nextSequence: this.next };
    });
  }

  pin({ serverKey, studyId, contributor }: OutboxPin): Promise<void> {
    return this.attempt(async () => {
      const transaction = this.database.transaction('facts', 'readwrite', durable);
      await transaction.store.put({ serverKey, studyId, contributor }, 'pin');
      await transaction.done;
    });
  }

  keep(
    id: number, values: Float64Array, last: boolean, columns?: number, texts?: readonly string[],
  ): Promise<void> {
    return this.put({
      id, last, values, batches: [], ...(columns !== undefined && columns > 0 && { columns }),
      ...(texts !== undefined && { texts }),
    });
  }

  sign(id: number, last: boolean, batches: OutboxItem['batches']): Promise<void> {
    const plain =
      batches.map(({ sequence, epoch, body, signature }) => ({ sequence, epoch, body, signature }));
    this.next = sequenceAfter(this.next, plain);
    return this.put({ id, last, values: null, batches: plain });
  }

  settle(id: number): void {
    if (this.failure !== null) return;
    // A batch that is sent again is recognised. So this need not be durable, and no caller waits
    // for it.
    const forgotten = this.database.delete('items', id).catch(() => undefined)
      .finally(() => this.forgetting.delete(forgotten));
    this.forgetting.add(forgotten);
  }

  async close(): Promise<void> {
    await Promise.all(this.forgetting);
    this.failure ??= new KeelsonError('closed', 'the outbox is closed');
    this.database.close();
    this.unlock();
  }

  private put(item: OutboxItem): Promise<void> {
    return this.attempt(async () => {
      const transaction = this.database.transaction(['facts', 'items'], 'readwrite', durable);
      await Promise.all([
        transaction.objectStore('items').put(item),
        transaction.objectStore('facts').put(this.next, 'next'),
        transaction.done,
      ]);
    });
  }

  /**
   * After the first failure the contents of the database are uncertain, so nothing more is written.
   */
  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    if (this.failure !== null) throw this.failure;
    try {
      return await work();
    } catch (error) {
      this.failure ??= asOutboxError(error, this.location);
      throw this.failure;
    }
  }
}

function openDatabase(location: string): Promise<Database> {
  return openDB<Schema>(`keelson/${location}`, 1, {
    upgrade(database) {
      database.createObjectStore('facts');
      database.createObjectStore('items', { keyPath: 'id' });
    },
  });
}

/**
 * Makes this page the only writer until it calls the result, or ends.
 * @throws KeelsonError('outbox-failed') when another page is the writer.
 */
async function lock(location: string): Promise<() => void> {
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (locks === undefined) {
    throw new KeelsonError(
      'outbox-failed', 'this page has no Web Locks: serve it over https or from localhost',
    );
  }
  return new Promise((resolve, reject) => {
    const held = (granted: Lock | null): Promise<void> | undefined => {
      if (granted === null) {
        const text = `another page uses the outbox ${location}: close it, or give each its own`;
        reject(new KeelsonError('outbox-failed', text, { details: { location } }));
        return undefined;
      }
      return new Promise<void>((release) => resolve(release));
    };
    locks.request(`keelson/${location}`, { ifAvailable: true }, held)
      .catch((error: unknown) => reject(asOutboxError(error, location)));
  });
}

function asOutboxError(error: unknown, location: string): KeelsonError {
  if (error instanceof KeelsonError) return error;
  const why = error instanceof Error ? error.message : String(error);
  const text = `the outbox ${location} cannot be used: ${why}`;
  return new KeelsonError('outbox-failed', text, { cause: error, details: { location } });
}
