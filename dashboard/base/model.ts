import type { ReleaseBody, StudyDocument } from '../../client/index.js';

/** How many releases a page keeps, so that its memory does not grow for as long as it is open. */
export const releasesKept = 2000;

/** Charts of one study at most: a matrix has more numbers than a page can show over time. */
export const chartsMax = 12;

/** Which page an address asks for. A study is `#/study/ID`, so that links and reloads keep it. */
export type Route =
  | { readonly kind: 'list' }
  | { readonly kind: 'study'; readonly id: string }
  /** `asked` is what stands after the `#`, shortened. There is no such page. */
  | { readonly kind: 'unknown'; readonly asked: string };

const askedLength = 100;

/** @param hash as `location.hash` has it. */
export function routeOf(hash: string): Route {
  // The skip link leads to #content: it names a place on the page and no page.
  if (['', '#', '#/', '#content'].includes(hash)) return { kind: 'list' };
  const found = /^#\/study\/([0-9a-f]{64})\/?$/i.exec(hash);
  if (found !== null) return { kind: 'study', id: found[1]!.toLowerCase() };
  const asked = decoded(hash.slice(1));
  const isLong = asked.length > askedLength;
  return { kind: 'unknown', asked: isLong ? `${asked.slice(0, askedLength - 3)}...` : asked };
}

/** The text of an address as a person wrote it; unchanged where it cannot be decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What `/v1/studies` says of a study. */
export interface StudyEntry {
  readonly id: string;
  readonly name: string;
  readonly state: 'open' | 'exhausted' | 'ended';
  /** Decimal; 0 when none is open. */
  readonly epoch: string;
  /** Unix time; 0 when the epoch closes on a count, or none is open. */
  readonly closesAtMs: number;
  /** In the log. */
  readonly releases: number;
  readonly document: StudyDocument;
  /** The estimator in a line. */
  readonly title: string;
  readonly parameterWords: Readonly<Record<string, string>>;
  /** A name for each number of an estimate. */
  readonly labels?: readonly string[];
}

/** One number over epochs: null where a release refused. All of one length, oldest first. */
export interface Series {
  readonly epochs: readonly number[];
  readonly values: readonly (number | null)[];
  readonly lows: readonly (number | null)[];
  readonly highs: readonly (number | null)[];
  /** Why a release refused; null where it did not. */
  readonly refusals: readonly (string | null)[];
}

/** One release as a row of the table. */
export interface Row {
  readonly epoch: bigint;
  readonly closedAtMs: bigint;
  readonly refusal: { readonly reason: string; readonly text: string } | null;
}

/** An outcome with an estimate. */
export type ValueOutcome = Extract<ReleaseBody['outcome'], { kind: 'value' }>;

/** The interval of one number of an estimate: the release's own, or that of its noise; null when it says nothing. */
export function intervalOf(outcome: ValueOutcome, place: number): readonly [number, number] | null {
  const { interval95: interval, uncertainty } = outcome;
  if (interval !== undefined) return [interval.low[place]!, interval.high[place]!];
  const deviation = uncertainty.kind === 'gaussian' ? uncertainty.standardDeviation[place] : undefined;
  const value = outcome.estimate[place];
  if (deviation === undefined || value === undefined) return null;
  return [value - 1.96 * deviation, value + 1.96 * deviation];
}

/**
 * What a page remembers of a study's releases: the numbers that it draws, and the last release in full. Taking one
 * costs O(charts), whatever the length of the log; memory is bounded by `kept`.
 */
export class History {
  readonly rows: Row[] = [];
  readonly epochs: number[] = [];
  readonly refusals: (string | null)[] = [];
  readonly #values: (number | null)[][] = [];
  readonly #lows: (number | null)[][] = [];
  readonly #highs: (number | null)[][] = [];
  /** All that were taken, forgotten ones too. */
  count = 0;
  /** How many of them refused. */
  refused = 0;
  last: ReleaseBody | null = null;
  /** The newest with an estimate: a refusal does not take away what was released before. */
  lastValue: (ReleaseBody & { readonly outcome: ValueOutcome }) | null = null;
  /** Which numbers of an estimate are kept, by their place in it. Estimates have one size: the first one decides. */
  #places: readonly number[] | null = null;

