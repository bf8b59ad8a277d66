import type { Interval95 } from '../../src/base/outcome.js';
import { decimalsFor, halfOf } from '../../src/base/digits.js';
import { quotedText } from '../../src/base/shown-text.js';
import type { Io } from './io.js';

/**
 * Where a command writes. With `--json`, only `json` and `jsonLine` write to standard output.
 * `text` and `table` are for people and write nothing then, so a command need not check the mode.
 */
export interface Output {
  readonly isJson: boolean;
  /** A line for people on standard output; nothing with --json. */
  text(line?: string): void;
  /** A table for people, within 80 columns if its cells allow it; nothing with --json. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** The single document of a --json run; nothing without --json. */
  json(document: unknown): void;
  /** One line of a --json stream; nothing without --json. */
  jsonLine(document: unknown): void;
  /** A remark on standard error, in both modes. */
  note(line: string): void;
}

/**
 * JSON of results. Typed arrays become arrays, and a map becomes an object. A bigint becomes a
 * number if that is exact, else a decimal string. Numbers that JSON cannot hold become null, as in
 * JSON.stringify.
 */
export function toJson(document: unknown): string {
  return JSON.stringify(document, (_key, value: unknown) => plain(value));
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const near = Number(value);
    return Number.isSafeInteger(near) ? near : value.toString();
  }
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) {
    return Array.from<bigint>(value);
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return Array.from(value as Float64Array);
  }
  if (value instanceof Map) return Object.fromEntries(value as ReadonlyMap<string, unknown>);
  return value;
}

export async function createOutput(io: Io, isJson: boolean): Promise<Output> {
  // Programs, which ask for JSON, need not wait for what draws tables.
  const tables = isJson ? null : await import('./text-table.js');
  const line = (text: string): void => void io.stdout.write(`${text}\n`);
  return {
    isJson,
    text: (text = '') => {
      if (!isJson) line(text);
    },
    table: (head, rows) => {
      if (tables !== null) line(tables.renderTable(head, rows));
    },
    json: (document) => {
      if (isJson) line(toJson(document));
    },
    jsonLine: (document) => {
      if (isJson) line(toJson(document));
    },
    note: (text) => void io.stderr.write(`${text}\n`),
  };
}

/**
 * A number for people, without trailing zeros: the digits that `half` supports, or six. All digits
 * before the decimal point are there. See `decimalsFor`.
 * @param half half of the number's 95 % interval; absent where there is none.
 */
export function formatNumber(value: number, half: number | null = null): string {
  if (!Number.isFinite(value)) return value === Infinity ? 'unbounded' : String(value);
  return Number(value.toFixed(decimalsFor(value, half))).toString();
}

/** Writes a number as exactly as half of its 95 % interval supports; null: there is none. */
export type NumberText = (value: number, half: number | null) => string;

/** One number with the digits that its interval supports. */
export function numberText(
  value: number, interval: Interval95 | undefined, index: number, text: NumberText = formatNumber,
): string {
  if (interval === undefined) return text(value, null);
  return text(value, halfOf(value, [interval.low[index]!, interval.high[index]!]));
}

/** A name in one line: as it is, or in quotes with escapes if it holds what cannot be seen. */
export function lineText(name: string): string {
  const quoted = quotedText(name);
  return quoted.includes('\\u{') ? quoted : name;
}
