/** The finding of one check. */
export interface Finding {
  /** The subject of the check, e.g. `disk space`. */
  readonly check: string;
  /** `warn`: it works, and will not for long or not under load. `fail`: mend it now. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly found: string;
  /** The remedy; absent where all is well. */
  readonly remedy?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found });

export const warn = (check: string, found: string, remedy: string): Finding =>
  ({ check, state: 'warn', found, remedy });

export const fail = (check: string, found: string, remedy: string): Finding =>
  ({ check, state: 'fail', found, remedy });

/** A finding for a number of which less is worse. */
export function atLeast(
  check: string, found: string, value: number,
  bounds: { readonly warnBelow: number; readonly failBelow: number; readonly remedy: string },
): Finding {
  if (value < bounds.failBelow) return fail(check, found, bounds.remedy);
  return value < bounds.warnBelow ? warn(check, found, bounds.remedy) : ok(check, found);
}

/** A number of bytes as people read it, e.g. `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const unit = bytes >= 2 ** 30 ? 2 ** 30 : 2 ** 20;
  return `${(bytes / unit).toPrecision(3)} ${unit === 2 ** 30 ? 'GiB' : 'MiB'}`;
}
