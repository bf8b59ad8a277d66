// @module-tag slow
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createContributor } from '../../client/index.js';
import { systemClock } from '../../server/base/clock.js';
import type { JournalEntry } from '../../server/store/contract.js';
import { openInlineSqliteStore } from '../../server/store/sqlite/open-inline.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { signing } from '../../src/signing/node.js';
import { batchRows, decodeBatchBody } from '../../src/wire/index.js';
import { Stage, type JsonLine, type Served } from '../support/live-command.js';
import { meanStudy } from '../support/study-files.js';

const kills = 3;
const people = 60;
/** Acks of one epoch before the server is killed in it: work is under way then. */
const acksBeforeKill = 120;

const stage = new Stage();
const stop = new AbortController();
setMaxListeners(people + 10, stop.signal);
/** What the SDK was told is durable: the row's two values by contributor and sequence. */
const acknowledged = new Map<string, readonly [number, number]>();
const acksOfEpoch = new Map<bigint, number>();
/**
 * Rows change sides with every kill, so that those of one side cannot stand in for those of the
 * other.
 */
let side = 0.6;
let serial = 0;
const failures: unknown[] = [];

afterEach(async () => {
  stop.abort();
  await stage.end();
});

/** Sends rows one by one, each once the one before is durable, until `stop`. */
async function keepSending(served: Served): Promise<void> {
  const seed = signing.generateSeed();
  const contributor = createContributor({
    url: served.url, study: 'crash', seed, serverKey: fromHex(served.serverKey),
    signal: stop.signal, backoffInitialMs: 20, backoffMaxMs: 200,
  });
  const key = toHex(await contributor.publicKey);
  while (!stop.signal.aborted) {
    // The second value tells every row from every other.
    const row = [side, (serial += 1) * 1e-6] as const;
    const settled = await contributor.send([[...row]]);
    if (settled.kind === 'refused') {
      // In flight when the server was killed, and two epochs older when it came back: refused, and
      // never acknowledged.
      if (settled.error.code === 'stale-epoch') continue;
      throw settled.error;
    }
    for (const sequence of settled.sequences) acknowledged.set(`${key} ${sequence}`, row);
    acksOfEpoch.set(settled.openEpoch, (acksOfEpoch.get(settled.openEpoch) ?? 0) + 1);
    await pause(40);
  }
}

/** The next epoch to open, once enough of it is acknowledged. */
async function loadedEpoch(): Promise<bigint> {
  const before = [...acksOfEpoch.keys()]
    .reduce((newest, epoch) => (epoch > newest ? epoch : newest), 0n);
  for (;;) {
    const found = [...acksOfEpoch].find(([epoch, count]) =>
      epoch > before && count >= acksBeforeKill);
    if (found !== undefined) return found[0];
    if (failures.length > 0) throw failures[0];
    await pause(5);
  }
}

interface Budget {
  readonly rho: { readonly spent: number; readonly reserved: number };
  readonly entries: readonly { readonly epoch: number; readonly kind: string }[];
}

async function ledger(): Promise<Budget> {
  const { stdout } = await stage.run(['ledger', stage.path('data'), '--entries', '1000', '--json']);
  return (JSON.parse(stdout) as { budgets: Budget[] }).budgets[0]!;
}

/** The journal of every epoch, read when no server runs. */
async function journals(epochs: number): Promise<Map<number, readonly JournalEntry[]>> {
  const store = await openInlineSqliteStore({ directory: stage.path('data'), clock: systemClock });
  try {
    const [study] = await store.studies();
    const found = new Map<number, readonly JournalEntry[]>();
    for (let epoch = 1; epoch <= epochs; epoch++) {
      found.set(epoch, await store.journal(study!.studyId, BigInt(epoch), 0n, 1_000_000));
    }
    return found;
  } finally {
    await store.close();
  }
}

/**
 * What an epoch's rows say without noise: the mean over contributors of the means of their rows.
 */
function meanOf(
  entries: readonly JournalEntry[],
): { readonly mean: readonly number[]; readonly count: number } {
  const sums = new Map<string, [number, number, number]>();
  for (const { contributor, body } of entries) {
    const sum = sums.get(contributor) ?? [0, 0, 0];
    sums.set(contributor, sum);
    const values = batchRows(decodeBatchBody(body));
    for (let i = 0; i < values.length; i += 2) {
      sum[0] += values[i]!;
      sum[1] += values[i + 1]!;
      sum[2] += 1;
    }
  }
  const means = [...sums.values()].map(([first, second, rows]) =>
    [first / rows, second / rows] as const);
  const mean = [0, 1].map((column) =>
    means.reduce((sum, own) => sum + own[column]!, 0) / means.length);
  return { mean, count: means.length };
}

