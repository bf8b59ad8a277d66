import { chmodSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { Stage } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
const servers: Server[] = [];
afterAll(async () => {
  await stage.end();
  for (const server of servers) server.close();
});

const portOf = async (server: Server): Promise<number> => {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

/** Takes POST requests. @returns its address, and the first body. */
async function webhook(): Promise<{ url: string; first: Promise<string> }> {
  let heard: (body: string) => void;
  const first = new Promise<string>((resolve) => { heard = resolve; });
  const server = createHttpServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => { body += chunk.toString(); });
    request.on('end', () => {
      response.end('ok');
      heard(body);
    });
  });
  return { url: `http://127.0.0.1:${await portOf(server)}/hook/very-secret`, first };
}

/** A mail relay that takes everything. @returns its address, and the first letter. */
async function relay(): Promise<{ url: string; first: Promise<string> }> {
  let heard: (letter: string) => void;
  const first = new Promise<string>((resolve) => { heard = resolve; });
  const server = createServer((socket) => {
    let text = '';
    let isLetter = false;
    socket.on('error', () => undefined);
    socket.write('220 relay\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString();
      for (;;) {
        const end = text.indexOf(isLetter ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const part = text.slice(0, end);
        text = text.slice(end + (isLetter ? 5 : 2));
        if (isLetter) heard(part);
        isLetter = !isLetter && part === 'DATA';
        socket.write(isLetter ? '354 go on\r\n' : '250 ok\r\n');
      }
    });
  });
  return { url: `smtp://127.0.0.1:${await portOf(server)}`, first };
}

describe('keelson serve with alerts in its settings', () => {
  it('tells a service and people of a refusal, and logs no secret', async () => {
    const [hook, mail] = await Promise.all([webhook(), relay()]);
    stage.write('hook.url', `${hook.url}\n`);
    chmodSync(stage.path('hook.url'), 0o600);
    const settings = stage.write('settings.yaml', `releaseTick: 0s
alerts:
  webhook: { url-file: hook.url }
  email: { relay: "${mail.url}", from: keelson@example.org, to: [operators@example.org] }
`);
    const study = stage.write('study.yaml', meanStudy('delays'));
    const served = await stage.serve([study], {
      logLevel: 'info', flags: ['--settings', settings],
    });
    // Nobody contributes, so the first release is refused.
    const told = JSON.parse(await hook.first) as Record<string, string>;
    expect(told).toMatchObject({ kind: 'answer-refused', study: 'delays' });
    expect(told['text']).toMatch(/^delays refused its answer of epoch 1 .* longer epochs/);
    const letter = await mail.first;
    expect(letter).toMatch(/^Subject: Keelson: delays refused its answer of epoch 1/m);
    expect(letter).toMatch(/^To: operators@example\.org\r$/m);
    await served.command.says('"channel":"email"');
    const { stderr } = await served.command.interrupt();
    expect(stderr).toContain('alert: delays refused its answer');
    expect(stderr).not.toContain('very-secret');
  });

  it('refuses a file of secrets that others can read', async () => {
    stage.write('open.url', 'http://127.0.0.1:1/hook\n');
    const settings = stage.write('open.yaml', 'alerts: { webhook: { url-file: open.url } }\n');
    const study = stage.write('other.yaml', meanStudy('delays'));
    const { status, stderr } = await stage.run(
      ['serve', study, '--data', stage.path('other'), '--settings', settings]);
    expect(status).toBe(2);
    expect(stderr).toContain('open.url');
    expect(stderr).toContain('chmod 600');
  });
});
