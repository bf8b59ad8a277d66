import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { descriptorLimit, withinDescriptors } from '../../server/listener/descriptors.js';
import { protocolLimits } from '../../src/base/limits.js';
import { subprotocol } from '../../src/wire/index.js';
import { tlsIdentity } from '../support/tls/identity.js';
import { HandClock } from './hand-clock.js';
import { startRig, type Rig } from './harness.js';

let held: Socket[] = [];
afterEach(() => {
  for (const socket of held) socket.destroy();
  held = [];
});

/**
 * Resolves when the server has decided about every connection and end of one before: the system
 * hands them over in order, and this request comes last. That it may be refused does not matter.
 */
async function decided(rig: Rig): Promise<void> {
  const { port } = rig.listener;
  await new Promise<void>((resolve) => {
    const request = get({ port, host: '127.0.0.1', path: '/healthz', agent: false });
    request.on('response', (response) => response.resume());
    request.on('error', () => undefined).on('close', resolve);
  });
  await new Promise((resolve) => setImmediate(resolve));
}

/**
 * TCP connections that say nothing, one after the other. @returns those that the server has not
 * closed.
 */
async function hold(rig: Rig, count: number, localAddress: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = createConnection({ port: rig.listener.port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined).resume();
    held.push(socket);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await decided(rig);
  return sockets.filter((socket) => !socket.closed && !socket.readableEnded);
}

/** `reason` as /metrics counts it. */
const closedFor = (rig: Rig, reason: string): number => rig.metrics.socketsClosed.total({ reason });

describe('connections that never become more', () => {
  const tight = { sockets: 30, socketsPerAddress: 10, httpConnections: 8 };

  it.each([['plain', undefined], ['TLS', tlsIdentity('first')]])(
    'take one address\'s share and no more: %s', async (_, tls) => {
      const rig = await startRig({ limits: tight, ...(tls !== undefined && { tls }) });
      expect(await hold(rig, 40, '127.0.0.2')).toHaveLength(14);
      expect(closedFor(rig, 'address-full')).toBe(26);
      // Others are served meanwhile, and the address again when it lets go.
      expect(await hold(rig, 5, '127.0.0.3')).toHaveLength(5);
      for (const socket of held) socket.destroy();
      await decided(rig);
      expect(await hold(rig, 14, '127.0.0.2')).toHaveLength(14);
      if (tls === undefined) await rig.expectService();
    },
  );

  it.each([['plain', undefined], ['TLS', tlsIdentity('first')]])(
    'come at the rate of an address: %s', async (_, tls) => {
      const clock = new HandClock();
      const hasty = { connectionsPerSecond: 2, connectionsBurst: 5 };
      const rig = await startRig({ clock, limits: hasty, ...(tls !== undefined && { tls }) });
      const at = (last: number, count: number): Promise<Socket[]> =>
        hold(rig, count, `127.0.0.${last}`);
      expect(await at(2, 9)).toHaveLength(5);
      expect(closedFor(rig, 'address-rate')).toBe(4);
      expect(await at(3, 3)).toHaveLength(3);
      clock.advance(1_000);
      expect(await at(2, 3)).toHaveLength(2);
    },
  );

  it('leave no more than the server\'s bound, from however many addresses', async () => {
    const rig = await startRig({ limits: tight });
    const open = [];
    for (const last of [2, 3, 4, 5]) open.push(...(await hold(rig, 12, `127.0.0.${last}`)));
    expect(open).toHaveLength(38);
    // Ten of these, and the request that waited for the last of them.
    expect(closedFor(rig, 'server-full')).toBe(11);
    for (const socket of held) socket.destroy();
    await decided(rig);
    await rig.expectService();
  });

  it.each([
    ['an address', () => '203.0.113.9'],
    ['the addresses of an IPv6 network of 64 bits', (i: number) => `2001:db8::${i}:1`],
  ])('come at the rate of the client when a trusted proxy brings them: %s', async (_, address) => {
    const hasty = { connectionsPerSecond: 2, connectionsBurst: 3 };
    const rig =
      await startRig({ clock: new HandClock(), limits: hasty, trustedProxies: ['127.0.0.2'] });
    const statusOf = (client: string): Promise<number> => new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${rig.listener.port}/`, subprotocol, {
        localAddress: '127.0.0.2', headers: { 'X-Forwarded-For': client },
      });
      socket.on('open', () => { resolve(101); socket.close(); }).on('error', () => undefined);
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode!));
    });
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push(await statusOf(address(i)));
    expect(statuses).toEqual([101, 101, 101, 429, 429]);
    expect(await statusOf('203.0.113.10')).toBe(101);
  });

  it('count for nobody when a trusted proxy brings them', async () => {
    const rig = await startRig({ limits: tight, trustedProxies: ['127.0.0.2'] });
    expect(await hold(rig, 30, '127.0.0.2')).toHaveLength(30);
  });
});

describe('descriptors', () => {
  it('are what the system says, where it says so', () => {
    const table = join(mkdtempSync(join(tmpdir(), 'keelson-limits-')), 'limits');
    writeFileSync(table, 'Limit  Soft Limit  Hard Limit  Units\nMax processes  7  7  '
      + 'processes\nMax open files  1024  4096  files\n');
    expect(descriptorLimit(table)).toBe(1_024);
    expect(descriptorLimit(`${table}-nowhere`)).toBeUndefined();
    rmSync(dirname(table), { recursive: true });
  });

  it.each([
    1, 64, 512, 1_024, 4_096, 20_000, 65_536, 1_048_576,
  ])('%i of them always leave room for files', (descriptors) => {
    const bounded = withinDescriptors(protocolLimits, descriptors);
    const connections = bounded.sockets + bounded.httpConnections;
    expect(connections).toBeLessThanOrEqual(Math.max(2, descriptors - 512, descriptors / 4));
    expect(bounded.socketsPerAddress + bounded.httpConnections / 2)
      .toBeLessThanOrEqual(Math.max(2, connections));
    expect(bounded.socketsPerAddress).toBeGreaterThan(0);
    if (descriptors >= 21_512) expect(bounded).toEqual(protocolLimits);
  });
});
