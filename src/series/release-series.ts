import { deviationsAsNormal } from '../base/noise-deviations.js';
import type { Outcome } from '../base/outcome.js';
import type { ReleaseBody } from '../wire/messages.js';
import { LocalLevel, smoothedLevels, type Level, type Measured } from './local-level.js';

/** Why the answers to a question have no totals and no smoothed line. The names are stable. */
export type SeriesFault = 'noise-unknown' | 'keys-change' | 'shape-changes' | 'running-total';

/** A total over epochs. Noise of different releases is independent, so its variances add up. */
export interface Total {
  readonly value: number;
  /** Standard deviation of the noise in it. */
  readonly deviation: number;
  /** Epochs that are in the total. */
  readonly answered: number;
  /** Epochs that were refused, or whose noise is not known: they are not in the total. */
  readonly missing: number;
}

/** One number of a question's answer over the releases of a log. */
export class NumberSeries {
  #points: Measured[] = [];
  #then: (Level | null)[] = [];
  readonly #filter = new LocalLevel();
  #sum = 0;
  #variance = 0;
  #answered = 0;
  #missing = 0;

  /**
   * @param place the number's index in the estimate.
   * @param key the key that it belongs to, where the answer is split.
   * @param kept how many releases it keeps, at least; 1 or more.
   */
  constructor(
    readonly place: number, readonly key: readonly string[] | null, private readonly kept: number,
  ) {}

  /** Takes the next release. Amortised cost: O(1). */
  take(point: Measured): void {
    this.#points.push(point);
    this.#then.push(this.#filter.take(point));
    if (point.value === null) {
      this.#missing += 1;
    } else {
      this.#sum += point.value;
      this.#variance += point.deviation ** 2;
      this.#answered += 1;
    }
    // Forgetting half at twice the size costs O(1) per release.
    if (this.#points.length < 2 * this.kept) return;
    this.#points = this.#points.slice(-this.kept);
    this.#then = this.#then.slice(-this.kept);
  }

  /** The published values, oldest first. */
  get points(): readonly Measured[] {
    return this.#points;
  }

  /** The level at each release, from it and the ones before; null before the first answer. */
  get then(): readonly (Level | null)[] {
    return this.#then;
  }

  /** The level at each kept release, from all of them together; null before the first answer. */
  smoothed(): readonly (Level | null)[] {
    return smoothedLevels(this.#points);
  }

  /** The likely size of a step from one epoch to the next; null before the first answer. */
  get stepDeviation(): number | null {
    return this.#filter.stepDeviation;
  }

  /** The total over all releases. */
  get total(): Total {
    return {
      value: this.#sum, deviation: Math.sqrt(this.#variance),
      answered: this.#answered, missing: this.#missing,
    };
  }

  /** The total over the newest `releases` releases, at most as many as are kept. */
  window(releases: number): Total {
    const answered = this.#points.slice(-releases).filter(({ value }) => value !== null);
    return {
      value: answered.reduce((sum, { value }) => sum + value!, 0),
      deviation: Math.hypot(...answered.map(({ deviation }) => deviation)),
      answered: answered.length,
      missing: Math.min(releases, this.#points.length) - answered.length,
    };
  }
}

/**
 * The answers to one question over the releases of a log: each number with its totals and its
 * smoothed line. All of it is computed from published numbers, so it costs no privacy.
 *
 * Only numbers with Gaussian or Laplace noise of known size take part. An epoch that was refused,
 * or a key without an answer, is a gap.
 */
export class QuestionSeries {
  /** In the order of the estimate; empty until there is an answer with known noise. */
  numbers: readonly NumberSeries[] = [];
  #keys: string | null = null;
  #fault: SeriesFault | null = null;
  #unknown = false;
  /** Epochs before the first answer with known noise. */
  readonly #early: number[] = [];

  constructor(readonly question: string, private readonly kept: number) {}

  /** Null if the numbers are usable, or there is no answer yet. */
  get fault(): SeriesFault | null {
    return this.#fault ?? (this.numbers.length === 0 && this.#unknown ? 'noise-unknown' : null);
  }

  /** Takes the answer of the next release. Cost: O(numbers). */
  take(epoch: number, outcome: Outcome): void {
    if (this.#fault !== null) return;
    const isValue = outcome.kind === 'value';
    const noise = isValue ? deviationsAsNormal(outcome.uncertainty) : null;
    if (!isValue || noise?.length !== outcome.estimate.length) {
      this.#unknown ||= isValue;
      if (this.numbers.length === 0) this.#early.push(epoch);
      for (const number of this.numbers) number.take({ epoch, value: null, deviation: 0 });
      return;
    }
    const { estimate, groups, answered, running } = outcome;
    if (running !== undefined) {
      this.#fault = 'running-total';
      return;
    }
    const size = estimate.length / (groups?.length ?? 1);
    if (this.numbers.length === 0) this.#begin(estimate.length, groups, size);
    this.#fault = JSON.stringify(groups ?? null) !== this.#keys ? 'keys-change'
      : estimate.length !== this.numbers.length ? 'shape-changes' : null;
    if (this.#fault !== null) {
      this.numbers = [];
      return;
    }
    for (const number of this.numbers) {
      const { place } = number;
      const [value, deviation] = [estimate[place]!, noise[place]!];
      const isThere = answered?.[Math.floor(place / size)] !== false && deviation > 0
        && Number.isFinite(deviation) && Number.isFinite(value);
      number.take({ epoch, value: isThere ? value : null, deviation: isThere ? deviation : 0 });
    }
  }

  #begin(entries: number, keys: readonly (readonly string[])[] | undefined, size: number): void {
    this.#keys = JSON.stringify(keys ?? null);
    this.numbers = Array.from({ length: entries }, (_, place) =>
      new NumberSeries(place, keys?.[Math.floor(place / size)] ?? null, this.kept));
    for (const epoch of this.#early.splice(0)) {
      for (const number of this.numbers) number.take({ epoch, value: null, deviation: 0 });
    }
  }
}

/** The releases of one study's log as series of numbers, question by question. */
export class ReleaseSeries {
  readonly #questions = new Map<string, QuestionSeries>();

  /** @param kept how many releases each number keeps, at least. Default: all. */
  constructor(private readonly kept = Infinity) {}

  /** Takes the next release of the log. Cost: O(numbers of its answers). */
  take(release: ReleaseBody): void {
    for (const { question, outcome } of release.answers) {
      const series = this.#questions.get(question) ?? new QuestionSeries(question, this.kept);
      this.#questions.set(question, series);
      series.take(Number(release.epoch), outcome);
    }
  }

  /** In the study's order. */
  get questions(): readonly QuestionSeries[] {
    return [...this.#questions.values()];
  }
}
