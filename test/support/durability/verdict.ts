import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../../server/store/sqlite/driver.js';
import { systemClock } from '../../../server/base/clock.js';
import { openServerKeys } from '../../../server/keys/server-keys.js';
import type {
  JournalEntry, LedgerBalance, LedgerEntry, Store, StudyRecord,
} from '../../../server/store/contract.js';
import { databaseFile } from '../../../server/store/sqlite/connection.js';
import { journalTable } from '../../../server/store/sqlite/epoch-tables.js';
import { openInlineSqliteStore } from '../../../server/store/sqlite/open-inline.js';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { ReleaseChain } from '../../../src/log/index.js';
import { keyChain, type Verifier } from '../../../src/signing/index.js';
import { signing } from '../../../src/signing/node.js';
import { batchRows, decodeBatchBody } from '../../../src/wire/index.js';
import type { Acknowledged, Withdrawn } from './load.js';

/** What a data folder held. Everything but `lost`, `twice` and `faults` is only told. */
export interface Verdict {
  readonly journalled: number;
  readonly releases: number;
  /** Releases of epochs that were charged before the end and had no bytes yet. */
  readonly interrupted: number;
  /** Acknowledged, and not in the journal with the same values. */
  readonly lost: readonly string[];
  /** In the journal more than once. */
  readonly twice: readonly string[];
  /** Other promises that do not hold, in words. */
  readonly faults: readonly string[];
}

/** What contributors that took rows back were told. */
export interface Withdrawals {
  readonly withdrawn: readonly Withdrawn[];
  /**
   * Keys that took something back, or tried: a row of theirs may be gone although it was
   * acknowledged.
   */
  readonly regretful: ReadonlySet<string>;
}

export interface JudgeOptions {
  /** Default: nobody took anything back. */
  readonly withdrawals?: Withdrawals;
  /**
   * The clock was ahead, and the operator has confirmed it since: what left a window early counts
   * again, so a window may hold more than the cap.
   */
  readonly clockConfirmed?: boolean;
}

const fingerprint = (row: Iterable<number>): string => [...row].join(' ');

interface Study extends StudyRecord {
  readonly entries: ReadonlyMap<bigint, readonly JournalEntry[]>;
}

/**
 * Opens a data folder, as the next server would, and compares it with what was acknowledged. Its
 * studies keep their journals. The folder is changed: give a copy of one that is still needed.
 * @param published digests by study and index.
 * @throws StorageError when it cannot be opened: the worst that can be found.
 */
export async function judgeFolder(
  directory: string, acknowledged: readonly Acknowledged[], published: ReadonlyMap<string, string>,
  options: JudgeOptions = {},
): Promise<Verdict> {
  const store = await openInlineSqliteStore({ directory, clock: systemClock });
  try {
    const verdict = await judgeStore(store, acknowledged, published, {
      ...options, taken: takenBack(directory), keys: () => keysOf(store, directory),
    });
    return { ...verdict, faults: [...publicFaults(directory, acknowledged), ...verdict.faults] };
  } finally {
    await store.close();
  }
}

export interface JudgeStoreOptions extends JudgeOptions {
  /** Rows that are in the store and marked as taken back. */
  readonly taken: ReadonlySet<string>;
  /** The server's keys, the first one first. */
  readonly keys: () => Promise<readonly Verifier[]>;
}

