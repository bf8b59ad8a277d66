import { Sealed } from '../../base/brands.js';
import type { ServerIndex } from '../shares/body.js';
import { addInto, constantNumbers, doubled, subtractFrom } from './words.js';

/**
 * The part that server i holds of values with three components: component i and component i + 1
 * (modulo 3). `numbers` add up modulo p, as pairs of words; `bits` are combined by exclusive or,
 * 32 to a word.
 */
export interface Shares<K extends 'numbers' | 'bits'> {
  readonly kind: K;
  readonly own: Uint32Array;
  readonly next: Uint32Array;
}

export type Numbers = Sealed<Shares<'numbers'>>;
export type Bits = Sealed<Shares<'bits'>>;

/** Shares of numbers from a server's two components. */
export function numbersOf(own: Uint32Array, next: Uint32Array): Numbers {
  return Sealed.of({ kind: 'numbers', own, next });
}

/** Shares of bits from a server's two components. */
export function bitsOf(own: Uint32Array, next: Uint32Array): Bits {
  return Sealed.of({ kind: 'bits', own, next });
}

/**
 * Values of which component `component` alone is not zero: public ones, or those that the two
 * holders of the component know. The third server gives zeros.
 */
export function onlyComponent<K extends 'numbers' | 'bits'>(
  kind: K, server: ServerIndex, component: ServerIndex, values: Uint32Array,
): Sealed<Shares<K>> {
  const nothing = new Uint32Array(values.length);
  return Sealed.of({
    kind,
    own: server === component ? values : nothing,
    next: (server + 1) % 3 === component ? values : nothing,
  });
}

/** The same local work on both components. */
export function eachComponent<K extends 'numbers' | 'bits'>(
  shares: Sealed<Shares<K>>, transform: (component: Uint32Array) => Uint32Array,
): Sealed<Shares<K>> {
  return shares.map(({ kind, own, next }) =>
    ({ kind, own: transform(own), next: transform(next) }));
}

/** The same local work on both components of several lists, which are of one kind. */
function combinedComponents<K extends 'numbers' | 'bits'>(
  lists: readonly Sealed<Shares<K>>[], transform: (parts: readonly Uint32Array[]) => Uint32Array,
): Sealed<Shares<K>> {
  return Sealed.all<readonly Shares<K>[]>(lists).map((parts) => ({
    kind: parts[0]!.kind,
    own: transform(parts.map(({ own }) => own)),
    next: transform(parts.map(({ next }) => next)),
  }));
}

/** Sums, number by number. */
export function sumOf(...terms: readonly Numbers[]): Numbers {
  return combinedComponents(terms, ([first, ...others]) => {
    const sum = first!.slice();
    for (const other of others) addInto(sum, other);
    return sum;
  });
}

/** left - right, number by number. */
export function differenceOf(left: Numbers, right: Numbers): Numbers {
  return combinedComponents([left, right], ([minuend, subtrahend]) => {
    const difference = minuend!.slice();
    subtractFrom(difference, subtrahend!);
    return difference;
  });
}

/** Numbers times 2^times. @param times - 1 to 28. */
export function doubledOf(numbers: Numbers, times: number): Numbers {
  return eachComponent(numbers, (component) => doubled(component, times));
}

/** Public numbers, in pairs of words, as shares. */
export function publicNumbers(server: ServerIndex, values: Uint32Array): Numbers {
  return onlyComponent('numbers', server, 0, values);
}

/** `count` shares of one public whole number. */
export function constant(
  server: ServerIndex, count: number, value: number | bigint,
): Numbers {
  return publicNumbers(server, constantNumbers(count, value));
}

/** Exclusive or, bit by bit. */
export function xorOf(...terms: readonly Bits[]): Bits {
  return combinedComponents(terms, ([first, ...others]) => {
    const result = first!.slice();
    for (const other of others) {
      for (let at = 0; at < result.length; at++) result[at] = result[at]! ^ other[at]!;
    }
    return result;
  });
}

/** Public bits as shares. */
export function publicBits(server: ServerIndex, values: Uint32Array): Bits {
  return onlyComponent('bits', server, 0, values);
}

/** Bits where public bits are 1, and 0 elsewhere. */
export function maskedBy(bits: Bits, mask: Uint32Array): Bits {
  return eachComponent(bits, (component) => component.map((word, at) => word & mask[at]!));
}

/** Lists of shares, one behind the other. */
export function joined<K extends 'numbers' | 'bits'>(
  lists: readonly Sealed<Shares<K>>[],
): Sealed<Shares<K>> {
  return combinedComponents(lists, (parts) => {
    const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  });
}

/** Words `from` to `end` of both components. */
export function part<K extends 'numbers' | 'bits'>(
  shares: Sealed<Shares<K>>, from: number, end: number,
): Sealed<Shares<K>> {
  return eachComponent(shares, (component) => component.subarray(from, end));
}

/** Lists of equal length, from one list. */
export function parts<K extends 'numbers' | 'bits'>(
  shares: Sealed<Shares<K>>, words: number, count: number,
): readonly Sealed<Shares<K>>[] {
  return Array.from({ length: count }, (_, i) => part(shares, i * words, (i + 1) * words));
}
