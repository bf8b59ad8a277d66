import * as v from 'valibot';
import { isLine, isName, nameRule } from '../../src/base/facts-limits.js';
import { protocolLimits } from '../../src/base/limits.js';
import { lineRule } from '../../src/base/study-words.js';
import { durationForm, durationPattern, parseDuration } from './durations.js';

/**
 * Parts of the schemas of files that an operator writes. Every schema has its rule as its
 * description and as the message of each of its checks, so that every error tells the operator what
 * is allowed there. Every key also has a text on its purpose and an example (`key`). The reference
 * page and the JSON Schema for editors are generated from these.
 */
const named = `${nameRule} (64 hexadecimal digits), with single spaces only`;
export const name = ruled(named, v.pipe(
  v.string(named), v.minLength(1, named), v.maxLength(protocolLimits.nameLength, named),
  v.check(isName, named),
));

/**
 * One line for people. A longer text may be written over several lines: spaces and line ends
 * between words become single spaces.
 */
export function line(lengthMax: number) {
  const rule = lineRule(lengthMax);
  return ruled(rule, v.pipe(
    v.string(rule), v.transform((text) => text.trim().replace(/\s+/g, ' ').normalize()),
    v.check((text) => isLine(text, lengthMax), rule),
  ));
}

const above0 = 'a number above 0';
export const positive =
  ruled(above0, v.pipe(v.number(above0), v.finite(above0), v.gtValue(0, above0)));

const deltaRule = 'a number in [0, 0.5), usually below 1 / (10 * contributors), such as 1e-6';
export const delta = ruled(
  deltaRule, v.pipe(v.number(deltaRule), v.minValue(0, deltaRule), v.ltValue(0.5, deltaRule)),
);

export function ruled<const Schema extends v.GenericSchema>(rule: string, schema: Schema) {
  return v.pipe(schema, v.description(rule));
}

/** Words about a key of a study file. */
export interface KeyWords {
  /** Its purpose, in plain sentences. */
  readonly about: string;
  /** A valid value. */
  readonly example: unknown;
  /** The behaviour when the key is left out, if the schema has no default. */
  readonly otherwise?: string;
}

export function key<const Schema extends v.GenericSchema>(
  schema: Schema, about: string, example: unknown, otherwise?: string,
) {
  const words: KeyWords = { about, example, ...(otherwise !== undefined && { otherwise }) };
  return v.pipe(schema, v.metadata({ ...words }));
}

export function whole(low: number, high: number) {
  const rule = `a whole number from ${low} to ${high}`;
  return ruled(
    rule, v.pipe(v.number(rule), v.integer(rule), v.minValue(low, rule), v.maxValue(high, rule)),
  );
}

export function oneOf<const Choices extends readonly string[]>(...choices: Choices) {
  const rule = `one of ${choices.join(', ')}`;
  return ruled(rule, v.picklist(choices, rule));
}

export function duration(lowMs: number, low: string, highMs: number, high: string) {
  const rule = `${durationForm}, from ${low} to ${high}`;
  const within = (text: string): boolean => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= lowMs && ms <= highMs;
  };
  return ruled(rule, v.pipe(
    v.string(rule), v.regex(durationPattern, rule), v.check(within, rule),
    v.transform((text) => parseDuration(text)!),
  ));
}

/**
 * A schema that is chosen by the input, so that a fault is reported where it is. `options` are all
 * that may be chosen, for the page and the JSON Schema.
 */
export function chosen<const Options extends readonly v.GenericSchema[]>(
  options: Options, choose: (input: unknown) => Options[number],
) {
  const schema: v.LazySchema<Options[number]> = v.lazy(choose);
  return Object.assign(schema, { options });
}
