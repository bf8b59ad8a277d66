import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { signing } from '#signing';
import { createContributor, subscribe } from '../../../client/index.js';
import { toHex } from '../../../src/base/bytes.js';
import { KeelsonError } from '../../../src/base/errors.js';
import { seededRandom } from '../../../src/random/work.js';
import type { Flights } from '../../data/flights.js';

/** Mean time between an answer and the next row of one person, in milliseconds. */
const pauseMs = 500;
const backoff = { backoffInitialMs: 20, backoffMaxMs: 500 };

export interface CrowdOptions {
  readonly url: string;
  readonly studies: readonly string[];
  readonly people: number;
  readonly serverKey: Uint8Array;
  readonly flights: Flights;
}

/**
 * People who send one row after the other, each when the one before is answered, and a subscriber
 * of each study. They record the answers that they receive, and connect again when a server is
 * gone.
 */
export class Crowd {
  /** The rows that the SDK reported as durable: key and sequence, by study. */
  readonly acknowledged: ReadonlyMap<string, Set<string>>;
  /** Number of releases of each study that its subscriber has verified. Their log has no gap. */
  readonly released = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #all: Promise<void>[] = [];
  #failure: Error | null = null;

  constructor(private readonly options: CrowdOptions) {
    const { studies, people } = options;
    // Each person adds two listeners: one of its session, and one of its pause.
    setMaxListeners(2 * studies.length * (people + 1), this.#stop.signal);
    this.acknowledged = new Map(studies.map((study) => [study, new Set<string>()]));
    const failed = (error: unknown): void => {
      if (!this.#stop.signal.aborted) this.#failure ??= error as Error;
    };
    for (const study of studies) {
      this.#all.push(this.#listen(study).catch(failed));
      for (let i = 0; i < people; i++) this.#all.push(this.#send(study, i).catch(failed));
    }
  }

  /** Number of acknowledged rows. @throws the first error that ended a person or a subscriber. */
  get answered(): number {
    if (this.#failure !== null) throw this.#failure;
    return [...this.acknowledged.values()].reduce((sum, { size }) => sum + size, 0);
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#all);
  }

  async #send(study: string, index: number): Promise<void> {
    const { url, serverKey, flights: { count, columns } } = this.options;
    const { signal } = this.#stop;
    const seed = signing.generateSeed();
    const random = seededRandom(seed).fork(`${study} ${index}`);
    const contributor = createContributor({ url, study, seed, serverKey, signal, ...backoff });
    const key = toHex(await contributor.publicKey);
    while (!signal.aborted) {
      await pause(2 * pauseMs * random.uniform(), undefined, { signal });
      const flight = Math.floor(random.uniform() * count);
      const settled = await contributor.send([[columns.delay[flight]!, columns.distance[flight]!]]);
      if (settled.kind === 'refused') {
        // In flight when a server died, and its epoch is over: so it counts nowhere, as the SDK
        // reported.
        if (settled.error instanceof KeelsonError && settled.error.code === 'stale-epoch') continue;
        throw settled.error;
      }
      for (const sequence of settled.sequences) {
        this.acknowledged.get(study)!.add(`${key} ${sequence}`);
      }
    }
  }

  async #listen(study: string): Promise<void> {
    const { url, serverKey } = this.options;
    const { signal } = this.#stop;
    for await (const { release } of subscribe({ url, study, serverKey, signal, ...backoff })) {
      this.released.set(study, Number(release.index) + 1);
    }
  }
}
