import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestToken } from '../../client/tokens.js';
import { IssuerRecord, readIssuer } from '../../cli/issuer/folder.js';
import { serveIssuer } from '../../cli/issuer/server.js';
import { systemClock } from '../../server/base/clock.js';
import { parseStudyText } from '../../server/study-file/index.js';
import { signing } from '../../src/signing/node.js';
import { readBlindEnrolment } from '../../src/signing/index.js';
import { BlindIssuer, fromMs, perMs } from '../support/blind-issuer.js';
import { keelson } from '../support/command.js';
import { meanStudy } from '../support/study-files.js';

const directory = '/.well-known/private-token-issuer-directory';
let issuer: BlindIssuer;
beforeAll(async () => { issuer = await BlindIssuer.start(); });
afterAll(() => issuer.end());

const newSeed = (): Uint8Array => signing.generateSeed();

/** A request with these headers and body. @returns status and code. */
async function ask(
  body: Uint8Array, headers: Readonly<Record<string, string>> = {},
): Promise<readonly [status: number, code: string]> {
  const response = await fetch(`${issuer.running.address}/token-request`, {
    method: 'POST', body: Uint8Array.from(body), headers: {
      'Content-Type': 'application/private-token-request',
      Authorization: `Bearer ${'ab'.repeat(16)}`, ...headers,
    },
  });
  const { error } = await response.json() as { readonly error: { readonly code: string } };
  return [response.status, error.code];
}

/** The beginning of a request for the key in force. */
const begun = (): readonly [number, number, number] =>
  [0, 2, Number.parseInt(issuer.issuer.keys[0]!.id.slice(-2), 16)];

