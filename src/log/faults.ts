import { KeelsonError } from '../base/errors.js';

/** Faults of a release log. Stable names; docs/reference/protocol.md explains each. */
export const logFaultCodes = [
  'line-malformed',
  'study-missing',
  'study-repeated',
  'study-malformed',
  'server-key-invalid',
  'server-key-mismatch',
  'signature-invalid',
  'rotation-invalid',
  'body-malformed',
  'other-server',
  'other-study',
  'facts-mismatch',
  'index-mismatch',
  'epoch-order',
  'digest-mismatch',
  'answers-mismatch',
  'keys-malformed',
  'description-mismatch',
  'derived-mismatch',
  'head-missing',
  'head-mismatch',
  'line-after-head',
] as const;

/** One of `logFaultCodes`. */
export type LogFaultCode = (typeof logFaultCodes)[number];

/**
 * A release, a head or a log that does not verify. `code` is `log-invalid`; `fault` names the
 * broken rule.
 */
export class LogError extends KeelsonError {
  /** @param details public positions: the expected index and the one found. */
  constructor(
    readonly fault: LogFaultCode,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    cause?: unknown,
  ) {
    super('log-invalid', message, { details: { ...details, fault }, cause });
  }
}
