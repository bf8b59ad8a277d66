import {
  deviationsAsNormal, type ColumnType, type ColumnWords, type Measured, type Question,
  type RefusedOutcome, type ReleaseBody, type StudyDocument, type ValueOutcome,
} from '../../client/index.js';
import { honestIntervalOf, intervalOf, numberAt } from '../../src/answers/intervals.js';

/** The number of whole answers that a page keeps, for pictures over time. */
const answersKept = 150;
/** An answer with more numbers than this is not kept: a page may follow dozens of studies. */
const answerSizeMax = 320;

/** The number of releases that a page keeps, so that its memory stays bounded while it is open. */
const releasesKept = 2000;

/** Most charts of one study: a matrix has more numbers than a page can show over time. */
export const chartsMax = 12;

/**
 * The page that an address asks for. A study is `#/study/ID`, and one of its questions is
 * `#/study/ID/NAME`, so links and reloads keep it.
 */
export type Route =
  | { readonly kind: 'list' }
  | {
    readonly kind: 'study'; readonly id: string; readonly question?: string;
    /** The part of the address after a question mark. */
    readonly query?: string;
  }
  /** There is no page for this address. `asked` is the text after the `#`, shortened. */
  | { readonly kind: 'unknown'; readonly asked: string };

const askedLength = 100;

/** @param hash the value of `location.hash`. */
export function routeOf(hash: string): Route {
  // The skip link goes to #content, which is a place on the page and not a page.
  if (['', '#', '#/', '#content'].includes(hash)) return { kind: 'list' };
  const found = /^#\/study\/([0-9a-f]{64})(?:\/([a-z][a-z0-9-]{0,31}))?\/?(?:\?(.*))?$/i
    .exec(hash);
  if (found !== null) {
    const [, id, question, query] = found;
    return {
      kind: 'study', id: id!.toLowerCase(),
      ...(question !== undefined && { question: question.toLowerCase() }),
      ...(query !== undefined && query !== '' && { query }),
    };
  }
  const asked = decoded(hash.slice(1));
  const isLong = asked.length > askedLength;
  return { kind: 'unknown', asked: isLong ? `${asked.slice(0, askedLength - 3)}...` : asked };
}

/** The address as a person wrote it; unchanged if it cannot be decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The server's words for a question, for people. */
export interface QuestionWords {
  /** The estimator in one line. */
  readonly title: string;
  readonly parameterWords: Readonly<Record<string, string>>;
}

/** The report of `/v1/studies` about a study. */
export interface StudyEntry {
  /** The title of its only question, or the names of its questions. */
  readonly title: string;
  readonly id: string;
  readonly name: string;
  readonly state: 'open' | 'exhausted' | 'ended';
  /** Decimal; 0 if none is open. */
  readonly epoch: string;
  /** Unix time; 0 if the epoch closes on a count, or none is open. */
  readonly closesAtMs: number;
  /** Number of releases in the log. */
  readonly releases: number;
  readonly document: StudyDocument;
  /** The words about each question, in the study's order. */
  readonly questions: readonly QuestionWords[];
}

/** A question of a study, with the server's words about it. */
export interface Asked extends Question, QuestionWords {
  /** The type of each of its columns, in their order. Absent where all are numbers. */
  readonly types?: readonly ColumnType[];
  /** The study's words for each of its columns. Absent where the study has none. */
  readonly columnWords?: readonly ColumnWords[];
}

/** The questions of a study, in its order. */
export function questionsAsked({ document, questions }: StudyEntry): readonly Asked[] {
  return askedIn(document).map((asked, i) => ({ ...asked, ...questions[i] }));
}

/** The same out of the signed facts alone. */
export function askedIn(document: StudyDocument): readonly Asked[] {
  return document.questions.map((question): Asked => {
    const ofColumns = <T>(list: readonly T[] | undefined): readonly T[] | undefined =>
      list && question.columns.map((name) => list[document.columns.indexOf(name)]!);
    const [types, columnWords] = [ofColumns(document.types), ofColumns(document.columnWords)];
    return {
      ...question, title: question.estimator, parameterWords: {},
      ...(types !== undefined && { types }), ...(columnWords !== undefined && { columnWords }),
    };
  });
}

/**
 * One number over epochs, null for a refused release. All lists have the same length, oldest first.
 */
export interface Series {
  readonly epochs: readonly number[];
  /** The close of each epoch in Unix milliseconds. They never decrease, whatever a clock did. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly lows: Ends;
  readonly highs: Ends;
  /**
   * The narrower interval that holds if nobody lies, of an answer whose `lows` and `highs` hold if
   * some do.
   */
  readonly honest?: { readonly lows: Ends; readonly highs: Ends };
  /** The reason of a refused release; null for one with an answer. */
  readonly refusals: readonly (string | null)[];
}

