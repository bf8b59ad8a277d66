import { isIPv6, SocketAddress } from 'node:net';
import type { Clock } from '../base/clock.js';

/** How often something may be done: `burst` times at once, then `perSecond` times in each second. */
export class Rate {
  #tokens: number;
  #atMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.#tokens = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** True when it may be done now; takes one token. */
  take(): boolean {
    const nowMs = this.clock.monotonicMs();
    const refill = ((nowMs - this.#atMs) / 1000) * this.perSecond;
    this.#tokens = Math.min(this.burst, this.#tokens + refill);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** How often each address may do something: one rate for each address, in bounded memory. */
export class AddressRates {
  readonly #rates = new Map<string, Rate>();

  /** @param addressesMax past it the address unused longest is forgotten, and starts with its burst again. */
  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly addressesMax: number,
  ) {}

  /** True when the address may do it now; takes one token. */
  take(address: string): boolean {
    const { clock, perSecond, burst } = this;
    const rate = this.#rates.get(address) ?? new Rate(clock, perSecond, burst);
    // A Map keeps insertion order: what is put back last is forgotten last.
    this.#rates.delete(address);
    this.#rates.set(address, rate);
    if (this.#rates.size > this.addressesMax) {
      this.#rates.delete(this.#rates.keys().next().value!);
    }
    return rate.take();
  }
}

/** Times at which those of one address may go on, one after the other: so it costs as much with many sockets as with one. */
export class AddressTurns {
  readonly #nextMs = new Map<string, number>();

  /**
   * @param everyMs between two turns of an address.
   * @param mostMs the longest wait: turns that nobody takes any more must not hold up others for ever.
   * @param addressesMax past it the address unused longest is forgotten.
   */
  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
    private readonly mostMs: number,
    private readonly addressesMax: number,
  ) {}

  /** @returns milliseconds until the turn that the address takes now. */
  take(address: string): number {
    const nowMs = this.clock.monotonicMs();
    const atMs = Math.min(nowMs + this.mostMs, Math.max(nowMs, this.#nextMs.get(address) ?? 0) + this.everyMs);
    this.#nextMs.delete(address);
    this.#nextMs.set(address, atMs);
    if (this.#nextMs.size > this.addressesMax) this.#nextMs.delete(this.#nextMs.keys().next().value!);
    return atMs - nowMs;
  }
}

/**
 * What counts as one address: an IPv4 address, or a 64-bit IPv6 network, since a single host
 * commonly owns all addresses of one.
 */
export function addressKey(remoteAddress: string | undefined): string {
  const address = canonicalAddress(remoteAddress ?? 'unknown');
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/**
 * The one form of an address that has many: without a zone, IPv6 as short as it can be, IPv4 out of IPv6. What is no address
 * comes back as it is. Cost: microseconds.
 */
export function canonicalAddress(text: string): string {
  const address = text.replace(/%.*$/, '');
  if (!isIPv6(address)) return address;
  const short = new SocketAddress({ address, family: 'ipv6' }).address;
  return short.replace(/^::ffff:(?=\d+\.)/, '');
}
