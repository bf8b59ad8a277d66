import { isIPv6, SocketAddress } from 'node:net';
import type { Clock } from '../base/clock.js';

/** A rate limit: `burst` actions at once, then `perSecond` actions in each second. */
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

  /** Uses up one token. Returns false when there is none. */
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

/** One rate limit for each address, in bounded memory. */
export class AddressRates {
  readonly #rates = new Map<string, Rate>();

  /**
   * @param addressesMax above this number, the address unused for longest is dropped; it then
   *   starts with a full burst again.
   */
  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burst: number,
    private readonly addressesMax: number,
  ) {}

  /** Uses up one token of the address. Returns false when there is none. */
  take(address: string): boolean {
    const { clock, perSecond, burst } = this;
    const rate = this.#rates.get(address) ?? new Rate(clock, perSecond, burst);
    // A Map keeps insertion order, so an address that is set again is dropped last.
    this.#rates.delete(address);
    this.#rates.set(address, rate);
    if (this.#rates.size > this.addressesMax) {
      this.#rates.delete(this.#rates.keys().next().value!);
    }
    return rate.take();
  }
}

/**
 * Waiting times of each address, one turn after the other. So the sockets of one address together
 * proceed no faster than one.
 */
export class AddressTurns {
  readonly #nextMs = new Map<string, number>();

  /**
   * @param everyMs time between two turns of an address.
   * @param mostMs the longest wait. Without it, abandoned turns would delay others without end.
   * @param addressesMax above this number, the address unused for longest is dropped.
   */
  constructor(
    private readonly clock: Clock,
    private readonly everyMs: number,
    private readonly mostMs: number,
    private readonly addressesMax: number,
  ) {}

  /** Reserves the next turn of the address. @returns milliseconds until that turn. */
  take(address: string): number {
    const nowMs = this.clock.monotonicMs();
    const atMs =
      Math.min(nowMs + this.mostMs, Math.max(nowMs, this.#nextMs.get(address) ?? 0) + this.everyMs);
    this.#nextMs.delete(address);
    this.#nextMs.set(address, atMs);
    if (this.#nextMs.size > this.addressesMax) {
      this.#nextMs.delete(this.#nextMs.keys().next().value!);
    }
    return atMs - nowMs;
  }
}

/**
 * The key under which one address is counted: an IPv4 address, or a 64-bit IPv6 network, since a
 * single host commonly has all addresses of its network.
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
 * The key under which a network is counted where places are few: an IPv4 address, or a 48-bit IPv6
 * network.
 * @param key as `addressKey` writes it.
 */
export function networkKey(key: string): string {
  return key.replace(/^([^:]+:[^:]+:[^:]+):[^:]+::\/64$/, '$1::/48');
}

/**
 * One form for each address: without a zone, IPv6 in its shortest form, IPv4-mapped IPv6 as IPv4.
 * Text that is no address is returned unchanged. Cost: microseconds.
 */
export function canonicalAddress(text: string): string {
  const address = text.replace(/%.*$/, '');
  if (!isIPv6(address)) return address;
  const short = new SocketAddress({ address, family: 'ipv6' }).address;
  return short.replace(/^::ffff:(?=\d+\.)/, '');
}
