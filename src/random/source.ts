/**
 * Seeded, replayable randomness: start vectors, random thresholds inside a group. No privacy proof
 * may rely on its secrecy, so its type differs from that of noise.
 */
export interface WorkRandom {
  readonly kind: 'work';
  /** Fills the whole view with pseudo-random bytes. */
  fill(bytes: Uint8Array): void;
  /** Uniform in [0, 1) with 53 bits. */
  uniform(): number;
  /** An independent stream. A new draw with its own label does not shift the other streams. */
  fork(label: string): WorkRandom;
}

/**
 * The randomness that privacy depends on. In production it comes from the operating system and is
 * never seeded.
 */
export interface NoiseSource {
  readonly kind: 'noise';
  /** False for the seeded source of tests. Every result that used that source must say so. */
  readonly secure: boolean;
  /** Fills the whole view with random bytes. @throws when the entropy source fails. */
  fill(bytes: Uint8Array): void;
}
