/**
 * The prime 2^61 - 1. Three servers share numbers modulo it: a false product passes a random check
 * with a chance of one in a prime, and with one in two modulo a power of two.
 */
export const prime = 2n ** 61n - 1n;

/** The value from 0 to p - 1 that is `value` modulo p. */
export function modPrime(value: bigint): bigint {
  const rest = value % prime;
  return rest < 0n ? rest + prime : rest;
}

/** The value from -(p - 1) / 2 to (p - 1) / 2 that is `value` modulo p. */
export function signedModPrime(value: bigint): bigint {
  const rest = modPrime(value);
  return rest > prime >> 1n ? rest - prime : rest;
}
