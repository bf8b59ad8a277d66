import { assert } from '../../src/base/assert.js';
import type { Sealed } from '../../src/base/brands.js';
import { openSealed } from '../../src/base/wrappers.js';
import { seededRandom } from '../../src/random/work.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { KeyElements } from '../../src/sealed/proof/field.js';
import { ChunkedProofs, type ProofStreams } from '../../src/sealed/proof/message-proofs.js';
import { KeyStream, type StreamSource } from '../../src/sealed/steps/key-stream.js';
import { openSum, Verified } from '../../src/sealed/steps/open.js';
import type { Dots } from '../../src/sealed/steps/multiply.js';
import { Party, type Link, type PartyOptions } from '../../src/sealed/steps/party.js';
import {
  bitsOf, numbersOf, type Bits, type Numbers, type Shares,
} from '../../src/sealed/steps/shares.js';
import {
  addInto, constantNumbers, numbersOfStream, signedAt, subtractFrom,
} from '../../src/sealed/steps/words.js';
import { aesStream } from '../../src/signing/block-cipher.js';
import { signing } from '../../src/signing/node.js';

/** Bytes of the number of a step and of the digest before the words of a message. */
export const headBytes = 36;

/** A message as it went from one party to another. */
export interface Passed {
  readonly from: ServerIndex;
  readonly to: ServerIndex;
  readonly message: Uint8Array;
}

/** Three links in one process. */
export class Network {
  readonly passed: Passed[] = [];
  readonly #waiting = new Map<string, Uint8Array[]>();
  readonly #wanted = new Map<string, (message: Uint8Array) => void>();

  /** @param change - what a message becomes on its way. */
  constructor(private readonly change: (passed: Passed) => Uint8Array = ({ message }) => message) {}

  linkOf(server: ServerIndex): Link {
    return {
      send: (to, sent) => {
        const message = this.change({ from: server, to, message: sent });
        this.passed.push({ from: server, to, message });
        const way = `${server}${to}`;
        const wanted = this.#wanted.get(way);
        this.#wanted.delete(way);
        if (wanted !== undefined) wanted(message);
        else this.#waiting.set(way, [...this.#waiting.get(way) ?? [], message]);
      },
      receive: (from) => new Promise((resolve) => {
        const way = `${from}${server}`;
        const message = this.#waiting.get(way)?.shift();
        if (message !== undefined) resolve(message);
        else this.#wanted.set(way, resolve);
      }),
    };
  }
}

/** Key streams of the three components: by default from AES under fixed keys. */
export function keyStreams(seed = 'keys'): readonly StreamSource[] {
  return servers.map((component) => {
    const random = seededRandom(new TextEncoder().encode(`${seed} ${component}`));
    const key = new Uint8Array(16);
    random.fill(key);
    return aesStream(key);
  });
}

export interface RunOptions {
  readonly network?: Network;
  readonly streams?: readonly StreamSource[];
  /** Makes the party of a server. Default: one that follows the protocol. */
  readonly partyOf?: (options: PartyOptions) => Party;
  /** True: messages are proved. Default: false, as tests of single steps need none. */
  readonly isProved?: boolean;
}

/** Sums of products of any places of two lists. */
export function dotsOf(
  count: number, terms: number, left: (sum: number, term: number) => number,
  right: (sum: number, term: number) => number,
): Dots {
  return {
    count,
    runs: Array.from({ length: count * terms }, (_, i) => {
      const [sum, term] = [Math.floor(i / terms), i % terms];
      return { left: left(sum, term), right: right(sum, term), sum, isOneSum: true, length: 1 };
    }),
  };
}

/** Verifies what led to a sum, and opens it. */
export async function openedSum(party: Party, own: Uint32Array): Promise<Uint32Array> {
  return openSum(party, await Verified.of(party, own));
}

/** Streams of proofs under fixed keys. */
export function proofStreams(server: ServerIndex, seed = 'proofs'): ProofStreams {
  return (pair, use, chunk) => {
    const component = pair === 'own' ? server : (server + 1) % 3;
    const key = signing.sha512(new TextEncoder().encode(`${seed} ${component} ${use} ${chunk}`));
    return new KeyElements(KeyStream.ofKey(key.slice(0, 16)));
  };
}

/** Runs the same work at three parties. */
export async function runThree<T>(
  work: (party: Party) => Promise<T>,
  {
    network = new Network(), streams = keyStreams(), partyOf = (options) => new Party(options),
    isProved = false,
  }: RunOptions = {},
): Promise<readonly T[]> {
  return Promise.all(servers.map((server) => work(partyOf({
    server, link: network.linkOf(server),
    own: new KeyStream(streams[server]!), next: new KeyStream(streams[(server + 1) % 3]!),
    start: new Uint8Array(32), sha512: (bytes) => signing.sha512(bytes),
    proofsOf: isProved ? (party) => new ChunkedProofs(
      party, proofStreams(server), (bytes) => signing.sha512(bytes),
    ) : null,
  }))));
}

/** Components of values, for the three servers. */
export type Components = readonly [Uint32Array, Uint32Array, Uint32Array];

/** Splits numbers at random. */
export function splitNumbers(values: readonly (number | bigint)[], seed: string): Components {
  const total = new Uint32Array(2 * values.length);
  values.forEach((value, i) => total.set(constantNumbers(1, value), 2 * i));
  const [first, second] = randomPair(total.length, seed).map((words) =>
    numbersOfStream(words, values.length)!) as [Uint32Array, Uint32Array];
  subtractFrom(total, first);
  subtractFrom(total, second);
  return [first, second, total];
}

/** Splits words of bits at random. */
export function splitBits(words: Uint32Array, seed: string): Components {
  const [first, second] = randomPair(words.length, seed);
  return [first, second, words.map((word, at) => word ^ first[at]! ^ second[at]!)];
}

function randomPair(words: number, seed: string): readonly [Uint32Array, Uint32Array] {
  const bytes = new Uint8Array(8 * words);
  seededRandom(new TextEncoder().encode(seed)).fill(bytes);
  const all = new Uint32Array(bytes.buffer);
  return [all.slice(0, words), all.slice(words)];
}

export const numbersAt = (server: ServerIndex, components: Components): Numbers =>
  numbersOf(components[server].slice(), components[((server + 1) % 3) as ServerIndex].slice());

export const bitsAt = (server: ServerIndex, components: Components): Bits =>
  bitsOf(components[server].slice(), components[((server + 1) % 3) as ServerIndex].slice());

/** Checks that both holders of each component hold the same, and puts the components together. */
function componentsOf<K extends 'numbers' | 'bits'>(
  results: readonly Sealed<Shares<K>>[],
): readonly Uint32Array[] {
  const opened = results.map((result) => openSealed(result));
  opened.forEach(({ next }, server) => {
    const other = opened[(server + 1) % 3]!.own;
    assert(next.every((word, at) => word === other[at]), 'two holders hold the same component');
  });
  return opened.map(({ own }) => own);
}

/** The numbers behind the shares of three servers. */
export function numbersBehind(results: readonly Numbers[]): readonly bigint[] {
  const [first, ...others] = componentsOf(results);
  const sum = first!.slice();
  for (const other of others) addInto(sum, other);
  return Array.from({ length: sum.length / 2 }, (_, i) => signedAt(sum, i));
}

/** The words of bits behind the shares of three servers. */
export function bitsBehind(results: readonly Bits[]): Uint32Array {
  const [a, b, c] = componentsOf(results);
  return a!.map((word, at) => word ^ b![at]! ^ c![at]!);
}