type Ends = readonly (number | null)[];

/** The same part of each list of a series. */
export function partOf(
  { epochs, times, refusals, values, lows, highs, honest }: Series,
  cut: <T>(list: readonly T[]) => readonly T[],
): Series {
  return {
    epochs: cut(epochs), times: cut(times), refusals: cut(refusals), values: cut(values),
    lows: cut(lows), highs: cut(highs),
    ...(honest && { honest: { lows: cut(honest.lows), highs: cut(honest.highs) } }),
  };
}

/**
 * The place of the newest release that has an answer; -1 if there is none. Its number is null where
 * it belongs to a key without an answer: an older number would look like the present one.
 */
export function newestIn({ refusals }: Series): number {
  return refusals.findLastIndex((reason) => reason === null);
}

/** One release as a row of the table. */
export interface Row {
  readonly epoch: bigint;
  readonly closedAtMs: bigint;
  readonly refusal: { readonly reason: string; readonly text: string } | null;
  /** Number of keys of a split answer; null for any other. */
  readonly keys: number | null;
}

export type { ValueOutcome };

/** Standard deviation of the noise in one number; 0 if the release does not state it. */
function deviationOf({ uncertainty }: ValueOutcome, place: number): number {
  const deviation = deviationsAsNormal(uncertainty)?.[place] ?? 0;
  return Number.isFinite(deviation) ? deviation : 0;
}

/** An end for a series, which has none where an interval is open. */
export function finite(end: number | undefined): number | null {
  return Number.isFinite(end) ? end! : null;
}

/** The two ends in a series as an interval; null where there is none. An open end is infinite. */
export function intervalBetween(
  low: number | null, high: number | null,
): readonly [number, number] | null {
  return low === null && high === null ? null : [low ?? -Infinity, high ?? Infinity];
}

/** The newest release with an estimate. */
export interface LastValue {
  readonly epoch: bigint;
  readonly closedAtMs: bigint;
  readonly outcome: ValueOutcome;
}

/** A release with all numbers of its answer. */
export interface KeptAnswer {
  readonly epoch: number;
  /** Unix milliseconds. */
  readonly time: number;
  readonly outcome: ValueOutcome | RefusedOutcome;
}

/**
 * A page's memory of the answers to one question: the numbers that it draws, and the last release
 * in full.
 * Adding one costs O(charts) for any length of the log. `kept` bounds the memory.
 */
export class History {
  readonly rows: Row[] = [];
  readonly epochs: number[] = [];
  readonly times: number[] = [];
  readonly refusals: (string | null)[] = [];
  readonly #values: (number | null)[][] = [];
  readonly #lows: (number | null)[][] = [];
  readonly #highs: (number | null)[][] = [];
  readonly #honestLows: (number | null)[][] = [];
  readonly #honestHighs: (number | null)[][] = [];
  /** Standard deviations of the noise; 0 where unknown. */
  readonly #deviations: number[][] = [];
  /** Number of all releases that were added, including those no longer kept. */
  count = 0;
  /** The number of refused releases among them. */
  refused = 0;
  last: ReleaseBody | null = null;
  /** The reason why the last release has no answer; null if it has one. */
  lastRefusal: RefusedOutcome | null = null;
  /** The newest release with an estimate: a refusal does not hide the last answer. */
  lastValue: LastValue | null = null;
  /** The newest answers in full, with the refusals between them, oldest first. */
  readonly answers: KeptAnswer[] = [];
  /**
   * The indexes of the kept numbers of an estimate. Estimates have one size, so the first one
   * decides.
   */
  #places: readonly number[] | null = null;

  /**
   * @param choose returns the indexes of the numbers to keep, most important first. At most a dozen
   *   are kept.
   * @param question the place of the question in the study.
   * @param keepsAnswers whether the newest answers are kept in full, for pictures over time.
   */
  constructor(
    private readonly kept = releasesKept,
    private readonly choose = (outcome: ValueOutcome): readonly number[] =>
      outcome.estimate.map((_, place) => place),
    private readonly question = 0,
    private readonly keepsAnswers = false,
  ) {}

