import { utf8 } from '../../src/base/bytes.js';
import type { NoiseSource, WorkRandom } from '../../src/random/source.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import { seededWork } from '../../src/random/work.js';
import { signing } from '#signing';
import { UsageError } from './errors.js';
import type { Io } from './io.js';

/** For tests only: makes the noise of `estimate`, `audit` and `demo` repeatable, and so not private. */
export const insecureSeedVariable = 'KEELSON_INSECURE_SEED';

/** Where a command's randomness comes from. */
export interface Randomness {
  /** True when the noise can be repeated; the output must then say `"insecure": true`. */
  readonly insecure: boolean;
  /** Noise for one use; the label separates uses from one another when it is seeded. */
  noise(label: string): NoiseSource;
  work(label: string): WorkRandom;
}

/**
 * The seed of repeatable noise, after a warning on stderr; null when noise comes from the operating system.
 * For commands whose noise is drawn on other threads.
 */
export function insecureSeedOf(io: Io): string | null {
  const seed = io.environment[insecureSeedVariable] ?? '';
  if (seed === '') return null;
  io.stderr.write(
    `warning: ${insecureSeedVariable} is set: the noise can be repeated by anyone, so the output is NOT private\n`,
  );
  return seed;
}

/** From the operating system, unless the environment asks for repeatable noise; then a warning goes to stderr. */
export function openRandomness(io: Io): Randomness {
  const seed = insecureSeedOf(io);
  if (seed === null) {
    return {
      insecure: false,
      noise: () => secureNoise(),
      work: () => seededWork(signing.randomBytes(32)),
    };
  }
  return {
    insecure: true,
    noise: (label) => seededNoise(`${seed}:noise:${label}`),
    work: (label) => seededWork(signing.sha512(utf8(`${seed}:work:${label}`)).subarray(0, 32)),
  };
}

/**
 * For commands that serve others.
 * @throws UsageError when the environment asks for repeatable noise.
 */
export function refuseInsecureSeed(io: Io, command: string): void {
  if ((io.environment[insecureSeedVariable] ?? '') === '') return;
  throw new UsageError(
    `keelson ${command} does not start while ${insecureSeedVariable} is set, because its releases would not be `
    + `private: run "unset ${insecureSeedVariable}" first`,
  );
}
