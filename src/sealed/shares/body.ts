import { concatBytes, utf8 } from '../../base/bytes.js';
import { boxOverheadBytes } from '../../signing/boxes.js';
import type { Signing } from '../../signing/contract.js';
import { entryBytes, unpackEntry, type EntryForm } from './form.js';
import { UnusableEntryError } from './unusable.js';

/** Servers of a sealed study, by number. */
export const servers = [0, 1, 2] as const;
export type ServerIndex = (typeof servers)[number];

/** The server before and the server after, in the ring of three. */
export const before = (server: ServerIndex): ServerIndex => ((server + 2) % 3) as ServerIndex;
export const after = (server: ServerIndex): ServerIndex => ((server + 1) % 3) as ServerIndex;

/** The study, epoch and sequence number of a contributor's entry. */
export interface EntryPlace {
  /** 32 bytes. */
  readonly studyId: Uint8Array;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/**
 * The signed body of an entry, field by field:
 *
 * | bytes | field |
 * |---|---|
 * | 32 | study |
 * | 8, big-endian | epoch |
 * | 8, big-endian | sequence |
 * | 32 | ephemeral X25519 key, one for the three boxes |
 * | 3 x 32 | commitments to s0, to s1, and to r and u2 |
 * | 112 | box of server 0: the binding, s0, s1 |
 * | 112 + packed rows | box of server 1: the binding, s1, r, u2 |
 * | 112 + packed rows | box of server 2: the binding, r, u2, s0 |
 *
 * s0 and s1 are seeds of 32 bytes, which expand to the first two components of the rows, one row
 * for each question. u2 is the third component, packed. r is a salt of 32 bytes. Server 0 knows the
 * first two components, and without the salt it could try rows against the third commitment.
 */
export interface EntryBody extends EntryPlace {
  readonly ephemeralKey: Uint8Array;
  readonly commitments: readonly Uint8Array[];
  readonly boxes: readonly Uint8Array[];
}

export const seedBytes = 32;
const headBytes = 32 + 8 + 8 + 32 + 3 * 32;

/** Bytes of what the box of a server holds. */
export function plainBytes(server: ServerIndex, forms: EntryForm): number {
  return 3 * seedBytes + (server === 0 ? 0 : entryBytes(forms));
}

function boxBytes(server: ServerIndex, forms: EntryForm): number {
  return plainBytes(server, forms) + boxOverheadBytes;
}

/** Bytes of the body of every entry of a study. */
export function bodyBytes(forms: EntryForm): number {
  return servers.reduce((sum, server) => sum + boxBytes(server, forms), headBytes);
}

/** The bytes of a body. */
export function encodeBody(body: EntryBody): Uint8Array {
  const numbers = new Uint8Array(16);
  const view = new DataView(numbers.buffer);
  view.setBigUint64(0, body.epoch);
  view.setBigUint64(8, body.sequence);
  return concatBytes(
    body.studyId, numbers, body.ephemeralKey, ...body.commitments, ...body.boxes,
  );
}

/**
 * Reads a body. The fields are copies.
 * @throws UnusableEntryError('length') unless the bytes are as many as the forms have.
 */
export function decodeBody(bytes: Uint8Array, forms: EntryForm): EntryBody {
  const wanted = bodyBytes(forms);
  if (bytes.length !== wanted) {
    throw new UnusableEntryError(
      'length', `a sealed entry of this study has ${wanted} bytes, and this one ${bytes.length}`,
    );
  }
  // `slice` of a Buffer would be a view.
  const copy = Uint8Array.from(bytes);
  let at = 0;
  const take = (length: number): Uint8Array => copy.slice(at, (at += length));
  const studyId = take(32);
  const numbers = new DataView(take(16).buffer);
  return {
    studyId, epoch: numbers.getBigUint64(0), sequence: numbers.getBigUint64(8),
    ephemeralKey: take(32),
    commitments: servers.map(() => take(32)),
    boxes: servers.map((server) => take(boxBytes(server, forms))),
  };
}

type Sha512 = Pick<Signing, 'sha512'>;

/** The first 32 bytes of SHA-512 over a label and parts of fixed lengths. */
function digest({ sha512 }: Sha512, label: string, ...parts: readonly Uint8Array[]): Uint8Array {
  return sha512(concatBytes(utf8(`keelson sealed ${label}`), ...parts)).slice(0, 32);
}

/**
 * The beginning of each box: a digest of the contributor, the study, the epoch and the sequence.
 * So nobody can pass a box of another body off as its own.
 */
export function bindingOf(
  signing: Sha512, contributorKey: Uint8Array, { studyId, epoch, sequence }: EntryPlace,
): Uint8Array {
  const numbers = new Uint8Array(16);
  const view = new DataView(numbers.buffer);
  view.setBigUint64(0, epoch);
  view.setBigUint64(8, sequence);
  return digest(signing, 'binding', contributorKey, studyId, numbers);
}

/** The commitment to what stands for a component: a seed, or the salt and the packed row. */
export function commitmentTo(
  signing: Sha512, component: ServerIndex, content: Uint8Array,
): Uint8Array {
  return digest(signing, 'commitment', Uint8Array.of(component), content);
}

/**
 * The component that a seed expands to, for each question: the first bits of SHA-512(label, seed,
 * 0), (.., 1), ... An entry of 16 questions has far fewer than the 256 blocks that a byte counts.
 */
export function expandSeed(
  { sha512 }: Sha512, seed: Uint8Array, forms: EntryForm,
): readonly Uint32Array[] {
  const packed = new Uint8Array(entryBytes(forms));
  for (let at = 0; at < packed.length; at += 64) {
    const block = sha512(concatBytes(utf8('keelson sealed seed'), seed, Uint8Array.of(at / 64)));
    packed.set(block.subarray(0, packed.length - at), at);
  }
  return unpackEntry(packed, forms);
}
