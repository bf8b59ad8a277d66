import { assert } from '../../src/base/assert.js';
import { InvariantError } from '../../src/base/errors.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { Compute, Estimator, Plan } from '../../src/estimators/contract/estimator.js';
import { createGroups, type Groups } from '../../src/estimators/run.js';
import { createMechanisms, type PreparedMechanisms } from '../../src/privacy/mechanisms/index.js';
import type { NoiseSource, WorkRandom } from '../../src/random/source.js';
import { seededRandom } from '../../src/random/work.js';
import { shortForm } from '../../src/wire/study-document.js';
import type { EpochProgress, EpochSetup, RowPart } from './contract.js';
import { publishable } from './outcome.js';
import { OpenContributions } from './reduction.js';
import { assignmentHashOf } from './assignment-hashes.js';

/** Finds an estimator by the name in a study's facts. */
export type FindEstimator = (name: string) => Estimator;

/** Groups finished in one step while rows still arrive. Small, so that rows do not wait long. */
const preparedAtOnce = 64;
/**
 * Noise values drawn when an epoch opens, and with each list of parts. This takes some
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
 * Memory: one row per incomplete contribution, and what the plan's summaries hold.
 */
export class EpochEngine {
  readonly #plan: Plan;
  readonly #columns: number;
  readonly #groups: Groups;
  readonly #contributions: OpenContributions;
  readonly #work: WorkRandom;
  readonly #mechanisms: PreparedMechanisms;
  /** Rows of a group at full participation, if groups may be finished early; otherwise null. */
  readonly #nominalRows: number | null;
  readonly #assignmentKey: Uint8Array;
  readonly #prepareEvery: number;
  #complete = 0;
  #nextPrepareAt: number;
  #released = false;

  /**
   * @param noise of this epoch alone. Its values are drawn while rows arrive, and wait in memory,
   *   so that the time of the release does not reveal their size.
   */
  constructor(setup: EpochSetup, findEstimator: FindEstimator, noise: NoiseSource) {
    this.#plan = planOf(setup, findEstimator);
    this.#columns = setup.document.columns.length;
    this.#groups = createGroups(this.#plan, this.#columns);
    this.#contributions = new OpenContributions(shortForm(setup.document).contribution.reduce);
    this.#work = seededRandom(setup.workSeed);
    this.#mechanisms = createMechanisms(this.#plan.events, noise);
    this.#mechanisms.prepare(noiseAtOpen);
    this.#assignmentKey = setup.assignmentKey.slice();
    this.#nominalRows = nominalRows(this.#plan, setup.document.cohort);
    this.#prepareEvery = Math.max(1, Math.ceil(setup.document.cohort * prepareShare));
    this.#nextPrepareAt = this.#prepareEvery;
  }

  /** Adds parts in journal order. */
  add(parts: readonly RowPart[]): void {
    assert(!this.#released, 'no part arrives after the release');
    for (const part of parts) {
      const row = this.#contributions.take(part);
      if (row === null) continue;
      this.#complete += 1;
      this.#fold(part.contributor, row);
    }
    this.#prepare();
    this.#mechanisms.prepare(noiseAtOnce);
  }

  progress(): EpochProgress {
    const { groups, groupsStarted } = this.#groups.progress();
    return {
      contributors: this.#complete + this.#contributions.size,
      complete: this.#complete,
      groups,
      groupsReached: groupsStarted,
    };
  }

  /**
   * Folds incomplete contributions, finishes the summaries and makes the release. Call it once,
   * after the charge of the plan's events is durable. The mechanisms are built from those same
   * events, so what was charged is what is drawn. Noise that is not drawn yet is drawn before the
   * data are read, so that it does not depend on how rows arrived. The duration of all this may
   * depend on rows; the planned time of the release hides it (server/studies/schedule.ts).
   */
  async release(compute: Compute): Promise<Outcome> {
    assert(!this.#released, 'an epoch draws its noise once');
    this.#released = true;
    for (const { contributor, row } of this.#contributions.takeAll()) this.#fold(contributor, row);
    this.#mechanisms.prepare(Infinity);
    const summaries = this.#groups.finish(this.#work);
    const released = await this.#plan.release(summaries, this.#mechanisms, compute);
    return publishable(released.value, this.#plan, this.#columns);
  }

  #fold(contributor: Uint8Array, row: Float64Array): void {
    this.#groups.add(assignmentHashOf(this.#assignmentKey, contributor), row);
  }

  /**
   * Finishes groups that have their nominal rows, so that the close has less to do. If a later row
   * comes, a group must be finished again. So this happens at a few points of an epoch, for a few
   * groups at a time.
   */
  #prepare(): void {
    if (this.#nominalRows === null || this.#complete < this.#nextPrepareAt) return;
    const finished = this.#groups.prepare(this.#work, preparedAtOnce, this.#nominalRows);
    if (finished < preparedAtOnce) this.#nextPrepareAt = this.#complete + this.#prepareEvery;
  }
}

/** The plan for a study's facts and target. A pure function, so every thread gets the same plan. */
export function planOf(
  setup: Pick<EpochSetup, 'document' | 'target'>, findEstimator: FindEstimator,
): Plan {
  const { target } = setup;
  const document = shortForm(setup.document);
  const plan = findEstimator(document.estimator).plan(document.parameters, {
    dimension: document.columns.length,
    cohort: document.cohort,
    participation: document.participation,
    target,
  });
  if (plan.kind === 'infeasible') {
    throw new InvariantError(
      'a study that runs has a feasible plan', { details: { reason: plan.reason } },
    );
  }
  return plan;
}

/** Null when a summary keeps all rows: finishing it early would sort them many times. */
function nominalRows(plan: Plan, cohort: number): number | null {
  if (plan.cohorts.some((part) => part.mode === 'pooled' || part.unit === 'pair')) return null;
  const sizes = plan.cohorts.map((part) => (cohort * part.share) / part.groups);
  return Math.max(1, Math.ceil(Math.max(...sizes)));
}
