import { InvalidParameterError } from '../base/errors.js';

/** @throws InvalidParameterError unless the seed has 32 bytes. The message never holds the seed. */
export function checkSeed(seed: Uint8Array): void {
  if (seed.length !== 32) {
    throw new InvalidParameterError(
      `an Ed25519 seed has 32 bytes, not ${seed.length}: generate one with "keelson keys new"`,
    );
  }
}
