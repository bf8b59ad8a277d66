/** The periods of the blind tokens of a study. An issuer signs with another key in each period. */
export interface TokenPeriods {
  /** Unix milliseconds at which the first period begins. */
  readonly fromMs: number;
  /** Length of a period in milliseconds. */
  readonly perMs: number;
  /** For each period the id of its key: SHA-256 in lower-case hex. */
  readonly keys: readonly string[];
}

/** A half-open interval of Unix milliseconds. */
export interface TokenPeriod {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The form of an issuer's name: a host, perhaps with a port. */
export const issuerName = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::\d{1,5})?$/;

/** The period in which a key signs; undefined for a key of nobody. */
export function periodOfKey(periods: TokenPeriods, keyId: string): TokenPeriod | undefined {
  const index = periods.keys.indexOf(keyId);
  return index < 0 ? undefined : periodAt(periods, index);
}

/** The period of an index, from 0. */
export function periodAt(
  { fromMs, perMs }: Pick<TokenPeriods, 'fromMs' | 'perMs'>, index: number,
): TokenPeriod {
  return { fromMs: fromMs + index * perMs, untilMs: fromMs + (index + 1) * perMs };
}
