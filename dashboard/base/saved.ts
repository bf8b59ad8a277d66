import type { Series } from './model.js';
import type { NumberWords } from './number-words.js';

/** A chart to save. */
export interface SavedChart {
  readonly words: NumberWords;
  /** The published numbers. */
  readonly series: Series;
  /** The numbers as they are drawn. */
  readonly drawn: Series;
  /** The smoothed line of the same releases; null where it is not shown. */
  readonly smoothed: Series | null;
  readonly axis: 'time' | 'epoch';
  /** The name of the study. */
  readonly study: string;
}

/** Forms in which a chart can be saved. */
export const savedForms = ['CSV', 'SVG', 'PNG'] as const;
/** One of them. */
export type SavedForm = (typeof savedForms)[number];
