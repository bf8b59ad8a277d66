import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../server/base/clock.js';
import type { JournalEntry } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { batchRows, decodeBatchBody } from '../../src/wire/index.js';
import { Stage, type JsonLine, type LiveCommand } from '../support/live-command.js';
import { canImport, python } from '../support/python.js';
import { root } from '../support/sources.js';
import { meanStudy } from '../support/study-files.js';

const packages = 'python3-websockets python3-nacl python3-cryptography python3-numpy';
/** Also packages that Debian has not: a folder of pyarrow and polars. */
const environment = {
  PYTHONPATH: [`${root}clients/python`, process.env['KEELSON_TEST_PYTHONPATH'] ?? []].flat().join(':'),
  PYTHONDONTWRITEBYTECODE: '1',
};

const runs = canImport('cryptography, nacl.signing, numpy, websockets');
const checksTypes = runs && canImport('mypy');
// The title of a suite that is skipped is not shown.
if (!runs || !checksTypes) {
  const missing = runs ? 'mypy' : `${packages} mypy`;
  process.stderr.write(`${runs ? 'The types of clients/python are' : 'clients/python is'} not `
    + `tested. To test: apt-get install ${missing}\n`);
}

const overAKill = `
import asyncio, json, sys, urllib.request
from keelson import AsyncContributor, KeelsonError, subscribe, verify_log

url, key, verb, *words = sys.argv[1:]
server_key = bytes.fromhex(key)

def say(**members):
    print(json.dumps(members), flush=True)

def opened(seed):
    return AsyncContributor(url, "over-a-kill", bytes.fromhex(seed * 32), seed + ".outbox", server_key)

async def contribute(seed, count):
    async with opened(seed) as contributor:
        for row in range(1, int(count) + 1):
            settled = await contributor.send([[row % 7, row]], row == int(count))
            say(settled=row, code=settled.code)

async def withdraw(seed, count):
    async with opened(seed) as contributor:
        for row in range(int(count)):
            await contributor.send([[0, row]])
        epoch = await contributor.withdraw()
        try:
            code = (await contributor.send([[0, 0]])).code
        except KeelsonError as error:
            code = error.code
        say(withdrawn=epoch, then=code)

def refuses(lines):
    try:
        verify_log(b"\\n".join(lines) + b"\\n", server_key)
        return False
    except KeelsonError:
        return True

def log(address):
    def part(at):
        path = f"{address}/v1/releases?study=over-a-kill" + (f"&from={at}" if at else "")
        return urllib.request.urlopen(path).read()
    whole = part(0)
    chain = verify_log(whole, server_key)
    for at in range(1, chain.index + 1):
        known = verify_log(whole, server_key, stop=at)
        verify_log(part(at), server_key, at, known.digest, known.epoch)
    lines = whole[:-1].split(b"\\n")
    changed = [[*lines[:i], *lines[i + 1:]] for i in range(len(lines))]
    changed += [[*lines[:i], lines[i + 1], lines[i], *lines[i + 2:]] for i in range(len(lines) - 1)]
    for i, line in enumerate(lines):
        middle = len(line) // 2
        other = b"B" if line[middle:middle + 1] == b"A" else b"A"
        changed.append([*lines[:i], line[:middle] + other + line[middle + 1:], *lines[i + 1:]])
    say(count=chain.index, digest=chain.digest.hex(), parts=chain.index + 1,
        refused=sum(map(refuses, changed)))

if verb == "subscribe":
    for _, release in zip(range(int(words[0])), subscribe(url, "over-a-kill", server_key)):
        say(index=release.index, epoch=release.epoch, digest=release.digest.hex())
elif verb == "log":
    log(*words)
else:
    asyncio.run({"contribute": contribute, "withdraw": withdraw}[verb](*words))
`;

/** The rows of the first two epochs, read when no server runs. */
async function journals(directory: string): Promise<(readonly JournalEntry[])[]> {
  const store = await openInlineSqliteStore({ directory, clock: systemClock });
  try {
    const [study] = await store.studies();
    return await Promise.all([1n, 2n].map((epoch) =>
      store.journal(study!.studyId, epoch, 0n, 1_000)));
  } finally {
    await store.close();
  }
}

