import { KeelsonError } from '../../src/base/errors.js';

/** A fault in a file that an operator wrote. */
export interface Refusal {
  /** The place, for example `budget.epsilon`; empty for the whole file. */
  readonly path: string;
  /** The value there, shortened; absent when there is none. */
  readonly value?: string;
  readonly rule: string;
  readonly remedy?: string;
  readonly line?: number | undefined;
}

/** The one form of every refusal of a study file: file and line, path, value, rule, remedy. */
export function studyError(file: string, refusal: Refusal, cause?: unknown): KeelsonError {
  const { path, value, rule, remedy, line } = refusal;
  const place = line === undefined ? file : `${file}, line ${line}`;
  const subject = path === '' ? 'the file' : path;
  const found = value === undefined ? `${subject} ${rule}` : `${subject} is ${value}: ${rule}`;
  return new KeelsonError(
    'invalid-study', `${place}: ${found}${remedy === undefined ? '' : `; ${remedy}`}`, {
      details: {
        file, path, rule, ...(value !== undefined && { value }),
        ...(line !== undefined && { line }),
      },
      ...(cause !== undefined && { cause }),
    },
  );
}

/** A value as text for a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'number' && !Number.isFinite(item) ? String(item) : item) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
