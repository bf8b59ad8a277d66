import type { ServerIndex } from '../../src/sealed/shares/body.js';
import type { StreamSource } from '../../src/sealed/steps/key-stream.js';
import type { Party } from '../../src/sealed/steps/party.js';
import {
  headBytes, Network, runThree, type Components,
} from './sealed-run.js';

/**
 * Enumerates the views of a step over a tiny ring. Every lane of one run is one case: a value of
 * all components of the inputs, and a value of all blocks of all streams. Arithmetic modulo 2^64
 * maps onto arithmetic modulo 2^digits, and lanes of bits do not meet, so what is checked is the
 * shipped step, as it acts on the lowest digits.
 */
export interface Variable {
  /** Values 0 to radix - 1. */
  readonly radix: number;
  /** Servers that hold it. */
  readonly holders: readonly ServerIndex[];
}

/** A stretch of a stream: the block of one lane at one place of a step. */
export interface StreamPlace {
  readonly step: number;
  readonly component: ServerIndex;
  readonly kind: 'numbers' | 'bits';
  /** Blocks of a lane: planes or lists, one behind the other. */
  readonly blocks: number;
}

export interface Enumeration {
  /** Radix of numbers: 2^digits. Bits have radix 2. */
  readonly ring: number;
  /** Inputs, each with three components: their kinds. */
  readonly inputs: readonly ('numbers' | 'bits')[];
  /** Whether server i holds component i alone, as before an opening. Default: i and i + 1. */
  readonly isAlone?: boolean;
  readonly streams: readonly StreamPlace[];
  /** The kind of the messages of each step. */
  readonly messages: Readonly<Record<number, 'numbers' | 'bits'>>;
  /** A fault: no block masks anything. */
  readonly isUnmasked?: boolean;
  readonly run: (party: Party, inputs: readonly Components[]) => Promise<unknown>;
  /** What the run opens, modulo the ring, of the values of the variables. */
  readonly opened?: (inputs: readonly (readonly number[])[]) => number;
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
    tells(server, { asked, variables, lanes, valueAt, network }));
}

function variablesOf({ ring, inputs, isAlone, streams }: Enumeration): readonly Laid[] {
  const holdersOf = (component: number): readonly ServerIndex[] =>
    [component as ServerIndex, ((component + 2) % 3) as ServerIndex];
  return [
    ...inputs.flatMap((kind) => [0, 1, 2].map((component): Laid => ({
      kind, radix: kind === 'bits' ? 2 : ring,
      holders: isAlone === true ? [component as ServerIndex] : holdersOf(component),
    }))),
    ...streams.flatMap((stream) => Array.from({ length: stream.blocks }, (_, block): Laid => ({
      kind: stream.kind, radix: stream.kind === 'bits' ? 2 : ring,
      holders: holdersOf(stream.component), stream: { ...stream, block },
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

/** Whether what a server receives depends on what it does not hold. */
function tells(
  server: ServerIndex,
  { asked, variables, lanes, valueAt, network }: {
    readonly asked: Enumeration; readonly variables: readonly Laid[]; readonly lanes: number;
    readonly valueAt: (variable: number, lane: number) => number; readonly network: Network;
  },
): boolean {
  const received = network.passed.filter(({ to }) => to === server).map(({ message }) => ({
    words: new Uint32Array(message.slice(headBytes).buffer),
    kind: asked.messages[new DataView(message.buffer).getUint32(0)]!,
  }));
  const padded = Math.ceil(lanes / 32) * 32;
  const seen = received.flatMap(({ words, kind }) => {
    const size = kind === 'bits' ? padded / 32 : 2 * padded;
    return Array.from({ length: words.length / size }, (_, block) =>
      ({ kind, radix: kind === 'bits' ? 2 : asked.ring, words: words.subarray(block * size) }));
  });
  const viewAt = (lane: number): number => seen.reduce((view, { words, kind, radix }) =>
    view * radix + (kind === 'bits'
      ? (words[lane >>> 5]! >>> (lane & 31)) & 1 : words[2 * lane]! % radix), 0);
  const views = seen.reduce((product, { radix }) => product * radix, 1);
  const fold = (lane: number, chosen: readonly number[]): number =>
    chosen.reduce((all, i) => all * variables[i]!.radix + valueAt(i, lane), 0);
  const sizeOf = (chosen: readonly number[]): number =>
    chosen.reduce((product, i) => product * variables[i]!.radix, 1);
  const held = [...variables.keys()].filter((i) => variables[i]!.holders.includes(server));
  const hidden = [...variables.keys()].filter((i) =>
    !variables[i]!.holders.includes(server) && variables[i]!.stream === undefined);
  const secrets = sizeOf(hidden);
  // For each value of what it holds and what is opened, and for each value of what is hidden: how
  // often each view comes.
  const counts = new Uint32Array(sizeOf(held) * asked.ring * secrets * views);
  for (let lane = 0; lane < lanes; lane++) {
    const opened = asked.opened?.(asked.inputs.map((_, input) =>
      [0, 1, 2].map((component) => valueAt(3 * input + component, lane)))) ?? 0;
    const known = fold(lane, held) * asked.ring + opened;
    counts[(known * secrets + fold(lane, hidden)) * views + viewAt(lane)]! += 1;
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
      // What is hidden may be ruled out by what is opened.
      if (law.every((count) => count === 0)) continue;
      first ??= law;
      if (law.some((count, view) => count !== first![view])) return true;
    }
  }
  return false;
}
