import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContributor } from '../../client/index.js';
import { sealing } from '../../client/sealing.js';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { keelson } from '../support/command.js';
import { SealedStage, type SealedStudyText } from '../support/sealed-stage.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import type { Clock } from '../../server/base/clock.js';
import type { Store } from '../../server/store/contract.js';
import { openSqliteStore } from '../../server/store/sqlite/open.js';
import { StorageError } from '../../src/base/errors.js';
import { logLines, verifyReleaseLog } from '../../src/log/index.js';
import { Stage } from '../support/live-command.js';
import { signing } from '../../src/signing/node.js';

let stage: SealedStage;
let clock: ShiftedClock;
afterEach(() => (stage as SealedStage | undefined)?.close());

const everyMs = 600_000;
const question = 'estimator: count\nparameters: { threshold: 25 }';
const slow = { tags: ['slow'], timeout: 240_000 };

async function begin(study: Partial<SealedStudyText> = {}): Promise<void> {
  clock = new ShiftedClock();
  stage = await SealedStage.of({ question, everyMs, ...study });
  await stage.startAll({ clock, peerTimeoutMs: 20_000 });
}

/** Two rows each, of which the mean is contributed: 24 of 40 people are at 25 or above. */
const people = Array.from({ length: 40 }, (_, i) => [[20 + (i % 10)], [22 + (i % 10)]]);

/** Contributes, and lets the epoch close. */
async function closeWith(rows = people, inMs = everyMs): Promise<void> {
  const settled = await stage.contribute(rows);
  expect(settled.map(({ kind }) => kind)).toEqual(rows.map(() => 'accepted'));
  clock.advance(inMs);
}

/** A log in which the signature of the first release is another one. */
function changedSignature(log: string, change: (signature: Uint8Array) => Uint8Array): Uint8Array {
  const lines = log.trimEnd().split('\n').map((line) =>
    JSON.parse(line) as { readonly type: string; readonly signature: string });
  const first = lines.findIndex(({ type }) => type === 'release');
  const { signature } = lines[first]!;
  const changed = Buffer.from(change(Buffer.from(signature, 'base64'))).toString('base64');
  const text = lines.map((line, i) =>
    JSON.stringify(i === first ? { ...line, signature: changed } : line)).join('\n');
  return Buffer.from(`${text}\n`);
}

/** The charges in a server's ledger. */
async function spent(server: number): Promise<bigint> {
  const [balance] = await stage.servers[server]!.hub.balances();
  return balance!.rhoSpent;
}

