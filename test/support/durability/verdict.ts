import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../server/clock.js';
import { openServerKeys } from '../../../server/keys.js';
import type { JournalEntry, Store } from '../../../server/store/contract.js';
import { openInlineSqliteStore } from '../../../server/store/sqlite/open.js';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { ReleaseChain } from '../../../src/log/index.js';
import { signing } from '../../../src/signing/node.js';
import { batchRows, decodeBatchBody } from '../../../src/wire/index.js';
import type { Acknowledged } from './load.js';

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

const fingerprint = (row: Iterable<number>): string => [...row].join(' ');

/**
 * Opens a data folder, as the next server would, and compares it with what was acknowledged. Its study keeps its
 * journal. The folder is changed: give a copy of one that is still needed.
 * @throws StorageError when it cannot be opened: the worst that can be found.
 */
export async function judgeFolder(
  directory: string, acknowledged: readonly Acknowledged[], published: ReadonlyMap<number, string>,
): Promise<Verdict> {
  const store = await openInlineSqliteStore({ directory, clock: systemClock });
  try {
    const [study] = await store.studies();
    const faults = publicFaults(directory, acknowledged);
    if (study === undefined) {
      const lost = acknowledged.map(nameOf);
      return { journalled: 0, releases: 0, interrupted: 0, lost, twice: [], faults };
    }
    const rows = new Map<string, string>();
    const twice: string[] = [];
    for (const entry of await everyEntry(store, study.studyId, study.lastEpoch)) {
      const name = nameOf(entry);
      if (rows.has(name)) twice.push(name);
      rows.set(name, fingerprint(batchRows(decodeBatchBody(entry.body))));
    }
    const lost = acknowledged.filter((ack) => rows.get(nameOf(ack)) !== fingerprint(ack.row)).map(nameOf);
    const log = await store.releases(study.studyId, 0, 1_000_000);
    faults.push(...await ledgerFaults(store, log.map(({ epoch }) => epoch)));
    for (const [index, digest] of published) {
      if (log[index]?.digest !== digest) faults.push(`release ${index} was published and is not in the log`);
    }
    const { seed } = openServerKeys(directory);
    const server = signing.createVerifier(signing.createSigner(seed).publicKey);
    const chain = new ReleaseChain({ server, signing, studyId: fromHex(study.studyId) });
    let interrupted = 0;
    for (const release of log) {
      const { outcome } = chain.accept(release);
      if (outcome.kind === 'refused' && outcome.reason === 'interrupted') interrupted += 1;
    }
    return { journalled: rows.size, releases: log.length, interrupted, lost, twice, faults };
  } finally {
    await store.close();
  }
}

function nameOf({ contributor, sequence }: Pick<Acknowledged, 'contributor' | 'sequence'>): string {
  return `${contributor} ${sequence}`;
}

async function everyEntry(store: Store, studyId: string, lastEpoch: bigint): Promise<JournalEntry[]> {
  const found: JournalEntry[] = [];
  for (let epoch = 1n; epoch <= lastEpoch; epoch++) {
    found.push(...await store.journal(studyId, epoch, 0n, 10_000_000));
  }
  return found;
}

/** Spent is what was charged, each epoch once; every release was charged. */
async function ledgerFaults(store: Store, releasedEpochs: readonly bigint[]): Promise<string[]> {
  const [balance] = await store.balances();
  const entries = await store.ledgerEntries(balance!.key, 1_000_000);
  const charged = entries.filter(({ kind }) => kind === 'charged');
  const epochs = new Set(charged.map(({ epoch }) => epoch));
  const spent = charged.reduce((sum, { rho }) => sum + rho, 0n);
  return [
    ...(epochs.size === charged.length ? [] : ['an epoch was charged twice']),
    ...(spent === balance!.rhoSpent ? [] : [`the charges sum up to ${spent}, the balance says ${balance!.rhoSpent}`]),
    ...(balance!.rhoSpent + balance!.rhoReserved <= balance!.rhoCap ? [] : ['more than the cap is spent and reserved']),
    ...(new Set(releasedEpochs).size === releasedEpochs.length ? [] : ['an epoch was released twice']),
    ...releasedEpochs.filter((epoch) => !epochs.has(epoch)).map((epoch) => `epoch ${epoch} was released uncharged`),
  ];
}

/** A server that acknowledged and comes back with another key, or without one, is refused by its clients. */
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
