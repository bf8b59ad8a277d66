import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { TlsIdentity } from '../../server/listener/index.js';
import { subprotocol } from '../../src/wire/index.js';
import { tlsIdentity } from '../support/tls/identity.js';
import { startRig } from './harness.js';

const [first, second] = [tlsIdentity('first'), tlsIdentity('second')];

/** Fingerprint of the certificate that the server shows to those who trust `trusted`. */
function shown(
  url: string, trusted: TlsIdentity,
): Promise<{ readonly status: number; readonly fingerprint: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca: trusted.certificate, agent: false }, (response) => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      response.resume();
      resolve({ status: response.statusCode ?? 0, fingerprint: fingerprint256 });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('TLS without a proxy', () => {
  it('carries HTTP and WebSocket, and takes a renewed certificate while it runs', async () => {
    const rig = await startRig({ tls: first });
    expect(rig.listener.address).toMatch(/^https:/);
    const before = await shown(rig.url('/healthz'), first);
    expect(before.status).toBe(200);
    const socket = new WebSocket(
      rig.listener.address.replace('https', 'wss'), subprotocol, { ca: first.certificate },
    );
    const welcome = await new Promise<Buffer>((resolve, reject) => {
      socket.on('message', (data: Buffer) => resolve(data));
      socket.on('error', reject);
    });
    expect(welcome.length).toBeGreaterThan(64);
    rig.listener.renewTls(second);
    const after = await shown(rig.url('/healthz'), second);
    expect(after.fingerprint).not.toBe(before.fingerprint);
    expect(socket.readyState).toBe(WebSocket.OPEN);
    socket.terminate();
  });

  it('keeps its certificate when the new one cannot be used, and quotes no key', async () => {
    const rig = await startRig({ tls: first });
    for (const bad of [
      { certificate: first.certificate, key: second.key }, { certificate: 'x', key: 'y' },
    ]) {
      expect(() => rig.listener.renewTls(bad)).toThrow(/TLS certificate and key cannot be used/);
    }
    expect((await shown(rig.url('/healthz'), first)).status).toBe(200);
    await expect(startRig({ tls: { certificate: 'x', key: 'y' } })).rejects
      .toThrow(/cannot be used/);
    const plain = await startRig();
    expect(() => plain.listener.renewTls(first)).toThrow(/speaks no TLS/);
  });
});