describe('keelson demo sealed', () => {
  it('shows shares that add up to the row, and a release that three servers signed', {
    tags: ['slow'], timeout: 240_000,
  }, async () => {
    const commands = new Stage();
    try {
      const run = await commands.run([
        'demo', 'sealed', '--contributors', '300', '--every', '30', '--json', '--logs',
        commands.path('logs'),
      ]);
      expect([run.status, run.stderr]).toEqual([0, '']);
      const lines = run.stdout.trimEnd().split('\n').map((line) =>
        JSON.parse(line) as Readonly<Record<string, unknown>>);
      expect(lines.map(({ type }) => type)).toEqual(['started', 'held', 'sent', 'released']);
      expect(lines[0]).toMatchObject({ against: 'reading', hostile: 30 });
      const { steps, size, holds } = lines[1] as unknown as {
        steps: number[]; size: number; holds: { own: number[]; next: number[] }[];
      };
      holds.forEach(({ next }, i) => expect(next).toEqual(holds[(i + 1) % 3]!.own));
      steps.forEach((step, j) =>
        expect(holds.reduce((sum, { own }) => sum + own[j]!, 0) % size).toBe(step));
      const { estimate, honest, log, serverKey, spent } = lines[3] as unknown as {
        estimate: number[]; honest: number[]; log: string; serverKey: string;
        spent: { rho: number }[];
      };
      // Liars move a plain mean by 4.5 minutes. Noise has a deviation of about .15 minutes.
      expect(Math.abs(estimate[0]! - honest[0]!)).toBeLessThan(2.5);
      expect(new Set(spent.map(({ rho }) => rho)).size).toBe(1);
      const verified = await commands.run(['verify', log, '--server-key', serverKey]);
      expect(verified.status).toBe(0);
    } finally {
      await commands.end();
    }
  });

  it('stays with --keep, says where its folders and tokens are, and goes on', {
    tags: ['slow'], timeout: 240_000,
  }, async () => {
    const commands = new Stage();
    try {
      const run = commands.start([
        'demo', 'sealed', '--contributors', '300', '--every', '12', '--keep', '--logs',
        commands.path('logs'),
      ]);
      while (!run.stdout.includes('Ctrl-C ends it')) await run.next();
      const servers = [...run.stdout.matchAll(
        /^\w+: dashboard at (\S+)\n {2}data folder (\S+)\n {2}operator token in (\S+)$/gm,
      )];
      expect(servers).toHaveLength(3);
      for (const [, address, folder, token] of servers) {
        expect(await (await fetch(address!)).text()).toContain('dashboard.js');
        expect(statSync(folder!).isDirectory()).toBe(true);
        expect(readFileSync(token!, 'utf8')).toMatch(/^[\w-]{32,}\s*$/);
      }
      const releases = async (): Promise<number> => {
        const answer = await fetch(new URL('/v1/studies', servers[0]![1]));
        return (await answer.json() as { studies: [{ releases: number }] }).studies[0].releases;
      };
      // More than a budget of epsilon 8 would pay for, if it did not renew.
      while (await releases() < 4) await new Promise((resolve) => setTimeout(resolve, 200));
      const { status, stdout, stderr } = await run.interrupt();
      expect([status, stderr]).toEqual([0, '']);
      const lines = stdout.split('\n').filter((line) => !/server-key|verify|keelson-demo-/.test(line));
      for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    } finally {
      await commands.end();
    }
  });
});

