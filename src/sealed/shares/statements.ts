import { concatBytes, utf8 } from '../../base/bytes.js';
import { WireError } from '../../base/errors.js';
import type { Signer, Signing, Verifier } from '../../signing/contract.js';
import { signStatement, verifyStatement } from '../../signing/index.js';

/**
 * A statement that one of the three servers signs with the label "sealed". The signature covers
 * SHA-512 of a name and of fields with fixed lengths, so no statement can be taken for another.
 */
export type Statement =
  /** Its box key for one epoch: contributors seal for it. */
  | { readonly about: 'box-key'; readonly epoch: bigint; readonly boxKey: Uint8Array }
  /** It is this server, and dials that one, or was dialled by it. */
  | {
    readonly about: 'hello' | 'ready'; readonly from: number; readonly to: number;
    readonly challenge: Uint8Array; readonly nonce: Uint8Array;
  }
  /** The statement that begins an attempt. */
  | {
    readonly about: 'start'; readonly epoch: bigint; readonly attempt: number;
    readonly digest: Uint8Array; readonly key: Uint8Array;
  };

/** The bytes whose SHA-512 is signed. */
export function statementBytes(statement: Statement): Uint8Array {
  const label = utf8(`keelson sealed ${statement.about}`.padEnd(32, '\0'));
  switch (statement.about) {
    case 'box-key': return concatBytes(label, number(statement.epoch), statement.boxKey);
    case 'start': return concatBytes(
      label, number(statement.epoch), number(BigInt(statement.attempt)), statement.digest,
      statement.key,
    );
    default: return concatBytes(
      label, Uint8Array.of(statement.from, statement.to), statement.challenge, statement.nonce,
    );
  }
}

function number(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}

type Sha512 = Pick<Signing, 'sha512'>;

/** @returns 64 bytes. */
export function signSealedStatement(
  { sha512 }: Sha512, server: Signer, studyId: Uint8Array, statement: Statement,
): Uint8Array {
  return signStatement('sealed', server, studyId, sha512(statementBytes(statement)));
}

/** True if the server made this statement about this study. */
export function isSealedStatement(
  { sha512 }: Sha512, server: Verifier, studyId: Uint8Array, statement: Statement,
  signature: Uint8Array,
): boolean {
  return verifyStatement('sealed', server, studyId, sha512(statementBytes(statement)), signature);
}

/**
 * The box keys of an epoch, in the order of the servers.
 * @param signed - 96 bytes for each server: its box key and its signature.
 * @param serverKeys - the Ed25519 keys in the study's facts.
 * @throws WireError('bad-signature') unless each server signed its key for this study and epoch.
 */
export function verifiedBoxKeys(
  signing: Pick<Signing, 'sha512' | 'createVerifier'>, studyId: Uint8Array, epoch: bigint,
  serverKeys: readonly Uint8Array[], signed: readonly Uint8Array[],
): readonly Uint8Array[] {
  const isSigned = signed.length === serverKeys.length && signed.every((each, i) =>
    each.length === 96 && isSealedStatement(
      signing, signing.createVerifier(serverKeys[i]!), studyId,
      { about: 'box-key', epoch, boxKey: each.subarray(0, 32) }, each.subarray(32),
    ));
  if (isSigned) return signed.map((each) => each.slice(0, 32));
  throw new WireError(
    'bad-signature', 'the box keys of this epoch are not signed by the three servers of the study',
  );
}
