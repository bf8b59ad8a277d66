/** Limits of sealed rows. */
export const sealedLimits = {
  /** Bits of a number. `usual` is the default of study files. */
  bits: { least: 8, most: 20, usual: 16 },
  columns: 64,
  /** How long after its close an epoch may wait for all three servers. */
  patienceMs: { least: 1_000, most: 30 * 86_400_000 },
} as const;
