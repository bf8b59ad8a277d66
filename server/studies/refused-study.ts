import { KeelsonError, StorageError } from '../../src/base/errors.js';
import type { ErrorCode } from '../../src/base/error-codes.js';

/**
 * A study that is configured and does not run. For the operator only: the reason may quote its
 * file.
 */
export interface RefusedStudy {
  /** Its name, or its file when the name cannot be read. */
  readonly study: string;
  readonly error: Error;
}

const ownFaults: ReadonlySet<ErrorCode> =
  new Set<ErrorCode>(['invalid-study', 'plan-infeasible', 'invalid-parameter']);

/** True if an error is about one study alone, so that the others can run. */
export function isOwnFault(error: unknown): error is KeelsonError {
  return error instanceof KeelsonError && ownFaults.has(error.code);
}

/**
 * True if an error in one study's start concerns that study alone. A failure of the whole store
 * (its disk is full, its database is corrupt, or it is closed) concerns all. A StorageError with
 * the scope `call` is about the records of one call.
 */
export function concernsOneStudy(error: unknown): boolean {
  if (error instanceof StorageError) return error.details['scope'] === 'call';
  return !(error instanceof KeelsonError && error.code === 'closed');
}

/** The error of a start or a reload that refuses every study. */
export function noStudyStarts(refused: readonly RefusedStudy[]): Error {
  if (refused.length === 1) return refused[0]!.error;
  const reasons = refused.map(({ study, error }) => `\n  ${study}: ${error.message}`).join('');
  return new KeelsonError(
    'invalid-study', `none of ${refused.length} studies can start:${reasons}`, {
      details: { studies: refused.map(({ study }) => study) },
    },
  );
}
