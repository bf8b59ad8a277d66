import type { ValueOutcome } from '../base/outcome.js';
import { RunningTotals } from '../base/running-totals.js';
import type { ReleaseBody } from '../wire/messages.js';
import type { Total } from './release-series.js';

/** One series of a running total: successive releases that mix epochs. */
interface Run {
  /** Standard deviation of one release's noise. */
  readonly sigma: number;
  /** One for each number of the answer. */
  readonly numbers: readonly RunningTotals[];
}

/**
 * The answers to one question that are running totals, added up over any of the newest epochs. A
 * log may have several series: a release without an answer ends one. Noise of different series is
 * independent, so their variances add up; within a series `RunningTotals` counts what is shared.
 * All of it is computed from published numbers, so it costs no privacy.
 */
export class RunningSums {
  /** For each release its series; null where it has no answer, or its series began earlier. */
  readonly #releases: (Run | null)[] = [];
  #open: Run | null = null;
  #newest: ValueOutcome | null = null;

  /** @param separation of the study: a value is in so many releases. */
  constructor(readonly question: string, private readonly separation: number) {}

  /** The keys of the answer; null where it is not split, or there is none yet. */
  get keys(): ValueOutcome['groups'] | null {
    return this.#newest?.groups ?? null;
  }

  /** Numbers of an answer; 0 before the first one. */
  get entries(): number {
    return this.#newest?.estimate.length ?? 0;
  }

  /** Takes the answer of the next release; null: refused. Cost: O(numbers * separation). */
  take(outcome: ValueOutcome | null): void {
    const { running, uncertainty } = outcome ?? {};
    if (running === undefined || uncertainty?.kind !== 'gaussian') {
      this.#open = null;
      this.#releases.push(null);
      return;
    }
    this.#newest = outcome;
    if (running.position === 0) {
      const numbers = running.released.map(() => new RunningTotals(this.separation));
      numbers.forEach((number, i) => number.take(running.released[i]!));
      const [first] = numbers;
      const sigma = uncertainty.standardDeviation[0]! / (first?.total.deviation ?? 1);
      this.#open = { sigma, numbers };
    } else this.#open?.numbers.forEach((number, i) => number.take(running.released[i]!));
    this.#releases.push(this.#open);
  }

  /**
   * @param place of the number in the estimate.
   * @param newest how many releases to add up. Default: all. Cost: O(releases * separation).
   */
  total(place: number, newest = this.#releases.length): Total {
    const chosen = this.#releases.slice(-newest);
    let [value, variance, answered] = [0, 0, 0];
    for (const run of new Set(chosen)) {
      if (run === null) continue;
      const number = run.numbers[place]!;
      // Only the oldest series may begin before the window.
      const count = chosen.filter((each) => each === run).length;
      const part = number.between(number.positions - count, number.positions);
      value += part.value;
      variance += (run.sigma * part.deviation) ** 2;
      answered += count;
    }
    return {
      value, deviation: Math.sqrt(variance), answered, missing: chosen.length - answered,
    };
  }
}

/** The running totals of a study's log, question by question. */
export class RunningSeries {
  readonly #questions = new Map<string, RunningSums>();

  /**
   * Takes the next release of the log.
   * @param separation - of the study; undefined: it has no running totals.
   */
  take(release: ReleaseBody, separation: number | undefined): void {
    if (separation === undefined) return;
    for (const { question, outcome } of release.answers) {
      const isValue = outcome.kind === 'value';
      const known = this.#questions.get(question);
      if (known === undefined && !(isValue && outcome.running !== undefined)) continue;
      const sums = known ?? new RunningSums(question, separation);
      this.#questions.set(question, sums);
      sums.take(isValue ? outcome : null);
    }
  }

  /** In the order in which they were first answered. */
  get questions(): readonly RunningSums[] {
    return [...this.#questions.values()];
  }
}
