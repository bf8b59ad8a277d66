import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signing } from '../../src/signing/node.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { keyFingerprint } from '../../src/signing/index.js';
import { keelson } from '../support/command.js';
import { Stage, type JsonLine, type LiveCommand, type Served } from '../support/live-command.js';
import { meanStudy, populousStudy } from '../support/study-files.js';

const stage = new Stage();
const names = ['flights-mean', 'flights-populous'] as const;
let served: Served;
let simulated: LiveCommand;
const watched = new Map<string, LiveCommand>();
const logs = new Map<string, string>();

async function get(path: string, token?: string): Promise<{
  readonly status: number; readonly text: string;
}> {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const response = await fetch(`${served.address}${path}`, { headers });
  return { status: response.status, text: await response.text() };
}

const releasesOf = (study: string): readonly JsonLine[] =>
  watched.get(study)!.lines.filter(({ type }) => type === 'release');

beforeAll(async () => {
  served = await stage.serve([
    stage.write('mean.yaml', meanStudy(names[0])),
    stage.write('populous.yaml', populousStudy(names[1])),
  ], { logLevel: 'info' });
  const { url, serverKey } = served;
  simulated = stage.start([
    'simulate', url, '--study', names.join(','), '--contributors', '300', '--server-key', serverKey,
    '--json',
  ]);
  for (const study of names) {
    watched.set(
      study, stage.start(['watch', url, '--study', study, '--server-key', serverKey, '--json']),
    );
  }
  // The noisy mean of everybody, once: by then the fleet is connected. And four releases, for a log
  // with a middle.
  for (const study of names) {
    await watched.get(study)!.line(({ type, outcome }) =>
      type === 'release' && outcome === 'value');
    await watched.get(study)!.line(({ index }) => index === 3);
    logs.set(study, (await get(`/v1/releases?study=${study}`)).text);
  }
});

afterAll(() => stage.end());

describe('serve, simulate and watch', () => {
  it.each(names)('releases %s epoch after epoch', (study) => {
    const releases = releasesOf(study);
    releases.forEach((release, i) =>
      expect(release).toMatchObject({ study, index: i, epoch: i + 1 }));
    const value = releases.find(({ outcome }) => outcome === 'value')!;
    expect(value['estimate']).toHaveLength(2);
    // Flights: some ten minutes late, some seven hundred miles. Noise is a few minutes, a hundred
    // miles.
    const [delay, distance] = value['estimate'] as [number, number];
    expect(Math.abs(delay - 9)).toBeLessThan(150);
    expect(Math.abs(distance - 700)).toBeLessThan(2_000);
    const spent = releases.map(({ epsilonSpent }) => Number(epsilonSpent));
    spent.slice(1).forEach((now, i) => expect(now).toBeGreaterThan(spent[i]!));
  });

  it('reports what the simulated contributors did', async () => {
    const epoch =
      await simulated.line(({ type, accepted }) => type === 'epoch' && Number(accepted) >= 300);
    expect(epoch).toMatchObject({ refused: {}, abuses: 0, reconnections: 0 });
  });

  it('opens metrics and details to the operator only', async () => {
    const { paths } = served.listening as { readonly paths: { readonly operatorToken: string } };
    const token = readFileSync(paths.operatorToken, 'utf8').trim();
    expect(statSync(paths.operatorToken).mode & 0o777).toBe(0o600);
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/metrics', 'wrong')).status).toBe(401);
    expect((await get('/v1/operator/progress')).status).toBe(401);
    const metrics = await get('/metrics', token);
    expect(metrics.status).toBe(200);
    expect(metrics.text).toMatch(/^keelson_\w+\{.*study="flights-mean".*\} \d+/m);
    expect(JSON.parse((await get('/healthz')).text)).toEqual({ status: 'ok' });
    const details = JSON.parse((await get('/healthz', token)).text) as {
      status: string; store: { batches: number };
    };
    expect(details.status).toBe('ok');
    expect(details.store.batches).toBeGreaterThanOrEqual(300);
    expect(served.command.stdout).not.toContain(token);
    expect(served.command.stderr).not.toContain(token);
  });
});

