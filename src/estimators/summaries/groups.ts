import { Sensitive } from '../../base/brands.js';
import { InvalidParameterError } from '../../base/errors.js';
import { allFinite } from '../../numerics/vector.js';
import type { WorkRandom } from '../../random/source.js';
import { assignmentHashBytes, armOf, groupOf, slotOf, tagOf } from './assignment.js';
import type {
  ArmPlan, Finished, FinishedSummaries, Plan, Summary, SummaryTable,
} from '../contract/estimator.js';
import { StateReader, StateWriter } from './codec.js';
import { checkDimension, checkPlan, checkRow } from '../contract/given.js';
import type { ByteSource } from './packed-rows.js';
import { PairSlots } from './pairs.js';
import { statesTable } from './table.js';

/** How far an epoch's groups are; for the operator only. */
export interface GroupsProgress {
  readonly rows: number;
  readonly groups: number;
  /** Groups with at least one row. */
  readonly groupsStarted: number;
}

/** The summaries of one epoch, fed row by row; used by the server and by offline runs. */
export interface Groups {
  /**
   * Folds a contributor's row into its summary. A row with a non-finite entry is the null row and
   * changes nothing. The row is copied.
   * @param assignmentHash - 32 bytes; see `assign`.
   */
  add(assignmentHash: Uint8Array, row: Float64Array): void;
  progress(): GroupsProgress;
  /**
   * Finishes groups that changed since, at most `limit` of them, and remembers the results until
   * their next row: work that need not wait for the close. Returns how many it finished.
   */
  prepare(work: WorkRandom, limit: number, rowsAtLeast: number): number;
  /**
   * Finishes every summary. The same rows and the same `work` give the same result, in any order of
   * arrival.
   */
  finish(work: WorkRandom): FinishedSummaries;
  encode(): Uint8Array;
}

interface Arm {
  readonly plan: ArmPlan;
  readonly summary: Summary;
  /** Rows of each group. */
  readonly rows: Uint32Array;
  /** The members of the groups in an arm of pairs; null in other arms, which have states. */
  readonly pairs: PairSlots[] | null;
  readonly table: SummaryTable;
  readonly finished: (FinishedAt | null)[];
}

/** A group's result, and the number of rows that it had then. */
interface FinishedAt {
  readonly rows: number;
  readonly result: Finished;
}

const format = 0x4b_47_52_31;

/** Empty summaries for every group of a plan. */
export function createGroups(plan: Plan, dimension: number): Groups {
  checkPlan(plan);
  checkDimension(dimension);
  return new GroupsOfPlan(plan, dimension);
}

/**
 * Groups that `Groups.encode` wrote, for example on another machine.
 * @throws InvalidParameterError when the bytes were not written by `encode` for the same plan.
 */
export function decodeGroups(plan: Plan, dimension: number, bytes: Uint8Array): Groups {
  checkPlan(plan);
  checkDimension(dimension);
  const groups = new GroupsOfPlan(plan, dimension);
  groups.decode(bytes);
  return groups;
}

/**
 * The groups of all rows that went to either, for rows that were summarised in several places: each
 * contributor's in one of them, under the same assignment hashes. `left` becomes the result and is
 * used up; `right` stays as it is.
 * @throws InvalidParameterError when they do not belong to one plan.
 */
export function mergeGroups(plan: Plan, dimension: number, left: Groups, right: Groups): Groups {
  const fits = left instanceof GroupsOfPlan && right instanceof GroupsOfPlan
    && left.isFor(plan, dimension) && right.isFor(plan, dimension);
  if (!fits) {
    throw new InvalidParameterError(
      'these groups were not made for this plan: create or decode both with it', {},
    );
  }
  left.merge(right);
  return left;
}

/** Groups that are filled with rows at hand, many at a time. */
export interface Filling {
  readonly groups: Groups;
  /**
   * As `Groups.add` for each of `count` rows side by side, with a fresh assignment hash each. A row
   * without data uses up its hash, too.
   * @param isWhole - the caller knows that every row has data. Default: each row is checked.
   */
  add(values: Float64Array, count: number, isWhole?: boolean): void;
}

