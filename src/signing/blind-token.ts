import { concatBytes, equalBytes, fromHex, utf8 } from '../base/bytes.js';
import { InvalidParameterError } from '../base/errors.js';
import type { Signing } from './contract.js';

/*
 * The bytes of blind tokens: RFC 9577 and RFC 9578, token type 2 (publicly verifiable, RSA of 2048
 * bits). client/token makes them and server/listener/enrolment.ts checks them.
 */

const tokenType = Uint8Array.of(0, 2);
/** Bytes of what the issuer signs: type, nonce, SHA-256 of the challenge, id of the key. */
const inputBytes = 98;
export const modulusBytes = 256;
const saltBytes = 32;
/** A token, the salt of its nonce, and the modulus of the key that signed it. */
export const blindEnrolmentBytes = inputBytes + modulusBytes + saltBytes + modulusBytes;

/** The public key around its modulus, in DER: RSASSA-PSS, SHA-384, MGF1, salt of 48, e = 65537. */
const keyStart = fromHex(
  '30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d'
  + '010108300b0609608648016503040202a2030201300382010f003082010a0282010100',
);
const keyEnd = fromHex('0203010001');

type Hashing = Pick<Signing, 'sha512'>;

/** A blind enrolment whose signature is not checked yet. */
export interface ClaimedBlindToken {
  /** 98 bytes: what the issuer signed. */
  readonly input: Uint8Array;
  /** The parts of `input`, 32 bytes each. */
  readonly nonce: Uint8Array;
  readonly challengeDigest: Uint8Array;
  readonly keyId: Uint8Array;
  /** 256 bytes. */
  readonly signature: Uint8Array;
  /** 32 bytes. */
  readonly salt: Uint8Array;
  /** 342 bytes: the public key that is said to have signed. */
  readonly tokenKey: Uint8Array;
}

/**
 * The public key of an issuer, as RFC 9578 writes it. Its SHA-256 is the id of the key.
 * @param modulus 256 bytes, big-endian.
 * @returns 342 bytes: a SubjectPublicKeyInfo in DER.
 * @throws InvalidParameterError unless the modulus is odd and has 2,048 bits.
 */
export function tokenKeyOf(modulus: Uint8Array): Uint8Array {
  if (modulus.length !== modulusBytes || modulus[0]! < 128 || modulus.at(-1)! % 2 === 0) {
    throw new InvalidParameterError('the modulus of a token key is odd and has 2048 bits');
  }
  return concatBytes(keyStart, modulus, keyEnd);
}

/** The 256 bytes of a key's modulus; undefined for anything but a key of `tokenKeyOf`. */
export function modulusOf(tokenKey: Uint8Array): Uint8Array | undefined {
  const modulus = tokenKey.slice(keyStart.length, keyStart.length + modulusBytes);
  if (modulus.length !== modulusBytes || modulus[0]! < 128 || modulus.at(-1)! % 2 === 0) {
    return undefined;
  }
  return equalBytes(tokenKey, tokenKeyOf(modulus)) ? modulus : undefined;
}

/**
 * The TokenChallenge that tokens of a study answer. Its redemption context is made from the study's
 * name, so all versions of a study take a token. It names no origin: the nonce is bound to a
 * contributor's key, and that key signs for one server.
 * @param issuer the issuer's name, in ASCII.
 * @returns the bytes of the challenge; a token has their SHA-256.
 */
export function tokenChallenge(issuer: string, study: string, hashing: Hashing): Uint8Array {
  const name = utf8(issuer);
  const context = hashing.sha512(utf8(`keelson token study ${study}`)).subarray(0, 32);
  return concatBytes(
    tokenType, uint16(name.length), name, Uint8Array.of(context.length), context, uint16(0),
  );
}

/**
 * The nonce of a token that admits one key. Nobody can find another key with the same nonce, so a
 * token admits no other key, and no record of used tokens is needed. The salt is random, so the
 * nonce is.
 * @returns 32 bytes.
 */
export function tokenNonce(
  salt: Uint8Array, contributor: Uint8Array, hashing: Hashing,
): Uint8Array {
  return hashing.sha512(concatBytes(utf8('keelson token nonce'), salt, contributor)).slice(0, 32);
}

/** The 98 bytes that the issuer signs without seeing them. */
export function tokenInput(
  nonce: Uint8Array, challengeDigest: Uint8Array, keyId: Uint8Array,
): Uint8Array {
  return concatBytes(tokenType, nonce, challengeDigest, keyId);
}

/** The `enrolment` of a Hello: the token, the salt of its nonce, and the modulus of its key. */
export function blindEnrolment(
  input: Uint8Array, signature: Uint8Array, salt: Uint8Array, modulus: Uint8Array,
): Uint8Array {
  return concatBytes(input, signature, salt, modulus);
}

/** @returns undefined for bytes that are no blind enrolment. Does not check the signature. */
export function readBlindEnrolment(bytes: Uint8Array): ClaimedBlindToken | undefined {
  if (bytes.length !== blindEnrolmentBytes || !equalBytes(bytes.subarray(0, 2), tokenType)) {
    return undefined;
  }
  const saltAt = inputBytes + modulusBytes;
  const modulus = bytes.slice(saltAt + saltBytes);
  if (modulus[0]! < 128 || modulus.at(-1)! % 2 === 0) return undefined;
  return {
    input: bytes.slice(0, inputBytes), nonce: bytes.slice(2, 34),
    challengeDigest: bytes.slice(34, 66), keyId: bytes.slice(66, inputBytes),
    signature: bytes.slice(inputBytes, saltAt), salt: bytes.slice(saltAt, saltAt + saltBytes),
    tokenKey: tokenKeyOf(modulus),
  };
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 255);
}
