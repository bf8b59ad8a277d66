/**
 * Codes that the server may send. They have the order of the protobuf enum (CODE_UNSPECIFIED = 0
 * comes first); test/vectors compares the two lists.
 */
export const wireCodes = [
  'unspecified',
  'malformed',
  'unknown-study',
  'invalid-key',
  'key-not-allowed',
  'bad-signature',
  'unknown-channel',
  'wrong-columns',
  'not-finite',
  'too-many-rows',
  'contribution-full',
  'mutated',
  'stale-epoch',
  'epoch-not-open',
  'study-ended',
  'budget-exhausted',
  'sequence-too-far',
  'credit-exceeded',
  'overloaded',
  'rate-limited',
  'too-many-channels',
  'contributor-budget-exhausted',
  'shutting-down',
  'unsupported',
  'internal',
  'quarantined',
  'not-enrolled',
  'enrolment-expired',
  'too-many-new-keys',
  'too-late',
  'wrong-type',
  'bad-text',
  'not-counted',
  'stale-share',
] as const;

/** A code that the server may send. */
export type WireCode = (typeof wireCodes)[number];

/** The server did not consume the sequence, so the client may send the same bytes again. */
export const retryableWireCodes: ReadonlySet<WireCode> = new Set<WireCode>([
  'epoch-not-open',
  'sequence-too-far',
  'credit-exceeded',
  'overloaded',
  'rate-limited',
  'too-many-channels',
  'shutting-down',
  'internal',
  'too-many-new-keys',
  'stale-share',
]);

/** Codes of errors that are never sent: they are thrown to a caller or printed by the command. */
export const localCodes = [
  'invalid-parameter',
  'invalid-study',
  'invalid-input',
  'invalid-usage',
  'invariant',
  'budget-declined',
  'plan-infeasible',
  'data-folder-in-use',
  'data-folder-rolled-back',
  'lease-lost',
  'schema-too-new',
  'store-went-back',
  'encryption-key-missing',
  'storage-failed',
  'clock-implausible',
  'transport-failed',
  'server-key-mismatch',
  'log-invalid',
  'outbox-failed',
  'closed',
] as const;

/** A code that only the program itself throws. */
export type LocalCode = (typeof localCodes)[number];
/** The stable code of an error; docs/reference has each with its cause and remedy. */
export type ErrorCode = WireCode | LocalCode;