/**
 * Empty groups for rows at hand. Where there is one group, which looks at no tag, nothing depends
 * on assignment hashes, and none are drawn.
 */
export function fillGroups(plan: Plan, dimension: number, hashes: ByteSource): Filling {
  const groups = new GroupsOfPlan(plan, dimension);
  if (groups.isOfOneSum) {
    return {
      groups,
      add: (values, count, isWhole = false) => groups.addToFirst(values, count, isWhole),
    };
  }
  const next = hashesFrom(hashes);
  const row = new Float64Array(dimension);
  return {
    groups,
    add(values, count) {
      for (let i = 0, at = 0; i < count; i++) {
        for (let j = 0; j < dimension; j++) row[j] = values[at++]!;
        groups.add(next(), row);
      }
    },
  };
}

const noHash = new Uint8Array(assignmentHashBytes);
/** Rows that a summary is given at once. */
const rowsAtOnce = 1024;
/** Assignment hashes that are drawn at a time. */
const hashesAtOnce = 1024;

/** The bytes of each hash are good until the next one. */
function hashesFrom(source: ByteSource): () => Uint8Array {
  const drawn = new Uint8Array(hashesAtOnce * assignmentHashBytes);
  const hash = new Uint8Array(assignmentHashBytes);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      source.fill(drawn);
      at = 0;
    }
    for (let i = 0; i < assignmentHashBytes; i++) hash[i] = drawn[at++]!;
    return hash;
  };
}

class GroupsOfPlan implements Groups {
  readonly #plans: readonly ArmPlan[];
  readonly #arms: readonly Arm[];

  constructor(plan: Plan, private readonly dimension: number) {
    this.#plans = plan.arms;
    this.#arms = plan.arms.map((arm) => emptyArm(arm, plan.summary(arm.name)));
  }

  /** Every row goes to the one group, whatever its hash is, and its tag is not looked at. */
  get isOfOneSum(): boolean {
    const [{ plan, summary }, ...others] = this.#arms as [Arm, ...Arm[]];
    return others.length === 0 && plan.groups === 1 && plan.unit === 'row'
      && summary.untagged === true;
  }