describe('an issuer of blind tokens', () => {
  it('shows the key in force first, in the form of RFC 9578', async () => {
    const response = await fetch(`${issuer.running.address}${directory}`);
    expect(response.headers.get('content-type'))
      .toBe('application/private-token-issuer-directory');
    const shown = await response.json() as { readonly 'token-keys': readonly object[] };
    expect(shown['token-keys']).toEqual(issuer.issuer.keys.map(({ tokenKey }, i) => ({
      'token-type': 2, 'token-key': Buffer.from(tokenKey).toString('base64url'),
      'not-before': (fromMs + i * perMs) / 1_000,
    })));
  });

  it('gives a person one token in a period, and the same one again', async () => {
    const [seed, code] = [newSeed(), issuer.person()];
    const token = await issuer.token(seed, 'survey', code);
    expect(await issuer.token(seed, 'survey', code)).toEqual(token);
    await expect(issuer.token(newSeed(), 'survey', code)).rejects.toThrow(/another key/);
    await expect(issuer.token(seed, 'other', code)).rejects.toMatchObject({ code: 'not-enrolled' });
  });

  it('remembers it after a stop, also when the answer was lost', async () => {
    const [seed, code] = [newSeed(), issuer.person()];
    const token = await issuer.token(seed, 'survey', code);
    await issuer.stop();
    await issuer.serve();
    expect(await issuer.token(seed, 'survey', code)).toEqual(token);
    await expect(issuer.token(newSeed(), 'survey', code)).rejects.toThrow(/another key/);
  });

  it('keeps nothing of token, key or code', async () => {
    const [seed, code] = [newSeed(), issuer.person()];
    const token = readBlindEnrolment(await issuer.token(seed, 'survey', code))!;
    const { publicKey } = signing.createSigner(seed);
    const secrets = [publicKey, token.nonce, token.salt, token.signature, Buffer.from(code),
      Buffer.from(code, 'hex'), token.challengeDigest];
    for (const file of readdirSync(issuer.folder)) {
      const bytes = readFileSync(join(issuer.folder, file));
      for (const secret of secrets) expect(bytes.includes(Buffer.from(secret))).toBe(false);
    }
    expect(statSync(join(issuer.folder, 'issuer.key')).mode & 0o777).toBe(0o600);
  });

  it('refuses codes that it does not know, and those that were revoked', async () => {
    const code = issuer.person();
    expect([issuer.record.revoke(code), issuer.record.revoke(code)]).toEqual([true, false]);
    await expect(issuer.token(newSeed(), 'survey', code)).rejects.toThrow(/knows no such code/);
  });

  it('refuses requests of another form, by name', async () => {
    const rest = new Array<number>(256).fill(1);
    expect(await ask(Uint8Array.from([...begun(), ...rest]))).toEqual([401, 'unknown-code']);
    expect(await ask(Uint8Array.from([...begun(), ...rest.slice(1)]))).toEqual([422, 'malformed']);
    expect(await ask(Uint8Array.from([...begun(), ...rest, 1]))).toEqual([422, 'malformed']);
    expect(await ask(Uint8Array.from([...begun(), ...rest.fill(255)]))).toEqual([422, 'malformed']);
    expect(await ask(Uint8Array.from([0, 1, begun()[2], ...rest]))).toEqual([422, 'malformed']);
    expect(await ask(Uint8Array.from([0, 2, begun()[2] ^ 1, ...rest])))
      .toEqual([422, 'another-key']);
    expect(await ask(new Uint8Array(259), { Authorization: 'Basic x' })).toEqual([401, 'no-code']);
    expect(await ask(new Uint8Array(259), { 'Content-Type': 'text/plain' })).toEqual([415, 'type']);
  });

  it('is of no use to a study with other keys, and its code goes to no other place', async () => {
    const study = { study: 'survey', admission: { ...issuer.admission, keys: ['00'.repeat(32)] } };
    const request = { code: issuer.person(), seed: newSeed(), study };
    await expect(requestToken({ ...request, issuer: issuer.running.address })).rejects
      .toThrow(/has no key that the study takes/);
    const open = { study: 'survey', admission: { kind: 'open' } } as const;
    await expect(requestToken({ ...request, study: open, issuer: issuer.running.address })).rejects
      .toThrow(/does not admit by blind tokens/);
    await expect(requestToken({ ...request, issuer: 'tokens.example.org' })).rejects
      .toThrow(/is a URL like/);
  });

  it('takes so many requests of an address, and those of another one beside', async () => {
    issuer.monotonicMs = 1_000_000;
    const from = (address: string): Promise<Response> =>
      fetch(`${issuer.running.address}${directory}`, { headers: { 'X-Forwarded-For': address } });
    const statuses = async (address: string, count: number): Promise<Set<number>> => new Set(
      await Promise.all(Array.from({ length: count }, async () => (await from(address)).status)));
    expect(await statuses('192.0.2.1', 200)).toEqual(new Set([200]));
    const refused = await from('192.0.2.1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After');
    expect(await refused.json()).toMatchObject({ error: { code: 'rate-limited' } });
    // A host commonly has a whole IPv6 network.
    for (let i = 0; i < 200; i += 50) await statuses(`2001:db8:0:${i}::1`, 50);
    expect((await from('2001:db8:0:ff::1')).status).toBe(429);
    expect((await from('2001:db8:1::1')).status).toBe(200);
    expect((await from('192.0.2.2')).status).toBe(200);
    // A proxy that adds the true address is believed, and what its client wrote is not.
    expect((await from('192.0.2.3, 192.0.2.1')).status).toBe(429);
    issuer.monotonicMs += 1_000;
    expect(await statuses('192.0.2.1', 20)).toEqual(new Set([200]));
    expect((await from('192.0.2.1')).status).toBe(429);
    issuer.monotonicMs = undefined;
  });

  it('says to a client that it may try again', async () => {
    const crowded = await BlindIssuer.start();
    crowded.monotonicMs = 0;
    const url = `${crowded.running.address}${directory}`;
    for (let i = 0; i < 4; i++) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
    }
    await expect(crowded.token(newSeed(), 'survey')).rejects
      .toMatchObject({ code: 'transport-failed' });
    await expect(crowded.token(newSeed(), 'survey')).rejects.toThrow(/429.*wait for the seconds/);
    crowded.monotonicMs += 1_000;
    expect(readBlindEnrolment(await crowded.token(newSeed(), 'survey'))).toBeDefined();
    await crowded.end();
  });

  it('closes connections of an address that holds too many, unread', async () => {
    const record = new IssuerRecord(issuer.folder);
    const direct = await serveIssuer(issuer.issuer, record, {
      host: '127.0.0.1', port: 0, trustedProxies: [], clock: systemClock,
    });
    const port = Number(new URL(direct.address).port);
    const silent: Socket[] = [];
    for (let i = 0; i < 100; i++) {
      silent.push(connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' }));
      await once(silent.at(-1)!, 'connect');
    }
    const above = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.1' });
    above.on('error', () => undefined);
    await once(above, 'close');
    const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    await once(other, 'connect');
    other.write(`GET ${directory} HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect(String((await once(other, 'data'))[0])).toContain('200 OK');
    for (const socket of [...silent, other]) socket.destroy();
    await direct.close();
    record.close();
  });

  // The last test of this issuer: it never goes back to an earlier period.
  it('forgets a period when the next one begins, and never goes back', async () => {
    const [seed, code] = [newSeed(), issuer.person()];
    const first = await issuer.token(seed, 'survey', code);
    issuer.nowMs += perMs;
    expect(await issuer.token(seed, 'survey', code)).not.toEqual(first);
    issuer.nowMs -= perMs;
    await expect(issuer.token(newSeed(), 'survey', code)).rejects.toThrow(/no period now/);
    issuer.nowMs += 2 * perMs;
    await expect(issuer.token(seed, 'survey', code)).rejects.toThrow(/has no key/);
  });
});

describe('keelson keys issuer', () => {
  it('prints lines that a study file takes, and refuses a folder with an issuer', async () => {
    const folder = join(issuer.folder, 'made');
    const words = ['--name', 'tokens.example.org', '--from', '2030-01-01', '--per', '30d'];
    const made = await keelson(['keys', 'issuer', folder, '--new', ...words, '--periods', '2']);
    const again = await keelson(['keys', 'issuer', folder]);
    expect(again.stdout).toBe(made.stdout);
    const lines = meanStudy('survey').replace('late: next\n', '') + made.stdout;
    expect(parseStudyText(lines, { name: 'survey.yaml' }).document.admission).toEqual({
      kind: 'tokens', issuer: 'tokens.example.org', fromMs: Date.UTC(2030, 0, 1),
      perMs: 30 * 86_400_000, keys: readIssuer(folder).keys.map(({ id }) => id),
    });
    const twice = await keelson(['keys', 'issuer', folder, '--new', ...words, '--periods', '1']);
    expect(twice.stderr).toContain('is not overwritten');
    const over = await keelson(
      ['keys', 'issuer', `${folder}-over`, '--new', ...words.slice(0, 2), '--from', '2020-01-01', '--per',
        '1h', '--periods', '2']);
    expect(over.stderr).toContain('the last period ends at 2020-01-01T02:00:00Z, which is over');
    const now = await keelson(
      ['keys', 'issuer', `${folder}-now`, '--new', ...words.slice(0, 2), '--per', '1h', '--periods', '2']);
    const [, from] = /from: (.*)/.exec(now.stdout)!;
    expect(Date.now() - Date.parse(from!)).toBeLessThan(2 * 3_600_000);
    const both = await keelson(['keys', 'issuer', folder, '--new', '--codes', '1']);
    expect(both.stderr).toContain('do different things');
  });

  it.each([
    ['a late rule', (text: string) => text.replace('late: drop', 'late: next'), 'late'],
    ['an epoch that ends on a count', (text: string) =>
      text.replace('{ every: 1s }', '{ contributors: 200 }'), 'epoch'],
    ['a period shorter than an epoch', (text: string) =>
      text.replace('{ every: 1s }', '{ every: 2m }'), 'admission.tokens.per'],
    ['a key twice', (text: string) => text.replace('"]', `", "${'0a'.repeat(32)}"]`),
    'admission.tokens.keys'],
    ['a time that is none', (text: string) => text.replace('2030-01-01', '2030-02-31'),
      'admission.tokens.from'],
  ])('refuses %s that does not go with tokens', (_what, change, path) => {
    const text = meanStudy('survey', {
      late: 'drop', participation: 'public', admission: '{ tokens: { issuer: tokens.example.org, '
        + `from: 2030-01-01, per: 1m, keys: ["${'0a'.repeat(32)}"] } }`,
    });
    expect(() => parseStudyText(text, { name: 'survey.yaml' })).not.toThrow();
    expect(() => parseStudyText(change(text), { name: 'survey.yaml' }))
      .toThrow(`${path} `);
  });
});
