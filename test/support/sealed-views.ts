import { modPrime, prime, signedModPrime } from '../../src/base/prime.js';
import { seededRandom } from '../../src/random/work.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import type { StreamSource } from '../../src/sealed/steps/key-stream.js';
import type { Party } from '../../src/sealed/steps/party.js';
import { spareNumbers } from '../../src/sealed/steps/words.js';
import {
  headBytes, keyStreams, Network, runThree, type Components,
} from './sealed-run.js';

/**
 * Enumerates the views of a step that sends bits. Every lane of one run is one case: a value of all
 * components of the inputs, and a value of all bits of all streams. Lanes do not meet, so what is
 * checked is the shipped step.
 */
interface Variable {
  /** Values 0 to radix - 1. */
  readonly radix: number;
  /** Servers that hold it. */
  readonly holders: readonly ServerIndex[];
}

/** A stretch of a stream: the bits of one lane at one place of a step. */
export interface StreamPlace {
  readonly step: number;
  readonly component: ServerIndex;
  /** Bits of a lane: planes, one behind the other. */
  readonly blocks: number;
}

export interface Enumeration {
  /** Components of numbers that are enumerated are below this. */
  readonly below: number;
  /** Inputs, each with three components: their kinds. */
  readonly inputs: readonly ('numbers' | 'bits')[];
  readonly streams: readonly StreamPlace[];
  /** A fault: no bit masks anything. */
  readonly isUnmasked?: boolean;
  readonly run: (party: Party, inputs: readonly Components[]) => Promise<unknown>;
}

interface Laid extends Variable {
  readonly kind: 'numbers' | 'bits';
  readonly stream?: StreamPlace & { readonly block: number };
}

/** Servers of which the view tells something that they should not learn. */
export async function tellingViews(asked: Enumeration): Promise<readonly ServerIndex[]> {
  const variables = variablesOf(asked);
  const lanes = variables.reduce((product, { radix }) => product * radix, 1);
  const padded = Math.ceil(lanes / 32) * 32;
  const strides: number[] = [];
  variables.reduce((stride, { radix }) => (strides.push(stride), stride * radix), 1);
  const valueAt = (variable: number, lane: number): number =>
    Math.floor(lane / strides[variable]!) % variables[variable]!.radix;
  const listOf = (variable: number): Uint32Array => {
    const { kind } = variables[variable]!;
    const words = new Uint32Array(kind === 'bits' ? padded / 32 : 2 * padded);
    for (let lane = 0; lane < lanes; lane++) {
      const value = valueAt(variable, lane);
      if (kind === 'bits') words[lane >>> 5]! |= value << (lane & 31);
      else words[2 * lane] = value;
    }
    return words;
  };
  const inputs = asked.inputs.map((_, input) =>
    [0, 1, 2].map((component) => listOf(3 * input + component)) as unknown as Components);
  const network = new Network();
  await runThree((party) => asked.run(party, inputs), {
    network, streams: [0, 1, 2].map((component) => streamOf(asked, variables, component, listOf)),
  });
  return ([0, 1, 2] as const).filter((server) =>
    tells(server, { variables, lanes, valueAt, network }));
}

function variablesOf({ below, inputs, streams }: Enumeration): readonly Laid[] {
  const holdersOf = (component: number): readonly ServerIndex[] =>
    [component as ServerIndex, ((component + 2) % 3) as ServerIndex];
  return [
    ...inputs.flatMap((kind) => [0, 1, 2].map((component): Laid => ({
      kind, radix: kind === 'bits' ? 2 : below, holders: holdersOf(component),
    }))),
    ...streams.flatMap((stream) => Array.from({ length: stream.blocks }, (_, block): Laid => ({
      kind: 'bits', radix: 2, holders: holdersOf(stream.component), stream: { ...stream, block },
    }))),
  ];
}

function streamOf(
  { isUnmasked }: Enumeration, variables: readonly Laid[], component: number,
  listOf: (variable: number) => Uint32Array,
): StreamSource {
  return (position, length) => {
    const lists = [...variables.keys()].filter((i) => {
      const { stream } = variables[i]!;
      return stream?.step === Number(position) && stream.component === component;
    }).map(listOf);
    const words = new Uint32Array(length / 4);
    let at = 0;
    for (const list of lists) {
      if (isUnmasked !== true) words.set(list, at);
      at += list.length;
    }
    if (at !== words.length) throw new Error(`step ${position} takes ${words.length} words`);
    return new Uint8Array(words.buffer);
  };
}

/** True if what a server receives depends on what it does not hold. */
function tells(
  server: ServerIndex,
  { variables, lanes, valueAt, network }: {
    readonly variables: readonly Laid[]; readonly lanes: number;
    readonly valueAt: (variable: number, lane: number) => number; readonly network: Network;
  },
): boolean {
  const plane = Math.ceil(lanes / 32);
  const seen = network.passed.filter(({ to }) => to === server).flatMap(({ message }) => {
    const words = new Uint32Array(message.slice(headBytes).buffer);
    return Array.from({ length: words.length / plane }, (_, block) =>
      words.subarray(block * plane));
  });
  const viewAt = (lane: number): number => seen.reduce((view, words) =>
    view * 2 + ((words[lane >>> 5]! >>> (lane & 31)) & 1), 0);
  const views = 2 ** seen.length;
  const fold = (lane: number, chosen: readonly number[]): number =>
    chosen.reduce((all, i) => all * variables[i]!.radix + valueAt(i, lane), 0);
  const sizeOf = (chosen: readonly number[]): number =>
    chosen.reduce((product, i) => product * variables[i]!.radix, 1);
  const held = [...variables.keys()].filter((i) => variables[i]!.holders.includes(server));
  const hidden = [...variables.keys()].filter((i) =>
    !variables[i]!.holders.includes(server) && variables[i]!.stream === undefined);
  const secrets = sizeOf(hidden);
  // For each value of what it holds and of what is hidden: how often each view comes.
  const counts = new Uint32Array(sizeOf(held) * secrets * views);
  for (let lane = 0; lane < lanes; lane++) {
    counts[(fold(lane, held) * secrets + fold(lane, hidden)) * views + viewAt(lane)]! += 1;
  }
  return hasUnequal(counts, secrets, views);
}