/** The same for an open store. */
export async function judgeStore(
  store: Store, acknowledged: readonly Acknowledged[], published: ReadonlyMap<string, string>,
  options: JudgeStoreOptions,
): Promise<Verdict> {
  const { withdrawals = { withdrawn: [], regretful: new Set() }, clockConfirmed = false } = options;
  const { taken } = options;
  const studies = await Promise.all((await store.studies()).map(async (study): Promise<Study> =>
    ({ ...study, entries: await everyEntry(store, study) })));
  if (studies.length === 0) {
    const lost = acknowledged.map(nameOf);
    return { journalled: 0, releases: 0, interrupted: 0, lost, twice: [], faults: [] };
  }
  const rows = new Map<string, string>();
  const twice: string[] = [];
  for (const entry of studies.flatMap(({ entries }) => [...entries.values()].flat())) {
    const name = nameOf(entry);
    if (rows.has(name)) twice.push(name);
    rows.set(name, fingerprint(batchRows(decodeBatchBody(entry.body))));
  }
  const lost = acknowledged
    .filter((ack) => rows.get(nameOf(ack)) !== fingerprint(ack.row))
    .filter((ack) => !(withdrawals.regretful.has(ack.contributor) && taken.has(nameOf(ack))))
    .map(nameOf);
  const faults = withdrawalFaults(studies, withdrawals.withdrawn);
  const logs = await logsOf(store, await options.keys(), studies, published);
  faults.push(...logs.faults);
  for (const balance of await store.balances()) {
    const entries = await store.ledgerEntries(balance.key, 1_000_000);
    faults.push(...ledgerFaults(balance, entries, clockConfirmed));
    faults.push(...ownFaults(balance, entries, studies, clockConfirmed));
  }
  faults.push(...await unchargedFaults(store, studies));
  return {
    journalled: rows.size, releases: logs.releases, interrupted: logs.interrupted, lost, twice,
    faults,
  };
}

function nameOf({ contributor, sequence }: Pick<Acknowledged, 'contributor' | 'sequence'>): string {
  return `${contributor} ${sequence}`;
}

async function everyEntry(
  store: Store, { studyId, lastEpoch }: StudyRecord,
): Promise<Map<bigint, readonly JournalEntry[]>> {
  const found = new Map<bigint, readonly JournalEntry[]>();
  for (let epoch = 1n; epoch <= lastEpoch; epoch++) {
    found.set(epoch, await store.journal(studyId, epoch, 0n, 10_000_000));
  }
  return found;
}

/** Rows that are in the file and marked as taken back. */
function takenBack(directory: string): Set<string> {
  const database = connect(databaseFile(directory), { readonly: true });
  try {
    const epochs = database.prepare<[], { epoch_key: bigint }>('SELECT DISTINCT epoch_key FROM '
      + 'withdrawals').all();
    return new Set(epochs.flatMap(({ epoch_key: key }) => database
      .prepare<[bigint], { public_key: Uint8Array; sequence: bigint }>(`SELECT public_key, sequence
        FROM ${journalTable(key)} JOIN contributors USING (contributor_id)
        WHERE contributor_id IN (SELECT contributor_id FROM withdrawals WHERE epoch_key = ?)`)
      .all(key).map((row) => `${toHex(row.public_key)} ${row.sequence}`)));
  } finally {
    database.close();
  }
}

function withdrawalFaults(studies: readonly Study[], withdrawn: readonly Withdrawn[]): string[] {
  const promised = new Set(withdrawn.map(({ contributor, epoch }) => `${contributor} ${epoch}`));
  return studies.flatMap(({ entries }) => [...entries].flatMap(([epoch, journal]) => journal
    .filter(({ contributor }) => promised.has(`${contributor} ${epoch}`))
    .map((entry) => `${nameOf(entry)} was withdrawn from epoch ${epoch} and counts`)));
}

interface Logs {
  readonly releases: number;
  readonly interrupted: number;
  readonly faults: readonly string[];
}

/** Every log verifies, from the first key on, and holds what was published. */
async function logsOf(
  store: Store, keys: readonly Verifier[], studies: readonly Study[],
  published: ReadonlyMap<string, string>,
): Promise<Logs> {
  const faults: string[] = [];
  let [releases, interrupted] = [0, 0];
  const stored = new Map<string, string>();
  for (const { studyId, name } of studies) {
    const log = await store.releases(studyId, 0, 1_000_000);
    releases += log.length;
    const chain = new ReleaseChain({ server: keys[0]!, signing, studyId: fromHex(studyId) });
    chain.follow(keys);
    for (const release of log) {
      stored.set(`${name} ${release.index}`, release.digest);
      const answers = chain.accept(release).answers;
      if (answers.every(({ outcome }) => outcome.kind === 'refused'
        && outcome.reason === 'interrupted')) interrupted += 1;
    }
  }
  for (const [name, digest] of published) {
    if (stored.get(name) !== digest) {
      faults.push(`release ${name} was published and is not in the log`);
    }
  }
  return { releases, interrupted, faults };
}

