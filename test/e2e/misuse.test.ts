import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const stage = new Stage();
let served: Served;
let key: string;
let rows: string;

beforeAll(async () => {
  const study = meanStudy('flight-delays', { epoch: '{ every: 1h }' });
  served = await stage.serve([stage.write('study.yaml', study)]);
  key = stage.path('own.key');
  rows = stage.write('rows.csv', 'delay_minutes,distance_miles\n1,2\n');
  expect((await stage.run(['keygen', key])).status).toBe(0);
}, 60_000);

afterAll(() => stage.end());

/** A command that must end with status 2 and nothing on standard output. @returns its message. */
async function refused(...words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await stage.run(words);
  expect([status, stdout], stderr).toEqual([2, '']);
  expect(stderr).not.toMatch(/^ +at |a defect in Keelson/m);
  return stderr;
}

describe('a study that the server does not have', () => {
  it('is told with the one that was meant', async () => {
    const meant = 'did you mean "flight-delays"?';
    const { url } = served;
    const token = ['--token-file', stage.path('data/operator.token')];
    expect(await refused('watch', url, '--study', 'flights-delays')).toContain(meant);
    const input = ['--key', key, '--input', rows];
    expect(await refused('contribute', url, '--study', 'flights-delays', ...input))
      .toContain(meant);
    expect(await refused('studies', url, '--end', 'flight-delay', ...token)).toContain(meant);
    expect(await refused('studies', url, '--end', 'zzz', ...token))
      .toContain('/v1/studies lists them');
  });
});

describe('watch --from', () => {
  it('past the end of the log says how long the log is', async () => {
    const text = await refused('watch', served.url, '--study', 'flight-delays', '--from', '900');
    expect(text).toContain('from is 900, but the log has 0 releases so far');
  });
});

describe('an address that is not of an aggregator', () => {
  const others: Server[] = [];
  const listening = async (server: Server): Promise<string> => {
    others.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  afterAll(() => Promise.all(others.map((server) => new Promise((resolve) => server.close(resolve)))));

  it('is told as such by studies', async () => {
    const page =
      createHttpServer((_, response) => response.setHeader('Connection', 'close').end('hello'));
    expect(await refused('studies', await listening(page)))
      .toContain('is no aggregator: check the address');
    const wrong = createHttpServer((_, response) => response.writeHead(500).end('no'));
    expect(await refused('studies', await listening(wrong)))
      .toContain('not the answer of an aggregator');
    const mute = createServer((socket) => socket.destroy());
    expect(await refused('studies', await listening(mute))).toContain('does not answer');
    expect(await refused('studies', served.url.replace('ws:', 'wss:')))
      .toContain('it speaks no TLS');
  });

  it('is told in one line by commands that go on trying', async () => {
    const page = createHttpServer((_, response) => response.writeHead(404).end('no'));
    page.on('upgrade', (_, socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
    const asked = [
      [await listening(page), 'HTTP status 404 in place of a WebSocket'],
      [served.url.replace('ws:', 'wss:'), 'the server speaks no TLS at this address'],
    ] as const;
    for (const [url, why] of asked) {
      const watching = stage.start(['watch', url, '--study', 'flight-delays']);
      await watching.says('trying again');
      const { stderr } = await watching.interrupt();
      expect(stderr.split('\n')[0]).toContain(why);
      expect(stderr.split('\n')[0]).toContain('trying again');
    }
  });
});

describe('an interrupt', () => {
  it('of contribute says where the rows wait', async () => {
    const input = ['--key', key, '--input', rows, '--outbox', stage.path('own.outbox')];
    const words = ['contribute', 'ws://127.0.0.1:1', '--study', 'flight-delays', ...input];
    const command = stage.start(words);
    await command.says('the rows wait in');
    const { status, stderr } = await command.interrupt();
    expect(status).toBe(2);
    expect(stderr).toContain('interrupted before the aggregator had all rows');
    expect(stderr).toContain(`the rest waits in ${stage.path('own.outbox')}`);
    expect(stderr).not.toContain('aborted');
  });

  it('of demo --keep ends it well, also before the epochs to show are over', async () => {
    const words = ['demo', '--keep', '--contributors', '200', '--epsilon', '12', '--every', '60'];
    const demo = stage.start([...words, '--logs', stage.path('logs')]);
    while (!demo.stdout.includes('dashboard at')) await demo.next();
    expect((await demo.interrupt()).status).toBe(0);
  });
});