/** Expects the mean of exactly these rows, as far as the noise of the release lets one see. */
function expectToTell(release: JsonLine, entries: readonly JournalEntry[]): void {
  const { mean, count } = meanOf(entries);
  if (release['outcome'] === 'refused') {
    // Charged, and killed before its release was stored; or too few for the plan, as just after a
    // start.
    if (release['reason'] !== 'interrupted') {
      expect(count, String(release['reason'])).toBeLessThan(56);
    }
    return;
  }
  const estimate = release['estimate'] as readonly number[];
  const { standardDeviation } =
    release['uncertainty'] as { readonly standardDeviation: readonly number[] };
  mean.forEach((value, i) => {
    // Seven deviations of Gaussian noise: one false alarm in 10^11.
    expect(Math.abs(estimate[i]! - value), `epoch ${String(release['epoch'])}`)
      .toBeLessThan(7 * standardDeviation[i]!);
  });
}

it('keeps every acknowledged row, once, in journal and answer, when it is killed under '
  + 'load', async () => {
  const study = stage.write('crash.yaml', meanStudy('crash', {
    columns: '[side, serial]', cohort: '100', epoch: '{ every: 4s }', parameters: '{ spread: 1 }',
    // However many epochs a busy machine needs.
    budget: '{ epsilon: 100, delta: 1e-3, scope: study }',
    privacy: '{ epsilon: 8, delta: 1e-6 }', contribution: '{ reduce: mean, rowsMax: 60000 }',
    retention: '30d',
  }));
  let served = await stage.serve([study]);
  const { url, port, serverKey } = served;
  const watched =
    stage.start(['watch', url, '--study', 'crash', '--server-key', serverKey, '--json']);
  const rows =
    Array.from({ length: 400 }, (_, i) => `${(i % 9) / 10 - 0.4},${(i % 7) / 10 - 0.3}\n`).join('');
  const simulated = stage.start([
    'simulate', url, '--retry', '--study', 'crash', '--contributors', '40', '--rows', '1',
    '--input', stage.write('rows.csv', rows), '--json',
  ]);
  // It must be connected before the server is killed, to come back.
  await simulated.line(({ type }) => type === 'epoch');
  const senders = Array.from({ length: people }, () =>
    keepSending(served)
      .catch((error: unknown) => { if (!stop.signal.aborted) failures.push(error); }));
  const killedIn: bigint[] = [];
  let spent = 0;
  for (let round = 0; round < kills; round++) {
    killedIn.push(await loadedEpoch());
    await served.command.kill();
    side = -side;
    const budget = await ledger();
    expect(budget.rho.spent).toBeGreaterThanOrEqual(spent);
    spent = budget.rho.spent;
    served = await stage.serve([study], { port });
    expect(served.serverKey).toBe(serverKey);
  }
  const last = await loadedEpoch();
  await watched.line(({ type, epoch }) => type === 'release' && BigInt(epoch as number) >= last);
  stop.abort();
  await Promise.all(senders);
  expect(failures).toEqual([]);

  // Both came back by themselves, and went on.
  await simulated.line(({ type, epoch, reconnections }) =>
    type === 'epoch' && BigInt(epoch as number) >= last && Number(reconnections) >= kills);
  expect((await simulated.interrupt()).status).toBe(0);
  expect((await watched.interrupt()).status).toBe(0);
  expect((await served.command.interrupt()).status).toBe(0);

  const releases = watched.lines.filter(({ type }) => type === 'release');
  releases.forEach((release, i) => expect(release).toMatchObject({ index: i, epoch: i + 1 }));
  const budget = await ledger();
  expect(budget.rho.spent).toBeGreaterThan(spent);
  const charged = budget.entries.filter(({ kind }) => kind === 'charged').map(({ epoch }) => epoch);
  expect(new Set(charged).size).toBe(charged.length);
  expect(releases.every(({ epoch }) => charged.includes(Number(epoch)))).toBe(true);

  const found = await journals(Math.max(...charged, Number(last)) + 2);
  const journalled = new Map<string, readonly number[]>();
  for (const entries of found.values()) {
    for (const { contributor, sequence, body } of entries) {
      const name = `${contributor} ${sequence}`;
      expect(journalled.has(name), `${name} is in the journal twice`).toBe(false);
      journalled.set(name, [...batchRows(decodeBatchBody(body))]);
    }
  }
  expect(acknowledged.size).toBeGreaterThan((kills + 1) * acksBeforeKill);
  for (const [name, row] of acknowledged) {
    expect(journalled.get(name), `${name} was acknowledged`).toEqual(row);
  }
  for (const release of releases) expectToTell(release, found.get(Number(release['epoch']))!);
  const survived = releases.filter(({ epoch, outcome }) =>
    outcome === 'value' && killedIn.includes(BigInt(epoch as number)));
  expect(survived.length).toBeGreaterThan(0);
});
