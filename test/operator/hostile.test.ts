import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { expect, describe, it } from 'vitest';
import { routes } from '../../server/operator/routes.js';
import { createMetricRegistry } from '../../server/metrics/metrics.js';
import { rawExchange } from '../support/wire-client.js';
import { operatorToken, startRig, type Rig } from '../listener/harness.js';

const generous = { limits: { httpPerSecond: 10_000, httpBurst: 10_000 } };

/**
 * One request as it is written here, and the status line's number; 0 when the connection ended
 * without one.
 */
async function status(rig: Rig, line: string, ...headers: readonly string[]): Promise<number> {
  const { port } = rig.listener;
  const host = headers.some((header) => header.startsWith('Host:'))
    ? [] : [`Host: 127.0.0.1:${port}`];
  const answer =
    await rawExchange(port, [line, ...host, 'Connection: close', ...headers, '', ''].join('\r\n'));
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}

describe('requests that no honest client sends', () => {
  it('find no method on any path but its own', { tags: ['long'] }, async () => {
    const rig = await startRig(generous);
    for (const [path, { changes, takesBody }] of Object.entries(routes)) {
      for (const method of [
        'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND',
        changes === true || takesBody === true ? 'GET' : 'POST',
      ]) {
        expect([method, path, await status(rig, `${method} ${path} HTTP/1.1`)])
          .toEqual([method, path, 405]);
      }
    }
    expect(await status(rig, 'CONNECT elsewhere:443 HTTP/1.1')).toBe(0);
    await rig.expectService();
  });

  it('find no file and no property behind a path', async () => {
    const rig = await startRig(generous);
    for (const path of [
      '/../server.key', '/..%2f..%2fserver.key', '/%2e%2e/%2e%2e/etc/passwd', '//etc/passwd',
      '/dashboard.js/../../server.key', '/dashboard.js%00.html', '/\\..\\..\\x', '*', '/__proto__',
      '/constructor', '/nope%0d%0aX-Evil:1', '/v1/releases?study=__proto__',
      '/v1/releases?study=%00', `/v1/releases?study=${'x'.repeat(12_000)}`,
    ]) expect([path, await status(rig, `GET ${path} HTTP/1.1`)]).toEqual([path, 404]);
    await rig.expectService();
  });

  it('smuggle nothing, announce nothing, and overflow nothing', async () => {
    const rig = await startRig(generous);
    const post = 'POST /v1/operator/sign-out HTTP/1.1';
    expect(await status(rig, post, 'Content-Length: 5', 'Transfer-Encoding: chunked')).toBe(400);
    expect(await status(rig, post, 'Transfer-Encoding: chunked')).toBe(413);
    expect(await status(rig, post, 'Content-Length: 99999999999')).toBe(413);
    expect(
      await status(rig, 'GET / HTTP/1.1', ...Array.from({ length: 3_000 }, (_, i) => `a${i}: b`)),
    ).toBe(400);
    expect(await status(rig, 'GET /healthz HTTP/1.1', 'Expect: nonsense')).toBe(200);
    expect(await status(rig, 'GET / HTTP/1.1', 'Upgrade: h2c', 'Connection: Upgrade')).toBe(400);
    await rig.expectService();
  });
});

/** What a connection is answered that sends many requests at once, and lets the server close it. */
async function pipelined(
  rig: Rig, requests: readonly string[],
): Promise<{ codes: number[]; text: string }> {
  const text = await rawExchange(rig.listener.port, requests.join(''));
  return { codes: [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code)), text };
}