describe('three servers', () => {
  it('count people whose rows none of them sees, and sign together', slow, async () => {
    await begin();
    await closeWith();
    const outcome = await stage.release(0);
    expect(outcome).toMatchObject({ kind: 'value' });
    // Epsilon 4 has noise of deviation below 1: fails by chance less than once in 10^9.
    if (outcome.kind === 'value') expect(Math.abs(outcome.estimate[0]! - 24)).toBeLessThan(8);
    for (const server of [1, 2]) expect(await stage.release(0, server)).toEqual(outcome);
    const { charge } = stage.front.hub.studies()[0]!;
    for (const server of [0, 1, 2]) expect(await spent(server)).toBe(charge.rho);
    // A release with a false or missing signature is refused, and the message names whose it is.
    const { address: front, serverKey: frontKey } = stage.front;
    const log = await (await fetch(`${front}/v1/releases?study=shared`)).text();
    for (const [place, name] of ['north', 'east', 'west'].entries()) {
      const faulty = changedSignature(log, (signature) =>
        signature.map((byte, i) => (i === 64 * place ? byte ^ 1 : byte)));
      const report = await verifyReleaseLog(logLines([faulty]), { signing, serverKey: frontKey });
      expect(report.firstFault?.text).toContain(`the signature of ${name} is not its own`);
    }
    const short = changedSignature(log, (signature) => signature.subarray(0, 128));
    expect((await verifyReleaseLog(logLines([short]), { signing, serverKey: frontKey })).authentic)
      .toBe(false);
    // The log of any of them is authentic under the key of that one.
    for (const { address, serverKey } of stage.servers.map((server) => server!)) {
      const response = await fetch(`${address}/v1/releases?study=shared`);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const report = await verifyReleaseLog(logLines([bytes]), { signing, serverKey });
      expect(report).toMatchObject({ authentic: true, count: 1, firstFault: null });
    }
  });

  it('answer an epoch after another, also one in which nobody took part', slow, async () => {
    await begin({ question: 'estimator: histogram\nparameters: { edges: [22, 24, 26, 28] }' });
    await closeWith();
    const first = await stage.release(0);
    if (first.kind !== 'value') throw new Error(first.text);
    [4, 8, 8, 8, 12].forEach((count, bin) =>
      expect(Math.abs(first.estimate[bin]! - count)).toBeLessThan(10));
    await until(() => stage.front.hub.studies()[0]!.epoch === 2n);
    clock.advance(everyMs);
    const second = await stage.release(1);
    if (second.kind !== 'value') throw new Error(second.text);
    for (const count of second.estimate) expect(Math.abs(count)).toBeLessThan(10);
  });

  it('find a mean, and count rows beyond the range as at its end', slow, async () => {
    await begin({
      question: 'estimator: mean\nparameters: { spread: [4] }', sealed: '  range: [[0, 64]]',
      cohort: 300,
    });
    // The ball leaves the two liars out.
    const honest = Array.from({ length: 300 }, (_, i) => [[20 + (i % 10)]]);
    await closeWith([...honest, [[1e9]], [[-1e9]]]);
    const outcome = await stage.release(0);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    expect(Math.abs(outcome.estimate[0]! - 24.5)).toBeLessThan(2);
    // A third beyond the range is said, and the mean has no upper end.
    await until(() => stage.front.hub.studies()[0]!.epoch === 2n);
    await closeWith([...honest.slice(0, 200), ...honest.slice(0, 100).map(() => [[1e9]])]);
    const clipped = await stage.release(1);
    expect(clipped).toMatchObject({
      kind: 'value', findings: [{ reason: 'values-clipped', columns: [0] }],
      interval95: { high: [Infinity] },
    });
  });

  it('find a robust mean, which a crowd of liars hardly moves', slow, async () => {
    await begin({
      question: 'estimator: robust-mean\nparameters: { spread: [4], shape: light }',
      sealed: '  range: [[0, 64]]', cohort: 630,
    });
    // The mean of honest rows is 25.5 and their deviation 3.5. Liars move a plain mean by 1.2.
    const honest = Array.from({ length: 600 }, (_, i) => [[20 + (i % 12)]]);
    await closeWith([...honest, ...Array.from({ length: 30 }, () => [[50]])]);
    const outcome = await stage.release(0);
    if (outcome.kind !== 'value') throw new Error(outcome.text);
    // Noise and sampling have a deviation of .1: fails by chance less than once in a million runs.
    expect(Math.abs(outcome.estimate[0]! - 25.5)).toBeLessThan(0.6);
    for (const server of [1, 2]) expect(await stage.release(0, server)).toEqual(outcome);
  });
});