/** Whether, for some value of what is known, the views differ between values of what is hidden. */
function hasUnequal(counts: Uint32Array, secrets: number, views: number): boolean {
  for (let known = 0; known < counts.length; known += secrets * views) {
    let first: Uint32Array | null = null;
    for (let secret = 0; secret < secrets; secret++) {
      const at = known + secret * views;
      const law = counts.subarray(at, at + views);
      first ??= law;
      if (law.some((count, view) => count !== first![view])) return true;
    }
  }
  return false;
}

/** A step that sends numbers, and the components of its inputs at random. */
export interface NumberStep {
  readonly inputs: readonly ('numbers' | 'bits')[];
  /** Numbers of each list, or words of bits. */
  readonly size: number;
  /** True if a sum is opened: then the second sender's message follows from it and the first. */
  readonly isOpening?: boolean;
  /** A fault: no block masks anything. */
  readonly isUnmasked?: boolean;
  readonly run: (party: Party, inputs: readonly Components[]) => Promise<unknown>;
}

/** A number of a stream, as a run takes it. */
interface Block {
  readonly component: number;
  readonly position: bigint;
  readonly index: number;
}

/**
 * Servers that receive a number which no block of the stream that they lack masks for itself.
 *
 * Modulo p not all values can be listed. So one block of a stream is moved at a time, by a random
 * amount, at random inputs. If for each number that a server receives some block moves it by
 * exactly that amount, or its negative, and moves nothing else that the server receives, then all
 * it receives is moved by independent uniform numbers that it does not know: it is uniform,
 * whatever the inputs are.
 */
export async function tellingNumbers(asked: NumberStep): Promise<readonly ServerIndex[]> {
  const telling = new Set<ServerIndex>();
  for (const seed of ['first', 'second', 'third']) {
    const blocks: Block[] = [];
    const still = await receivedIn(asked, seed, null, blocks);
    for (const server of servers) {
      const masked = new Set<number>();
      const lacked = blocks.filter(({ component }) => component === (server + 2) % 3);
      for (const block of lacked) {
        const amount = BigInt(1 + block.index) * 0x0123_4567_89ab_cdefn;
        const moved = await receivedIn(asked, seed, { ...block, amount }, []);
        const changes = [...still[server]!.keys()].filter((place) =>
          moved[server]![place] !== still[server]![place]);
        const [place = -1] = changes;
        const change =
          signedModPrime((moved[server]![place] ?? 0n) - (still[server]![place] ?? 0n));
        const isExact = [amount, -amount].some((by) => signedModPrime(by) === change);
        if (changes.length === 1 && isExact) masked.add(place);
      }
      if (still[server]!.some((_, place) => !masked.has(place))) telling.add(server);
    }
  }
  return [...telling].sort();
}

/** The numbers that each server receives, in order. @param blocks - gets those that are taken. */
async function receivedIn(
  asked: NumberStep, seed: string, moved: Block & { readonly amount: bigint } | null,
  blocks: Block[],
): Promise<readonly (readonly bigint[])[]> {
  const inputs = asked.inputs.map((kind, i) => componentsOf(kind, asked.size, `${seed} ${i}`));
  const network = new Network();
  const streams = keyStreams(seed).map((source, component): StreamSource => (position, length) => {
    const bytes = asked.isUnmasked === true ? new Uint8Array(length) : source(position, length);
    const numbers = new BigUint64Array(bytes.buffer, bytes.byteOffset, length / 8);
    for (let index = 0; index < numbers.length - spareNumbers; index++) {
      blocks.push({ component, position, index });
    }
    if (asked.isUnmasked !== true && moved?.component === component
      && moved.position === position) {
      const value = numbers[moved.index]! & prime;
      numbers[moved.index] = modPrime(value + moved.amount);
    }
    return bytes;
  });
  await runThree((party) => asked.run(party, inputs), { network, streams });
  return servers.map((server) => network.passed
    .filter(({ from, to }) => to === server
      && (asked.isOpening !== true || from === (server + 1) % 3))
    .flatMap(({ message }) => [...new BigUint64Array(message.slice(headBytes).buffer)]));
}

function componentsOf(kind: 'numbers' | 'bits', size: number, seed: string): Components {
  const random = seededRandom(new TextEncoder().encode(`inputs ${seed}`));
  return servers.map(() => {
    const words = new Uint32Array((kind === 'bits' ? 1 : 2) * size);
    random.fill(new Uint8Array(words.buffer));
    return kind === 'bits' ? words : words.map((word, at) => (at % 2 === 0 ? word : word >>> 4));
  }) as unknown as Components;
}
