/**
 * Seeded, replayable randomness: start vectors, random thresholds inside a group. No privacy proof may rely on its
 * secrecy, so it is another type than the noise.
 */
export interface WorkRandom {
  readonly kind: 'work';
  /** Fills the whole view with pseudo-random bytes. */
  fill(bytes: Uint8Array): void;
  /** Uniform in [0, 1) with 53 bits. */
  uniform(): number;
  /** An independent stream; the label keeps a new draw from shifting the others. */
  fork(label: string): WorkRandom;
}

/** What privacy rests on. In production it comes from the operating system and is never seeded. */
export interface NoiseSource {
  readonly kind: 'noise';
  /** False for the seeded source of tests: every result that used it must say so. */
  readonly secure: boolean;
  /** Fills the whole view with random bytes. @throws when the entropy source fails. */
  fill(bytes: Uint8Array): void;
}
