import * as v from 'valibot';
import { studyKeyNow, studyWordNow } from '../../src/base/old-names.js';
import { nearest } from '../../src/base/suggest.js';
import { shown, studyError } from './refusal.js';
import { readYaml } from './yaml-text.js';

type PathItem = { readonly key: unknown; readonly value: unknown };

/** A checked file, with a way to find the line of a value. */
export interface CheckedFile<T> {
  readonly content: T;
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/**
 * Reads YAML and checks it against a schema.
 * @param help where an example is, for files that hold no keys.
 * @throws KeelsonError('invalid-study') for the first fault: line, path, value, rule, remedy.
 */
export function checkText<const Schema extends v.GenericSchema>(
  schema: Schema, text: string, file: string, help = 'see the samples in studies/',
): CheckedFile<v.InferOutput<Schema>> {
  const { value, lineOf } = readYaml(text, file);
  return checkValue(schema, value, file, lineOf, help);
}

/** The same for a value that has been read, or was written in a program and has no lines. */
export function checkValue<const Schema extends v.GenericSchema>(
  schema: Schema, value: unknown, file: string,
  lineOf: CheckedFile<unknown>['lineOf'] = () => undefined, help = 'see the samples in studies/',
): CheckedFile<v.InferOutput<Schema>> {
  if (value === null) {
    throw studyError(file, {
      path: '', rule: 'is empty: give keys and values', remedy: help,
    });
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw studyError(
      file,
      {
        path: '', value: shown(value), rule: 'give keys and values',
        remedy: help,
      },
    );
  }
  const result = v.safeParse(schema, value);
  if (result.success) return { content: result.output, lineOf };
  // A misspelt key is also a missing one. The misspelling is the better message.
  const issue = result.issues.find(isUnknownKey) ?? result.issues[0];
  const items = (issue.path ?? []) as readonly PathItem[];
  const keys = items.map((item) => (typeof item.key === 'number' ? item.key : String(item.key)));
  const path = pathText(keys);
  const line = lineOf(keys);
  if (isUnknownKey(issue)) {
    const known = keysAt(schema, keys.slice(0, -1));
    const key = String(keys.at(-1));
    const now = studyKeyNow(keys);
    if (now !== undefined) {
      throw studyError(file, { path, line, rule: `is now ${now}` });
    }
    const near = nearest(key, known);
    throw studyError(file, {
      path, line,
      rule: 'is not a key that is known here',
      remedy: near === undefined ? `the keys are ${known.join(', ')}` : `did you mean ${near}?`,
    });
  }
  // For a missing key, Valibot reports the name of the key as the expected value.
  if (issue.received === 'undefined' && issue.input === undefined) {
    throw studyError(file, {
      path, line, rule: 'is missing', remedy: `give ${ruleAt(schema, keys) ?? issue.message}`,
    });
  }
  const word = studyWordNow(keys, issue.input);
  const rule = word === undefined ? `give ${issue.message}`
    : `${String(issue.input)} is now ${word}`;
  throw studyError(file, { path, line, value: shown(issue.input), rule });
}

function isUnknownKey(issue: { readonly type: string; readonly expected: string | null }): boolean {
  return issue.type === 'strict_object' && issue.expected === 'never';
}

function pathText(keys: readonly (string | number)[]): string {
  return keys.map((key, i) =>
    (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${key}`)).join('');
}

/** The parts of a schema that a walk through it needs. */
interface Inner {
  readonly entries?: Record<string, v.GenericSchema>;
  readonly value?: v.GenericSchema;
  readonly options?: readonly unknown[];
}

/** The schema of the value at a path, without its pipe, default and optionality. */
function schemaAt(
  schema: v.GenericSchema, keys: readonly (string | number)[],
): v.GenericSchema | undefined {
  let at: v.GenericSchema | undefined = schema;
  for (const key of keys) {
    at = memberOf(at, String(key));
    if (at === undefined) return undefined;
  }
  return at;
}

function memberOf(schema: v.GenericSchema, key: string): v.GenericSchema | undefined {
  const { entries, value } = bare(schema) as Inner;
  const own = entries?.[key] ?? value;
  if (own !== undefined) return own;
  return optionsOf(schema).map((option) => memberOf(option, key))
    .find((found) => found !== undefined);
}

/** The schemas that one of several is. Those of a list of words are no schemas. */
function optionsOf(schema: v.GenericSchema): readonly v.GenericSchema[] {
  const { options = [] } = bare(schema) as Inner;
  return options.filter((option): option is v.GenericSchema => typeof option === 'object');
}

function bare(schema: v.GenericSchema): v.GenericSchema {
  const wrapped =
    schema as { readonly wrapped?: v.GenericSchema; readonly pipe?: readonly v.GenericSchema[] };
  if (wrapped.wrapped !== undefined) return bare(wrapped.wrapped);
  const first = wrapped.pipe?.[0];
  return first === undefined || first === schema ? schema : bare(first);
}

function keysAt(schema: v.GenericSchema, keys: readonly (string | number)[]): readonly string[] {
  const found = schemaAt(schema, keys);
  if (found === undefined) return [];
  return [found, ...optionsOf(found)]
    .flatMap((each) => Object.keys((bare(each) as Inner).entries ?? {}));
}

function ruleAt(schema: v.GenericSchema, keys: readonly (string | number)[]): string | undefined {
  let found = schemaAt(schema, keys);
  while (found !== undefined) {
    const rule = v.getDescription(found);
    if (rule !== undefined) return rule;
    found = (found as { readonly wrapped?: v.GenericSchema }).wrapped;
  }
  return undefined;
}
