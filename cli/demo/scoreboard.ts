import { intervalOf } from '../../src/answers/intervals.js';
import type { Answer, ReleaseBody } from '../../src/wire/messages.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { truthOf, type Truth } from '../../simulation/index.js';

/**
 * One release beside facts that only the demonstration knows: the true answer of the honest
 * contributors.
 */
export interface Score {
  readonly study: string;
  readonly epoch: bigint;
  readonly outcome: 'value' | 'refused';
  /** Only when refused. */
  readonly reason?: string;
  readonly estimate: readonly number[] | null;
  /** For each column the 95 % interval that pages show; null where there is none. */
  readonly intervals: readonly (readonly [number, number] | null)[];
  readonly truth: readonly number[];
  /** The plain mean of everybody, hostile contributors included. */
  readonly naive: readonly number[];
  /** Euclidean distance from the truth, with each column divided by its spread; null if refused. */
  readonly error: number | null;
  /** The same for `naive`. */
  readonly naiveError: number;
  readonly epsilonSpent: number;
  readonly epsilonLeft: number;
  /** Number of accepted contributions, hostile ones included. */
  readonly contributors: number;
}

/** A release with several answers, beside those of the honest people alone. */
export interface Answers {
  readonly study: string;
  readonly epoch: bigint;
  readonly document: StudyDocument;
  /** One for each question, in the study's order. */
  readonly answers: readonly Answer[];
  /** For each answer, the answer from the honest people alone, without noise. */
  readonly honest: readonly (readonly number[])[];
  /** For each answer the error that its plan expects, in the answer's units. */
  readonly plannedErrors: readonly number[];
  readonly epsilonSpent: number;
  readonly epsilonLeft: number;
  /** Number of accepted contributions, hostile ones included. */
  readonly contributors: number;
}

/** One release, as the demonstration shows it. */
export type Shown = Score | Answers;

/** True if every question of a release has an answer. */
export function isAnswered(shown: Shown): boolean {
  return 'answers' in shown
    ? shown.answers.every(({ outcome }) => outcome.kind === 'value') : shown.outcome === 'value';
}

/**
 * The numbers of a release beside the truth.
 * @param beside - of a study with several questions, for each of them.
 */
export function shownOf(
  release: ReleaseBody, document: StudyDocument, truth: Truth,
  beside: () => Pick<Answers, 'honest' | 'plannedErrors'>,
): Shown {
  if (document.wireForm === 'short') return scoreRelease(release, document, truth);
  const { study, epoch } = release;
  return {
    study, epoch, document, answers: release.answers, ...beside(), ...countsOf(release, truth),
  };
}

function countsOf(
  { ledger }: ReleaseBody, truth: Truth,
): Pick<Shown, 'epsilonSpent' | 'epsilonLeft' | 'contributors'> {
  return {
    epsilonSpent: ledger.epsilonSpent,
    epsilonLeft: Math.max(0, ledger.epsilonCap - ledger.epsilonSpent),
    contributors: truth.honest + truth.hostile,
  };
}

/** Compares a release with the truth of its epoch. */
function scoreRelease(release: ReleaseBody, document: StudyDocument, truth: Truth): Score {
  const spread = spreadOf(document);
  const [{ outcome }] = release.answers as [Answer];
  const { honest, naive } = truthOf(document.questions[0]!, truth);
  return {
    study: document.study,
    epoch: release.epoch,
    outcome: outcome.kind,
    ...(outcome.kind === 'refused' && { reason: outcome.reason }),
    estimate: outcome.kind === 'value' ? outcome.estimate : null,
    intervals: outcome.kind === 'value'
      ? outcome.estimate.map((_, place) => intervalOf(outcome, place)) : [],
    truth: honest,
    naive,
    error: outcome.kind === 'value' ? scaledDistance(outcome.estimate, honest, spread) : null,
    naiveError: scaledDistance(naive, honest, spread),
    ...countsOf(release, truth),
  };
}

/** The study's spread, one per column. */
function spreadOf(document: StudyDocument): readonly number[] {
  const { spread } = document.questions[0]!.parameters;
  if (typeof spread === 'number') return document.columns.map(() => spread);
  return Array.isArray(spread) ? (spread as readonly number[]) : document.columns.map(() => 1);
}

function scaledDistance(
  left: readonly number[], right: readonly number[], spread: readonly number[],
): number {
  return Math.hypot(...left.map((value, i) => (value - right[i]!) / spread[i]!));
}

/** Results of a study over the whole run. */
export type StudySummary = ScoreSummary | AnswersSummary;

/** Results of a study with several questions. */
export interface AnswersSummary {
  readonly study: string;
  readonly releases: number;
  /** Number of questions that each release answers. */
  readonly questions: number;
  /** Answers that were refused, over all releases. */
  readonly refused: number;
  readonly epsilonSpent: number;
  readonly epsilonLeft: number;
}

/** Results of a study of one question. */
export interface ScoreSummary {
  readonly study: string;
  readonly releases: number;
  readonly refused: number;
  readonly medianError: number | null;
  readonly worstError: number | null;
  readonly medianNaiveError: number;
  /** True if every release was closer to the truth than the naive mean. */
  readonly alwaysCloser: boolean;
  readonly epsilonSpent: number;
  readonly epsilonLeft: number;
}

/** @param shown of all studies. */
export function summarise(
  { study, questions, wireForm }: StudyDocument, shown: readonly Shown[],
): StudySummary {
  const own = shown.filter((each) => each.study === study);
  if (wireForm === 'short') {
    return summariseScores(study, own.filter((each): each is Score => !('answers' in each)));
  }
  const last = own.at(-1);
  const answers = own.flatMap((each) => ('answers' in each ? each.answers : []));
  return {
    study, releases: own.length, questions: questions.length,
    refused: answers.filter(({ outcome }) => outcome.kind === 'refused').length,
    epsilonSpent: last?.epsilonSpent ?? 0,
    epsilonLeft: last?.epsilonLeft ?? 0,
  };
}

function summariseScores(study: string, scores: readonly Score[]): ScoreSummary {
  const errors = scores.map((score) => score.error).filter((error) => error !== null);
  const last = scores.at(-1);
  return {
    study,
    releases: scores.length,
    refused: scores.filter((score) => score.outcome === 'refused').length,
    medianError: median(errors),
    worstError: errors.length === 0 ? null : Math.max(...errors),
    medianNaiveError: median(scores.map((score) => score.naiveError)) ?? Number.NaN,
    alwaysCloser: scores.length > 0
      && scores.every((score) => score.error !== null && score.error < score.naiveError),
    epsilonSpent: last?.epsilonSpent ?? 0,
    epsilonLeft: last?.epsilonLeft ?? 0,
  };
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((left, right) => left - right);
  if (sorted.length === 0) return null;
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1]! + sorted[middle]!) / 2 : sorted[Math.floor(middle)]!;
}