describe.skipIf(!runs)('the client in clients/python', () => {
  const stage = new Stage();
  afterAll(() => stage.end());

  it('passes its own tests', { tags: ['slow'], timeout: 120_000 }, async () => {
    const words = ['unittest', 'discover', '-s', `${root}clients/python/tests`];
    const { status, stderr } =
      await stage.run(words, { program: python, command: '-m', environment });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/Ran \d+ tests[^]*OK/)]);
  });

  it.skipIf(!checksTypes)('has types without an error', {
    tags: ['slow'], timeout: 60_000,
  }, async () => {
    const words = ['mypy', '--strict', '--cache-dir', stage.path('mypy'),
      `${root}clients/python/keelson`];
    const { status, stdout } = await stage.run(words, { program: python, command: '-m' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Success: no issues found/)]);
  });

  it('passes the conformance kit', { tags: ['slow'], timeout: 480_000 }, async () => {
    const words = ['conform', '--json', '--', python, '-m', 'keelson.conform'];
    const { stdout } = await stage.run(words, { environment });
    const { failed, cases } = JSON.parse(stdout) as {
      failed: number; cases: { name: string; outcome: string; text?: string }[];
    };
    expect(cases.filter(({ outcome }) => outcome === 'failed')
      .map(({ name, text }) => `${name}: ${text}`)).toEqual([]);
    expect(failed).toBe(0);
    const leftOut = cases.filter(({ outcome }) => outcome === 'left-out');
    expect(new Set(leftOut.map(({ text }) => text)))
      .toEqual(new Set(['the program does not list sealed in "can"']));
  });

  it('sends once: one request, whose answer does not tell how the key stands', async () => {
    const study = stage.write('once.yaml', meanStudy('sent-once', {
      epoch: '{ contributors: 2 }', participation: 'public',
    }));
    const { url, address } = await stage.serve([study], { data: 'once-data' });
    const { studies: [{ id }] } = await (await fetch(`${address}/v1/studies`)).json() as {
      studies: [{ id: string }];
    };
    const command = stage.write('once.py', [
      'from keelson import OnceContributor',
      'for name in ("sent-once", "sent-once", STUDY_ID):',
      '    with OnceContributor(URL, name, "bob.key", "bob.outbox") as contributor:',
      '        settled = contributor.contribute([[12, 640]])',
      '        print(settled.code, settled.epoch)',
    ].join('\n').replace('URL', JSON.stringify(url)).replace('STUDY_ID', JSON.stringify(id)));
    const { status, stdout, stderr } =
      await stage.run([], { program: python, command, environment, directory: stage.folder });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe('accepted 1\nnot-counted 1\nnot-counted 1\n');
  }, 60_000);

  it('contributes over a kill of the server, withdraws, and verifies what is '
    + 'released', async () => {
    // Epochs close when two contributors are complete: no step waits for time.
    const study = stage.write('kill.yaml', meanStudy('over-a-kill', {
      epoch: '{ contributors: 2 }', participation: 'public', retention: '30d',
    }));
    const data = 'kill-data';
    let served = await stage.serve([study], { data });
    const { url, port, serverKey } = served;
    const command = stage.write('kill.py', overAKill);
    const start = (...words: string[]): LiveCommand => stage.start([url, serverKey, ...words], {
      program: python, command, environment, directory: stage.folder,
    });
    const run = async (...words: string[]): Promise<readonly JsonLine[]> => {
      const ended = start(...words);
      const { status, stderr } = await ended.ended;
      expect([status, stderr]).toEqual([0, '']);
      return ended.lines;
    };

    const sender = start('contribute', '0a', '60');
    await sender.line(({ settled }) => settled === 20);
    await served.command.kill();
    served = await stage.serve([study], { data, port });
    expect((await sender.ended).status).toBe(0);
    expect(sender.lines.map(({ code }) => code)).toEqual(Array<string>(60).fill('accepted'));
    expect(await run('withdraw', '0c', '3')).toEqual([{ withdrawn: 1, then: 'contribution-full' }]);
    const reader = start('subscribe', '2');
    await run('contribute', '0d', '5');
    for (const seed of ['0a', '0b']) await run('contribute', seed, '1');
    await reader.ended;
    expect(reader.lines).toMatchObject([{ index: 0, epoch: 1 }, { index: 1, epoch: 2 }]);
    // Four lines: each changed, each left out, and each two neighbours swapped.
    expect(await run('log', served.address))
      .toEqual([{ count: 2, digest: reader.lines[1]!['digest'], parts: 3, refused: 4 + 4 + 3 }]);

    await served.command.interrupt();
    const [first, second] = await journals(stage.path(data));
    // Each accepted row once, and nothing that was withdrawn.
    const rows = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
    const given = first!.map(({ body }) => batchRows(decodeBatchBody(body))[1]);
    expect(given.sort((a, b) => a! - b!)).toEqual([...rows(60), ...rows(5)].sort((a, b) => a - b));
    expect(second).toHaveLength(2);
  }, 180_000);

  it('runs the example of its README in at most 10 lines', async () => {
    const page = readFileSync(`${root}clients/python/README.md`, 'utf8');
    const [example, more] = [...page.matchAll(/```python\n([^]*?)```/g)].map(([, code]) => code!);
    expect(example!.trim().split('\n').length).toBeLessThanOrEqual(10);
    const study = stage.write('study.yaml', meanStudy('flight-delays', {
      epoch: '{ contributors: 1 }', participation: 'public',
    }));
    const { url } = await stage.serve([study]);
    const command = stage.write('example.py',
      `${example!}print("---")\n${more!}`.replace('ws://127.0.0.1:8787', url));
    const { status, stdout, stderr } =
      await stage.run([], { program: python, command, environment, directory: stage.folder });
    expect([status, stderr]).toEqual([0, '']);
    const [first, numbers] = stdout.split('---\n');
    expect(first).toMatch(/^1 \{'mean': (None|\[.+, .+\])\}\nquestion .*value.*\n(mean .*\n)+$/);
    if (!first!.includes('None')) expect(numbers).toMatch(/^delay_minutes .*\ndistance_miles .*\n$/);
  }, 60_000);
});
