import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../server/store/sqlite/driver.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { Stage, type Served } from '../support/live-command.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

// Most of these commands wait, one for ten seconds. The tests run at the same time.
const stage = new Stage();

/** Run before the command: it says when the file named pipe is about to be opened. */
const announceOpen = `data:text/javascript,${encodeURIComponent(`
  import fs, { writeSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { createReadStream } = fs;
  fs.createReadStream = (path, ...rest) => {
    const stream = createReadStream(path, ...rest);
    if (String(path).endsWith('pipe')) setImmediate(() => writeSync(2, 'opening'));
    return stream;
  };
  syncBuiltinESMExports();
`)}`;

let served: Served;
let key: string;
let rows: string;

beforeAll(async () => {
  const study = meanStudy('flight-delays', { epoch: '{ every: 1h }' });
  served = await stage.serve([stage.write('study.yaml', study)]);
  key = stage.path('own.key');
  rows = stage.write('rows.csv', 'delay_minutes,distance_miles\n1,2\n');
  expect((await stage.run(['keys', 'new', key])).status).toBe(0);
}, 60_000);

afterAll(() => stage.end());

/**
 * A command that must end with status 2 and nothing on standard output. It runs in this process,
 * because a start of Node takes longer than all that it does. @returns its message.
 */
async function refused(...words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await keelson(words);
  expect([status, stdout], stderr).toEqual([2, '']);
  expect(stderr).not.toMatch(/^ +at |a defect in Keelson/m);
  return stderr;
}

describe.concurrent('a study that the server does not have', () => {
  it('is reported with the most similar name', async () => {
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

describe.concurrent('watch --from', () => {
  it('past the end of the log says how long the log is', async () => {
    const text = await refused('watch', served.url, '--study', 'flight-delays', '--from', '900');
    expect(text).toContain('from is 900, but the log has 0 releases so far');
  });
});

/** Servers that are no aggregators. */
const others: Server[] = [];
const listening = async (server: Server): Promise<string> => {
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

afterAll(() =>
  Promise.all(others.map((server) => new Promise((resolve) => server.close(resolve)))));

describe.concurrent('an address that is not of an aggregator', () => {
  it('is reported by keelson studies', async () => {
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

  it('is reported in one line by commands that retry', async () => {
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

describe.runIf(platform() === 'linux')('standard output on a full disk', () => {
  it.concurrent('is reported with status 2', async () => {
    const keelson = [process.execPath, `${root}bin/keelson.js`, 'estimators'];
    const { status, stderr } =
      await stage.run(
        ['exec "$@" > /dev/full', 'sh', ...keelson], { program: '/bin/sh', command: '-c' },
      );
    expect([status, stderr.split('\n').length]).toEqual([2, 2]);
    expect(stderr).toContain('standard output cannot be written (the disk is full)');
  });
});

describe.concurrent('serve', () => {
  it('refuses the database of another program, and a file as its folder', async () => {
    const other = stage.path('other');
    mkdirSync(other);
    const foreign = connect(join(other, 'keelson.db'));
    foreign.exec('CREATE TABLE notes (text TEXT)');
    foreign.close();
    const study = stage.path('study.yaml');
    const words = ['serve', study, '--port', '0', '--data'];
    expect(await refused(...words, other)).toContain('belongs to another program');
    expect(await refused(...words, study)).toContain('is not a folder: choose another');
  });
});

describe.concurrent('a server that says nothing', () => {
  it('or whose answer never ends does not block keelson studies', async () => {
    const mute = await listening(createServer((socket) => {
      socket.on('error', () => undefined).resume();
    }));
    const endless = await listening(createHttpServer((_, response) => {
      const part = Buffer.alloc(1024 * 1024, 'x');
      const more = (): void => void response.write(part, (error) => { if (!error) more(); });
      more();
    }));
    const [silence, flood] =
      await Promise.all([refused('studies', mute), refused('studies', endless)]);
    expect(silence).toContain('no whole answer within 10 s');
    expect(flood).toContain('its answer has more than 16777216 bytes');
    const half = { studies: [{ id: 'a', name: 'b' }] };
    const page = createHttpServer((_, response) => response.end(JSON.stringify(half)));
    expect(await refused('studies', await listening(page))).toContain('is no aggregator');
  });

  it('does not block a watch that was interrupted', async () => {
    let greeted = (): void => undefined;
    const isGreeted = new Promise<void>((resolve) => { greeted = resolve; });
    const silent = createHttpServer();
    silent.on('upgrade', ({ headers }, socket) => {
      const accept = createHash('sha1')
        .update(`${headers['sec-websocket-key']!}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
        .digest('base64');
      socket.on('error', () => undefined).on('end', () => socket.end()).resume();
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
          + `Sec-WebSocket-Protocol: ${headers['sec-websocket-protocol']!}\r\n`
          + `Sec-WebSocket-Accept: ${accept}\r\n\r\n`, () => greeted(),
      );
    });
    const watching = stage.start(['watch', await listening(silent), '--study', 'flight-delays']);
    await isGreeted;
    // Half of what ws waits for the answer to a close.
    const late = setTimeout(() => void watching.kill(), 15_000);
    expect((await watching.interrupt()).status).toBe(0);
    clearTimeout(late);
  });
});

describe.concurrent('an interrupt', () => {
  it('ends commands that wait for a pipe, as input or as a key', async () => {
    const pipe = stage.path('pipe');
    execFileSync('mkfifo', [pipe]);
    const target = ['--epsilon', '1', '--delta', '1e-6'];
    const input = ['--key', key, '--study', 's', '--input', pipe];
    const waiting = [
      ['verify', pipe], ['estimate', 'mean', pipe, ...target],
      ['contribute', served.url, ...input],
    ];
    const opening = { environment: { NODE_OPTIONS: `--import ${announceOpen}` } };
    for (const words of waiting) {
      const command = stage.start(words, opening);
      await command.says('opening');
      await command.interrupt();
      expect(command.child.signalCode, words[0]).toBe('SIGINT');
    }
    expect(await refused('keys', 'enrol', pipe)).toContain('is a folder or device: name a file');
    expect(await refused('keys', 'new', pipe)).toContain('exists and is not overwritten');
  });

  it('of contribute says where the rows wait', async () => {
    const input = ['--key', key, '--input', rows, '--outbox', stage.path('own.outbox')];
    const words = ['contribute', 'ws://127.0.0.1:1', '--study', 'flight-delays', '--retry', ...input];
    const command = stage.start(words);
    await command.says('the rows wait in');
    const { status, stderr } = await command.interrupt();
    expect(status).toBe(2);
    expect(stderr).toContain('interrupted before the aggregator had all rows');
    expect(stderr).toContain(`the rest waits in ${stage.path('own.outbox')}`);
    expect(stderr).not.toContain('aborted');
  });

  it('of contribute is not needed where no server answers', async () => {
    const input = ['--key', key, '--input', rows, '--outbox', stage.path('own.outbox')];
    const words = ['contribute', 'ws://127.0.0.1:1', '--study', 'flight-delays', ...input];
    const { status, stderr } = await stage.run(words);
    expect(status).toBe(2);
    expect(stderr).toContain('no aggregator answers at ws://127.0.0.1:1');
    expect(stderr).toContain(`the rows wait in ${stage.path('own.outbox')}, and the next run`);
  });

  it('of demo --keep ends it with status 0, even before all epochs were shown', async () => {
    const words = ['demo', '--keep', '--contributors', '200', '--epsilon', '12', '--every', '60'];
    const demo = stage.start([...words, '--logs', stage.path('logs')]);
    while (!demo.stdout.includes('dashboard at')) await demo.next();
    expect((await demo.interrupt()).status).toBe(0);
  });
});