  /** @param choose the places of the numbers to keep, the most telling first; a dozen of them are kept. */
  constructor(
    private readonly kept = releasesKept,
    private readonly choose = (outcome: ValueOutcome): readonly number[] => outcome.estimate.map((_, place) => place),
  ) {}

  take(release: ReleaseBody): void {
    const { outcome } = release;
    this.count += 1;
    this.last = release;
    const isValue = outcome.kind === 'value';
    if (isValue) this.lastValue = { ...release, outcome };
    else this.refused += 1;
    if (isValue && this.#places === null) {
      this.#places = this.choose(outcome).slice(0, chartsMax);
      this.#widen(this.#places.length);
    }
    this.rows.push({ epoch: release.epoch, closedAtMs: release.closedAtMs, refusal: isValue ? null : outcome });
    this.epochs.push(Number(release.epoch));
    this.refusals.push(isValue ? null : outcome.reason);
    this.#values.forEach((values, slot) => {
      const place = this.#places![slot]!;
      const interval = isValue ? intervalOf(outcome, place) : null;
      values.push(isValue ? (outcome.estimate[place] ?? null) : null);
      this.#lows[slot]!.push(interval?.[0] ?? null);
      this.#highs[slot]!.push(interval?.[1] ?? null);
    });
    // Halved at twice the size, so that forgetting costs O(1) per release.
    if (this.epochs.length >= 2 * this.kept) this.#forget();
  }

  /** The number that was chosen as `slot`. The newest `kept` releases. */
  series(slot: number): Series {
    const newest = <T>(list: readonly T[] | undefined): readonly T[] => list?.slice(-this.kept) ?? [];
    return {
      epochs: newest(this.epochs), refusals: newest(this.refusals),
      values: newest(this.#values[slot]), lows: newest(this.#lows[slot]), highs: newest(this.#highs[slot]),
    };
  }

  /** The number chosen as `slot` of one release, `row` counted in `rows`, and half of its interval. */
  at(slot: number, row: number): { readonly value: number | null; readonly half: number | null } {
    const [low, high] = [this.#lows[slot]?.[row] ?? null, this.#highs[slot]?.[row] ?? null];
    const half = low === null || high === null ? null : (high - low) / 2;
    return { value: this.#values[slot]?.[row] ?? null, half };
  }

  /** Before the first estimate there are only refusals. */
  #widen(places: number): void {
    while (this.#values.length < places) {
      const nothing = (): null[] => this.epochs.map(() => null);
      this.#values.push(nothing());
      this.#lows.push(nothing());
      this.#highs.push(nothing());
    }
  }

  #forget(): void {
    for (const list of [this.rows, this.epochs, this.refusals, ...this.#values, ...this.#lows, ...this.#highs]) {
      list.splice(0, list.length - this.kept);
    }
  }
}

/** The columns where an estimate has one number per column; else what the server calls them; else by place. */
export function labelsOf(entry: StudyEntry, size: number): readonly string[] {
  const { columns } = entry.document;
  if (entry.labels?.length === size) return entry.labels;
  if (columns.length === size) return columns;
  return Array.from({ length: size }, (_, place) => `number ${place + 1} of ${size}`);
}

/** A refusal's reason as the end of a sentence. */
export function reasonInWords(reason: string): string {
  return refusalWords[reason] ?? reason.replaceAll('-', ' ');
}

const refusalWords: Readonly<Record<string, string>> = {
  'interrupted': 'the server stopped while the answer was in the making',
  'participation-below-plan': 'fewer people took part than the study was planned for',
  'scale-not-found': 'the spread of the data could not be found privately',
  'centre-not-found': 'the middle of the data could not be found privately',
  'groups-disagree': 'the groups of contributors disagree with one another',
  'rows-too-wide': 'the contributions spread wider than the study was planned for',
  'numerical-failure': 'the answer is outside the range of numbers',
};
