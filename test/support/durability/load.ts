import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createContributor, memoryOutbox, subscribe, type Contributor, type Outbox,
} from '../../../client/index.js';
import { systemRuntime } from '../../../client/base/defaults.js';
import { withHttpFallback } from '../../../client/http/fallback.js';
import { UploadTransport } from '../../../client/http/uploads.js';
import { createOnceContributor, type OnceContributor } from '../../../client/once.js';
import { openTransport } from '../../../client/websocket/node.js';
import type { OpenTransport } from '../../../client/websocket/contract.js';
import { sequenceAfter } from '../../../client/outbox/records.js';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { KeelsonError } from '../../../src/base/errors.js';
import { signing } from '../../../src/signing/node.js';
import { subprotocol } from '../../../src/wire/index.js';
import { Chance } from '../simulation/chance.js';

/**
 * How rows travel: on a channel that is encrypted, signed, either of the two anew with each
 * connection (so that a batch may come again in the other form), or carried by HTTP because
 * WebSockets are refused; or each row in a request of its own.
 */
export const forms = ['encrypted', 'signed', 'either', 'http', 'once'] as const;
export type Form = typeof forms[number];

/** A row that the SDK said is durable. */
export interface Acknowledged {
  /** Hex. */
  readonly contributor: string;
  readonly sequence: bigint;
  readonly row: readonly number[];
  /** Unix milliseconds, rounded up: the server had said so by then. */
  readonly atMs: number;
  readonly form: Form;
}

export interface LoadOptions {
  readonly url: string;
  readonly study: string;
  /** Hex. */
  readonly serverKey: string;
  readonly people: number;
  readonly columns: number;
  /** Mean wait of one contributor between an answer and its next row. */
  readonly pauseMs: number;
  /**
   * Chance that a contributor takes back, after an answer, what it gave to the open epoch. Default
   * 0.
   */
  readonly withdraws?: number;
}

/** A withdrawal that the SDK said is durable. */
export interface Withdrawn {
  /** Hex. */
  readonly contributor: string;
  readonly epoch: bigint;
}

/** Refused for good, and never acknowledged. */
const refusals: ReadonlySet<string> = new Set([
  // In flight when the server died, and two epochs older when it came back.
  'stale-epoch',
  // Its own budget does not pay for the epoch.
  'contributor-budget-exhausted',
]);

/** One way to send of a key, whose ways take turns. */
type Way = { readonly form: Form }
  & ({ readonly channel: Contributor } | { readonly once: OnceContributor });

/** The share of a channel's connections on which batches are signed, whatever the server knows. */
const signs = { encrypted: 0, signed: 1, either: 0.5 } as const;

/** A network in which every WebSocket is refused, as some proxies do. */
const throughProxy: OpenTransport = withHttpFallback((_url, _subprotocols, handlers) => {
  setImmediate(() => handlers.onClose('a WebSocket is refused'));
  const nothing = (): void => undefined;
  return {
    send: nothing, bufferedAmount: 0, ping: () => false, close: nothing, terminate: nothing,
  };
}, {
  runtime: systemRuntime, onVia: () => undefined,
  overHttp: async (url, handlers) => new UploadTransport(url, handlers, systemRuntime),
});

const senderOf = (way: Way): OnceContributor => ('once' in way ? way.once : way.channel);

/** The outbox of a key whose ways take turns: it knows the sequences of both. */
function sharedOutbox(): Outbox {
  let nextSequence = 1n;
  return {
    ...memoryOutbox(),
    load: async () => ({ pin: null, items: [], nextSequence }),
    sign: async (_id, _last, batches) => { nextSequence = sequenceAfter(nextSequence, batches); },
  };
}

/** The study has stopped, because its budget is used up. */
const hasStopped = (error: unknown): boolean =>
  error instanceof KeelsonError
    && (error.code === 'budget-exhausted' || error.code === 'study-ended');

/**
 * Contributors that send rows, no two alike, one by one, and keep account of what was acknowledged;
 * and a subscriber.
 */
export class Load {
  readonly acknowledged: Acknowledged[] = [];
  /** Digest of each release as the subscriber verified it, by study and index. */
  readonly published = new Map<string, string>();
  readonly withdrawn: Withdrawn[] = [];
  /** Keys that took something back, or tried. */
  readonly regretful = new Set<string>();
  readonly failures: unknown[] = [];
  /** Rows refused for good. */
  refused = 0;
  readonly #stop = new AbortController();
  readonly #senders: Promise<void>[] = [];
  readonly #chance = Chance.of(1);
  #serial = 0;

