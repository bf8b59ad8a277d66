import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientAddressOf } from '../../server/network/client-address.js';

function from(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

describe('the address that limits count', () => {
  it('is the socket\'s, whatever a client writes, while no proxy is trusted', () => {
    const addressOf = clientAddressOf([]);
    expect(addressOf(from('203.0.113.9', '198.51.100.1'))).toBe('203.0.113.9');
    expect(addressOf(from(undefined))).toBe('unknown');
  });

  it.each([
    ['a trusted proxy\'s word', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['only the entry that the proxy appended', '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['through two trusted proxies', '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['no stranger\'s word', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the proxy\'s own without a header', '10.1.2.3', undefined, '10.1.2.3'],
    ['the last believable one before nonsense', '10.1.2.3', 'nonsense, 10.9.9.9', '10.9.9.9'],
    ['an IPv4 address written as IPv6', '::ffff:10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['an IPv4 address with its port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['an IPv6 network of a proxy', 'fd00::1', '[2001:db8:1:2:3::4]:443', '2001:db8:1:2::/64'],
  ])('is %s', (_, remote, forwarded, address) => {
    expect(clientAddressOf(['10.0.0.0/8', 'fd00::/8'])(from(remote, forwarded))).toBe(address);
  });

  it.each(['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.0/', 'fd00::/129'])(
    'refuses %s', (proxy) => {
      expect(() => clientAddressOf([proxy])).toThrow(/no address of a proxy/);
    },
  );
});