  take(release: ReleaseBody): void {
    const { outcome } = release.answers[this.question]!;
    this.count += 1;
    this.last = release;
    const isValue = outcome.kind === 'value';
    this.lastRefusal = isValue ? null : outcome;
    if (isValue) this.lastValue = { epoch: release.epoch, closedAtMs: release.closedAtMs, outcome };
    else this.refused += 1;
    if (isValue && this.#places === null) {
      this.#places = this.choose(outcome).slice(0, chartsMax);
      this.#widen(this.#places.length);
    }
    this.rows.push({
      epoch: release.epoch, closedAtMs: release.closedAtMs, refusal: isValue ? null : outcome,
      keys: isValue ? outcome.groups?.length ?? null : null,
    });
    this.epochs.push(Number(release.epoch));
    this.times.push(Math.max(this.times.at(-1) ?? 0, Number(release.closedAtMs)));
    this.refusals.push(isValue ? null : outcome.reason);
    if (this.keepsAnswers) this.#keepAnswer(outcome);
    this.#values.forEach((values, slot) => {
      const place = this.#places![slot]!;
      const interval = isValue ? intervalOf(outcome, place) : null;
      values.push(isValue ? numberAt(outcome, place) : null);
      this.#lows[slot]!.push(finite(interval?.[0]));
      this.#highs[slot]!.push(finite(interval?.[1]));
      const honest = isValue ? honestIntervalOf(outcome, place) : null;
      this.#honestLows[slot]!.push(finite(honest?.[0]));
      this.#honestHighs[slot]!.push(finite(honest?.[1]));
      this.#deviations[slot]!.push(isValue ? deviationOf(outcome, place) : 0);
    });
    // Forgetting half at twice the size costs O(1) per release.
    if (this.epochs.length >= 2 * this.kept) this.#forget();
  }

  /** The number at `slot` in the newest `kept` releases. */
  series(slot: number): Series {
    const honest =
      { lows: this.#honestLows[slot] ?? [], highs: this.#honestHighs[slot] ?? [] };
    const hasHonest = [...honest.lows, ...honest.highs].some((end) => end !== null);
    return partOf({
      epochs: this.epochs, times: this.times, refusals: this.refusals,
      values: this.#values[slot] ?? [], lows: this.#lows[slot] ?? [],
      highs: this.#highs[slot] ?? [], ...(hasHonest && { honest }),
    }, (list) => list.slice(-this.kept));
  }

  /** The same releases, with the noise in them; gaps where there is none or it is not known. */
  measured(slot: number): readonly Measured[] {
    const from = -this.kept;
    const [values, deviations] = [this.#values[slot] ?? [], this.#deviations[slot] ?? []]
      .map((list: readonly (number | null)[]) => list.slice(from));
    return this.epochs.slice(from).map((epoch, i) => {
      const deviation = deviations![i] ?? 0;
      return { epoch, value: deviation > 0 ? (values![i] ?? null) : null, deviation };
    });
  }

  /** The number at `slot` of one release, and its interval. `row` is an index in `rows`. */
  at(slot: number, row: number): {
    readonly value: number | null; readonly interval: readonly [number, number] | null;
  } {
    const [low, high] = [this.#lows[slot]?.[row] ?? null, this.#highs[slot]?.[row] ?? null];
    return { value: this.#values[slot]?.[row] ?? null, interval: intervalBetween(low, high) };
  }

  /** Until the first estimate there are only refusals. */
  #widen(places: number): void {
    while (this.#values.length < places) {
      const nothing = (): null[] => this.epochs.map(() => null);
      this.#values.push(nothing());
      this.#lows.push(nothing());
      this.#highs.push(nothing());
      this.#honestLows.push(nothing());
      this.#honestHighs.push(nothing());
      this.#deviations.push(this.epochs.map(() => 0));
    }
  }

  #keepAnswer(outcome: ValueOutcome | RefusedOutcome): void {
    if (outcome.kind === 'value' && outcome.estimate.length > answerSizeMax) return;
    this.answers.push({ epoch: this.epochs.at(-1)!, time: this.times.at(-1)!, outcome });
    if (this.answers.length >= 2 * answersKept) this.answers.splice(0, answersKept);
  }

  #forget(): void {
    for (const list of [
      this.rows, this.epochs, this.times, this.refusals, ...this.#values, ...this.#lows,
      ...this.#highs, ...this.#honestLows, ...this.#honestHighs, ...this.#deviations,
    ]) {
      list.splice(0, list.length - this.kept);
    }
  }
}

/** A refusal's reason, worded as the end of a sentence. */
export function reasonInWords(reason: string): string {
  return refusalWords[reason] ?? reason.replaceAll('-', ' ');
}

const refusalWords: Readonly<Record<string, string>> = {
  'interrupted': 'the server stopped while the answer was in the making',
  'participation-below-plan': 'fewer people took part than the study was planned for',
  'spread-not-found': 'too few people came, or their spread could not be found',
  'centre-not-found': 'too few people came, or their middle could not be found',
  'subsamples-disagree': 'too few people came, or random parts of them disagree with one another',
  'rows-too-wide': 'the contributions spread wider than the study was planned for',
  'too-few-left': 'too few of the contributions look as the study was planned for',
  'noise-too-large': 'the noise would hide the answer',
  'largest-unseen': 'too few people came to see how large their values are',
  'numerical-failure': 'the answer is outside the range of numbers',
};
