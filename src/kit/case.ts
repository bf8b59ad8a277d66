import type { Trial } from './trial.js';

/** A case as the suite lists it. */
export interface Case {
  readonly name: string;
  /** Releases the whole sample twice or more. */
  readonly repeats?: true;
  /** Makes many releases. */
  readonly isSlow?: true;
  /** True if it applies. Default: always. */
  readonly appliesTo?: (trial: Trial) => boolean;
  run(trial: Trial): void | Promise<void>;
}
