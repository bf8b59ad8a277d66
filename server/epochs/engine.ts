import { assert } from '../../src/base/assert.js';
import { InvariantError } from '../../src/base/errors.js';
import type { KnownKeys } from '../../src/base/remembered-keys.js';
import type { Compute, Estimator, Plan } from '../../src/estimators/contract/estimator.js';
import { StateReader, StateWriter } from '../../src/estimators/summaries/codec.js';
import { planQuestionsOf } from '../../src/plan-study.js';
import type { PlannedQuestion, QuestionsPlan } from '../../src/questions/plan.js';
import { failedOutcome, QuestionsRun, type QuestionResult } from '../../src/questions/run.js';
import type { EncryptedSeries } from '../../src/base/running-totals.js';
import type { NoiseSource } from '../../src/random/source.js';
import { seededRandom } from '../../src/random/work.js';
import { assignmentHashOf } from './assignment-hashes.js';
import type {
  AcceptedBatch, EpochProgress, EpochResult, EpochSetup, QuestionFailure, SeriesInput,
} from './contract.js';
import { Contributions, type ReducedRows } from './contributions.js';
import { partsOfError } from './messages.js';
import { publishable } from './outcome.js';
import { sealingOf } from './sealing.js';

/** Finds an estimator by the name in a study's facts. */
export type FindEstimator = (name: string) => Estimator;

/** Groups finished in one step while rows still arrive. Small, so that rows do not wait long. */
const preparedAtOnce = 64;
/**
 * Noise values drawn when an epoch opens, and with each list of parts. Drawing them takes some
 * milliseconds.
 */
const noiseAtOpen = 4_096;
const noiseAtOnce = 1_024;
/** Share of the cohort that arrives between two checks for groups to finish early. */
const prepareShare = 1 / 8;

/**
 * One epoch: the incomplete contributions and the groups' summaries. The same setup and the same
 * parts in the same order give the same summaries, on any thread and after any restart.
 *
 * Memory: one row per incomplete contribution, the plan's summaries, and the tables of discovered
 * keys. Where keys are discovered, memory for the keys of peopleMax people was reserved before the
 * study ran: see reserveKeyMemory.
 */
export class EpochEngine {
  readonly #studyId: string;
  readonly #epoch: bigint;
  readonly #questions: readonly PlannedQuestion[];
  readonly #run: QuestionsRun;
  readonly #contributions: Contributions;
  /** For each question, the rows of a group at full participation; null: see nominalRows. */
  readonly #nominalRows: readonly (number | null)[];
  readonly #assignmentKey: Uint8Array;
  readonly #prepareEvery: number;
  readonly #isSlice: boolean;
  #complete = 0;
  #nextPrepareAt: number;
  #released = false;

