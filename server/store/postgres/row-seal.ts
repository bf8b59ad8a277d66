import type { KeyObject } from 'node:crypto';
import { assert } from '../../../src/base/assert.js';
import { StorageError } from '../../../src/base/errors.js';
import { openBytes, sealBytes, sealedExtraBytes } from '../../base/sealed-bytes.js';
import type { ContributorKey, StudyId } from '../contract.js';

/*
 * Whatever holds or tells something of the rows is sealed on the node, before it is sent to the
 * database: bodies and their signatures, with which a guess of a body could be tested, and the
 * secrets of epochs. PostgreSQL keeps images of what it stores in its log, standbys and backups.
 * None of them opens once the encryption key is erased (row-key-turns.ts).
 *
 * Claim: what is sealed opens only at the place for which it was sealed. The name of the place is
 * additional data of AES-GCM, and names of two places are never equal: the number of the parts and
 * their order are fixed, and no part has a space.
 */

/** The place of a row. */
export interface RowPlace {
  readonly studyId: StudyId;
  readonly epoch: bigint;
  readonly position: bigint;
  readonly contributor: ContributorKey;
  readonly sequence: bigint;
  readonly complete: boolean;
}

const signatureBytes = 64;

/** Bytes of a sealed row besides its body. */
export const rowExtraBytes = signatureBytes + sealedExtraBytes;

const rowName = (place: RowPlace): string => `keelson row ${place.studyId} ${place.epoch} `
  + `${place.position} ${place.contributor} ${place.sequence} ${place.complete ? 1 : 0}`;

/**
 * Stands for the signature of a row that has none, so that all rows have one form. Nobody signs
 * with it: its first half is a point of small order.
 */
const unsigned = new Uint8Array(signatureBytes);

/** Some 5 us and the copy. @param signature 64 bytes, or none. */
export function sealRow(
  key: KeyObject, place: RowPlace, signature: Uint8Array, body: Uint8Array,
): Uint8Array {
  const isSigned = signature.length > 0;
  assert(!isSigned || signature.length === signatureBytes, 'a signature of a batch has 64 bytes');
  return sealBytes(key, rowName(place), isSigned ? signature : unsigned, body);
}

/** @throws StorageError when the row was changed, or put into another place. */
export function openRow(
  key: KeyObject, place: RowPlace, sealed: Uint8Array,
): { readonly signature: Uint8Array; readonly body: Uint8Array } {
  const plain = openBytes(key, rowName(place), sealed);
  if (plain === null) throw changed(`the row ${place.position} of epoch ${place.epoch}`);
  const isSigned = plain.subarray(0, signatureBytes).some((byte) => byte !== 0);
  return {
    signature: plain.subarray(0, isSigned ? signatureBytes : 0),
    body: plain.subarray(signatureBytes),
  };
}

/** A summary holds sums over rows (slices.ts). */
export type SecretName = 'assignment' | 'seed' | 'fingerprint' | `summary-${number}-of-${number}`;

const secretName = (studyId: StudyId, epoch: bigint, name: SecretName): string =>
  `keelson secret ${studyId} ${epoch} ${name}`;

/** An empty secret was deleted, and stays empty. */
export const sealSecret = (
  key: KeyObject, studyId: StudyId, epoch: bigint, name: SecretName, secret: Uint8Array,
): Uint8Array => (secret.length === 0
  ? secret : sealBytes(key, secretName(studyId, epoch, name), secret));

/** @throws StorageError when the secret was changed, or put into another place. */
export function openSecret(
  key: KeyObject, studyId: StudyId, epoch: bigint, name: SecretName, sealed: Uint8Array,
): Uint8Array {
  if (sealed.length === 0) return sealed;
  const secret = openBytes(key, secretName(studyId, epoch, name), sealed);
  if (secret === null) throw changed(`a secret of epoch ${epoch}`);
  return secret;
}

const changed = (what: string): StorageError => new StorageError(
  `${what} does not open with its encryption key: the tables were changed by hand, or are damaged; `
  + 'restore the database');
