import type { StudyDefinition } from '../../server/studies/definition.js';
import type { ReleaseBody } from '../../src/wire/messages.js';
import type { Baselines, Compared, RowPicture } from './baselines.js';
import type { Setting } from './setting.js';
import { labNameOf } from './studies.js';

/** A private answer compared with the truth of its own study's epoch. */
export interface Answer {
  readonly estimator: string;
  readonly epoch: bigint;
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly estimate: readonly number[] | null;
  /** For an answer by key: the keys, in the order of the estimate. */
  readonly keys?: readonly string[];
  /** In spreads, or in the unit of an answer by key; null if refused. */
  readonly error: number | null;
  /**
   * The error that the plan promised before any row, at this corruption; infinite beyond its
   * promise.
   */
  readonly promised: number;
  readonly epsilonSpent: number;
}

/** One epoch of all studies, with the facts that only the lab knows. */
export interface Round {
  readonly index: number;
  readonly setting: Setting;
  readonly truth: readonly number[];
  readonly honest: number;
  readonly hostile: number;
  /** Number of honest people in the study that had the fewest. */
  readonly honestFewest: number;
  /** Keys that the server refused in this round; absent if admission is open. */
  readonly turnedAway?: number;
  /** Errors of the answers without privacy, in spreads. */
  readonly baselines: Readonly<Record<string, number>>;
  readonly baselineEstimates: Readonly<Record<string, readonly number[]>>;
  /** Null where answers are by key, and in rounds that are over. */
  readonly picture: RowPicture | null;
  readonly answers: readonly Answer[];
}

/** One study's part of a round. */
export interface Part {
  readonly setting: Setting;
  readonly roundBaselines: Baselines;
  readonly answer: Answer;
}

/** Compares a release with the lab's own facts about its epoch. */
export function answerOf(
  { document, questions: [{ plan }] }: StudyDefinition, release: ReleaseBody,
  baselines: Baselines, { corruption }: Setting,
): Answer {
  const { outcome } = release.answers[0]!;
  const { error, promised } =
    baselines.judge({ plan, cohort: document.cohort, outcome, corruption });
  return {
    estimator: labNameOf(document),
    epoch: release.epoch,
    outcome: outcome.kind,
    ...(outcome.kind === 'refused' && { reason: outcome.reason }),
    estimate: outcome.kind === 'value' ? outcome.estimate : null,
    ...(outcome.kind === 'value' && outcome.groups !== undefined
      && { keys: outcome.groups.map((key) => key.join(', ')) }),
    error,
    promised,
    epsilonSpent: release.ledger.epsilonSpent,
  };
}

/** Joins the studies' parts: round n is the n-th epoch of each study with everybody in it. */
export class Rounds {
  private readonly parts = new Map<number, Map<string, Part>>();
  private readonly lost = new Set<number>();

  constructor(
    private readonly studies: readonly string[],
    private readonly onRound: (round: Round) => void,
  ) {}

  /**
   * A study had no honest people in this round, so there is nothing to compare. @returns whether
   * this is new.
   */
  lose(index: number): boolean {
    if (this.lost.has(index)) return false;
    this.lost.add(index);
    this.parts.delete(index);
    return true;
  }

  add(study: string, index: number, part: Part): void {
    if (this.lost.has(index)) return;
    const own = this.parts.get(index) ?? new Map<string, Part>();
    this.parts.set(index, own.set(study, part));
    if (own.size < this.studies.length) return;
    this.parts.delete(index);
    const parts = this.studies.map((name) => own.get(name)!);
    const { setting, roundBaselines } = parts[0]!;
    const { truth, honest, hostile, picture } = roundBaselines;
    // Studies about means compare with the same answers, each study by key with its own.
    const plain = Object.assign(
      {}, ...[...parts].reverse().map((part) => part.roundBaselines.baselines),
    ) as Baselines['baselines'];
    const honestFewest = Math.min(...parts.map((part) => part.roundBaselines.honest));
    this.onRound({
      index,
      setting,
      truth,
      honest,
      hostile,
      honestFewest,
      baselines: each(plain, ({ error }) => error),
      baselineEstimates: each(plain, ({ estimate }) => estimate),
      picture,
      answers: parts.map(({ answer }) => answer),
    });
  }
}

function each<T>(
  compared: Baselines['baselines'], of: (one: Compared) => T,
): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(compared).map(([name, one]) => [name, of(one)]));
}
