import { openSealed } from '../../base/wrappers.js';
import type { Party } from './party.js';
import { numbersWhere, numbersOfBits } from './planes.js';
import { onePart } from './statements.js';
import { numbersOf, type Bits, type Numbers } from './shares.js';
import { addInto, subtractFrom } from './words.js';

/**
 * Bits as numbers, 0 or 1, in the order of the bits: 32 for each word. Two rounds; 24 bytes a bit,
 * over all servers.
 *
 * With b = b_0 xor b_1 xor b_2 and t = b_0 xor b_1 = b_0 + b_1 - 2 b_0 b_1: b = t + b_2 - 2 t b_2.
 * 1. Server 0 knows b_0 and b_1, and sends m = b_0 b_1 - F_0 to server 1. So b_0 b_1 has components
 *    F_0, m and 0, and t has t_0 = b_0 - 2 F_0, t_1 = b_1 - 2 m and 0.
 * 2. Servers 1 and 2 know b_2. Server 2 knows t_0 and sends t_0 b_2 + F_2 to server 0; server 1
 *    knows t_1 and sends t_1 b_2 + F_2'. Then component 0 is t_0 less twice the one message,
 *    component 1 is t_1 less twice the other, and component 2 is b_2 + 2 (F_2 + F_2').
 *
 * Claim. What a server receives is uniform, and independent of all else that it holds.
 * Why. Server 1 does not hold the stream of component 0, and server 0 does not hold that of
 * component 2. F_0, F_2 and F_2' are different blocks, and each masks one message.
 */
export async function number(party: Party, bits: Bits): Promise<Numbers> {
  const { own, next } = openSealed(bits);
  const count = 32 * own.length;
  const t = await exclusiveOr(party, own, next);
  party.begin();
  if (party.server === 0) {
    const [from1, from2] = await Promise.all([
      party.receiveNumbers(1, count), party.receiveNumbers(2, count),
    ]);
    const all = { count, parts: onePart(count) };
    await party.proofs?.noteNumbers([
      { prover: 2, ...all, left: null, right: [t.own], claims: from2 },
      { prover: 1, ...all, left: [t.next], right: null, claims: from1 },
    ]);
    return numbersOf(lessTwice(t.own, from2), lessTwice(t.next, from1));
  }
  const isLast = party.server === 2;
  const b2 = isLast ? own : next;
  const stream = isLast ? party.ownNumbers(2 * count) : party.nextNumbers(2 * count);
  const [first, second] = [stream.subarray(0, 2 * count), stream.subarray(2 * count)];
  const known = isLast ? t.next : t.own;
  const sent = numbersWhere(b2, known);
  addInto(sent, isLast ? first : second);
  party.send(0, sent);
  await noteSecond(party, { known, b2: numbersOfBits(b2), first, second });
  const mine = lessTwice(known, sent);
  const component2 = first.slice();
  addInto(component2, second);
  addInto(component2, component2);
  addInto(component2, numbersOfBits(b2));
  return isLast ? numbersOf(component2, mine) : numbersOf(mine, component2);
}

/**
 * Servers 1 and 2 note the second messages. That of server 2: b_2 t_0 = -F_2 + m, with b_2 and F_2
 * on the left side. That of server 1: t_1 b_2 = m - F_2', with b_2 and F_2' on the right side.
 */
async function noteSecond(
  party: Party, { known, b2, first, second }: {
    readonly [name in 'known' | 'b2' | 'first' | 'second']: Uint32Array
  },
): Promise<void> {
  if (party.proofs === null) return;
  const isLast = party.server === 2;
  const count = known.length / 2;
  const all = { count, parts: onePart(count) };
  await party.proofs.noteNumbers(isLast ? [
    { prover: 2, ...all, left: [b2], right: [known], claims: null },
    { prover: 1, ...all, left: null, right: [b2], claims: negated(second) },
  ] : [
    { prover: 2, ...all, left: [b2], right: null, claims: negated(first) },
    { prover: 1, ...all, left: [known], right: [b2], claims: null },
  ]);
}

/**
 * Components of t = b_0 xor b_1, as far as a server holds them. Component 2 is 0. The statement
 * about the message of server 0: b_0 b_1 = F_0 + m, with b_0 and F_0 on the left side.
 */
async function exclusiveOr(
  party: Party, own: Uint32Array, next: Uint32Array,
): Promise<{ readonly own: Uint32Array; readonly next: Uint32Array }> {
  party.begin();
  const count = 32 * own.length;
  const all = { count, parts: onePart(count) };
  const nothing = new Uint32Array(2 * count);
  if (party.server === 1) {
    const [bits, product] = [numbersOfBits(own), await party.receiveNumbers(0, count)];
    await party.proofs?.noteNumbers(
      [{ prover: 0, ...all, left: null, right: [bits], claims: product }],
    );
    return { own: lessTwice(bits, product), next: nothing };
  }
  if (party.server === 2) {
    const [bits, masks] = [numbersOfBits(next), party.nextNumbers(count)];
    await party.proofs?.noteNumbers(
      [{ prover: 0, ...all, left: [bits], right: null, claims: masks }],
    );
    return { own: nothing, next: lessTwice(bits, masks) };
  }
  const masks = party.ownNumbers(count);
  const product = numbersOfBits(own.map((word, at) => word & next[at]!));
  subtractFrom(product, masks);
  party.send(1, product);
  const [b0, b1] = [numbersOfBits(own), numbersOfBits(next)];
  await party.proofs?.noteNumbers(
    [{ prover: 0, ...all, left: [b0], right: [b1], claims: null }],
  );
  return { own: lessTwice(b0, masks), next: lessTwice(b1, product) };
}

function lessTwice(numbers: Uint32Array, taken: Uint32Array): Uint32Array {
  const result = numbers.slice();
  subtractFrom(result, taken);
  subtractFrom(result, taken);
  return result;
}

function negated(numbers: Uint32Array): Uint32Array {
  const result = new Uint32Array(numbers.length);
  subtractFrom(result, numbers);
  return result;
}
