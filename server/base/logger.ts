import { pino } from 'pino';

/**
 * The server's log. Fields are public facts, counts for the operator, or errors; never row values,
 * keys of contributors, or secrets.
 */
export interface Logger {
  debug(fields: object, text: string): void;
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** Options of a logger: its level and its destination. */
export interface LoggerOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Receives whole lines of JSON. Default: standard output. */
  readonly destination?: { write(line: string): void };
}

/** Structured lines of JSON. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: null,
    // Amounts and epochs are bigint, which JSON cannot hold.
    formatters: {
      level: (name: string) => ({ level: name }),
      log: (fields: object) => withoutBigint(fields),
    },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** For embedding code and tests that want no log. */
export const silentLogger: Logger = {
  debug: () => {}, info: () => {}, warn: () => {}, error: () => {},
};

function withoutBigint(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(
      ([name, value]: [string, unknown]) =>
        [name, typeof value === 'bigint' ? String(value) : value],
    ),
  );
}
