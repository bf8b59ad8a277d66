import type { StudyDefinition } from '../../server/studies/definition.js';
import { onlyAnswer, type ReleaseBody } from '../../src/wire/messages.js';
import { shortForm } from '../../src/wire/study-document.js';
import { baselines, scaledDistance, type Baseline, type Baselines } from './baselines.js';
import type { Setting } from './setting.js';

/** A private answer compared with the truth of its own study's epoch. */
export interface Answer {
  readonly estimator: string;
  readonly epoch: bigint;
  readonly outcome: 'value' | 'refused';
  readonly reason?: string;
  readonly estimate: readonly number[] | null;
  /** In scales; null if refused. */
  readonly error: number | null;
  /**
   * The error that the plan promised before any row, at this hostile share; infinite beyond its
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
  /** Errors of the answers without privacy, in scales. */
  readonly baselines: Readonly<Record<Baseline, number>>;
  readonly baselineEstimates: Readonly<Record<Baseline, readonly number[]>>;
  readonly answers: readonly Answer[];
}

/** One study's part of a round. */
export interface Part {
  readonly setting: Setting;
  readonly roundBaselines: Baselines;
  readonly answer: Answer;
}

/** Compares a release with what the lab knows about its epoch. */
export function answerOf(
  { document, questions: [{ plan }] }: StudyDefinition, release: ReleaseBody, { truth }: Baselines,
  { hostileShare }: Setting, scale: readonly number[],
): Answer {
  const { outcome } = onlyAnswer(release);
  return {
    estimator: shortForm(document).estimator,
    epoch: release.epoch,
    outcome: outcome.kind,
    ...(outcome.kind === 'refused' && { reason: outcome.reason }),
    estimate: outcome.kind === 'value' ? outcome.estimate : null,
    error: outcome.kind === 'value' ? scaledDistance(outcome.estimate, truth, scale) : null,
    promised: plan.expectedError(hostileShare).total,
    epsilonSpent: release.ledger.epsilonSpent,
  };
}

/** Joins the studies' parts: round n is the n-th epoch of each study with everybody in it. */
export class Rounds {
  private readonly parts = new Map<number, Map<string, Part>>();
  private readonly lost = new Set<number>();

  constructor(
    private readonly studies: readonly string[],
    private readonly scale: readonly number[],
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
    const { truth, honest, hostile } = roundBaselines;
    const honestFewest = Math.min(...parts.map((part) => part.roundBaselines.honest));
    this.onRound({
      index,
      setting,
      truth,
      honest,
      hostile,
      honestFewest,
      baselines: Object.fromEntries(baselines.map((name) =>
        [
          name, scaledDistance(roundBaselines.baselines[name], truth, this.scale),
        ])) as Record<Baseline, number>,
      baselineEstimates: roundBaselines.baselines,
      answers: parts.map(({ answer }) => answer),
    });
  }
}
