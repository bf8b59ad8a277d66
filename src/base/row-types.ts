import type { ColumnFormat } from './study-words.js';

/** A column of a study, as a study file writes it: its type, or a map with the type. */
export type ColumnInput = 'number' | 'integer' | 'boolean' | 'text' | {
  readonly type: 'number' | 'integer' | 'boolean' | 'category' | 'text';
  readonly low?: number;
  readonly high?: number;
  /** The names of a category. */
  readonly of?: readonly string[];
  readonly other?: boolean;
  readonly bytes?: number;
  readonly optional?: boolean;
  readonly label?: string;
  readonly unit?: string;
  readonly format?: ColumnFormat;
};

/** The columns of a study: a list of names, which are numbers, or a map of names and types. */
export type ColumnsInput = readonly string[] | Readonly<Record<string, ColumnInput>>;

/** The type of a cell. Of a category with `other`, any name. */
export type CellOf<Column> =
  Column extends 'number' | 'integer' ? number
    : Column extends 'boolean' ? boolean
      : Column extends 'text' ? string
        : Column extends { readonly type: 'category'; readonly of: readonly (infer Name)[] }
          ? Column extends { readonly other: true } ? string : Name
          : Column extends { readonly type: infer Type } ? CellOf<Type> : never;

/**
 * A row of a study with these columns, its values by their names. Optional columns may be left out.
 * @example
 * import { createContributor, type RowOf } from 'keelson/client';
 *
 * const columns = {
 *   minutes: 'number', late: 'boolean', by: { type: 'category', of: ['bus', 'train'] },
 * } as const;
 * const seed = new Uint8Array(32);   // use openSeed: this one everybody knows
 * const contributor = createContributor<RowOf<typeof columns>>({
 *   url: 'ws://127.0.0.1:8787', study: 'commutes', seed,
 * });
 * void contributor.contribute([{ minutes: 25, late: false, by: 'train' }]);
 */
export type RowOf<Columns extends ColumnsInput> =
  Columns extends readonly (infer Name extends string)[] ? { readonly [Each in Name]: number } : {
    readonly [Name in keyof Columns as Columns[Name] extends { readonly optional: true }
      ? never : Name]: CellOf<Columns[Name]>
  } & {
    readonly [Name in keyof Columns as Columns[Name] extends { readonly optional: true }
      ? Name : never]?: CellOf<Columns[Name]> | null
  };