  constructor(private readonly options: LoadOptions) {
    setMaxListeners(options.people + 10, this.#stop.signal);
    const failed = (error: unknown): void => {
      if (!this.#stop.signal.aborted && !hasStopped(error)) this.failures.push(error);
    };
    for (let i = 0; i < options.people; i++) this.#senders.push(this.#send().catch(failed));
    this.#senders.push(this.#listen().catch(failed));
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#senders);
  }

  async #send(): Promise<void> {
    const { columns, pauseMs } = this.options;
    const { signal } = this.#stop;
    const turns = this.#ways();
    let way = turns();
    const key = toHex(await senderOf(way).publicKey);
    while (!signal.aborted) {
      if (this.#chance.happens(0.1)) {
        await senderOf(way).close();
        way = turns();
      }
      const serial = (this.#serial += 1);
      const row = Array.from({ length: columns }, (_, i) =>
        (i === 0 ? serial * 1e-7 : this.#chance.between(-0.5, 0.5)));
      const settled = await senderOf(way).send([row]);
      if (settled.kind === 'refused') {
        const { code } = settled.error;
        // Without a channel, an epoch does not say why it takes nothing more.
        const isClosed = (code === 'contribution-full' && this.regretful.has(key))
          || (code === 'not-counted' && 'once' in way);
        if (!refusals.has(code) && !isClosed) throw settled.error;
        this.refused += 1;
        // Its epoch takes nothing more of it: a slow sender, not a busy one.
        await pause(isClosed || code !== 'stale-epoch' ? 200 : 0);
        continue;
      }
      const atMs = Math.ceil(performance.timeOrigin + performance.now()) + 1;
      for (const sequence of settled.sequences) {
        this.acknowledged.push({ contributor: key, sequence, row, atMs, form: way.form });
      }
      if ('channel' in way && this.#chance.happens(this.options.withdraws ?? 0)) {
        await this.#withdraw(way.channel, key);
      }
      await pause(this.#chance.between(0, 2 * pauseMs));
    }
  }

  /** The ways of one key, one after the other. */
  #ways(): () => Way {
    const { url, study, serverKey } = this.options;
    const options = {
      url, study, seed: signing.generateSeed(), serverKey: fromHex(serverKey),
      signal: this.#stop.signal, outbox: sharedOutbox(), backoffInitialMs: 20, backoffMaxMs: 200,
    };
    let form: Form | null = null;
    return () => {
      form = this.#chance.pick(forms.filter((other) => other !== form));
      if (form === 'once') return { form, once: createOnceContributor(options) };
      const open = form === 'http' ? throughProxy : this.#signing(signs[form]);
      return { form, channel: createContributor({ ...options, openTransport: open }) };
    };
  }

  /** As a client that knows no encrypted channels. @param share of the connections. */
  #signing(share: number): OpenTransport {
    return (url, offered, handlers) =>
      openTransport(url, this.#chance.happens(share) ? [subprotocol] : offered, handlers);
  }

  async #withdraw(contributor: Contributor, key: string): Promise<void> {
    this.regretful.add(key);
    try {
      this.withdrawn.push({ contributor: key, epoch: await contributor.withdraw() });
    } catch (error) {
      // The epoch was closed first.
      if (!(error instanceof KeelsonError) || error.code !== 'too-late') throw error;
    }
  }

  async #listen(): Promise<void> {
    const { study, serverKey, url } = this.options;
    const { signal } = this.#stop;
    const subscription = subscribe({
      url, study, serverKey: fromHex(serverKey), signal,
      backoffInitialMs: 20, backoffMaxMs: 200,
    });
    // It fails by itself when an index comes again with other bytes: the chain would not verify.
    for await (const { release, signed } of subscription) {
      this.published.set(`${study} ${release.index}`, toHex(signing.sha512(signed.body)));
    }
  }
}

/** How many rows came in each form. */
export function countsByForm(rows: readonly Acknowledged[]): Partial<Record<Form, number>> {
  const counts: Partial<Record<Form, number>> = {};
  for (const { form } of rows) counts[form] = (counts[form] ?? 0) + 1;
  return counts;
}

/**
 * Waits until rows were acknowledged in each of these forms, or a sender failed: a busy machine
 * needs longer for that than an idle one.
 */
export async function everyForm(loads: readonly Load[]): Promise<void> {
  const isMissing = (form: Form): boolean =>
    !loads.some(({ acknowledged }) => acknowledged.some((row) => row.form === form));
  while (forms.some(isMissing) && loads.every(({ failures }) => failures.length === 0)) {
    await pause(50);
  }
}
