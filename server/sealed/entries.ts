import { signing } from '#signing';
import { concatBytes, fromHex, equalBytes } from '../../src/base/bytes.js';
import { KeelsonError, WireError } from '../../src/base/errors.js';
import { Sealed } from '../../src/base/brands.js';
import {
  openEntry, type EntryShare, type OpeningOptions,
} from '../../src/sealed/shares/opening.js';
import type { EntryForm } from '../../src/sealed/shares/form.js';
import { UnusableEntryError } from '../../src/sealed/shares/unusable.js';
import { entriesPerFrame, type SealedEntry } from '../../src/wire/peer-messages.js';
import type { Clock } from '../base/clock.js';
import type { Store } from '../store/contract.js';
import { journalPages } from '../studies/keep/journal-pages.js';
import type { PeerLink } from './peer-link.js';

/** Contributors of an epoch, at most: sums of more could leave the numbers that are shared. */
const entriesMax = 2 ** 20;
/** Bytes of the entries of one frame, at most. */
const frameEntriesBytes = 2 * 1024 * 1024;

/** The common input of all servers: the contributors' entries in the order of the manifest. */
export interface Manifest {
  readonly entries: readonly SealedEntry[];
  /** 64 bytes. */
  readonly digest: Uint8Array;
}

/**
 * SHA-512 over the contributors' keys and SHA-512 of their bodies, in order. A contributor is in it
 * once, or in nothing at all.
 * @throws KeelsonError('malformed') when a contributor has two entries.
 */
function manifestOf(entries: readonly SealedEntry[]): Manifest {
  const seen = new Set<string>();
  for (const { contributor } of entries) seen.add(Buffer.from(contributor).toString('latin1'));
  if (seen.size !== entries.length) {
    throw new KeelsonError('malformed', 'a contributor has two entries in one epoch');
  }
  const parts = entries.map(({ contributor, body }) =>
    concatBytes(contributor, signing.sha512(body)));
  return { entries, digest: signing.sha512(concatBytes(...parts)) };
}

/** At the first server: reads the epoch's journal and sends it to both others. */
export async function sendEntries(
  store: Store, studyId: string, epoch: bigint, links: Iterable<PeerLink>,
): Promise<Manifest> {
  const entries: SealedEntry[] = [];
  for await (const page of journalPages(store, studyId, epoch, entriesMax)) {
    for (const { contributor, body, signature } of page) {
      entries.push({
        contributor: fromHex(contributor), body: Uint8Array.from(body),
        signature: Uint8Array.from(signature),
      });
    }
  }
  const manifest = manifestOf(entries);
  const bytesOfOne = Math.max(1, ...entries.map(({ body }) => body.length + 110));
  const perFrame = Math.min(entriesPerFrame, Math.max(1,
    Math.floor(frameEntriesBytes / bytesOfOne)));
  for (const link of links) {
    for (let at = 0; at < entries.length; at += perFrame) {
      link.send({ kind: 'boxes', entries: entries.slice(at, at + perFrame) });
    }
    link.send({ kind: 'manifest', count: entries.length, digest: manifest.digest });
  }
  return manifest;
}

/** At the two others. @throws KeelsonError when the entries are not those of the manifest. */
export async function receiveEntries(link: PeerLink, timeoutMs: number): Promise<Manifest> {
  const entries: SealedEntry[] = [];
  for (;;) {
    const frame = await link.next(timeoutMs);
    if (frame.kind === 'manifest') {
      const manifest = manifestOf(entries);
      if (frame.count === entries.length && equalBytes(manifest.digest, frame.digest)) {
        return manifest;
      }
      throw new KeelsonError('malformed', 'the entries are not those of the manifest');
    }
    // Empty frames would never end.
    if (frame.kind !== 'boxes' || frame.entries.length === 0
      || entries.length + frame.entries.length > entriesMax) {
      throw new KeelsonError(
        'malformed', `server 0 sent ${frame.kind} where boxes belong, or none or too many of them`,
      );
    }
    entries.push(...frame.entries);
  }
}

/** This server's share of each entry of a manifest; null where it cannot use the entry. */
export type OpenedShares = readonly (EntryShare | null)[];

/** Entries that are opened before other work of the process gets its turn. */
const openedAtOnce = 128;

/** Opens this server's boxes: about 0.2 ms of processor time each. */
export async function openShares(
  entries: readonly SealedEntry[], options: OpeningOptions, clock: Clock,
): Promise<OpenedShares> {
  const shares: (EntryShare | null)[] = [];
  for (const [i, entry] of entries.entries()) {
    shares.push(shareOf(entry, options));
    if (i % openedAtOnce === openedAtOnce - 1) {
      await new Promise<void>((resolve) => { clock.after(0, resolve); });
    }
  }
  return shares;
}

function shareOf(
  { contributor, body, signature }: SealedEntry, options: OpeningOptions,
): EntryShare | null {
  try {
    const verifier = signing.createVerifier(contributor);
    return openEntry(signing, verifier, body, signature, options);
  } catch (error) {
    // A key that is none, or an entry that its sender or the first server made unusable.
    if (error instanceof UnusableEntryError || error instanceof WireError) return null;
    throw error;
  }
}

/**
 * Rows of zeros, as their three servers hold them. They stand in where nobody contributed, so that
 * the release of such an epoch looks like any other: neighbours stay neighbours, since an epoch
 * with one contributor has that contributor's rows in their place.
 */
export function zeroShare(forms: EntryForm): EntryShare {
  return forms.map(({ count }) =>
    Sealed.of({ own: new Uint32Array(count), next: new Uint32Array(count) }));
}