async function keysOf(store: Store, directory: string): Promise<readonly Verifier[]> {
  const rotations = await store.rotations!();
  const { publicKey } = signing.createSigner(openServerKeys(directory, rotations).seed);
  return keyChain(rotations, publicKey, signing);
}

/**
 * Spent is what was charged, each epoch once, within the cap: in all, or within each window by the
 * charges' times.
 */
function ledgerFaults(
  balance: LedgerBalance, entries: readonly LedgerEntry[], clockConfirmed: boolean,
): string[] {
  const { key, scope, rhoSpent, rhoReserved, rhoCap, windowMs } = balance;
  const charged = entries.filter(({ kind }) => kind === 'charged');
  const epochs = new Set(charged.map(({ studyId, epoch }) => `${studyId} ${epoch}`));
  const faults = epochs.size === charged.length ? [] : [`${key}: an epoch was charged twice`];
  if (scope === 'contributor') return faults;
  const spent = charged.reduce((sum, { rho }) => sum + rho, 0n);
  if (windowMs === undefined && spent !== rhoSpent) {
    faults.push(`${key}: the charges sum up to ${spent}, the balance says ${rhoSpent}`);
  }
  if (clockConfirmed && windowMs !== undefined) return faults;
  if (rhoSpent + rhoReserved > rhoCap) {
    faults.push(`${key}: more than the cap is spent and reserved`);
  }
  if (mostWithin(charged, windowMs) > rhoCap) faults.push(`${key}: more than the cap was charged`);
  return faults;
}

/** The most that was charged within any half-open period of `windowMs`; undefined: for ever. */
function mostWithin(charged: readonly LedgerEntry[], windowMs = Infinity): bigint {
  const sums = charged.map(({ atMs: from }) => charged
    .filter(({ atMs }) => atMs >= from && atMs < from + windowMs)
    .reduce<bigint>((sum, { rho }) => sum + rho, 0n));
  return sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
}

/** Under contributor scope: nobody is in more charged epochs than its own budget pays for. */
function ownFaults(
  { key, scope, rhoCap, windowMs }: LedgerBalance, entries: readonly LedgerEntry[],
  studies: readonly Study[], clockConfirmed: boolean,
): string[] {
  if (scope !== 'contributor' || (clockConfirmed && windowMs !== undefined)) return [];
  const own = new Map<string, LedgerEntry[]>();
  for (const charge of entries.filter(({ kind }) => kind === 'charged')) {
    const study = studies.find(({ studyId }) => studyId === charge.studyId)!;
    const people = new Set(study.entries.get(charge.epoch)!.map(({ contributor }) => contributor));
    for (const person of people) own.set(person, [...own.get(person) ?? [], charge]);
  }
  return [...own].filter(([, charged]) => mostWithin(charged, windowMs) > rhoCap)
    .map(([person]) =>
      `${key}: contributor ${person.slice(0, 8)} is in more epochs than its budget pays for`);
}

async function unchargedFaults(store: Store, studies: readonly Study[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { studyId, name, budgetKey } of studies) {
    const charged = new Set((await store.ledgerEntries(budgetKey, 1_000_000))
      .filter((entry) => entry.kind === 'charged' && entry.studyId === studyId)
      .map(({ epoch }) => epoch));
    const released = (await store.releases(studyId, 0, 1_000_000)).map(({ epoch }) => epoch);
    if (new Set(released).size !== released.length) {
      faults.push(`${name}: an epoch was released twice`);
    }
    for (const epoch of released) {
      if (!charged.has(epoch)) faults.push(`${name}: epoch ${epoch} was released uncharged`);
    }
  }
  return faults;
}

/**
 * A server that acknowledged and comes back with another key, or without one, is refused by its
 * clients.
 */
function publicFaults(directory: string, acknowledged: readonly Acknowledged[]): string[] {
  if (acknowledged.length === 0) return [];
  try {
    readFileSync(join(directory, 'server.key'));
    return [];
  } catch {
    return ['the server has lost its key'];
  }
}

/** The public key, hex, that a data folder's server would use. */
export function serverKeyOf(directory: string): string {
  return toHex(signing.createSigner(openServerKeys(directory).seed).publicKey);
}
