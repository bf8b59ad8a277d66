import type { Readable } from 'node:stream';
import { InvalidInputError } from '../../src/base/errors.js';
import { textForm } from '../../src/base/text-form.js';
import { readNpyTable } from './npy-table.js';
import { readRows } from './open.js';
import type { InputRequest, RowBatch } from './rows.js';

/** The rows of a file in memory, one per contributor. */
export interface RowTable {
  /** The group's name; null if the file is not grouped. */
  readonly group: string | null;
  readonly columns: readonly string[];
  /** Number of contributors, including those with a NULL row. */
  readonly count: number;
  /**
   * Row-major, count * columns.length. A NULL row is NaN in every column. Where no column was asked
   * for, each row is one zero, so that there is something to count.
   */
  readonly values: Float64Array;
  /** True if no row is the NULL row. */
  readonly isWhole?: boolean;
}

/** Numbers in each row of a table. */
export function dimensionOf({ columns }: RowTable): number {
  return Math.max(1, columns.length);
}

export interface TableRequest extends InputRequest {
  /** With `group`: the public list of groups. Rows of other groups are ignored. */
  readonly groups?: readonly string[];
  /** What the rows of one contributor become. Default: `mean`. */
  readonly reduce?: 'mean' | 'sum';
}

/**
 * Reads a whole file. With a contributor column it makes one row per id, the mean or the sum of its
 * rows; else it keeps every row.
 * @throws InvalidInputError on bad cells, and if one id is in two of the groups.
 */
export async function readTables(
  request: TableRequest, stdin: Readable,
): Promise<readonly RowTable[]> {
  const whole = await readNpyTable(request);
  if (whole !== null) return [{ group: null, isWhole: true, ...whole }];
  const source = request.path === '-' ? 'standard input' : request.path;
  const tables = new TableBuilder(source, request);
  for await (const batch of readRows(request, stdin)) tables.add(batch);
  return tables.finish();
}

const nullRow = -1;

/** Sums and counts per contributor of one group, in order of first appearance. */
class GroupRows {
  sums: Float64Array;
  /** Number of rows in each sum; `nullRow` before the first. */
  counts = new Int32Array(1024);
  length = 0;

  constructor(private readonly dimension: number) {
    this.sums = new Float64Array(1024 * dimension);
  }

  append(): number {
    this.#makeRoom(1);
    this.counts[this.length] = nullRow;
    return this.length++;
  }

  /** Adds rows of different contributors. */
  appendAll({ values, count }: RowBatch): void {
    this.#makeRoom(count);
    const { dimension, length, sums } = this;
    sums.set(values.subarray(0, count * dimension), length * dimension);
    for (let row = 0, at = length * dimension; row < count; row++) {
      let isWhole = true;
      for (let i = 0; i < dimension; i++, at++) {
        // A number plus zero is itself, but minus zero becomes zero, as in a sum.
        sums[at]! += 0;
        if (Number.isNaN(sums[at])) isWhole = false;
      }
      this.counts[length + row] = isWhole ? 1 : nullRow;
    }
    this.length += count;
  }

  #makeRoom(rows: number): void {
    const least = this.length + rows;
    if (least <= this.counts.length) return;
    const room = Math.max(least, 2 * this.counts.length);
    const counts = new Int32Array(room);
    counts.set(this.counts);
    this.counts = counts;
    const sums = new Float64Array(room * this.dimension);
    sums.set(this.sums);
    this.sums = sums;
  }

  fold(index: number, batch: RowBatch, row: number): void {
    const target = index * this.dimension;
    const from = row * this.dimension;
    // A row counts if all columns that are asked about are given, as in a study.
    for (let i = 0; i < this.dimension; i++) if (Number.isNaN(batch.values[from + i]!)) return;
    for (let i = 0; i < this.dimension; i++) this.sums[target + i]! += batch.values[from + i]!;
    this.counts[index] = Math.max(0, this.counts[index]!) + 1;
  }

  /** One row for each contributor. */
  reduced(reduce: 'mean' | 'sum'): Float64Array {
    const values = this.sums.subarray(0, this.length * this.dimension);
    for (let index = 0; index < this.length; index++) {
      const count = this.counts[index]!;
      for (let i = index * this.dimension; i < (index + 1) * this.dimension; i++) {
        if (count === nullRow) values[i] = Number.NaN;
        else if (reduce === 'mean') values[i]! /= count;
      }
    }
    return values;
  }
}

interface Known {
  readonly group: number;
  readonly index: number;
  readonly position: number;
}

class TableBuilder {
  private groups: GroupRows[] = [];
  private columns: readonly string[] = [];
  private readonly known = new Map<string, Known>();

  private readonly groupNames: readonly string[] | null;

  constructor(private readonly source: string, private readonly request: TableRequest) {
    this.groupNames = request.groups?.map(textForm) ?? null;
  }

  add(batch: RowBatch): void {
    if (this.groups.length === 0) {
      this.columns = batch.columns;
      const count = this.groupNames?.length ?? 1;
      this.groups = Array.from({ length: count }, () => new GroupRows(batch.columns.length));
    }
    if (this.groupNames === null && batch.contributors === null) {
      this.groups[0]!.appendAll(batch);
      return;
    }
    for (let row = 0; row < batch.count; row++) {
      const group = this.groupNames === null
        ? 0 : this.groupNames.indexOf(batch.groups?.[row] ?? '');
      if (group < 0) continue;
      const rows = this.groups[group]!;
      const id = batch.contributors?.[row];
      const index = id === undefined
        ? rows.append() : this.indexOf(id, group, batch.positions[row]!);
      rows.fold(index, batch, row);
    }
  }

  finish(): RowTable[] {
    return this.groups.map((rows, index) => ({
      group: this.groupNames?.[index] ?? null,
      columns: this.columns,
      count: rows.length,
      values: this.columns.length === 0
        ? new Float64Array(rows.length) : rows.reduced(this.request.reduce ?? 'mean'),
    }));
  }

  private indexOf(id: string, group: number, position: number): number {
    const known = this.known.get(id);
    if (known === undefined) {
      const index = this.groups[group]!.append();
      this.known.set(id, { group, index, position });
      return index;
    }
    if (known.group !== group) {
      // Groups without common contributors cost together as much as one. With a common contributor
      // that would be wrong.
      throw new InvalidInputError(
        `${this.source}: the contributor of ${known.position} and ${position} (line or row) is in `
        + 'two groups: give each contributor one group',
        { source: this.source, first: known.position, second: position },
      );
    }
    return known.index;
  }
}
