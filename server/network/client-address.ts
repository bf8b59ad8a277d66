import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { InvalidParameterError } from '../../src/base/errors.js';
import { addressKey, canonicalAddress } from './rates.js';

/** The sender of a request, for rates and limits per address; see `addressKey`. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Behind a reverse proxy every connection comes from the proxy, which names the client in
 * X-Forwarded-For. Any client can write that header, so only entries that a listed proxy appended
 * are used. The list is read from its end, as long as the sender that reported the next entry is a
 * listed proxy.
 * @param trustedProxies - addresses or networks (10.0.0.0/8, fd00::/8) of proxies; none: the header
 *   is ignored.
 * @throws InvalidParameterError for an entry that is neither address nor network.
 */
export function clientAddressOf(trustedProxies: readonly string[]): ClientAddress {
  if (trustedProxies.length === 0) return (request) => addressKey(request.socket.remoteAddress);
  const isTrusted = trustedProxyCheck(trustedProxies);
  return (request) => {
    let address = plainAddress(request.socket.remoteAddress ?? '');
    // Node joins several headers of this name by commas.
    const header = request.headers['x-forwarded-for'];
    const reported = (Array.isArray(header) ? header.join(',') : header ?? '').split(',');
    while (isTrusted(address)) {
      const next = plainAddress(reported.pop() ?? '');
      if (isIP(next) === 0) break;
      address = next;
    }
    return addressKey(address === '' ? undefined : address);
  };
}

/**
 * True if a socket's address is that of a listed proxy.
 * @param trustedProxies - as above. @throws InvalidParameterError for an entry that is neither
 *   address nor network.
 */
export function trustedProxyCheck(
  trustedProxies: readonly string[],
): (address: string | undefined) => boolean {
  const proxies = new BlockList();
  for (const proxy of trustedProxies) addProxy(proxies, proxy);
  return (written) => {
    const address = plainAddress(written ?? '');
    const family = isIP(address);
    return family !== 0 && proxies.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}

/** The address without spaces, brackets and port. */
function plainAddress(text: string): string {
  const trimmed = text.trim().replace(/^\[(.*)\](?::\d+)?$/, '$1');
  return canonicalAddress(trimmed.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1'));
}

function addProxy(proxies: BlockList, proxy: string): void {
  const [address = '', bits, ...more] = proxy.split('/');
  const family = isIP(address);
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const length = bits === undefined ? null : Number(bits);
  const isNetwork = length === null || (/^\d+$/.test(bits!) && length <= (family === 6 ? 128 : 32));
  if (family === 0 || more.length > 0 || !isNetwork) {
    throw new InvalidParameterError(
      `${JSON.stringify(proxy)} is no address of a proxy: write one like 10.1.2.3, 10.0.0.0/8 or `
        + 'fd00::/8',
      { proxy },
    );
  }
  if (length === null) proxies.addAddress(address, type);
  else proxies.addSubnet(address, length, type);
}
