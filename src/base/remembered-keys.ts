import type { Outcome } from './outcome.js';
import type { Question } from './questions.js';

/** A key: a part for each column of its question's `by`. */
export type Key = readonly string[];

/** The keys of one question that earlier releases showed. */
export interface KnownKeys {
  readonly question: string;
  readonly keys: readonly Key[];
}

/** The newest answer is looked for in this many releases, so a server need not read more. */
export const releasesRemembered = 16;

interface Remembered {
  keys: readonly Key[];
  /** Releases since the one that showed them. */
  age: number;
}

/**
 * The keys that a study with `remember` shows without a threshold: of each question the first
 * `remember` keys of its newest answer, which are those with the largest noisy counts. They are
 * forgotten after 16 releases without an answer. They follow from the releases of the study alone,
 * so they are public, a server finds them in its log after a restart, and `verify` finds the same.
 */
export class RememberedKeys {
  readonly #remembered = new Map<string, Remembered>();

  constructor(private readonly questions: readonly Question[]) {}

  /** Takes the next release of the log: an outcome for each question. */
  take(outcomes: readonly Outcome[]): void {
    this.questions.forEach(({ name, by }, i) => {
      const remember = by?.discover?.remember;
      if (remember === undefined) return;
      const outcome = outcomes[i]!;
      const found = this.#remembered.get(name);
      if (outcome.kind === 'value') {
        this.#remembered.set(name, { keys: (outcome.groups ?? []).slice(0, remember), age: 1 });
      } else if (found !== undefined) {
        found.age += 1;
        if (found.age > releasesRemembered) this.#remembered.delete(name);
      }
    });
  }

  /** The keys that the next release knows. */
  get known(): readonly KnownKeys[] {
    return [...this.#remembered].map(([question, { keys }]) => ({ question, keys }));
  }
}

/** True if a study remembers the keys of any question. */
export function remembersKeys(questions: readonly Question[]): boolean {
  return questions.some(({ by }) => by?.discover?.remember !== undefined);
}
