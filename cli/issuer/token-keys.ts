import {
  constants, createHash, createPrivateKey, createPublicKey, generateKeyPair, privateDecrypt,
  publicEncrypt, type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { tokenKeyOf } from '../../src/signing/index.js';

/** One key of an issuer: it signs in one period. */
export interface TokenKey {
  readonly secret: KeyObject;
  /** 342 bytes, as RFC 9578 writes a public key. */
  readonly tokenKey: Uint8Array;
  /** SHA-256 of `tokenKey`, hex. */
  readonly id: string;
}

/** A new RSA key of 2,048 bits, e = 65537: its secret half in PKCS #8, base64. */
export async function makeTokenKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2_048 });
  return privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}

/** @throws Error when the text is not a key of `makeTokenKey`. */
export function readTokenKey(text: string): TokenKey {
  const secret =
    createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
  const { n, e } = createPublicKey(secret).export({ format: 'jwk' });
  if (e !== 'AQAB') throw new Error('the exponent is not 65537');
  const tokenKey = tokenKeyOf(Uint8Array.from(Buffer.from(n!, 'base64url')));
  return { secret, tokenKey, id: createHash('sha256').update(tokenKey).digest('hex') };
}

/**
 * Signs a blinded message: the raw operation of RSA, by OpenSSL, which hides the time it takes. The
 * result is checked, so that a fault of the machine does not reveal the key.
 * @param blinded 256 bytes: a number below the modulus.
 */
export function signBlinded(secret: KeyObject, blinded: Uint8Array): Uint8Array {
  const raw = { padding: constants.RSA_NO_PADDING } as const;
  const signature = privateDecrypt({ key: secret, ...raw }, blinded);
  const again = publicEncrypt({ key: createPublicKey(secret), ...raw }, signature);
  if (!again.equals(blinded)) {
    throw new Error('a signature of this machine does not verify: replace the machine');
  }
  return Uint8Array.from(signature);
}
