import { InvalidInputError, InvalidParameterError, KeelsonError } from '../../src/base/errors.js';
import { didYouMean } from '../../src/base/suggest.js';
import type { ErrorCode } from '../../src/base/error-codes.js';
import type { ExitStatus } from './io.js';

/** The command line itself is wrong. The message ends with what to type instead. */
export class UsageError extends KeelsonError {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super('invalid-usage', message, { details });
  }
}

/** Codes of an answer that is "no". Every other error means that there is no answer. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'plan-infeasible',
  'budget-declined',
  'budget-exhausted',
  'log-invalid',
  'server-key-mismatch',
]);

export function exitStatusOf(error: unknown): ExitStatus {
  return error instanceof KeelsonError && refusals.has(error.code) ? 1 : 2;
}

const systemRemedies: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file: check the path',
  EACCES: 'permission denied: check who may read and write it',
  EPERM: 'permission denied: check who may read and write it',
  EISDIR: 'it is a folder: name a file in it',
  ENOTDIR: 'a part of the path is not a folder: check the path',
  EEXIST: 'it exists already: name another file',
  ELOOP: 'its links lead back to each other: check the path',
  ENAMETOOLONG: 'the path is too long: check it',
  EROFS: 'the disk can only be read: choose another place',
  ENOSPC: 'the disk is full: make room and run again',
  EADDRINUSE: 'the address is taken: stop its owner or choose another port',
  ECONNREFUSED: 'nobody answers there: check the address and that the server runs',
};

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
    && (error as NodeJS.ErrnoException).syscall !== undefined;
}

/**
 * Turns an error of the operating system into one that says what failed, where, and what to do.
 * Returns other errors unchanged.
 */
export function asInputError(error: unknown, subject: string): unknown {
  if (!isSystemError(error)) return error;
  const remedy = systemRemedies[error.code ?? '']
    ?? `the system answered ${error.code}: check the path`;
  return new InvalidInputError(`${subject}: ${remedy}`, { path: subject, systemCode: error.code });
}

/**
 * The text for stderr: what went wrong, where, and what to do. Errors repeat what was typed, which
 * may be the address of a database in a wrong place: its password is left out.
 * @param command - e.g. "keelson estimate".
 * @param debug - adds the stack and the causes.
 */
export function errorText(error: unknown, command: string, debug: boolean): string {
  return withoutPasswords(fullErrorText(error, command, debug));
}

/**
 * Parameters in a text of the library, as they are typed: `parameters.range` is `--set range`, and
 * `range=low..high` is `--set range=low..high`.
 */
export function byFlags(text: string): string {
  return text.replaceAll(
    /(?<![\w.-])(?:questions\.[\w-]+\.)?(?:parameters\.([a-z][a-z-]*)|([a-z][a-z-]*=))/g,
    (_, named?: string, given?: string) => `--set ${named ?? given}`,
  );
}

/** Replaces the password of each address like `postgres://user:password@host`. */
function withoutPasswords(text: string): string {
  return text.replaceAll(/(:\/{1,2}[^\s:@/]*):[^\s@]*@/g, '$1:***@');
}

function fullErrorText(error: unknown, command: string, debug: boolean): string {
  const known = isSystemError(error)
    ? asInputError(error, error.path ?? 'a file or address') : error;
  if (debug) return `${command}: ${stackOf(known)}\n`;
  if (known instanceof KeelsonError && known.code !== 'invariant') {
    const told = known instanceof InvalidParameterError ? byFlags(known.message) : known.message;
    return `${command}: ${told}${studyMeant(known)}\n`;
  }
  const message = known instanceof Error ? known.message : String(known);
  return `${command}: a defect in Keelson: ${message}\n  run it again with --debug and report what `
    + 'it prints\n';
}

/** The client lists the studies of the server; this suggests the one with the most similar name. */
function studyMeant({ code, details: { study, studies } }: KeelsonError): string {
  if (code !== 'unknown-study' || typeof study !== 'string' || !Array.isArray(studies)) return '';
  return didYouMean(study, studies as readonly string[]);
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\ncaused by ${stackOf(error.cause)}`;
}