describe('requests without end on one connection', () => {
  it.each(['', 'Expect: nonsense\r\n'])(
    'are closed with the first one past the rate %s', async (header) => {
      const rig =
        await startRig({ limits: { httpPerSecond: 0.001, httpBurst: 5, httpPipelined: 10_000 } });
      const request = `GET /healthz HTTP/1.1\r\nHost: localhost\r\n${header}\r\n`;
      const { codes, text } = await pipelined(rig, Array.from({ length: 1_000 }, () => request));
      expect(codes).toEqual([200, 200, 200, 200, 200, 429]);
      expect(text).toMatch(
        /429[^]*Connection: close[^]*Retry-After: 1|429[^]*Retry-After: 1[^]*Connection: close/,
      );
    },
  );

  it('are closed when too many wait for their answers', async () => {
    const rig =
      await startRig({ limits: { httpPerSecond: 10_000, httpBurst: 10_000, httpPipelined: 3 } });
    const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const { codes, text } = await pipelined(rig, Array.from({ length: 1_000 }, () => request));
    expect(codes).toEqual([200, 200, 200, 429]);
    expect(text).toContain('wait for the answers');
    await rig.expectService();
  });

  it('are answered on the same connection as long as each waits for the one before', async () => {
    const rig =
      await startRig({ limits: { httpPerSecond: 10_000, httpBurst: 10_000, httpPipelined: 1 } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let i = 0; i < 20; i++) {
      const asked = get(rig.url('/healthz'), { agent });
      const [response] = await once(asked, 'response') as [IncomingMessage];
      ports.add(response.socket.localPort);
      response.resume();
      await once(response, 'end');
      expect(response.statusCode).toBe(200);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });
});

describe('two Host headers', () => {
  it('are refused, over HTTP and in an upgrade', async () => {
    const rig = await startRig(generous);
    const two = ['Host: localhost', 'Host: evil.example'];
    expect(await status(rig, 'GET /v1/studies HTTP/1.1', ...two)).toBe(400);
    expect(await status(rig, 'GET / HTTP/1.1', ...two, 'Upgrade: websocket', 'Connection: Upgrade',
      'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: MDAwMDAwMDAwMDAwMDAwMA==',
      'Sec-WebSocket-Protocol: keelson.v1'))
      .toBe(400);
    await rig.expectService();
  });
});

describe('a name that a stranger points at the server', () => {
  it('opens nothing but /healthz, whatever the page says about '
    + 'itself', { tags: ['long'] }, async () => {
    const rig = await startRig({ ...generous, allowedHosts: ['aggregator.example'] });
    const stranger = 'Host: evil.example:8787';
    for (const [path, { changes, takesBody, access }] of Object.entries(routes)) {
      const isPost = changes === true || takesBody === true;
      const line = `${isPost ? 'POST' : 'GET'} ${path} HTTP/1.1`;
      const answer = await status(rig, line, stranger, 'Origin: http://evil.example:8787');
      expect([path, answer]).toEqual([path, path === '/healthz' ? 200 : 403]);
      if (access === 'public' && changes !== true) {
        expect(await status(rig, line, 'Host: aggregator.example')).not.toBe(403);
      }
    }
    for (const host of ['localhost:1', '[::1]:1', '10.1.2.3', 'AGGREGATOR.example:1']) {
      expect(await status(rig, 'GET /v1/studies HTTP/1.1', `Host: ${host}`)).toBe(200);
    }
    for (const host of [
      '', 'aggregator.example.evil.example', 'xaggregator.example', '127.0.0.1.evil.example',
      'localhost.evil',
    ]) {
      expect(await status(rig, 'GET /v1/studies HTTP/1.1', `Host: ${host}`)).toBe(403);
    }
    // Scrapers come by any name, with the token.
    expect(await status(rig, 'GET /metrics HTTP/1.1', stranger, 'Authorization: Bearer '
      + `${operatorToken}`)).toBe(200);
  });
});

describe('names in metrics', () => {
  it('stay inside their label, whatever they are', async () => {
    const registry = createMetricRegistry();
    const counter = registry.counter('things', 'Things.');
    for (const study of ['a"} 7\nforged 1', 'back\\slash\\', 'ملف <b>', '"', '\\"\n']) {
      counter.add(1, { study });
    }
    const lines = (await registry.render()).trimEnd().split('\n').slice(2);
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      expect(line).toMatch(/^things\{study="(?:[^"\\\n]|\\\\|\\"|\\n)*"\} 1$/);
    }
  });
});
