/** What the lab's own server sends: see cli/lab/session.ts and cli/lab/rounds.ts. */
export interface Setting {
  readonly attack: string;
  readonly hostileShare: number;
  readonly strength?: number;
}

export interface Scene {
  readonly data: string;
  readonly estimators: readonly string[];
}

export interface State {
  readonly phase: 'connecting' | 'playing' | 'stopped';
  readonly connected: number;
  readonly sessions: number;
  readonly scene: Scene;
  readonly setting: Setting;
  readonly address: string | null;
  readonly serverKey: string | null;
  readonly studies: readonly {
    readonly study: string; readonly estimator: string; readonly title: string;
    /** What its errors are in. */
    readonly unit: string;
  }[];
}

export interface Answer {
  readonly estimator: string;
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly estimate: readonly number[] | null;
  /** Of an answer by key: the keys, in the order of the estimate. */
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
  readonly answers: readonly Answer[];
}

export interface Programme {
  readonly attacks: readonly {
    readonly name: string; readonly title: string; readonly defaultStrength: number | null;
  }[];
  readonly data: readonly {
    readonly name: string; readonly title: string; readonly columns: readonly string[];
  }[];
  readonly estimators: readonly ListedEstimator[];
}

export interface ListedEstimator {
  readonly name: string;
  readonly title: string;
  readonly shelf: 'recommended' | 'research';
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

/** Whether a private answer was as good as its plan promised: at most twice the promised error. */
export function verdictOf({ outcome, error, promised }: Answer): {
  readonly text: string; readonly tone: string;
} {
  if (outcome === 'refused' || error === null) return { text: 'refused to answer', tone: 'quiet' };
  if (promised === null) return { text: 'beyond its promise', tone: 'quiet' };
  if (error <= 2 * promised) return { text: `promised ${short(promised)}: kept`, tone: 'good' };
  return { text: `promised ${short(promised)}: broken`, tone: 'bad' };
}

export function short(value: number | null): string {
  if (value === null) return 'none';
  if (value >= 100) return Number(value.toPrecision(2)).toLocaleString('en-GB');
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
}

export function percent(share: number): string {
  return `${Number((100 * share).toFixed(1))} %`;
}
