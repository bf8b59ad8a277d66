import { InvalidParameterError } from '../../base/errors.js';
import { canonicalJson, type JsonValue } from '../../base/canonical-json.js';
import { checkList, checkObject, checkWhole } from '../../base/given.js';
import { boundText } from '../../base/facts-limits.js';
import { protocolLimits } from '../../base/limits.js';
import { choiceNow, parameterNow } from '../../base/old-names.js';
import { didYouMean } from '../../base/suggest.js';
import type { ParameterSpec, ParameterValue, ParameterValues } from './estimator.js';

/** Facts that a parameter's check may need. */
export interface ParameterFacts {
  /** Columns of a row. */
  readonly dimension: number;
  /** The estimator's name, so that a parameter that it had before is refused by what it is now. */
  readonly estimator?: string;
}

/**
 * Checks what a user wrote against an estimator's declared parameters and fills in the defaults.
 * A `positive` comes back as one number per column, whatever form it was given in. Numbers may be
 * written as text ("0.1"), and lists as "1,2,3", as they are on a command line.
 *
 * @throws InvalidParameterError naming the path (`parameters.corruption`), the value, the rule and
 *   what to do, for an unknown name, a missing value, a wrong type or a value out of range.
 */
export function parseParameters(
  specs: readonly ParameterSpec[],
  raw: Readonly<Record<string, unknown>>,
  facts: ParameterFacts,
): ParameterValues {
  checkList(specs, 'the first argument is the parameters of an estimator');
  checkObject(raw, 'the parameters given are an object, like { spread: 1 }');
  checkObject(facts, 'the third argument is { dimension }');
  checkWhole(facts.dimension, 'dimension, the number of columns,', 1, protocolLimits.columns);
  const known = specs.map((spec) => spec.name);
  for (const name of Object.keys(raw)) {
    if (!known.includes(name)) {
      throw unknownParameter(name, known, facts.estimator);
    }
  }
  const values: Record<string, ParameterValue> = {};
  for (const spec of specs) {
    const given = raw[spec.name] ?? spec.default;
    if (given !== undefined) {
      values[spec.name] = parseOne(spec, given, facts);
    } else if (spec.optional !== true) {
      throw new InvalidParameterError(
        `parameters.${spec.name} is missing and has no default: give ${ruleOf(spec, facts)} `
          + `(${spec.description})`,
        { path: `parameters.${spec.name}`, rule: ruleOf(spec, facts) },
      );
    }
  }
  return Object.freeze(values);
}

function unknownParameter(
  name: string, known: readonly string[], estimator: string | undefined,
): InvalidParameterError {
  const now = parameterNow(name, known, estimator);
  const list = known.length === 0 ? ': it takes none' : `: it takes ${known.join(', ')}`;
  const text = now ?? `${name} is not a parameter of this estimator`
    + (didYouMean(name, known) || list);
  return new InvalidParameterError(`parameters.${text}`, { path: `parameters.${name}`, known });
}

function parseOne(spec: ParameterSpec, given: unknown, facts: ParameterFacts): ParameterValue {
  switch (spec.type) {
    case 'number':
    case 'integer': {
      const value = numberFrom(given);
      if (value === undefined || !withinBounds(spec, value)) throw refused(spec, given, facts);
      if (spec.type === 'integer' && !Number.isSafeInteger(value)) {
        throw refused(spec, given, facts);
      }
      return value;
    }
    case 'choice':
      if (typeof given !== 'string' || spec.choices?.includes(given) !== true) {
        throw refused(spec, given, facts);
      }
      return given;
    case 'boolean':
      if (given === true || given === 'true') return true;
      if (given === false || given === 'false') return false;
      throw refused(spec, given, facts);
    case 'positive':
      return parsePositive(spec, given, facts);
    case 'range':
      return parseRange(spec, given, facts);
    case 'numbers':
      return parseNumbers(spec, given, facts);
    case 'list':
      return parseList(spec, given, facts);
  }
}

