/** The messages of the lab's own server: see cli/lab/session.ts and cli/lab/rounds.ts. */
export interface Setting {
  readonly attack: string;
  readonly corruption: number;
  readonly strength?: number;
}

export interface Scene {
  readonly data: string;
  readonly estimators: readonly string[];
  readonly contributors: number;
  readonly epsilon: number;
}

export interface State {
  readonly phase: 'connecting' | 'playing' | 'stopped';
  readonly connected: number;
  readonly sessions: number;
  readonly scene: Scene;
  readonly setting: Setting;
  /** The round in progress is the last one until a person goes on. */
  readonly isPaused: boolean;
  /** Starts a laboratory with the same scene and setting. */
  readonly command: string;
  readonly address: string | null;
  readonly serverKey: string | null;
  readonly studies: readonly {
    readonly study: string; readonly estimator: string; readonly title: string;
    /** The unit of its errors. */
    readonly unit: string;
  }[];
}

export interface Answer {
  readonly estimator: string;
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly estimate: readonly number[] | null;
  /** For an answer by key: the keys, in the order of the estimate. */
  readonly keys?: readonly string[];
  readonly error: number | null;
  /** Null beyond the estimator's promise. */
  readonly promised: number | null;
}

export interface Round {
  readonly index: number;
  readonly setting: Setting;
  readonly truth: readonly number[];
  readonly honest: number;
  readonly hostile: number;
  /** Errors of the answers without privacy, by name. */
  readonly baselines: Readonly<Record<string, number>>;
  readonly baselineEstimates: Readonly<Record<string, readonly number[]>>;
  /** Null where answers are by key, and in rounds that are over. */
  readonly picture: Picture | null;
  readonly answers: readonly Answer[];
}

/** Some rows of a round, and the robust filter's verdict on all of them. */
export interface Picture {
  readonly rows: readonly {
    readonly values: readonly number[]; readonly isHostile: boolean; readonly isKept: boolean;
  }[];
  readonly leftOut: { readonly honest: number; readonly hostile: number };
  /** A row that is farther than this from the centre, in spreads, is left out at once. */
  readonly centre: readonly number[];
  readonly reach: number;
}

export interface Programme {
  readonly attacks: readonly {
    readonly name: string; readonly title: string; readonly defaultStrength: number | null;
  }[];
  readonly data: readonly {
    readonly name: string; readonly title: string; readonly columns: readonly string[];
    readonly spread: readonly number[];
  }[];
  readonly estimators: readonly ListedEstimator[];
}

export interface ListedEstimator {
  readonly name: string;
  readonly title: string;
  readonly maturity: 'recommended' | 'research';
  readonly assumption: string;
}

/** One line of the chart and one card: a private answer, or one without privacy. */
export interface Line {
  readonly name: string;
  readonly title: string;
  readonly isPrivate: boolean;
  /** By round; null if it was refused. */
  readonly errors: readonly (number | null)[];
}

const baselineTitles: Readonly<Record<string, string>> = {
  'naive-mean': 'mean of everybody',
  'coordinate-median': 'column medians',
  'robust-filter': 'robust filter',
  'plain count': 'rows by region',
  'plain sum': 'sums by region, without caps',
  'plain mean': 'means by region, without a range',
};

/** The lines of all rounds: first the answers without privacy, then the private ones. */
export function linesOf(rounds: readonly Round[]): readonly Line[] {
  const first = rounds[0];
  if (first === undefined) return [];
  const baselines = Object.keys(first.baselines).map((name): Line => ({
    name, title: baselineTitles[name] ?? name, isPrivate: false,
    errors: rounds.map((round) => round.baselines[name] ?? null),
  }));
  const answers = first.answers.map(({ estimator }, i): Line => ({
    name: estimator, title: estimator, isPrivate: true,
    errors: rounds.map((round) => round.answers[i]?.error ?? null),
  }));
  return [...baselines, ...answers];
}

/** The quality of an answer, and its place among the private answers of its round. */
export interface Verdict {
  readonly text: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'quiet';
  /** The plan's promise, and whether it was kept; empty where nothing was promised. */
  readonly promise: string;
}

/** Errors up to which an answer is close, and merely off. */
export type Limits = readonly [close: number, off: number];

/** For answers whose errors are in spreads. */
export const limitsInSpreads: Limits = [0.15, 0.5];

/**
 * A verdict about the error itself: a kept promise can still be a large error, so it does not
 * decide the colour.
 * @param errors of all private answers of the round in the same unit; null: refused.
 * @param limits null where it is unknown which errors are small.
 */
export function verdictOf(
  { outcome, error, promised }: Answer, errors: readonly (number | null)[], limits: Limits | null,
): Verdict {
  if (outcome === 'refused' || error === null) {
    return { text: 'refused to answer', tone: 'quiet', promise: '' };
  }
  const rank = 1 + errors.filter((each) => each !== null && each < error).length;
  const tone = limits === null ? 'quiet'
    : error <= limits[0] ? 'good' : error <= limits[1] ? 'warn' : 'bad';
  const words = { good: 'close', warn: 'off', bad: 'far off', quiet: 'not rated' }[tone];
  const place = errors.length < 2 ? ''
    : `, ${rank === 1 ? 'best' : ordinal(rank)} of ${errors.length}`;
  return {
    text: `${words}${place}`, tone,
    promise: promised === null ? 'Its plan promises nothing with this share of liars.'
      : `Its plan expects ${short(promised)} and promises twice that: ${
        error <= 2 * promised ? 'kept' : 'broken'}.`,
  };
}

function ordinal(rank: number): string {
  const endings: Readonly<Record<number, string>> = { 1: 'st', 2: 'nd', 3: 'rd' };
  return `${rank}${endings[rank] ?? 'th'}`;
}

export function short(value: number | null): string {
  if (value === null) return 'none';
  if (value >= 100) return Number(value.toPrecision(2)).toLocaleString('en-GB');
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

export function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}
