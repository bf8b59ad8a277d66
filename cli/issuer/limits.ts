import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../server/base/clock.js';
import { AddressCounts } from '../../server/network/address-counts.js';
import { clientAddressOf, trustedProxyCheck } from '../../server/network/client-address.js';
import { AddressRates, addressKey, networkKey } from '../../server/network/rates.js';

/** Connections in all. */
const connectionsMax = 1_000;
/**
 * The limits of one network, so that none uses up all. A trusted proxy brings the requests of all
 * its clients.
 */
const connectionsPerNetwork = 100;
/**
 * Requests of one network in each second, sustained and burst. A person needs two in a period. The
 * burst lets a room of people behind one address ask at once.
 */
export const requestRate = { perSecond: 20, burst: 200 } as const;
/** Networks whose rates are remembered. The least recently used one is forgotten. */
const networksMax = 65_536;

/**
 * Limits for each network that asks an issuer: an IPv4 address, or 48 bits of an IPv6 address.
 * Addresses are in memory only, and never in a log.
 */
export class IssuerLimits {
  readonly #networkOf: (request: IncomingMessage) => string;
  readonly #isProxy: (address: string | undefined) => boolean;
  readonly #rates: AddressRates;

  /** @param trustedProxies whose X-Forwarded-For is believed. */
  constructor(clock: Clock, trustedProxies: readonly string[]) {
    const addressOf = clientAddressOf(trustedProxies);
    this.#networkOf = (request) => networkKey(addressOf(request));
    this.#isProxy = trustedProxyCheck(trustedProxies);
    const { perSecond, burst } = requestRate;
    this.#rates = new AddressRates(clock, perSecond, burst, networksMax);
  }

  /** Counts a request. @returns false when its network has made too many. */
  take(request: IncomingMessage): boolean {
    return this.#rates.take(this.#networkOf(request));
  }

  /** Closes connections above the limits before a byte of them is read. */
  bound(server: Server): void {
    const open = new AddressCounts();
    server.maxConnections = connectionsMax;
    server.on('connection', (socket: Socket) => {
      if (this.#isProxy(socket.remoteAddress)) return;
      const network = networkKey(addressKey(socket.remoteAddress));
      if (open.of(network) >= connectionsPerNetwork) return void socket.destroy();
      open.add(network, 1);
      socket.once('close', () => open.add(network, -1));
    });
  }
}
