/** The result of one run for one number of its answer. */
export interface TableLine {
  readonly estimator: string;
  readonly kind: 'value' | 'refused' | 'infeasible';
  readonly error?: number | null;
  /** null: no interval, or one without an end. */
  readonly half?: number | null;
  readonly isCovered?: boolean | null;
  readonly saysWhy?: boolean | null;
}

/** Lines of a table in Markdown: one for each estimator. */
export declare function verdictsOf(lines: readonly TableLine[]): readonly string[];