describe('a sealed study of several questions', () => {
  it('has texts and cells without a value, and one answer for each question', slow, async () => {
    await begin({
      columns: '{ minutes: { type: number, low: 0, high: 64, optional: true }, '
        + 'by: { type: text, bytes: 8, optional: true } }',
      question: `questions:
  minutes: { estimator: mean, columns: [minutes], parameters: { spread: [4] } }
  means: { estimator: count, by: { column: by, groups: [bus, car], groupsMax: 1 } }
contribution: { rowsMax: 1 }`,
      cohort: 120, epsilon: 50,
    });
    await until(() => stage.front.hub.studies()[0]!.epoch === 1n);
    const rowOf = (i: number): Readonly<Record<string, number | string>> => ({
      ...(i % 6 > 0 && { minutes: 28 + (i % 4) }),
      ...(i % 4 > 0 && { by: ['bus', 'car', 'ox'][i % 3]! }),
    });
    // 100 have minutes. Below 30 the mean is refused: six deviations of the noisy number present.
    const rows = Array.from({ length: 120 }, (_, i) => rowOf(i));
    await Promise.all(rows.map(async (row, i) => {
      const contributor = createContributor({
        url: stage.url, study: 'shared', seed: new Uint8Array(32).fill(i + 1), sealing,
      });
      expect((await contributor.contribute([row])).kind).toBe('accepted');
      await contributor.close();
    }));
    clock.advance(everyMs);
    await stage.release(0);
    const { address, serverKey } = stage.front;
    const response = await fetch(`${address}/v1/releases?study=shared`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(await verifyReleaseLog(logLines([bytes]), { signing, serverKey }))
      .toMatchObject({ authentic: true, count: 1, firstFault: null });
    const [minutes, means] = await stage.answers(0);
    if (minutes?.kind !== 'value' || means?.kind !== 'value') {
      throw new Error(JSON.stringify([minutes, means]));
    }
    const given = rows.flatMap(({ minutes: own }) => (own === undefined ? [] : [Number(own)]));
    // Noise has a deviation of about 0.6 minutes and 0.4 people: a failure in 10^6 runs at most.
    expect(Math.abs(minutes.estimate[0]! - given.reduce((sum, own) => sum + own) / given.length))
      .toBeLessThan(4);
    expect(means.groups).toEqual([['bus'], ['car']]);
    ['bus', 'car'].forEach((name, i) => {
      const people = rows.filter(({ by }) => by === name).length;
      expect(Math.abs(means.estimate[i]! - people)).toBeLessThan(10);
    });
  });
});

describe('keelson doctor', () => {
  it('asks the three servers for their keys, their study and the time', slow, async () => {
    await begin();
    const file = join(stage.directory, 'study.yaml');
    const told = async (text: string): Promise<string> => {
      writeFileSync(file, text);
      return (await keelson(['doctor', file, '--servers'])).stdout;
    };
    const well = await told(stage.text);
    for (const name of ['north', 'east', 'west']) {
      expect(well).toContain(`ok    server ${name}: serves the study with its key`);
    }
    expect(well).toContain('ok    clocks: the servers\' clocks are 0 s apart');
    expect(await told(stage.text.replace('cohort: 1000', 'cohort: 999')))
      .toContain('fail  server east: serves another study with the name shared');
    expect(await told(stage.text.replace('study: shared', 'study: other')))
      .toContain('warn  server north: does not serve other');
    const [first, second] = [stage.ports[0]!, stage.ports[1]!].map((port) => `127.0.0.1:${port}`);
    expect(await told(stage.text.replace(first!, second!)))
      .toContain('fail  server north: has the key');
    await stage.stop(2);
    expect(await told(stage.text)).toContain('fail  server west: no answer from');
  });
});

describe('keelson contribute', () => {
  it('seals, and says what is promised and what is not', slow, async () => {
    await begin();
    await until(() => stage.front.hub.studies()[0]!.epoch === 1n);
    const commands = new Stage();
    try {
      const words = (key: string): string[] => [
        'contribute', stage.url, '--study', 'shared', '--key', commands.path(key), '--input',
        commands.write('rows.csv', 'minutes\n27\n'),
      ];
      await commands.run(['keys', 'new', commands.path('a.key')]);
      await commands.run(['keys', 'new', commands.path('b.key')]);
      const { status, stdout } = await commands.run(words('a.key'));
      expect([status, stdout.replaceAll(/\s+/g, ' ')]).toEqual([0, expect.stringContaining(
        'sealed against reading: Three servers (north, east, west) hold shares of the rows')]);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('nor against a server that runs changed code');
      const asJson = await commands.run([...words('b.key'), '--json']);
      expect(JSON.parse(asJson.stdout.trim().split('\n').at(-1)!)).toMatchObject({
        outcome: 'accepted', sealed: { against: 'reading', servers: ['north', 'east', 'west'] },
      });
    } finally {
      await commands.end();
    }
  });
});

describe('keelson keys rotate', () => {
  it('is refused at each of the three, which then go on', slow, async () => {
    await begin();
    await until(() => stage.front.hub.studies()[0]!.epoch === 1n);
    for (const server of [0, 1, 2]) await stage.stop(server);
    const commands = new Stage();
    try {
      for (const server of [0, 1, 2]) {
        const { status, stderr } =
          await commands.run(['keys', 'rotate', '--data', stage.folder(server)]);
        expect([server, status, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
          server, 2, expect.stringContaining('is a fact of the sealed study shared'),
        ]);
      }
    } finally {
      await commands.end();
    }
    await stage.startAll({ clock, peerTimeoutMs: 20_000 });
    await closeWith();
    expect(await stage.release(0)).toMatchObject({ kind: 'value' });
  });
});

describe('a server that ends', () => {
  it('while people contribute: their entries wait', slow, async () => {
    await begin();
    await until(() => stage.front.hub.studies()[0]!.epoch === 1n);
    await stage.stop(2);
    await closeWith();
    await stage.start(2, { clock });
    expect(await stage.release(0)).toMatchObject({ kind: 'value' });
    expect(await stage.release(0, 2)).toMatchObject({ kind: 'value' });
  });

  it('and the front: what was acknowledged counts', slow, async () => {
    await begin();
    await stage.contribute(people);
    await stage.stop(0);
    await stage.start(0, { clock });
    clock.advance(everyMs);
    const outcome = await stage.release(0);
    if (outcome.kind === 'value') expect(Math.abs(outcome.estimate[0]! - 24)).toBeLessThan(8);
    expect(outcome.kind).toBe('value');
  });

  it('past the patience of the others: the epoch lapses and costs nothing', slow, async () => {
    await begin({ sealed: '  patience: 60s' });
    await until(() => stage.front.hub.studies()[0]!.epoch === 1n);
    await stage.stop(1);
    await closeWith();
    clock.advance(70_000);
    await until(async () => {
      const [balance] = await stage.front.hub.balances();
      return balance!.rhoReserved === 0n;
    });
    await stage.start(1, { clock });
    await until(() => stage.front.hub.studies()[0]!.epoch === 2n);
    for (const server of [0, 1, 2]) expect(await spent(server)).toBe(0n);
    // The epoch began at the close of the one before.
    await closeWith(people, everyMs - 65_000);
    expect(await stage.release(0)).toMatchObject({ kind: 'value' });
  });
});

/** A store in which one transaction fails, or is made and then not answered. */
function failingAt(method: 'noteRecovery' | 'chargeEpoch', when: 'before' | 'after') {
  return async (directory: string, storeClock: Clock): Promise<Store> => {
    const store = await openSqliteStore({ directory, clock: storeClock });
    const failing = async (...given: never[]): Promise<never> => {
      const made =
        bound(store, Reflect.get(store, method)) as (...all: never[]) => Promise<unknown>;
      if (when === 'after') await made(...given);
      throw new StorageError('the disk failed', 'storage-failed');
    };
    return new Proxy(store, {
      get: (target, name) => (name === method ? failing
        : bound(target, Reflect.get(target, name) as unknown)),
    });
  };
}

const bound = (target: object, value: unknown): unknown =>
  (typeof value === 'function' ? value.bind(target) as unknown : value);

describe.each([0, 1])('server %i that is killed', (killed) => {
  it.each([
    ['when an attempt begins', 'noteRecovery', 'after', 'value'],
    // The two others have charged, and may have opened something.
    ['before its charge', 'chargeEpoch', 'before', 'refused'],
    ['between its charge and its first opening', 'chargeEpoch', 'after', 'refused'],
  ] as const)('%s', slow, async (_, method, when, kind) => {
    await begin();
    await stage.contribute(people);
    await stage.stop(killed);
    const failing = await stage.start(killed, { clock, openStore: failingAt(method, when) });
    clock.advance(everyMs);
    await expect(failing.failed).rejects.toThrow();
    await stage.forget(killed);
    await stage.start(killed, { clock });
    const outcome = await stage.release(0);
    expect(outcome.kind).toBe(kind);
    if (outcome.kind === 'refused') expect(outcome.reason).toBe('interrupted');
    for (const server of [0, 1, 2]) {
      expect(await stage.release(0, server)).toEqual(outcome);
      expect(await spent(server)).toBe(stage.front.hub.studies()[0]!.charge.rho);
    }
  });
});
