/** What a run did, in numbers. */
export class Tally {
  frames = 0;
  bytes = 0;
  sessions = 0;
  /** Offered to a client, with records of the server's keys. */
  welcomes = 0;
  worlds = 0;
  releases = 0;
  /** Hellos and batches whose signature was found good. */
  passedSignature = 0;
  /**
   * Accepted, duplicate, ready, `refusal <code>`, `rejected <code>`, `closed <code> <reason>`, ...
   */
  readonly outcomes = new Map<string, number>();
  /** How often each kind of frame was made. */
  readonly recipes = new Map<string, number>();
  /** The longest time that one burst took, and its size: a hang would show here. */
  slowestMs = 0;
  rssPeakBytes = 0;

  made(recipe: string): void {
    this.recipes.set(recipe, (this.recipes.get(recipe) ?? 0) + 1);
  }

  count(outcome: string, by = 1): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + by);
  }
}
