import { equalBytes } from '../../base/bytes.js';
import { KeelsonError } from '../../base/errors.js';
import { after, before, type ServerIndex } from '../shares/body.js';
import type { KeyStream } from './key-stream.js';
import type { MessageProofs } from './statements.js';
import { isNumber } from './words.js';

/**
 * How a server's messages reach the two others. Between two servers they arrive in order, each
 * once. Later layers put sockets under it; tests run three parties in one process.
 */
export interface Link {
  send(to: ServerIndex, message: Uint8Array): void;
  /** The next message of that server. @throws when the run has stopped. */
  receive(from: ServerIndex): Promise<Uint8Array>;
}

/** Another server sent what this run cannot use. The run stops. */
export class PeerError extends KeelsonError {
  /**
   * @param reason - `step`: out of order; `released`: other numbers were opened before; `number`:
   *   not below p.
   */
  constructor(
    readonly reason: 'length' | 'step' | 'released' | 'number', from: ServerIndex, what: string,
  ) {
    super('malformed', `server ${from} sent ${what}`, { details: { reason, server: from } });
  }
}

/**
 * The rules by which a run computes and sends messages. Servers of different rules do not begin a
 * run: 1 had numbers modulo 2^64, and servers of those times do not say it; 2 had no proofs.
 */
export const runRules = 3;

const digestBytes = 32;
/** Bytes before the words of a message: the number of its step, and a digest. */
export const messageHeadBytes = 4 + digestBytes;

/** A server in one attempt of a run: its link, its two key streams and the number of its step. */
export interface PartyOptions {
  readonly server: ServerIndex;
  readonly link: Link;
  /** Shared with server i - 1. */
  readonly own: KeyStream;
  /** Shared with server i + 1. */
  readonly next: KeyStream;
  /** 32 bytes: of all that the servers agreed on before the run. */
  readonly start: Uint8Array;
  readonly sha512: (bytes: Uint8Array) => Uint8Array;
  /** Null in tests of what a run without proofs would let through. */
  readonly proofsOf: ((party: Party) => MessageProofs) | null;
}

/**
 * One server of a run. All three perform the same steps in the same order: what comes next follows
 * from public facts and opened numbers. A message begins with the number of its step and a digest
 * of all that was opened before, so a difference stops the run.
 */
export class Party {
  readonly server: ServerIndex;
  /** Proofs of the messages since the last opening. */
  readonly proofs: MessageProofs | null;
  /** Bytes that this server has sent. */
  sentBytes = 0;
  #step = 0;
  #digest: Uint8Array;
  readonly #options: PartyOptions;

  constructor(options: PartyOptions) {
    this.#options = options;
    this.server = options.server;
    this.#digest = options.start.slice(0, digestBytes);
    this.proofs = options.proofsOf?.(this) ?? null;
  }

  /** Rounds so far. */
  get rounds(): number {
    return this.#step;
  }

  /** Begins the next step. Each step takes from each stream at most once. */
  begin(): void {
    this.#step += 1;
  }

  /** Words of the stream of component i, which this server shares with server i - 1. */
  ownStream(words: number): Uint32Array {
    return this.#options.own.take(this.#step, words);
  }

  /** Words of the stream of component i + 1, which this server shares with server i + 1. */
  nextStream(words: number): Uint32Array {
    return this.#options.next.take(this.#step, words);
  }

  /** Numbers of the stream of component i, as `ownStream`. */
  ownNumbers(count: number): Uint32Array {
    return this.#options.own.takeNumbers(this.#step, count);
  }

  /** Numbers of the stream of component i + 1, as `nextStream`. */
  nextNumbers(count: number): Uint32Array {
    return this.#options.next.takeNumbers(this.#step, count);
  }

  /** Sends words to a server. Whoever calls it masks them first: see the claim of each step. */
  send(to: ServerIndex, words: Uint32Array): void {
    const message = new Uint8Array(messageHeadBytes + 4 * words.length);
    new DataView(message.buffer).setUint32(0, this.#step);
    message.set(this.#digest, 4);
    message.set(new Uint8Array(words.buffer, words.byteOffset, 4 * words.length), messageHeadBytes);
    this.sentBytes += message.length;
    this.#options.link.send(to, message);
  }

  /**
   * The words that a server sent in this step.
   * @throws PeerError for another length, another step or other opened numbers.
   */
  async receive(from: ServerIndex, words: number): Promise<Uint32Array> {
    const message = await this.#options.link.receive(from);
    if (message.length !== messageHeadBytes + 4 * words) {
      throw new PeerError(
        'length', from, `${message.length} bytes in step ${this.#step}, not `
          + `${messageHeadBytes + 4 * words}`,
      );
    }
    const step = new DataView(message.buffer, message.byteOffset).getUint32(0);
    if (step !== this.#step) {
      throw new PeerError('step', from, `step ${step}, and this server is in step ${this.#step}`);
    }
    if (!equalBytes(message.subarray(4, messageHeadBytes), this.#digest)) {
      throw new PeerError(
        'released', from, `step ${step} of a run in which other numbers were opened`,
      );
    }
    // A copy: words begin at the start of their memory.
    return new Uint32Array(Uint8Array.from(message.subarray(messageHeadBytes)).buffer);
  }

  /**
   * The numbers that a server sent in this step, in pairs of words.
   * @throws PeerError as `receive` does, and for what is not below p.
   */
  async receiveNumbers(from: ServerIndex, count: number): Promise<Uint32Array> {
    const words = await this.receive(from, 2 * count);
    for (let at = 0; at < words.length; at += 2) {
      if (!isNumber(words[at]!, words[at + 1]!)) {
        throw new PeerError('number', from, `in step ${this.#step} a number that is not below p`);
      }
    }
    return words;
  }

  /**
   * Begins the program of a question. From the second on, its place is in the digest of all later
   * messages: a server that is still at another question cannot be misunderstood.
   */
  turnTo(question: number): void {
    if (question > 0) this.noteOpened(Uint32Array.of(question));
  }

  /** Adds opened numbers to the digest of later messages. */
  noteOpened(numbers: Uint32Array): void {
    const bytes = new Uint8Array(digestBytes + 4 * numbers.length);
    bytes.set(this.#digest);
    bytes.set(
      new Uint8Array(numbers.buffer, numbers.byteOffset, 4 * numbers.length), digestBytes,
    );
    this.#digest = this.#options.sha512(bytes).slice(0, digestBytes);
  }

  get previous(): ServerIndex {
    return before(this.server);
  }

  get following(): ServerIndex {
    return after(this.server);
  }
}