/** The list as it stands in a study file, or as JSON text, as on a command line. */
function parseList(spec: ParameterSpec, given: unknown, facts: ParameterFacts): string {
  const list = typeof given === 'string' ? fromJson(given) : given;
  if (!Array.isArray(list) || list.length === 0 || list.length > lengthMaximumOf(spec)) {
    throw refused(spec, given, facts);
  }
  let text: string;
  try {
    text = canonicalJson(list as JsonValue);
  } catch {
    throw refused(spec, given, facts);
  }
  if (text.length > protocolLimits.parameterText) {
    throw refused(spec, `${text.length} characters`, facts);
  }
  return text;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A list as it stands in a study file, or `a,b,c` as on a command line; anything else is a list of
 * one.
 */
function listFrom(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  return typeof given === 'string' && given.includes(',') ? given.split(',') : [given];
}

function parseNumbers(
  spec: ParameterSpec, given: unknown, facts: ParameterFacts,
): readonly number[] {
  const list = listFrom(given);
  if (list.length === 0 || list.length > lengthMaximumOf(spec)) throw refused(spec, given, facts);
  const parsed = list.map((entry) => {
    const value = numberFrom(entry);
    if (value === undefined || !withinBounds(spec, value)) throw refused(spec, given, facts);
    return value;
  });
  if (parsed.some((value, i) => i > 0 && !(value > parsed[i - 1]!))) {
    throw refused(spec, given, facts);
  }
  return Object.freeze(parsed);
}

function lengthMaximumOf(spec: ParameterSpec): number {
  return spec.lengthMaximum ?? protocolLimits.columns;
}

function parsePositive(
  spec: ParameterSpec, given: unknown, facts: ParameterFacts,
): readonly number[] | string {
  if (typeof given === 'string' && spec.choices?.includes(given) === true) return given;
  const list = listFrom(given);
  if (list.length !== 1 && list.length !== facts.dimension) throw refused(spec, given, facts);
  const parsed = list.map((entry) => {
    const value = numberFrom(entry);
    if (value === undefined || !(value > 0) || !withinBounds(spec, value)) {
      throw refused(spec, given, facts);
    }
    return value;
  });
  if (parsed.length === facts.dimension) return Object.freeze(parsed);
  return Object.freeze(new Array<number>(facts.dimension).fill(parsed[0]!));
}

/** Low and high of each column, from `low..high`, one for all columns or one each. */
function parseRange(
  spec: ParameterSpec, given: unknown, facts: ParameterFacts,
): readonly number[] {
  const list = listFrom(given);
  if (list.length !== 1 && list.length !== facts.dimension) throw refused(spec, given, facts);
  const parsed = list.map((entry) => {
    const [low, high, more] = typeof entry === 'string' ? entry.split('..').map(numberFrom) : [];
    if (low === undefined || high === undefined || more !== undefined || !(low < high)
      || !withinBounds(spec, low) || !withinBounds(spec, high)) throw refused(spec, given, facts);
    return [low, high];
  });
  const whole = parsed.length === facts.dimension
    ? parsed : Array.from({ length: facts.dimension }, () => parsed[0]!);
  return Object.freeze(whole.flat());
}

function numberFrom(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined;
  if (typeof given !== 'string' || given.trim() === '') return undefined;
  const value = Number(given);
  return Number.isFinite(value) ? value : undefined;
}

function withinBounds(spec: ParameterSpec, value: number): boolean {
  return value >= (spec.minimum ?? -Infinity) && value <= (spec.maximum ?? Infinity);
}

function ruleOf(spec: ParameterSpec, facts: ParameterFacts): string {
  if (spec.type === 'choice') return `one of ${(spec.choices ?? []).join(', ')}`;
  if (spec.type === 'boolean') return 'true or false';
  const from = spec.minimum === undefined ? '' : ` from ${boundText(spec.minimum)}`;
  const to = spec.maximum === undefined ? '' : ` up to ${boundText(spec.maximum)}`;
  if (spec.type === 'positive') {
    const words = spec.choices === undefined ? '' : `${spec.choices.join(', ')}, `;
    return `${words}a positive number${from}${to}${perColumn(facts)}`;
  }
  if (spec.type === 'range') {
    return `low..high with low < high${from}${to}${perColumn(facts)}`;
  }
  if (spec.type === 'numbers') {
    return `1 to ${lengthMaximumOf(spec)} numbers${from}${to}, each above the one before`;
  }
  if (spec.type === 'list') {
    return `a list of 1 to ${lengthMaximumOf(spec)} entries, as JSON within `
      + `${protocolLimits.parameterText} characters`;
  }
  return `${spec.type === 'integer' ? 'a whole number' : 'a number'}${from}${to}`;
}

function perColumn({ dimension }: ParameterFacts): string {
  return dimension === 1 ? '' : `, or ${dimension} of them, one per column`;
}

function refused(
  spec: ParameterSpec, given: unknown, facts: ParameterFacts,
): InvalidParameterError {
  const rule = ruleOf(spec, facts);
  const shown = describe(given);
  const now = choiceNow(spec.name, given, spec.choices ?? []);
  const what = now === undefined ? `is ${shown}: give ${rule}` : `is ${shown}: ${now}`;
  return new InvalidParameterError(`parameters.${spec.name} ${what}`, {
    path: `parameters.${spec.name}`,
    value: shown,
    rule,
  });
}

function describe(given: unknown): string {
  const text = typeof given === 'number' ? String(given) : JSON.stringify(given) ?? typeof given;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
