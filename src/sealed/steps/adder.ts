import { Sealed } from '../../base/brands.js';
import { openSealed } from '../../base/wrappers.js';
import { from0 } from './convert.js';
import { and } from './multiply.js';
import type { Party } from './party.js';
import { planesOfNumbers, planeWords } from './planes.js';
import { joined, onlyComponent, parts, xorOf, type Bits, type Numbers } from './shares.js';
import { addInto } from './words.js';

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
 * Only ands are sent, so their claim is this one's.
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

/** Which bits of numbers are wanted, and how many bits their operands have. */
export interface BitRange {
  /** Lowest bit wanted. */
  readonly from: number;
  /** Past the highest bit wanted, at most 64. */
  readonly end: number;
  /**
   * Components are taken modulo 2^operandBits before they are added. Default: `end`, which gives
   * the bits of the number itself. With fewer, bit `operandBits` is the carry of v_2 and the sum
   * of v_0 and v_1, taken modulo 2^operandBits.
   */
  readonly operandBits?: number;
}

/**
 * Bits of shared numbers: server 0 shares the bits of v_0 + v_1 by `from0`, and they are added to
 * those of v_2, which servers 1 and 2 know. Rounds: 2 + log2(from) + log2(end - from).
 * @returns planes of the bits wanted, lowest first; lanes are the numbers in their order.
 */
export async function bits(
  party: Party, numbers: Numbers, { from, end, operandBits = end }: BitRange,
): Promise<readonly Bits[]> {
  const { own, next } = openSealed(numbers);
  const words = planeWords(own.length / 2);
  const planesOf = (component: Uint32Array): Uint32Array => {
    const planes = new Uint32Array(end * words);
    planes.set(planesOfNumbers(component, operandBits));
    return planes;
  };
  const sum = own.slice();
  addInto(sum, next);
  const first = await from0(
    party, 'bits', end * words, party.server === 0 ? Sealed.of(planesOf(sum)) : null,
  );
  const second = onlyComponent(
    'bits', party.server, 2,
    party.server === 0 ? new Uint32Array(end * words) : planesOf(party.server === 1 ? next : own),
  );
  return sumBits(
    party, parts(first, words, end), parts(second, words, end), { from, end, words },
  );
}
