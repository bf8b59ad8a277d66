import { assert } from '../base/assert.js';
import { Sensitive } from '../base/brands.js';
import { InvalidParameterError } from '../base/errors.js';
import { allFinite } from '../numerics/vector.js';
import type { WorkRandom } from '../random/source.js';
import { cohortOf, groupOf, slotOf, tagOf } from './assignment.js';
import type { CohortPlan, Finished, FinishedSummaries, Plan, Summary } from './contract.js';
import { StateReader, StateWriter } from './summaries/codec.js';
import { PairSlots } from './summaries/pairs.js';

/** How far an epoch's groups are; for the operator only. */
export interface GroupsProgress {
  readonly rows: number;
  readonly groups: number;
  /** Groups with at least one row. */
  readonly groupsStarted: number;
}

/** The summaries of one epoch, fed row by row; used by the server and by offline runs alike. */
export interface Groups {
  /**
   * Folds a contributor's row into its summary. A row with a non-finite entry is the null row and
   * changes nothing. The row is copied.
   * @param ticket - 32 bytes; see `assign`.
   */
  add(ticket: Uint8Array, row: Float64Array): void;
  progress(): GroupsProgress;
  /**
   * Finishes groups that changed since, at most `limit` of them, and remembers the results until
   * their next row: work that need not wait for the close. Returns how many it finished.
   */
  prepare(work: WorkRandom, limit: number, rowsAtLeast: number): number;
  /** Finishes every summary. The same rows and the same `work` give the same result, in any order of arrival. */
  finish(work: WorkRandom): FinishedSummaries;
  encode(): Uint8Array;
}

interface Slot {
  state: unknown;
  rows: number;
  pairs: PairSlots | null;
  finished: Finished | null;
}

interface Cohort {
  readonly plan: CohortPlan;
  readonly summary: Summary;
  readonly groups: Slot[];
}

const format = 0x4b_47_52_31;

/** Empty summaries for every group of a plan. */
export function createGroups(plan: Plan, dimension: number): Groups {
  return new GroupsOfPlan(plan, dimension);
}

/** @throws InvalidParameterError when the bytes were not written by `encode` for the same plan. */
export function decodeGroups(plan: Plan, dimension: number, bytes: Uint8Array): Groups {
  const groups = new GroupsOfPlan(plan, dimension);
  groups.decode(bytes);
  return groups;
}

/**
 * The groups of all rows that went to either, for rows that were summarised in several places: each contributor's in
 * one of them, under the same tickets. `left` becomes the result and is used up; `right` stays as it is.
 * @throws InvalidParameterError when they do not belong to one plan.
 */
export function mergeGroups(plan: Plan, dimension: number, left: Groups, right: Groups): Groups {
  const fits = left instanceof GroupsOfPlan && right instanceof GroupsOfPlan
    && left.isFor(plan, dimension) && right.isFor(plan, dimension);
  if (!fits) {
    throw new InvalidParameterError('these groups were not made for this plan: create or decode both with it', {});
  }
  left.merge(right);
  return left;
}

class GroupsOfPlan implements Groups {
  readonly #plans: readonly CohortPlan[];
  readonly #cohorts: readonly Cohort[];

  constructor(plan: Plan, private readonly dimension: number) {
    this.#plans = plan.cohorts;
    this.#cohorts = plan.cohorts.map((cohort) => {
      const summary = plan.summary(cohort.name);
      const groups = Array.from({ length: cohort.groups }, () => emptySlot(cohort, summary));
      return { plan: cohort, summary, groups };
    });
  }

  isFor(plan: Plan, dimension: number): boolean {
    const shapes = (cohorts: readonly CohortPlan[]): string => JSON.stringify(cohorts);
    return dimension === this.dimension && shapes(plan.cohorts) === shapes(this.#plans);
  }

  merge(other: GroupsOfPlan): void {
    this.#cohorts.forEach(({ summary, groups }, at) => {
      groups.forEach((group, index) => {
        const from = other.#cohorts[at]!.groups[index]!;
        group.rows += from.rows;
        group.finished = null;
        if (group.pairs === null) group.state = summary.merge(group.state, from.state);
        else group.pairs.addAll(from.pairs!);
      });
    });
  }

  add(ticket: Uint8Array, row: Float64Array): void {
    assert(row.length === this.dimension, 'a row has the dimension of its study');
    if (!allFinite(row)) return;
    const { plan, summary, groups } = this.#cohorts[cohortOf(ticket, this.#plans)]!;
    const group = groups[groupOf(ticket, plan.groups)]!;
    group.rows += 1;
    group.finished = null;
    if (group.pairs !== null) group.pairs.add(slotOf(ticket, plan.slots ?? 1), tagOf(ticket), row);
    else group.state = summary.add(group.state, row, summary.untagged === true ? 0n : tagOf(ticket));
  }

  progress(): GroupsProgress {
    const all = this.#cohorts.flatMap((cohort) => cohort.groups);
    return {
      rows: all.reduce((sum, group) => sum + group.rows, 0),
      groups: all.length,
      groupsStarted: all.filter((group) => group.rows > 0).length,
    };
  }

  prepare(work: WorkRandom, limit: number, rowsAtLeast: number): number {
    let done = 0;
    for (const cohort of this.#cohorts) {
      for (let index = 0; index < cohort.groups.length && done < limit; index++) {
        const group = cohort.groups[index]!;
        if (group.finished !== null || group.rows < rowsAtLeast) continue;
        finishGroup(cohort, index, work);
        done += 1;
      }
    }
    return done;
  }

  finish(work: WorkRandom): FinishedSummaries {
    const entries = this.#cohorts.map((cohort) => {
      const finished = cohort.groups.map((_, index) => finishGroup(cohort, index, work));
      return [cohort.plan.name, Sensitive.of<readonly Finished[]>(finished)] as const;
    });
    return new Map(entries);
  }

  encode(): Uint8Array {
    const writer = new StateWriter().integer(format).integer(this.dimension).integer(this.#cohorts.length);
    for (const { summary, groups } of this.#cohorts) {
      writer.integer(groups.length);
      for (const group of groups) {
        writer.integer(group.rows);
        writer.block(group.pairs === null ? summary.encode(group.state) : group.pairs.encode());
      }
    }
    return writer.finish();
  }

  decode(bytes: Uint8Array): void {
    const reader = new StateReader(bytes);
    reader.expect(format, 'format');
    reader.expect(this.dimension, 'dimension');
    reader.expect(this.#cohorts.length, 'number of cohorts');
    for (const { summary, groups } of this.#cohorts) {
      reader.expect(groups.length, 'number of groups');
      for (const group of groups) {
        group.rows = reader.integer();
        const block = reader.block();
        if (group.pairs === null) group.state = summary.decode(block);
        else group.pairs = PairSlots.decode(block, this.dimension);
      }
    }
    reader.end();
  }
}

function emptySlot(cohort: CohortPlan, summary: Summary): Slot {
  return { state: summary.empty(), rows: 0, pairs: cohort.unit === 'pair' ? new PairSlots() : null, finished: null };
}

function finishGroup(cohort: Cohort, index: number, work: WorkRandom): Finished {
  const group = cohort.groups[index]!;
  if (group.finished !== null) return group.finished;
  let { state } = group;
  if (group.pairs !== null) {
    state = cohort.summary.empty();
    for (const { tag, row } of group.pairs.pairs()) state = cohort.summary.add(state, row, tag);
  }
  // Each group has its own stream, so that finishing early or in another order changes nothing.
  group.finished = cohort.summary.finish(state, work.fork(`${cohort.plan.name}/${index}`));
  return group.finished;
}
