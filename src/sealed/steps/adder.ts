import { assert } from '../../base/assert.js';
import { openSealed } from '../../base/wrappers.js';
import { servers } from '../shares/body.js';
import { and } from './multiply.js';
import type { Party } from './party.js';
import { planesOfNumbers, planeWords } from './planes.js';
import {
  constant, doubledOf, joined, onlyComponent, parts, sumOf, xorOf, type Bits, type Numbers,
} from './shares.js';

/** Generates a carry, and passes one on: of a stretch of positions. */
interface Stretch {
  readonly generates: Bits;
  /** Null where no carry comes from below. */
  readonly passes: Bits | null;
}

/** Many ands in one round. */
export async function andAll(
  party: Party, pairs: readonly (readonly [Bits, Bits])[], words: number,
): Promise<readonly Bits[]> {
  if (pairs.length === 0) return [];
  const all = await and(
    party, joined(pairs.map(([left]) => left)), joined(pairs.map(([, right]) => right)),
  );
  return parts(all, words, pairs.length);
}

/** Puts stretches together, each with the one right below it, in one round. */
async function merged(
  party: Party, pairs: readonly (readonly [upper: Stretch, lower: Stretch])[], words: number,
): Promise<readonly Stretch[]> {
  const wanted = pairs.flatMap(([{ passes }, lower]): (readonly [Bits, Bits])[] => [
    [passes!, lower.generates], ...lower.passes === null ? [] : [[passes!, lower.passes] as const],
  ]);
  const found = await andAll(party, wanted, words);
  let at = 0;
  return pairs.map(([upper, lower]) => ({
    generates: xorOf(upper.generates, found[at++]!),
    passes: lower.passes === null ? null : found[at++]!,
  }));
}

/** All stretches as one. The lowest is first. log2 of their number rounds. */
async function mergedTree(
  party: Party, stretches: readonly Stretch[], words: number,
): Promise<Stretch> {
  let level = stretches;
  while (level.length > 1) {
    const pairs = Array.from({ length: level.length >> 1 }, (_, i) =>
      [level[2 * i + 1]!, level[2 * i]!] as const);
    const rest = level.length % 2 === 1 ? [level.at(-1)!] : [];
    level = [...await merged(party, pairs, words), ...rest];
  }
  return level[0]!;
}

/** Each stretch with all below it (Sklansky 1960). log2 of their number rounds. */
async function mergedPrefixes(
  party: Party, stretches: readonly Stretch[], words: number,
): Promise<readonly Stretch[]> {
  const result = [...stretches];
  for (let span = 1; span < result.length; span *= 2) {
    const places = [...result.keys()].filter((i) => (i & span) !== 0);
    const pairs = places.map((i) =>
      [result[i]!, result[i - (i & (span - 1)) - 1]!] as const);
    const found = await merged(party, pairs, words);
    places.forEach((place, i) => (result[place] = found[i]!));
  }
  return result;
}

/**
 * Bits `from` to `end` - 1 of the sum of two lists of numbers in planes, lowest plane first. A
 * carry tree below `from`, a prefix adder from there on: 1 + log2(from) + log2(end - from) rounds.
 * @param a, b - planes 0 to end - 1, of `words` words each.
 */
async function sumBits(
  party: Party, a: readonly Bits[], b: readonly Bits[],
  { from, end, words }: { readonly from: number; readonly end: number; readonly words: number },
): Promise<readonly Bits[]> {
  const passes = a.map((plane, i) => xorOf(plane, b[i]!));
  const generates =
    await andAll(party, a.slice(0, end - 1).map((plane, i) => [plane, b[i]!] as const), words);
  // Nothing is carried into position 0.
  const positions = generates.map((plane, i): Stretch =>
    ({ generates: plane, passes: i === 0 ? null : passes[i]! }));
  const below = from === 0 ? [] : [await mergedTree(party, positions.slice(0, from), words)];
  const prefixes =
    await mergedPrefixes(party, [...below, ...positions.slice(from)], words);
  const skipped = from === 0 ? 1 : 0;
  return passes.slice(from, end).map((plane, i) =>
    (i < skipped ? plane : xorOf(plane, prefixes[i - skipped]!.generates)));
}

/** Which bits of numbers are wanted. */
export interface BitRange {
  /** Lowest bit wanted. */
  readonly from: number;
  /** Past the highest bit wanted. */
  readonly end: number;
}