  isFor(plan: Plan, dimension: number): boolean {
    const shapes = (arms: readonly ArmPlan[]): string => JSON.stringify(arms);
    return dimension === this.dimension && shapes(plan.arms) === shapes(this.#plans);
  }

  merge(other: GroupsOfPlan): void {
    this.#arms.forEach(({ rows, pairs, table, finished }, at) => {
      const from = other.#arms[at]!;
      for (let group = 0; group < rows.length; group++) {
        rows[group]! += from.rows[group]!;
        finished[group] = null;
        if (pairs === null) table.merge(group, from.table.state(group));
        else pairs[group]!.addAll(from.pairs![group]!);
      }
    });
  }

  add(assignmentHash: Uint8Array, row: Float64Array): void {
    checkRow(row, this.dimension);
    if (!allFinite(row)) return;
    const { plan, rows, pairs, table } = this.#arms[armOf(assignmentHash, this.#plans)]!;
    const group = groupOf(assignmentHash, rows.length);
    rows[group]! += 1;
    if (pairs === null) table.add(group, row, assignmentHash);
    else pairs[group]!.add(slotOf(assignmentHash, plan.slots ?? 1), tagOf(assignmentHash), row);
  }

  /** Like `add` for each of some rows side by side, where `isOfOneSum` holds. */
  addToFirst(values: Float64Array, count: number, isWhole: boolean): void {
    const { dimension } = this;
    const { rows, table } = this.#arms[0]!;
    if (isWhole && table.addRows !== undefined) {
      rows[0]! += count;
      table.addRows(0, values, count);
      return;
    }
    const most = table.addRows === undefined ? 1 : Math.min(count, rowsAtOnce);
    const block = new Float64Array(most * dimension);
    let held = 0;
    const pass = (): void => {
      rows[0]! += held;
      if (table.addRows === undefined) table.add(0, block, noHash);
      else table.addRows(0, block, held);
      held = 0;
    };
    for (let row = 0, from = 0; row < count; row++) {
      let sum = 0;
      for (let to = held * dimension; to < (held + 1) * dimension; to++) {
        const value = values[from++]!;
        block[to] = value;
        // Zero times a number is zero, and times one that is not finite is NaN.
        sum += 0 * value;
      }
      if (sum !== 0) continue;
      held += 1;
      if (held === most) pass();
    }
    if (held > 0) pass();
  }

  progress(): GroupsProgress {
    let [rows, groups, groupsStarted] = [0, 0, 0];
    for (const arm of this.#arms) {
      groups += arm.rows.length;
      for (const own of arm.rows) {
        rows += own;
        groupsStarted += Number(own > 0);
      }
    }
    return { rows, groups, groupsStarted };
  }

  prepare(work: WorkRandom, limit: number, rowsAtLeast: number): number {
    let done = 0;
    for (const arm of this.#arms) {
      for (let group = 0; group < arm.rows.length && done < limit; group++) {
        const rows = arm.rows[group]!;
        if (rows < rowsAtLeast || arm.finished[group]?.rows === rows) continue;
        finishGroup(arm, group, work);
        done += 1;
      }
    }
    return done;
  }

  finish(work: WorkRandom): FinishedSummaries {
    const entries = this.#arms.map((arm) => {
      const finished = arm.finished.map((_, group) => finishGroup(arm, group, work));
      return [arm.plan.name, Sensitive.of<readonly Finished[]>(finished)] as const;
    });
    return new Map(entries);
  }

  encode(): Uint8Array {
    const writer = new StateWriter().integer(format).integer(this.dimension).integer(
      this.#arms.length,
    );
    for (const { summary, rows, pairs, table } of this.#arms) {
      writer.integer(rows.length);
      rows.forEach((own, group) => {
        writer.integer(own);
        writer.block(pairs === null ? summary.encode(table.state(group)) : pairs[group]!.encode());
      });
    }
    return writer.finish();
  }

  decode(bytes: Uint8Array): void {
    const reader = new StateReader(bytes);
    reader.expect(format, 'format');
    reader.expect(this.dimension, 'dimension');
    reader.expect(this.#arms.length, 'number of arms');
    for (const { summary, rows, pairs, table } of this.#arms) {
      reader.expect(rows.length, 'number of groups');
      for (let group = 0; group < rows.length; group++) {
        rows[group] = reader.integer();
        const block = reader.block();
        if (pairs === null) table.put(group, summary.decode(block));
        else pairs[group] = PairSlots.decode(block, this.dimension);
      }
    }
    reader.end();
  }
}

function emptyArm(plan: ArmPlan, summary: Summary): Arm {
  const { groups, unit } = plan;
  const pairs = unit === 'pair' ? Array.from({ length: groups }, () => new PairSlots()) : null;
  const tableGroups = pairs === null ? groups : 0;
  const table = summary.table?.(tableGroups) ?? statesTable(summary, tableGroups);
  const finished = new Array<FinishedAt | null>(groups).fill(null);
  return { plan, summary, rows: new Uint32Array(groups), pairs, table, finished };
}

function finishGroup(
  { plan, summary, rows, pairs, table, finished }: Arm, group: number, work: WorkRandom,
): Finished {
  const before = finished[group]!;
  if (before?.rows === rows[group]) return before.result;
  const state = pairs === null ? table.state(group) : stateOfPairs(summary, pairs[group]!);
  // Each group has its own stream, so that finishing early or in another order changes nothing.
  const result = summary.finish(state, work.fork(`${plan.name}/${group}`));
  finished[group] = { rows: rows[group]!, result };
  return result;
}

function stateOfPairs(summary: Summary, slots: PairSlots): unknown {
  let state = summary.empty();
  for (const { tag, row } of slots.pairs()) state = summary.add(state, row, tag);
  return state;
}
