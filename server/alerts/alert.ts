/** What an operator is told of a study. All of it is public or about the server, never of rows. */
export interface Alert {
  readonly kind: AlertKind;
  /** Unix time. */
  readonly atMs: number;
  readonly study: string;
  /** Lower-case hex. Versions of one study share its name. */
  readonly studyId: string;
  /** What happened, in one sentence. */
  readonly text: string;
  /** What to do. */
  readonly remedy: string;
}

/** The names are stable. */
export const alertKinds = [
  'answer-refused', 'budget-nearly-spent', 'budget-spent', 'no-release', 'log-not-verified',
] as const;
export type AlertKind = (typeof alertKinds)[number];