  /**
   * @param noise of this epoch alone. Its values are drawn while rows arrive, and wait in memory,
   *   so that the time of the release does not reveal their size.
   */
  constructor(setup: EpochSetup, findEstimator: FindEstimator, noise: NoiseSource) {
    const { document } = setup;
    this.#studyId = setup.studyId;
    this.#epoch = setup.epoch;
    this.#assignmentKey = setup.assignmentKey.slice();
    this.#questions = questionsPlanOf(setup, findEstimator).questions;
    this.#run = new QuestionsRun(this.#questions, seededRandom(setup.workSeed), noise);
    this.#contributions = new Contributions(document, this.#assignmentKey, this.#run.tables);
    this.#isSlice = setup.isSlice === true;
    if (!this.#isSlice) this.#run.prepareNoise(noiseAtOpen);
    this.#nominalRows = this.#questions.map(({ plan }) => nominalRows(plan, document.cohort));
    this.#prepareEvery = Math.max(1, Math.ceil(document.cohort * prepareShare));
    this.#nextPrepareAt = this.#prepareEvery;
  }

  /** Adds batches in journal order. */
  add(parts: readonly AcceptedBatch[]): void {
    assert(!this.#released, 'no part arrives after the release');
    for (const part of parts) {
      const reduced = this.#contributions.take(part);
      if (reduced === null) continue;
      this.#complete += 1;
      this.#fold(part.contributor, reduced);
    }
    if (this.#isSlice) return;
    this.#prepare();
    this.#run.prepareNoise(noiseAtOnce);
  }

  /** Folds incomplete contributions and encodes the summaries. Only for a slice, and once. */
  encode(): Uint8Array {
    assert(this.#isSlice && !this.#released, 'a slice is encoded once');
    this.#released = true;
    const { size } = this.#contributions;
    this.#foldIncomplete();
    return new StateWriter().integer(this.#complete + size).block(this.#run.encode()).finish();
  }

  /** Adds the summaries of a slice of the contributors. */
  merge(encoded: Uint8Array): void {
    assert(!this.#isSlice && !this.#released, 'slices come before the release');
    const reader = new StateReader(encoded);
    this.#complete += reader.integer();
    this.#run.merge(reader.block());
    reader.end();
  }

  progress(): EpochProgress {
    return {
      contributors: this.#complete + this.#contributions.size,
      complete: this.#complete,
      ...this.#run.progress(),
    };
  }

  /**
   * Folds incomplete contributions, finishes the summaries and makes the release. Call it once,
   * after the charge of the plan's events is durable. The mechanisms are built from those same
   * events, so what was charged is what is drawn. Noise that is not drawn yet is drawn before the
   * data are read, so that it does not depend on how rows arrived. The duration of all this may
   * depend on rows; the planned time of the release hides it (server/studies/release/schedule.ts).
   */
  async release(
    compute: Compute, before?: SeriesInput, known?: readonly KnownKeys[],
  ): Promise<EpochResult> {
    assert(!this.#isSlice && !this.#released, 'an epoch draws its noise once');
    this.#released = true;
    this.#foldIncomplete();
    const results = await this.#run.release(compute, before && {
      sealing: sealingOf(before.key, this.#studyId, this.#epoch), series: before.series,
    }, known);
    const failures: QuestionFailure[] = [];
    const outcomes = results.map((result, i) => {
      const { question, plan } = this.#questions[i]!;
      if (result.kind === 'answered') {
        return publishable(result.outcome, plan, question.columns.length);
      }
      const { code, message } = partsOfError(result.failure);
      failures.push({ question: question.name, code, message });
      return failedOutcome;
    });
    return { outcomes, failures, series: this.#leftBy(results) };
  }

  #leftBy(results: readonly QuestionResult[]): readonly EncryptedSeries[] {
    return results.flatMap((result, i) => {
      const left = result.kind === 'failed' ? undefined : result.left;
      const { name } = this.#questions[i]!.question;
      return left === undefined ? [] : [{ question: name, sealed: left }];
    });
  }

  #foldIncomplete(): void {
    for (const reduced of this.#contributions.takeAll()) {
      this.#fold(reduced.contributor, reduced);
    }
  }

  #fold(contributor: Uint8Array, { rows, cuts }: ReducedRows): void {
    this.#run.add(assignmentHashOf(this.#assignmentKey, contributor), rows, cuts);
  }

  /**
   * Finishes groups that have their nominal rows, so that the close has less to do. If a later row
   * comes, a group must be finished again. So this happens at a few points of an epoch, for a few
   * groups at a time.
   */
  #prepare(): void {
    if (this.#complete < this.#nextPrepareAt) return;
    const finished = this.#run.prepareGroups(preparedAtOnce, this.#nominalRows);
    if (finished < preparedAtOnce) this.#nextPrepareAt = this.#complete + this.#prepareEvery;
  }
}

/**
 * The plans for a study's facts and target. A pure function: every thread gets the plans that are
 * charged.
 */
export function questionsPlanOf(
  setup: Pick<EpochSetup, 'document' | 'target'>, findEstimator: FindEstimator,
): QuestionsPlan {
  const plan = planQuestionsOf(setup.document, findEstimator, setup.target);
  if (plan.kind === 'infeasible') {
    throw new InvariantError(
      'a study that runs has a feasible plan', { details: { reason: plan.reason } },
    );
  }
  return plan;
}

/** Null when a summary keeps all rows: finishing it early would sort them many times. */
function nominalRows(plan: Plan, cohort: number): number | null {
  if (plan.arms.some((part) => part.mode === 'pooled' || part.unit === 'pair')) return null;
  const sizes = plan.arms.map((part) => (cohort * part.share) / part.groups);
  return Math.max(1, Math.ceil(Math.max(...sizes)));
}
