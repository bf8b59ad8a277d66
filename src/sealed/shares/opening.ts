import { Sealed } from '../../base/brands.js';
import { equalBytes } from '../../base/bytes.js';
import { openBox } from '../../signing/boxes.js';
import type { Signing, Verifier } from '../../signing/contract.js';
import { verifyBatch } from '../../signing/index.js';
import {
  after, bindingOf, commitmentTo, decodeBody, expandSeed, plainBytes, seedBytes,
  type EntryBody, type ServerIndex,
} from './body.js';
import { entryBytes, unpackEntry, type EntryForm } from './form.js';
import { UnusableEntryError } from './unusable.js';

/** The options with which a server opens its boxes. */
export interface BoxOptions {
  readonly server: ServerIndex;
  readonly forms: EntryForm;
  /** 32 bytes: the server's secret box key for this epoch. */
  readonly boxSecret: Uint8Array;
}

/** The options with which a server opens entries. */
export interface OpeningOptions extends BoxOptions {
  /** 32 bytes: the Ed25519 key of the front, for which contributors sign. */
  readonly frontKey: Uint8Array;
  readonly studyId: Uint8Array;
  readonly epoch: bigint;
}

/** The share of a row that a server holds for one question: components i and i + 1 (modulo 3). */
export interface RowShare {
  readonly own: Uint32Array;
  readonly next: Uint32Array;
}

/** The share of an entry that a server holds: for each question its share of a row. */
export type EntryShare = readonly Sealed<RowShare>[];

/** The parts of the platform that opening an entry needs. */
type Opening = Pick<Signing, 'sha512' | 'x25519'>;

/**
 * Checks for whom and by whom an entry was signed, then opens this server's box of it.
 * @param body - as received. @param signature - of the contributor, over the body.
 * @throws UnusableEntryError with the reason; its message holds no content.
 */
export function openEntry(
  signing: Opening, contributor: Verifier, body: Uint8Array, signature: Uint8Array,
  { frontKey, studyId, epoch, ...box }: OpeningOptions,
): EntryShare {
  const entry = decodeBody(body, box.forms);
  if (!equalBytes(entry.studyId, studyId)) {
    throw new UnusableEntryError('study', 'the entry is of another study');
  }
  if (entry.epoch !== epoch) {
    throw new UnusableEntryError(
      'epoch', `the entry is of epoch ${entry.epoch}, and epoch ${epoch} is open`,
    );
  }
  const context = { serverKey: frontKey, studyId };
  if (!verifyBatch(contributor, context, signing.sha512(body), signature)) {
    throw new UnusableEntryError('signature', 'the signature of the entry is not valid');
  }
  return openBoxOf(signing, contributor.publicKey, entry, box);
}

/**
 * Opens a server's box of an entry, and checks that both components are those that the body commits
 * to. Both holders of a component make the same check, so they hold the same values, and the entry
 * is one row whatever its sender did.
 * @param contributorKey - 32 bytes.
 * @throws UnusableEntryError with the reason; its message holds no content.
 */
export function openBoxOf(
  signing: Opening, contributorKey: Uint8Array, entry: EntryBody,
  { server, forms, boxSecret }: BoxOptions,
): EntryShare {
  const plain = openBox(
    signing, entry.boxes[server]!, server, entry.ephemeralKey, boxSecret,
  );
  if (plain?.length !== plainBytes(server, forms)) {
    throw new UnusableEntryError('box', `the box of server ${server} does not open`);
  }
  const binding = bindingOf(signing, contributorKey, entry);
  if (!equalBytes(plain.subarray(0, seedBytes), binding)) {
    throw new UnusableEntryError('copied', 'the box was sealed for another entry');
  }
  const lengthOf = (component: ServerIndex): number =>
    (component === 2 ? seedBytes + entryBytes(forms) : seedBytes);
  const ownEnd = seedBytes + lengthOf(server);
  const read = (component: ServerIndex, content: Uint8Array): readonly Uint32Array[] => {
    if (!equalBytes(commitmentTo(signing, component, content), entry.commitments[component]!)) {
      throw new UnusableEntryError(
        'commitment', `component ${component} is not the one that the entry commits to`,
      );
    }
    return component === 2
      ? unpackEntry(content.subarray(seedBytes), forms) : expandSeed(signing, content, forms);
  };
  const own = read(server, plain.subarray(seedBytes, ownEnd));
  const next = read(after(server), plain.subarray(ownEnd));
  return forms.map((_, i) => Sealed.of({ own: own[i]!, next: next[i]! }));
}
