import { concatBytes, fromHex, toHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { modulusBytes } from '../../src/signing/index.js';

const hashBytes = 48;

/** A message that is hidden from its signer. */
export interface Blinded {
  /** 256 bytes, for the signer. */
  readonly blinded: Uint8Array;
  /** Turns the signer's answer into the signature of the message: 256 bytes. */
  readonly finish: (answer: Uint8Array) => Uint8Array;
}

/**
 * Hides a message from its signer: RSABSSA-SHA384-PSS-Deterministic of RFC 9474, for a key of 2,048
 * bits and e = 65537.
 *
 * Claim: the blinded message is uniform among the units modulo n, whatever the message is. So it
 * holds nothing of the message, and neither does the answer, which is a function of it.
 * Why: it is m * r^e mod n. As the key is one of RSA, r -> r^e permutes the units, and r is uniform
 * among them to within 2^-512. Multiplying by the unit m permutes them too. A key that is not one
 * of RSA could mark its answers. `finish` accepts the signature only if its e-th power is m.
 * Our callers take r from SHA-512 of a secret seed. So the claim then holds against whoever cannot
 * tell this from random without the seed, and not against unlimited computation.
 * @param modulus 256 bytes, odd, with its highest bit set.
 * @param salt 48 random bytes, for PSS.
 * @param blind random bytes for r, at least 320; or 256 that are r itself, below n.
 * @throws KeelsonError('invalid-input') when a number has a common factor with n: the key is
 *   broken.
 */
export async function blindMessage(
  modulus: Uint8Array, message: Uint8Array, salt: Uint8Array, blind: Uint8Array,
): Promise<Blinded> {
  const n = numberOf(modulus);
  const encoded = numberOf(await encode(message, salt));
  inverse(encoded, n);
  const r = numberOf(blind) % n;
  const unblinding = inverse(r, n);
  return {
    blinded: bytesOf((encoded * power(r, n)) % n),
    finish(answer) {
      const signature = (numberOf(answer) * unblinding) % n;
      if (answer.length !== modulusBytes || power(signature, n) !== encoded) {
        throw new KeelsonError('invalid-input', 'the issuer\'s answer is not a signature of its '
          + 'key in the study\'s facts: check the address of the issuer');
      }
      return bytesOf(signature);
    },
  };
}

/** EMSA-PSS-ENCODE of RFC 8017 with SHA-384 and MGF1, for 2,047 bits. */
async function encode(message: Uint8Array, salt: Uint8Array): Promise<Uint8Array> {
  const hash = await sha384(
    concatBytes(new Uint8Array(8), await sha384(message), salt),
  );
  const block = new Uint8Array(modulusBytes - hashBytes - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  for (let from = 0, counter = 0; from < block.length; from += hashBytes, counter++) {
    const mask = await sha384(concatBytes(hash, Uint8Array.of(0, 0, 0, counter)));
    const end = Math.min(block.length, from + hashBytes);
    for (let i = from; i < end; i++) block[i]! ^= mask[i - from]!;
  }
  block[0]! &= 127;
  return concatBytes(block, hash, Uint8Array.of(0xbc));
}

async function sha384(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await globalThis.crypto.subtle.digest('SHA-384', Uint8Array.from(bytes)));
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes)}`);
}

function bytesOf(value: bigint): Uint8Array {
  return fromHex(value.toString(16).padStart(2 * modulusBytes, '0'));
}

/** base^65537 modulo n. */
function power(base: bigint, n: bigint): bigint {
  let result = base;
  for (let i = 0; i < 16; i++) result = (result * result) % n;
  return (result * base) % n;
}

/** By the extended algorithm of Euclid. @throws KeelsonError when there is none. */
function inverse(value: bigint, n: bigint): bigint {
  let [rest, next] = [n, value % n];
  let [factor, nextFactor] = [0n, 1n];
  while (next !== 0n) {
    const quotient = rest / next;
    [rest, next] = [next, rest - quotient * next];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  if (rest !== 1n) {
    throw new KeelsonError('invalid-input', 'the issuer\'s key is broken: tell the issuer');
  }
  return factor < 0n ? factor + n : factor;
}
