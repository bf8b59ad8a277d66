import { Sealed } from '../../base/brands.js';
import { openSealed } from '../../base/wrappers.js';
import type { Party } from './party.js';
import { numbersWhere, numbersOfBits } from './planes.js';
import { numbersOf, type Bits, type Numbers, type Shares } from './shares.js';
import { addInto, scaled, subtractFrom } from './words.js';

/**
 * Shares of values that server 0 knows: component 0 is F_0, component 1 is the value less F_0,
 * component 2 is zero. One round; server 0 sends as many bytes as the values have, to server 1.
 *
 * Claim. What server 1 receives is uniform, and independent of all else that it holds.
 * Why. It is the value less F_0 (or xor F_0). Server 1 does not hold the stream of component 0, and
 * the block masks nothing else that it receives. Server 0 could add a number of its choice: that is
 * why the promise is against reading, not against changed code.
 * @param words - words of the values, which are public.
 * @param known - at server 0; null at the others.
 */
export async function from0<K extends 'numbers' | 'bits'>(
  party: Party, kind: K, words: number, known: Sealed<Uint32Array> | null,
): Promise<Sealed<Shares<K>>> {
  party.begin();
  if (party.server === 1) {
    return Sealed.of({ kind, own: await party.receive(0, words), next: new Uint32Array(words) });
  }
  if (party.server === 2) {
    return Sealed.of({ kind, own: new Uint32Array(words), next: party.nextStream(words) });
  }
  const own = party.ownStream(words);
  const next = openSealed(known!).slice();
  if (kind === 'numbers') subtractFrom(next, own);
  else for (let at = 0; at < words; at++) next[at] = next[at]! ^ own[at]!;
  party.send(1, next);
  return Sealed.of({ kind, own, next });
}

/**
 * Bits as numbers, 0 or 1, in the order of the bits: 32 for each word. Two rounds; 24 bytes a bit,
 * over all servers.
 *
 * With b = b_0 xor b_1 xor b_2 and t = b_0 xor b_1, which server 0 knows and shares by `from0`:
 * b = t + b_2 - 2 t b_2. Servers 1 and 2 know b_2. Server 2 knows t_0 and sends t_0 b_2 + F_2 to
 * server 0; server 1 knows t_1 and sends t_1 b_2 + F_2'. Then component 0 is t_0 less twice the one
 * message, component 1 is t_1 less twice the other, and component 2 is b_2 + 2 (F_2 + F_2').
 *
 * Claim. What a server receives is uniform, and independent of all else that it holds.
 * Why. Server 0 does not hold the stream of component 2. F_2 and F_2' are different blocks of it,
 * and each masks one message. Servers 1 and 2 receive nothing but the message of `from0`.
 */
export async function number(party: Party, bits: Bits): Promise<Numbers> {
  const { own, next } = openSealed(bits);
  const length = 64 * own.length;
  const t = openSealed(await from0(party, 'numbers', length, party.server !== 0 ? null
    : Sealed.of(numbersOfBits(own.map((word, at) => word ^ next[at]!)))));
  party.begin();
  if (party.server === 0) {
    const [from1, from2] = await Promise.all([
      party.receive(1, length), party.receive(2, length),
    ]);
    return numbersOf(lessTwice(t.own, from2), lessTwice(t.next, from1));
  }
  const isLast = party.server === 2;
  const b2 = isLast ? own : next;
  const stream = isLast ? party.ownStream(2 * length) : party.nextStream(2 * length);
  const [first, second] = [stream.subarray(0, length), stream.subarray(length)];
  const known = isLast ? t.next : t.own;
  const sent = numbersWhere(b2, known);
  addInto(sent, isLast ? first : second);
  party.send(0, sent);
  const mine = lessTwice(known, sent);
  const component2 = first.slice();
  addInto(component2, second);
  const doubled = scaled(component2, 2);
  addInto(doubled, numbersOfBits(b2));
  return isLast ? numbersOf(doubled, mine) : numbersOf(mine, doubled);
}

function lessTwice(numbers: Uint32Array, taken: Uint32Array): Uint32Array {
  const result = numbers.slice();
  subtractFrom(result, taken);
  subtractFrom(result, taken);
  return result;
}
