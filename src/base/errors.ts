import {
  retryableWireCodes, type ErrorCode, type LocalCode, type WireCode,
} from './error-codes.js';

/** Options of an error, besides its code and message. */
export interface KeelsonErrorOptions {
  readonly retryable?: boolean;
  /** Public facts only: limits, paths, positions. Never row values. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The base of every error that Keelson throws. `code` is stable; `message` states the problem, the
 * limit and the remedy.
 */
export class KeelsonError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: KeelsonErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? retryableWireCodes.has(code as WireCode);
    this.details = options.details ?? {};
  }
}

/** A caller's value is outside its documented range. */
export class InvalidParameterError extends KeelsonError {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super('invalid-parameter', message, { details });
  }
}

/** A file or stream from a user cannot be read as expected. `details` has line, column and path. */
export class InvalidInputError extends KeelsonError {
  constructor(
    message: string, details: Readonly<Record<string, unknown>> = {},
    code: LocalCode = 'invalid-input',
  ) {
    super(code, message, { details });
  }
}

/** A refusal that is sent over the wire. */
export class WireError extends KeelsonError {
  declare readonly code: WireCode;
  constructor(code: WireCode, message: string, options: KeelsonErrorOptions = {}) {
    super(code, message, options);
  }
}

/** The codes of a StorageError. */
export type StorageCode =
  'storage-failed' | 'data-folder-in-use' | 'data-folder-rolled-back' | 'lease-lost'
  | 'schema-too-new' | 'store-went-back' | 'encryption-key-missing';

/** The durable store failed or refused to open. */
export class StorageError extends KeelsonError {
  constructor(
    message: string,
    code: StorageCode = 'storage-failed',
    options: KeelsonErrorOptions = {},
  ) {
    super(code, message, options);
  }
}

/** A defect in Keelson itself. The checks stay on in production, and the server stops. */
export class InvariantError extends KeelsonError {
  constructor(message: string, options: KeelsonErrorOptions = {}) {
    super('invariant', message, options);
  }
}

/** The code of an error of the system or of Node, such as `ENOENT`; without one, its text. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : String(error);
}
