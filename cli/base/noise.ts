import { utf8 } from '../../src/base/bytes.js';
import type { NoiseSource, WorkRandom } from '../../src/random/source.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import { seededRandom } from '../../src/random/work.js';
import { signing } from '#signing';
import { UsageError } from './errors.js';
import type { Io } from './io.js';

/**
 * For tests only: makes the noise of `estimate`, `audit` and `demo` repeatable, so it protects
 * nobody.
 */
const insecureSeedVariable = 'KEELSON_INSECURE_SEED';

/** The source of a command's randomness. */
export interface Randomness {
  /** True if the noise can be repeated. The output must then say `"insecure": true`. */
  readonly insecure: boolean;
  /** Noise for one use. If it is seeded, the label separates it from other uses. */
  noise(label: string): NoiseSource;
  work(label: string): WorkRandom;
}

/**
 * The seed of repeatable noise, after a warning on stderr; null if noise comes from the operating
 * system. For commands that draw noise on other threads.
 */
export function insecureSeedOf(io: Io): string | null {
  const seed = io.environment[insecureSeedVariable] ?? '';
  if (seed === '') return null;
  io.stderr.write(
    `warning: ${insecureSeedVariable} is set: the noise can be repeated by anyone, so the output `
      + 'is NOT private\n',
  );
  return seed;
}

/**
 * Noise from the operating system. If the environment asks for repeatable noise, it warns on stderr
 * and uses that.
 */
export function openRandomness(io: Io): Randomness {
  const seed = insecureSeedOf(io);
  if (seed === null) {
    return {
      insecure: false,
      noise: () => secureNoise(),
      work: () => seededRandom(signing.randomBytes(32)),
    };
  }
  return {
    insecure: true,
    noise: (label) => seededNoise(`${seed}:noise:${label}`),
    work: (label) => seededRandom(signing.sha512(utf8(`${seed}:work:${label}`)).subarray(0, 32)),
  };
}

/**
 * For commands that serve others.
 * @throws UsageError when the environment asks for repeatable noise.
 */
export function refuseInsecureSeed(io: Io, command: string): void {
  if ((io.environment[insecureSeedVariable] ?? '') === '') return;
  throw new UsageError(
    `keelson ${command} does not start while ${insecureSeedVariable} is set, because its releases `
    + `would not be private: run "unset ${insecureSeedVariable}" first`,
  );
}
