/**
 * An alert about a study for an operator. It contains only public facts and facts about the server,
 * never rows.
 */
export interface Alert {
  readonly kind: AlertKind;
  /** Unix time. */
  readonly atMs: number;
  readonly study: string;
  /** Lower-case hex. Versions of one study share its name. */
  readonly studyId: string;
  /** The event, in one sentence. */
  readonly text: string;
  /** Advice for the operator. */
  readonly remedy: string;
}

/** The names are stable. */
export const alertKinds = [
  'answer-refused', 'budget-nearly-spent', 'budget-spent', 'no-release', 'log-not-verified',
] as const;
export type AlertKind = (typeof alertKinds)[number];
