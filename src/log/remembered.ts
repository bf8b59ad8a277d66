import type { Outcome } from '../base/outcome.js';
import type { Question } from '../base/questions.js';
import { RememberedKeys } from '../base/remembered-keys.js';

/**
 * Checks that a study shows again the keys that it remembers. Which they are follows from the
 * releases before.
 */
export class RememberedCheck {
  readonly #remembered: RememberedKeys;

  constructor(private readonly questions: readonly Question[]) {
    this.#remembered = new RememberedKeys(questions);
  }

  /** Takes the next release of the log. @returns what is wrong with it, in words; null if fine. */
  take(outcomes: readonly Outcome[]): string | null {
    const known = new Map(this.#remembered.known.map(({ question, keys }) => [question, keys]));
    this.#remembered.take(outcomes);
    for (const [i, { name }] of this.questions.entries()) {
      const outcome = outcomes[i]!;
      if (outcome.kind === 'refused') continue;
      const shown = new Set((outcome.groups ?? []).map((key) => JSON.stringify(key)));
      if (known.get(name)?.every((key) => shown.has(JSON.stringify(key))) === false) {
        return `the answer to ${name} lacks a group that the study remembers`;
      }
    }
    return null;
  }
}
