import { KeelsonError } from '../../src/base/errors.js';
import { signing } from '../base/signing.js';
import type { Outbox, OutboxContents, OutboxItem, OutboxPin } from './contract.js';
import { sequenceAfter } from './records.js';

/*
 * Everything of one location is in two stores. Values are structured clones, which keep 64-bit
 * integers and byte arrays unchanged. `facts` has one record each: `pin`, the contributor's `seed`,
 * and the `next` sequence. `items` has an OutboxItem for each id.
 */

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
      const facts = transaction.objectStore('facts');
      let seed: unknown = await resultOf(facts.get('seed'));
      if (!(seed instanceof Uint8Array)) {
        seed = signing.generateSeed();
        facts.put(seed, 'seed');
      }
      await committed(transaction);
      return seed as Uint8Array;
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
    private readonly database: IDBDatabase,
    private readonly location: string,
    private readonly unlock: () => void,
  ) {}

  load(): Promise<OutboxContents> {
    return this.attempt(async () => {
      const transaction = this.database.transaction(['facts', 'items']);
      const facts = transaction.objectStore('facts');
      const [pin, next, items] = await Promise.all([
        resultOf(facts.get('pin') as IDBRequest<OutboxPin | undefined>),
        resultOf(facts.get('next') as IDBRequest<bigint | undefined>),
        // Sorted by id.
        resultOf(transaction.objectStore('items').getAll() as IDBRequest<OutboxItem[]>),
      ]);
      this.next = next ?? 1n;
      return { pin: pin ?? null, items, nextSequence: this.next };
    });
  }

  pin({ serverKey, studyId, contributor }: OutboxPin): Promise<void> {
    return this.attempt(async () => {
      const transaction = this.database.transaction('facts', 'readwrite', durable);
      transaction.objectStore('facts').put({ serverKey, studyId, contributor }, 'pin');
      await committed(transaction);
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
    const transaction = this.database.transaction('items', 'readwrite');
    transaction.objectStore('items').delete(id);
    const forgotten = committed(transaction).catch(() => undefined)
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
      transaction.objectStore('items').put(item);
      transaction.objectStore('facts').put(this.next, 'next');
      await committed(transaction);
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

function openDatabase(location: string): Promise<IDBDatabase> {
  const request = indexedDB.open(`keelson/${location}`, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('facts');
    request.result.createObjectStore('items', { keyPath: 'id' });
  };
  return resultOf(request);
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });
}

/** Resolves when a transaction is on the medium; a request that fails aborts its transaction. */
function committed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error!);
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
