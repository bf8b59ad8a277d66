/** One study in the answer of `/v1/operator/progress`. */
export interface StudyProgress {
  readonly id: string;
  readonly name: string;
  readonly state: 'open' | 'exhausted' | 'ended';
  /** The operator has paused it: no epoch follows the open one. */
  readonly paused?: boolean;
  /** The operator's notes about it. Everybody can read them. */
  readonly notes?: readonly Note[];
  readonly epoch: string;
  /** Unix milliseconds by the server's clock; 0 if the epoch closes on a count or none is open. */
  readonly closesAtMs: number;
  /** Contributors that the study's plan expects per epoch. */
  readonly cohort: number;
  /** Null if epochs close on a count. */
  readonly everyMs: number | null;
  readonly releases: number;
  readonly progress: EpochProgress | null;
  /** None of a study with one question. */
  readonly questions: readonly QuestionProgress[];
  /** Number of contributors whose own budget did not pay for the open epoch. */
  readonly leftOut: number;
  /**
   * A key may be excluded if its rows are farther than this from an answer, in spreads; null if
   * nobody is excluded.
   */
  readonly beyond: number | null;
  /** Such keys are excluded automatically at each release. */
  readonly automatic: boolean;
  /** The newest 50 excluded keys, newest first. */
  readonly quarantined: readonly {
    readonly contributor: string; readonly fromEpoch: string; readonly distance: number;
    readonly atMs: number;
  }[];
  readonly batches: {
    readonly accepted: number;
    readonly duplicates: number;
    readonly refused: Readonly<Record<string, number>>;
  };
}

/** An operator's note about a study at some time. */
export interface Note {
  readonly id: number;
  readonly atMs: number;
  readonly text: string;
}

/** The server's figures for ten seconds; null where nothing was measured. See `FigureSample`. */
export interface Sample {
  readonly atMs: number;
  readonly seconds: number;
  readonly accepted: number;
  readonly refused: number;
  readonly ackMedian: number | null;
  readonly ack99: number | null;
  readonly commit99: number | null;
  readonly queued: number;
  readonly storeBytes: number | null;
}

/** The outcome of one epoch. */
export interface EpochOutcome {
  readonly epoch: string;
  readonly closedAtMs: number;
  readonly answered: number;
  readonly refused: readonly { readonly question: string; readonly reason: string }[];
}

/** The outcomes of a study's releases, and how long its budget lasts. */
export interface StudyOutcomes {
  readonly id: string;
  readonly outcomes: readonly EpochOutcome[];
  readonly reasons: readonly {
    readonly reason: string; readonly count: number; readonly text: string;
    readonly question: string; readonly epoch: string; readonly remedy: string;
  }[];
  readonly epochsLeft: number | null;
  readonly leftMs: number | null;
  readonly renewsMs: number | null;
}

/** The answer of `/v1/operator/history`. */
export interface OperatorHistory {
  /** Samples of the last two hours, oldest first. */
  readonly samples: readonly Sample[];
  readonly studies: readonly StudyOutcomes[];
}

/** Exact figures of the open epoch. */
export interface EpochProgress {
  readonly contributors: number;
  readonly complete: number;
  readonly groupsReached: number;
  readonly groups: number;
  /**
   * The people who came, including those who took everything back, and the most that an epoch
   * accepts.
   */
  readonly people?: { readonly came: number; readonly most: number };
}

/** One question of a study with a list of questions. */
export interface QuestionProgress {
  readonly name: string;
  readonly estimator: string;
  /** The question's part of the study's privacy cost, in whole per cent. */
  readonly part: number;
  /**
   * The outcome in the newest release: `value`, or the reason of a refusal; null before the first
   * release.
   */
  readonly last: string | null;
}

/** The answer of `/v1/operator/progress`. */
export interface Progress {
  /** Hexadecimal. */
  readonly serverKey: string;
  /** The fingerprint of that key, in the form that `keelson serve` prints. */
  readonly fingerprint: string;
  /** The server's clock. */
  readonly atMs: number;
  readonly studies: readonly StudyProgress[];
  /** Studies, or files of studies, that the server should run and does not. */
  readonly refusedStudies: readonly { readonly study: string; readonly reason: string }[];
  /** By code: refusals before the study was known. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The answer of `/healthz` for the operator. */
export interface Health {
  readonly status: 'ok' | 'stopping';
  readonly overloaded: boolean;
  readonly sockets: number;
  readonly channels: number;
  readonly subscriptions: number;
  readonly queuedBatches: number;
  readonly queuedBytes: number;
  readonly store: StoreHealth | null;
}

export interface StoreHealth {
  readonly commits: number;
  readonly batches: number;
  readonly commitSecondsMedian: number;
  readonly commitSeconds99: number;
  readonly fileBytes: number;
  readonly walBytes: number;
}

/** The answer of `/v1/operator/evidence`. */
export interface Evidence {
  readonly study: string;
  readonly contributor: string;
  readonly answer: { readonly index: number; readonly epoch: string } | null;
  readonly unit: 'spread' | 'columns';
  readonly epochs: readonly {
    readonly epoch: string;
    readonly released: boolean;
    readonly rows: number;
    readonly complete: boolean;
    readonly distance: number | null;
    readonly farthest: number | null;
  }[];
  readonly truncated: boolean;
  /** The first epoch without the key. */
  readonly excludedFrom: string | null;
}

const meanings: Readonly<Record<string, string>> = {
  'malformed': 'bytes that are no message',
  'unknown-study': 'an id that this server does not run',
  'invalid-key': 'a public key that anybody could sign for',
  'key-not-allowed': 'not on the list of keys',
  'bad-signature': 'signed with another key, or for another server',
  'unknown-channel': 'sent before the handshake was over',
  'wrong-columns': 'rows with other columns',
  'not-finite': 'NaN or infinities in rows',
  'too-many-rows': 'a batch above the limit',
  'contribution-full': 'more than one contribution in an epoch',
  'mutated': 'a sequence used again for other bytes',
  'stale-epoch': 'rows for an epoch that has closed',
  'epoch-not-open': 'between epochs; sent again by itself',
  'study-ended': 'the study has ended',
  'budget-exhausted': 'the budget pays for no further epoch',
  'sequence-too-far': 'far ahead of unsettled batches',
  'credit-exceeded': 'a client that ignores flow control',
  'overloaded': 'the journal was behind, or the room for keys was full',
  'rate-limited': 'too many handshakes from one address',
  'too-many-channels': 'a limit per socket or server',
  'contributor-budget-exhausted': 'the contributor\'s own budget is used up',
  'shutting-down': 'the server was stopping',
  'unsupported': 'a request that this version does not serve',
  'internal': 'a failure that the log explains',
  'quarantined': 'a key that is excluded',
};

/** The meaning of a refusal code, in a few words. */
export function meaningOf(code: string): string {
  return meanings[code] ?? 'unspecified';
}

/** Codes and counts, most frequent first. */
export function refusalsOf(
  refused: Readonly<Record<string, number>>,
): readonly (readonly [string, number])[] {
  return Object.entries(refused)
    .filter(([, count]) => count > 0).sort((left, right) => right[1] - left[1]);
}

/** `14 KB`, `3.2 MB`. */
export function bytes(count: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${step > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[step]}`;
}

/** `0.4 ms`, `12 ms`, `1.3 s`. */
export function latency(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(1)} s`;
  const milliseconds = seconds * 1000;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
