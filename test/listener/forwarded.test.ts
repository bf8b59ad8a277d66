import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WireClient } from '../support/wire-client.js';
import { startRig, type Rig } from './harness.js';

const proxy = '127.0.0.2';
const rigBehindProxy = (): Promise<Rig> => startRig({ trustedProxies: [proxy, 'fd00::/8'] });

/**
 * The address that the server counts a connection for: its log says it when the connection breaks
 * the protocol.
 */
async function countedFor(
  rig: Rig, headers: Record<string, string | string[]>, localAddress = proxy,
): Promise<unknown> {
  const said = (): unknown[] => rig.logs.filter(({ text }) => text === 'closing a socket')
    .map(({ fields }) => (fields as { address: unknown }).address);
  const before = said().length;
  const client = await WireClient.open(rig.listener.port, { localAddress, headers });
  client.ws.send('text');
  await client.closed();
  return said()[before];
}

describe('behind a trusted proxy that appends the client 203.0.113.9, the client is counted as '
  + 'that', () => {
  const own = '203.0.113.9';
  const listed = (text: string) => ({ 'X-Forwarded-For': `${text}, ${own}` });
  const manyLines = (before: string[], lines: number) =>
    ({ 'X-Forwarded-For': [...before, ...Array<string>(lines).fill(''), own] });

  it.each<[string, Record<string, string | string[]>]>([
    ['another address', listed('198.51.100.1')],
    ['the address of the proxy', listed(proxy)],
    [
      'a whole header of other addresses',
      listed(Array<string>(900).fill('198.51.100.1').join(',')),
    ],
    ['empty entries', listed(',,,')],
    ['garbage', listed('unknown, %00, [::, "198.51.100.1", 1.2.3.4:x, for=198.51.100.1')],
    [
      'an IPv6 address with a zone that is too long',
      listed('1111:2222:3333:4444:5555:6666:255.255.255.255%eth0000000'),
    ],
    ['several headers', manyLines(['198.51.100.1', proxy], 0)],
    ['hundreds of headers', manyLines(['198.51.100.1'], 500)],
    ['other headers of addresses', {
      ...listed('198.51.100.1'), Forwarded: 'for=198.51.100.1', 'X-Real-IP': '198.51.100.1',
      'X_Forwarded_For': '198.51.100.1',
    }],
  ])('whatever it wrote before: %s', async (_, headers) => {
    expect(await countedFor(await rigBehindProxy(), headers)).toBe(own);
  });

  it('also when it sends more headers than Node reads by itself, before that of the '
    + 'proxy', async () => {
    const rig = await rigBehindProxy();
    const headers = { 'X-Forwarded-For': ['198.51.100.1'], a: Array<string>(1_500)
      .fill(''), 'X-FORWARDED-FOR': [own] };
    expect(await countedFor(rig, headers)).toBe(own);
    // The same way a second Host would be left out.
    const socket = connect({ port: rig.listener.port, host: '127.0.0.1' });
    socket.write(`GET /healthz HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(2_500)}Host: `
      + 'stranger.example\r\n\r\n');
    const [answer] = await once(socket, 'data') as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /);
    socket.destroy();
  });
});

describe('a client that connects directly while a proxy is trusted', () => {
  it('is counted by its own address, whatever it writes', async () => {
    const rig = await rigBehindProxy();
    expect(await countedFor(rig, { 'X-Forwarded-For': '198.51.100.1' }, '127.0.0.3'))
      .toBe('127.0.0.3');
    expect(await countedFor(rig, { 'X-Forwarded-For': `198.51.100.1, ${proxy}` }, '127.0.0.3'))
      .toBe('127.0.0.3');
  });

  it('uses up no other address: the one that it names is served', async () => {
    const rig = await startRig({ trustedProxies: [proxy], limits: { socketsPerAddress: 1 } });
    const forged = { localAddress: '127.0.0.3', headers: { 'X-Forwarded-For': '198.51.100.1' } };
    await (await WireClient.open(rig.listener.port, forged)).next('welcome');
    await expect(WireClient.open(rig.listener.port, forged)).rejects.toThrow(/429/);
    const honest = { localAddress: proxy, headers: { 'X-Forwarded-For': '198.51.100.1' } };
    const client = await WireClient.open(rig.listener.port, honest);
    expect((await client.next('welcome')).kind).toBe('welcome');
  });
});

describe('what a proxy may report that is no plain address', () => {
  it.each([
    ['garbage counts for the proxy itself', 'nonsense', proxy],
    ['so does nothing', '', proxy],
    ['IPv4 inside IPv6, in decimals', '::ffff:198.51.100.1', '198.51.100.1'],
    ['IPv4 inside IPv6, in hexadecimals', '::ffff:c633:6401', '198.51.100.1'],
    ['IPv4 inside IPv6, written out', '0:0:0:0:0:ffff:c633:6401', '198.51.100.1'],
    ['IPv4 inside IPv6 with a port', '[::ffff:198.51.100.1]:4711', '198.51.100.1'],
    ['IPv6 with a port', '[2001:DB8:0:1::9]:443', '2001:db8:0:1::/64'],
    ['IPv6 written out', '2001:0db8:0000:0001:0000:0000:0000:0009', '2001:db8:0:1::/64'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    [
      'an address too long for the system',
      '1111:2222:3333:4444:5555:6666:255.255.255.255%eth0000000', '1111:2222:3333:4444::/64',
    ],
    ['a proxy of a trusted network, with a zone that is too long',
      '198.51.100.1, fd11:2222:3333:4444:5555:6666:255.255.255.255%eth0000000', '198.51.100.1'],
  ])('%s', async (_, reported, address) => {
    expect(await countedFor(await rigBehindProxy(), { 'X-Forwarded-For': reported })).toBe(address);
  });
});

describe('IPv6', () => {
  it('is listened to, beside IPv4, which is counted as itself', async () => {
    const rig = await startRig({ host: '::', trustedProxies: [proxy] });
    expect(await countedFor(rig, {}, '127.0.0.3')).toBe('127.0.0.3');
    expect(await countedFor(rig, { 'X-Forwarded-For': '198.51.100.1' })).toBe('198.51.100.1');
    const host = `[::1]:${rig.listener.port}`;
    const client = await WireClient.open(
      rig.listener.port, { headers: { Origin: `http://${host}` } }, `ws://${host}/`,
    );
    await client.next('welcome');
    client.close();
    const elsewhere =
      WireClient.open(rig.listener.port, { headers: { Origin: 'http://[::2]' } }, `ws://${host}/`);
    await expect(elsewhere).rejects.toThrow(/403/);
  });
});
