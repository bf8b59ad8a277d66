import { describe, expect, it } from 'vitest';
import { createOperatorSessions, isFromOwnPage } from '../../server/operator/sessions.js';
import { operatorToken, startRig, type Rig } from '../listener/harness.js';

interface Sent {
  readonly status: number;
  readonly cookie: string | null;
  readonly body: string;
}

/**
 * `fetch` decides itself what `Origin` says; a browser does too, so requests are made by hand here.
 */
async function send(
  rig: Rig, path: string, headers: Record<string, string>, method = 'POST',
): Promise<Sent> {
  const response = await fetch(rig.url(path), { method, headers });
  return {
    status: response.status, cookie: response.headers.get('set-cookie'),
    body: await response.text(),
  };
}

const bearer = { Authorization: `Bearer ${operatorToken}` };
const own = (rig: Rig): Record<string, string> => ({ Origin: rig.url('') });

/** Signs in; returns the `Cookie` header of that browser. */
async function signedIn(rig: Rig): Promise<Record<string, string>> {
  const { status, cookie } = await send(rig, '/v1/operator/sign-in', { ...bearer, ...own(rig) });
  expect(status).toBe(204);
  return { Cookie: cookie!.split(';')[0]! };
}

describe('signing in', () => {
  it('gives a cookie that scripts and other sites cannot use, and that is not the '
    + 'token', async () => {
    const rig = await startRig();
    const { cookie } = await send(rig, '/v1/operator/sign-in', { ...bearer, ...own(rig) });
    expect(cookie).toMatch(
      /^keelson-operator-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).not.toContain(operatorToken);
    const secure = await send(
      rig, '/v1/operator/sign-in', { ...bearer, Origin: rig.url('').replace('http', 'https') },
    );
    expect(secure.cookie).toContain('; Secure');
  });

  it('opens what the token opens, until one signs out', async () => {
    const rig = await startRig();
    const mine = await signedIn(rig);
    for (const path of ['/v1/operator/progress', '/metrics']) {
      expect((await send(rig, path, {}, 'GET')).status).toBe(401);
      expect((await send(rig, path, mine, 'GET')).status).toBe(200);
      const other = {
        Cookie: `${mine['Cookie']!.slice(0, -1)}${mine['Cookie']!.endsWith('A') ? 'B' : 'A'}`,
      };
      expect((await send(rig, path, other, 'GET')).status).toBe(401);
    }
    const { cookie } = await send(rig, '/v1/operator/sign-out', { ...mine, ...own(rig) });
    expect(cookie).toContain('Max-Age=0');
    expect((await send(rig, '/v1/operator/progress', mine, 'GET')).status).toBe(401);
  });

  it('wants the token itself: neither a wrong one nor a session makes a session', async () => {
    const rig = await startRig();
    const mine = await signedIn(rig);
    for (const headers of [{}, { Authorization: 'Bearer wrong' }, mine]) {
      const { status, cookie } =
        await send(rig, '/v1/operator/sign-in', { ...headers, ...own(rig) });
      expect(status).toBe(401);
      expect(cookie).toBeNull();
    }
  });

  it('does nothing for other pages, and nothing by GET', async () => {
    const rig = await startRig({ allowedOrigins: ['https://shop.example'] });
    const mine = await signedIn(rig);
    for (const origin of [
      'https://shop.example', 'https://evil.example', 'null', `${rig.url('')}.evil.example`,
    ]) {
      expect((await send(rig, '/v1/operator/sign-out', { ...mine, Origin: origin })).status)
        .toBe(403);
      expect((await send(rig, '/v1/operator/sign-in', { ...bearer, Origin: origin })).status)
        .toBe(403);
    }
    expect((await send(rig, '/v1/operator/sign-out', mine)).status).toBe(403);
    expect((await send(rig, '/v1/operator/sign-out', mine, 'GET')).status).toBe(405);
    expect((await send(rig, '/v1/operator/progress', mine, 'POST')).status).toBe(405);
    expect((await send(rig, '/v1/operator/progress', mine, 'GET')).status).toBe(200);
  });
});

describe('sessions', () => {
  const request = (cookie?: string): never =>
    ({
      headers: { origin: 'http://h:1', host: 'h:1', ...(cookie !== undefined && { cookie }) },
      socket: { localPort: 1 },
    }) as never;

  it('end after twelve hours, and the oldest makes room for the newest', () => {
    let nowMs = 0;
    const sessions = createOperatorSessions({ monotonicMs: () => nowMs } as never);
    const open = (): string => sessions.open(request()).split(';')[0]!;
    const first = open();
    nowMs = 12 * 3_600_000 - 1;
    expect(sessions.holds(request(`theme=dark; ${first}`))).toBe(true);
    nowMs += 1;
    expect(sessions.holds(request(first))).toBe(false);
    const many = Array.from({ length: 65 }, open);
    expect(sessions.holds(request(many[0]))).toBe(false);
    expect(many.slice(1).every((each) => sessions.holds(request(each)))).toBe(true);
  });

  it('are opened by pages of the same host and port only', () => {
    const from = (origin: string | undefined, host: string): boolean =>
      isFromOwnPage({ headers: { ...(origin !== undefined && { origin }), host } } as never);
    expect(from('http://a.example:80', 'a.example:80')).toBe(true);
    expect(from('https://a.example', 'a.example')).toBe(true);
    expect(from('http://a.example:81', 'a.example:80')).toBe(false);
    expect(from(undefined, 'a.example')).toBe(false);
  });
});
