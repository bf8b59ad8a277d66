import type { NamedPart } from './parts.js';

/**
 * How far the published numbers may be from what the estimator computed. Made from public and
 * released numbers only.
 */
export type Uncertainty =
  | { readonly kind: 'gaussian'; readonly standardDeviation: readonly number[] }
  | { readonly kind: 'relative'; readonly operator: number }
  | { readonly kind: 'grid'; readonly spacing: number }
  | { readonly kind: 'none' };

/** Ends of 95 % intervals: one pair for each number of the estimate, in the same order. */
export interface Interval95 {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** The estimator ran, was paid for, and answered. */
export interface ValueOutcome {
  readonly kind: 'value';
  /** Row-major in `shape`. */
  readonly estimate: readonly number[];
  readonly shape: readonly number[];
  /** The parts of the estimate, if it has more than one or a name of its own; see base/parts. */
  readonly parts?: readonly NamedPart[];
  readonly uncertainty: Uncertainty;
  readonly interval95?: Interval95;
}

/** Why an estimator that was paid for has no answer. The names are stable. */
export const refusalReasons = [
  'interrupted',
  'participation-below-plan',
  'scale-not-found',
  'centre-not-found',
  'groups-disagree',
  'rows-too-wide',
  'numerical-failure',
] as const;
/** Why an estimator that was paid for has no answer. */
export type RefusalReason = (typeof refusalReasons)[number];

/** The estimator ran, was paid for, and has no answer. */
export interface RefusedOutcome {
  readonly kind: 'refused';
  readonly reason: RefusalReason;
  /** What failed and what would have been enough. Public numbers only. */
  readonly text: string;
}

/** What a release holds. */
export type Outcome = ValueOutcome | RefusedOutcome;
