import type { ErrorCode } from '../../src/base/error-codes.js';
import { InvariantError, KeelsonError } from '../../src/base/errors.js';
import type { KnownKeys } from '../../src/base/remembered-keys.js';
import type { EpochSetup, SeriesInput } from './contract.js';
import type { PackedBatches } from './packing.js';

/** Requests to the epochs' thread, executed in the order sent. Each `id` gets one answer. */
export type EpochRequest =
  | { readonly kind: 'open'; readonly id: number; readonly setup: EpochSetup }
  | {
    readonly kind: 'add';
    readonly id: number;
    readonly studyId: string;
    readonly epoch: bigint;
    readonly parts: PackedBatches;
  }
  | {
    readonly kind: 'progress' | 'encode'; readonly id: number; readonly studyId: string;
    readonly epoch: bigint;
  }
  | {
    readonly kind: 'merge'; readonly id: number; readonly studyId: string;
    readonly epoch: bigint; readonly encoded: Uint8Array;
  }
  | {
    readonly kind: 'release'; readonly id: number; readonly studyId: string;
    readonly epoch: bigint; readonly before?: SeriesInput | undefined;
    readonly known?: readonly KnownKeys[] | undefined;
  }
  | {
    readonly kind: 'drop'; readonly id: number; readonly studyId: string; readonly epoch: bigint;
  };

export type EpochResponse =
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: ErrorParts };

/**
 * An error in a form that crosses threads. Texts of estimators have no data. Of other errors only
 * the name is sent.
 */
export interface ErrorParts {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function partsOfError(error: unknown): ErrorParts {
  if (error instanceof KeelsonError) {
    return { code: error.code, message: error.message, details: error.details };
  }
  const name = error instanceof Error ? error.name : 'failure';
  return {
    code: 'internal', message: `the epoch's work ended with an unexpected ${name}`, details: {},
  };
}

export function errorOfParts({ code, message, details }: ErrorParts): KeelsonError {
  return code === 'invariant'
    ? new InvariantError(message, { details }) : new KeelsonError(code, message, { details });
}
