import type { Retention } from '../keep/retention.js';
import type { StudyMode } from '../study-list.js';

/** Options for the start of a study that this process runs. */
export interface LiveStudyOptions {
  readonly mode: StudyMode;
  /** No epoch opens before `begin`. */
  readonly held: boolean;
  readonly retention: Retention;
  /** Called when the study has nothing more to do, possibly more than once. */
  readonly onDone: () => void;
}