describe('the release log', () => {
  /** What `keelson verify` says about a log, under the server's key or another. */
  const verify = async (
    lines: readonly string[], key = served.serverKey,
  ): Promise<{ readonly status: number; readonly fault: string }> => {
    const stdin = lines.map((line) => `${line}\n`).join('');
    const run = await keelson(['verify', '-', '--server-key', key, '--json'], { stdin });
    const report = JSON.parse(run.stdout || '{}') as { firstFault?: { code: string } | null };
    return { status: run.status, fault: report.firstFault?.code ?? '' };
  };
  const linesOf = (study: string): string[] => logs.get(study)!.trimEnd().split('\n');
  const without = (lines: readonly string[], index: number): string[] =>
    lines.filter((_, i) => i !== index);

  it.each(names)(
    'of %s passes under the server\'s key, through the built command', async (study) => {
      const path = stage.write(`${study}.log`, logs.get(study)!);
      const run = await stage.run(['verify', path, '--server-key', served.serverKey]);
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(run.stdout).toContain('verified     every signature, the chain and the head');
    },
  );

  it('fails under another key, and without a key is only consistent', async () => {
    const other = toHex(signing.createSigner(signing.generateSeed()).publicKey);
    expect(await verify(linesOf(names[0]), other)).toMatchObject({ status: 1 });
    const path = stage.write('mean.log', logs.get(names[0])!);
    expect(await stage.run(['verify', path])).toMatchObject({ status: 1 });
  });

  it('fails after one changed byte, wherever it is', async () => {
    const text = logs.get(names[0])!.trimEnd();
    for (let part = 0; part <= 24; part++) {
      const at = Math.min(text.length - 1, Math.floor((part / 24) * text.length));
      if (text[at] === '\n') continue;
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(await verify(changed.split('\n')), `byte ${at} of ${text.length}`)
        .toMatchObject({ status: 1 });
    }
  });

  it('fails without its first, a middle or its last release, and without its head', async () => {
    const lines = linesOf(names[1]);
    expect(lines.length).toBeGreaterThanOrEqual(6);
    expect(await verify(lines)).toEqual({ status: 0, fault: '' });
    for (const index of [1, 3, lines.length - 2, lines.length - 1]) {
      const found = await verify(without(lines, index));
      expect(found.status, `without line ${index + 1}`).toBe(1);
      expect(found.fault).not.toBe('');
    }
  });

  it('fails when two releases change places, or one is of the other study', async () => {
    const lines = linesOf(names[0]);
    const swapped = [...lines];
    [swapped[2], swapped[3]] = [lines[3]!, lines[2]!];
    expect(await verify(swapped)).toMatchObject({ status: 1 });
    const mixed = [...lines];
    mixed[2] = linesOf(names[1])[2]!;
    expect(await verify(mixed)).toMatchObject({ status: 1 });
  });
});

it('ends on an interrupt: every process with status 0, the server last', async () => {
  expect(await simulated.interrupt()).toMatchObject({ status: 0 });
  for (const watch of watched.values()) {
    expect(await watch.interrupt()).toMatchObject({ status: 0 });
  }
  const { status, stderr } = await served.command.interrupt();
  expect(status).toBe(0);
  const lines = stderr.split('\n').filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly level: string; readonly msg: string });
  // A busy machine is warned about.
  expect(lines.filter(({ level }) => level !== 'info' && level !== 'warn')).toEqual([]);
  expect(lines.filter(({ msg }) => msg === 'the server listens')).toMatchObject([{
    address: served.address, serverKey: served.serverKey, studies: names,
    fingerprint: keyFingerprint(fromHex(served.serverKey), signing),
  }]);
  const releases = lines.filter(({ msg }) => msg === 'a release is published');
  expect(releases.length).toBeGreaterThan(0);
  for (const release of releases) {
    const cost = { epsilon: expect.any(Number) as number, delta: expect.any(Number) as number };
    expect(release).toMatchObject({ epoch: expect.stringMatching(/^[1-9]/) as string, ...cost });
    const { questions: { answer } } = release as unknown as {
      readonly questions: { readonly answer: { readonly outcome: string } };
    };
    expect(answer).toMatchObject(answer.outcome === 'refused'
      ? { reason: expect.any(String) as string } : { outcome: 'value' });
  }
  expect(lines.at(-1)!.msg).toBe('the server has stopped');
});
