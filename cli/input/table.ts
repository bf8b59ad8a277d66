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
  /** The way to reduce the rows of one contributor to one. Default: `mean`. */
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

/** Doubles of a part of a group's rows, so that few are copied twice. */
const partDoubles = 1 << 15;

/** Rows of one group, each of a contributor of its own. */
class SeparateRows {
  /** Rows side by side. All but the last are full. */
  readonly #parts: Float64Array[] = [];
  #part = new Float64Array(0);
  #at = 0;
  #length = 0;

  constructor(private readonly dimension: number) {}

  get length(): number {
    return this.#length;
  }

  /** Adds rows. */
  takeAll({ values, count }: RowBatch): void {
    this.#parts.push(this.#part.subarray(0, this.#at), values);
    this.#part = new Float64Array(0);
    this.#at = 0;
    this.#length += count;
  }

  /** Adds rows without columns. */
  addEmpty(count: number): void {
    this.#length += count;
  }

  /** Copies one row. */
  append(values: Float64Array, row: number): void {
    const { dimension } = this;
    this.#length += 1;
    if (dimension > 0 && this.#at === this.#part.length) this.#startPart();
    for (let i = 0, from = row * dimension; i < dimension; i++) {
      this.#part[this.#at++] = values[from++]!;
    }
  }

  #startPart(): void {
    this.#parts.push(this.#part);
    const doubles = Math.min(partDoubles, 16 + 2 * this.#part.length);
    this.#part = new Float64Array(Math.ceil(doubles / this.dimension) * this.dimension);
    this.#at = 0;
  }

  /** All rows, once. */
  finish(): Pick<RowTable, 'values' | 'isWhole'> {
    const { dimension } = this;
    const values = new Float64Array(this.#length * Math.max(1, dimension));
    if (dimension === 0) return { values, isWhole: true };
    this.#parts.push(this.#part.subarray(0, this.#at));
    let [to, isWhole] = [0, true];
    for (const part of this.#parts.splice(0)) {
      if (copyWhole(part, values, to)) {
        to += part.length;
        continue;
      }
      for (let at = 0; at < part.length; at += dimension) {
        let sum = 0;
        for (let i = at; i < at + dimension; i++) {
          // A number plus zero is itself, but minus zero becomes zero, as in a sum.
          const value = part[i]! + 0;
          values[to++] = value;
          sum += 0 * value;
        }
        if (sum === 0) continue;
        // A row counts if all columns that are asked about are given, as in a study.
        isWhole = false;
        values.fill(NaN, to - dimension, to);
      }
    }
    return { values, isWhole };
  }
}

/** As the loop above, of a part without an empty cell. False: there is one. */
function copyWhole(part: Float64Array, values: Float64Array, to: number): boolean {
  let sum = 0;
  for (let i = 0; i < part.length; i++) {
    const value = part[i]! + 0;
    values[to + i] = value;
    sum += 0 * value;
  }
  return sum === 0;
}

const nullRow = -1;

/** Sums and counts per contributor of one group, in order of first appearance. */
class GroupRows {
  sums: Float64Array;
  /** Number of rows in each sum; `nullRow` before the first. */
  counts = new Int32Array(1024);
  length = 0;

  constructor(private readonly dimension: number, private readonly reduce: 'mean' | 'sum') {
    this.sums = new Float64Array(1024 * dimension);
  }

  append(): number {
    if (this.length === this.counts.length) this.#grow();
    this.counts[this.length] = nullRow;
    return this.length++;
  }

  #grow(): void {
    const room = 2 * this.counts.length;
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
  finish(): Pick<RowTable, 'values'> {
    if (this.dimension === 0) return { values: new Float64Array(this.length) };
    const values = this.sums.subarray(0, this.length * this.dimension);
    for (let index = 0; index < this.length; index++) {
      const count = this.counts[index]!;
      for (let i = index * this.dimension; i < (index + 1) * this.dimension; i++) {
        if (count === nullRow) values[i] = Number.NaN;
        else if (this.reduce === 'mean') values[i]! /= count;
      }
    }
    return { values };
  }
}

interface Known {
  readonly group: number;
  readonly index: number;
  readonly position: number;
}

class TableBuilder {
  /** A table in which each row is a person. */
  private separate: readonly SeparateRows[] = [];
  /** A table in which the rows of one id become one. */
  private groups: readonly GroupRows[] = [];
  private columns: readonly string[] = [];
  private readonly known = new Map<string, Known>();
  private readonly groupNames: readonly string[] | null;
  private readonly places: ReadonlyMap<string, number> | null;

  constructor(private readonly source: string, private readonly request: TableRequest) {
    this.groupNames = request.groups?.map(textForm) ?? null;
    // The first of equal names has the rows.
    this.places = this.groupNames
      && new Map(this.groupNames.map((name, i): [string, number] => [name, i]).reverse());
  }

  add(batch: RowBatch): void {
    if (this.separate.length + this.groups.length === 0) this.start(batch);
    if (batch.contributors !== null) this.addFolded(batch, batch.contributors);
    else if (this.places === null) this.separate[0]!.takeAll(batch);
    else this.addSeparate(batch, this.places);
  }

  finish(): RowTable[] {
    const groups = this.groups.length > 0 ? this.groups : this.separate;
    return groups.map((rows, index) => ({
      group: this.groupNames?.[index] ?? null,
      columns: this.columns,
      count: rows.length,
      ...rows.finish(),
    }));
  }

  private start({ columns, contributors }: RowBatch): void {
    this.columns = columns;
    const names = this.groupNames ?? [''];
    if (contributors === null) this.separate = names.map(() => new SeparateRows(columns.length));
    else {
      const reduce = this.request.reduce ?? 'mean';
      this.groups = names.map(() => new GroupRows(columns.length, reduce));
    }
  }

  private addSeparate(
    { values, count, groups, groupCounts = new Map() }: RowBatch,
    places: ReadonlyMap<string, number>,
  ): void {
    for (const [name, rows] of groupCounts) {
      const group = places.get(name);
      if (group !== undefined) this.separate[group]!.addEmpty(rows);
    }
    if (groups === null) return;
    for (let row = 0; row < count; row++) {
      const group = places.get(groups[row]!);
      if (group !== undefined) this.separate[group]!.append(values, row);
    }
  }

  private addFolded(batch: RowBatch, contributors: readonly string[]): void {
    for (let row = 0; row < batch.count; row++) {
      const group = this.places === null ? 0 : this.places.get(batch.groups?.[row] ?? '');
      if (group === undefined) continue;
      const index = this.indexOf(contributors[row]!, group, batch.positions![row]!);
      this.groups[group]!.fold(index, batch, row);
    }
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