/** The three components of numbers as planes of bits, each known to two servers. */
function componentPlanes(
  party: Party, numbers: Numbers, end: number,
): { readonly words: number; readonly planes: readonly (readonly Bits[])[] } {
  const { own, next } = openSealed(numbers);
  const words = planeWords(own.length / 2);
  const nothing = new Uint32Array(end * words);
  const held = (component: number): Uint32Array =>
    (component === party.server ? planesOfNumbers(own, end)
      : component === (party.server + 1) % 3 ? planesOfNumbers(next, end) : nothing);
  const planes = servers.map((component) =>
    parts(onlyComponent('bits', party.server, component, held(component)), words, end));
  return { words, planes };
}

/**
 * Three lists of planes as two, whose sum is the same: the exclusive or, and the majority of the
 * three bits, which counts twice. One round, one `and` a bit.
 */
async function carrySave(
  party: Party, [a, b, c]: readonly (readonly Bits[])[], carried: number, words: number,
): Promise<{ readonly sums: readonly Bits[]; readonly carries: readonly Bits[] }> {
  // The majority is ((a xor c) and (b xor c)) xor c.
  const found = await andAll(party, a!.slice(0, carried).map((plane, i) =>
    [xorOf(plane, c![i]!), xorOf(b![i]!, c![i]!)] as const), words);
  return {
    sums: a!.map((plane, i) => xorOf(plane, b![i]!, c![i]!)),
    carries: found.map((plane, i) => xorOf(plane, c![i]!)),
  };
}

/** Bits past the highest one that `bits` finds. */
export const bitsMost = 57;
/** It is added to numbers, which are at most 2^57 in size. It has no bit below that. */
const offset = 2n ** BigInt(bitsMost);

/**
 * Bits of shared numbers v of at most 2^57 in size, as those of v + 2^57. One `and` a bit turns
 * three components into two numbers, and the adder adds those. Rounds: 2 + log2(from) + log2(end -
 * from). Only ands are sent, so their claim is this one's.
 *
 * Lemma. Let 0 <= v < 2^59 - 1 and w_0 + w_1 + w_2 = 4 v + 3 modulo p, each w_j from 0 to p - 1.
 * Then bits 2 to l + 1 of the integer w_0 + w_1 + w_2 are bits 0 to l - 1 of v, for l <= 59.
 * Why. 4 v + 3 < p, so the integer is 4 v + 3 + q p = (4 v + 3 - q) + q 2^61 for q = 0, 1 or 2. As
 * 0 < 4 v + 3 - q < 2^61, its lowest 61 bits are 4 v + 3 - q, and a quarter of that, rounded down,
 * is v.
 * @returns planes of the bits wanted, lowest first; lanes are the numbers in their order.
 * @throws InvariantError for bits from 57 on.
 */
export async function bits(
  party: Party, numbers: Numbers, { from, end }: BitRange,
): Promise<readonly Bits[]> {
  assert(from >= 0 && from < end && end <= bitsMost, 'bits of numbers are below the offset');
  const { length } = openSealed(numbers).own;
  const moved = sumOf(
    doubledOf(numbers, 2), constant(party.server, length / 2, 4n * offset + 3n),
  );
  const { words, planes } = componentPlanes(party, moved, end + 2);
  const { sums, carries } = await carrySave(party, planes, end + 1, words);
  // Nothing is carried into bit 0, which so says nothing of the bits above it.
  return sumBits(party, sums.slice(1), carries, { from: from + 1, end: end + 1, words });
}

/** The sum of three components of `width` bits, as an integer. */
export interface ComponentSum {
  /** Its bits `from` to `width` - 1. */
  readonly planes: readonly Bits[];
  /** Two bits. Each says that 2^width is in the sum, beside its lowest `width` bits. */
  readonly carries: readonly [Bits, Bits];
}

/** Components that are below 2^width each, and the lowest bit of their sum that is wanted. */
export interface ComponentRange {
  readonly from: number;
  readonly width: number;
}

/** Bits of the sum of components. Rounds and claim as those of `bits`. */
export async function componentSum(
  party: Party, numbers: Numbers, { from, width }: ComponentRange,
): Promise<ComponentSum> {
  const { words, planes } = componentPlanes(party, numbers, width);
  const { sums, carries } = await carrySave(party, planes, width, words);
  const none = xorOf(sums[0]!, sums[0]!);
  const found = await sumBits(
    party, [...sums.slice(1), none], [...carries.slice(0, -1), none],
    { from: from - 1, end: width, words },
  );
  return { planes: found.slice(0, -1), carries: [carries.at(-1)!, found.at(-1)!] };
}
