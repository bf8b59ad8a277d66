import { isMap, isScalar, type Scalar, type YAMLMap } from 'yaml';
import {
  choiceNow, estimatorNow, oldChoices, oldEstimators, oldParameters, parameterNow,
  studyKeyNow, studyWordNow,
} from '../../src/base/old-names.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { KeelsonError } from '../../src/base/errors.js';
import { readYaml, type YamlText } from './yaml-text.js';

/** One old name of a study file. */
export interface OldName {
  /** From 1. */
  readonly line: number;
  /** Such as `spectral-filter is now prime with directions: one`. */
  readonly text: string;
  /** True if the file can be rewritten; otherwise the text has the remedy. */
  readonly isRewritten: boolean;
}

/** A study file with new names in place of old ones; all else, comments too, is as it was. */
export interface RewrittenStudy {
  readonly text: string;
  readonly found: readonly OldName[];
}

/** The text of a file, and the lines of its places. */
interface Source extends Pick<YamlText, 'lineAt'> {
  readonly text: string;
}

interface Edit extends OldName {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/**
 * Finds the old names of a study file, in its keys, its estimators and their parameters, and writes
 * the new ones in their place.
 * @throws KeelsonError('invalid-study') for text that is not YAML.
 */
export function rewriteStudyText(text: string, file: string): RewrittenStudy {
  const { contents, lineAt } = readYaml(text, file);
  const edits = isMap(contents) ? [...editsIn(contents, { text, lineAt })] : [];
  edits.sort((one, other) => one.from - other.from);
  let [written, at] = ['', 0];
  for (const { from, to, insert } of edits) {
    written += text.slice(at, from) + insert;
    at = to;
  }
  return {
    text: written + text.slice(at),
    found: edits.map(({ line, text: said, isRewritten }) => ({ line, text: said, isRewritten })),
  };
}

function* editsIn(root: YAMLMap, source: Source): Generator<Edit> {
  yield* editsOfKeys(root, [], source);
  yield* editsOfQuestion(root, source);
  const questions = root.get('questions');
  if (!isMap(questions)) return;
  for (const { value } of questions.items) if (isMap(value)) yield* editsOfQuestion(value, source);
}

/** The old keys of a map and of all maps in it, and the old words that they have. */
function* editsOfKeys(
  map: YAMLMap, path: readonly string[], source: Source,
): Generator<Edit> {
  for (const { key, value } of map.items) {
    if (!isScalar(key)) continue;
    const own = [...path, String(key.value)];
    const now = studyKeyNow(own);
    if (now !== undefined) yield replaced(source, key, now, `${own.at(-1)!} is now ${now}`);
    if (isMap(value)) yield* editsOfKeys(value, own, source);
    if (!isScalar(value)) continue;
    const word = studyWordNow(own, value.value);
    if (word !== undefined) {
      yield replaced(source, value, word, `${String(value.value)} is now ${word}`);
    }
  }
}

function* editsOfQuestion(asked: YAMLMap, source: Source): Generator<Edit> {
  const named = asked.get('estimator', true);
  if (!isScalar(named) || typeof named.value !== 'string') return;
  const parameters = asked.get('parameters');
  const { value: name } = named;
  const renamed = Object.hasOwn(oldEstimators, name) ? oldEstimators[name] : undefined;
  if (renamed !== undefined) {
    yield replaced(source, named, renamed.now!, estimatorNow(name)!);
    const [beside] = Object.entries(renamed.with ?? {});
    if (beside !== undefined) yield added(source, asked, named, parameters, beside.join(': '));
  }
  if (isMap(parameters)) yield* editsOfParameters(parameters, renamed?.now ?? name, source);
}

function* editsOfParameters(
  parameters: YAMLMap, name: string, source: Source,
): Generator<Edit> {
  let specs;
  try {
    specs = findEstimator(name).parameters;
  } catch (error) {
    if (error instanceof KeelsonError) return;
    throw error;
  }
  const known = specs.map((spec) => spec.name);
  const joined = known.includes('low') ? null : rangeInPlaceOf(parameters, source);
  if (joined !== null && known.includes('range')) yield joined;
  for (const { key, value } of parameters.items) {
    if (!isScalar(key) || typeof key.value !== 'string') continue;
    const old = key.value;
    if (joined !== null && (old === 'low' || old === 'high')) continue;
    const said = known.includes(old) ? undefined : parameterNow(old, known, name);
    const now = said === undefined ? undefined : oldParameters[old]?.now;
    if (said !== undefined) {
      const isRewritten = now !== undefined && said === `${old} is now ${now}`;
      yield isRewritten ? replaced(source, key, now, said)
        : { ...replaced(source, key, old, said), isRewritten };
    }
    const { choices = [] } = specs.find((spec) => spec.name === (now ?? old)) ?? {};
    if (!isScalar(value) || choices.includes(String(value.value))) continue;
    const chosen = choiceNow(now ?? old, value.value, choices);
    if (chosen === undefined) continue;
    yield replaced(source, value, oldChoices[now ?? old]![String(value.value)]!.now!, chosen);
  }
}

/** One `range` for a `low` and a `high` beside each other; null where a comment is between them. */
function rangeInPlaceOf(parameters: YAMLMap, { text, lineAt }: Source): Edit | null {
  const places = ['low', 'high'].map((name) => parameters.items.findIndex(({ key, value }) =>
    isScalar(key) && key.value === name && isScalar(value) && typeof value.value === 'number'));
  const [first, last] = [Math.min(...places), Math.max(...places)];
  if (first < 0 || last !== first + 1 || parameters.has('range')) return null;
  const from = (parameters.items[first]!.key as Scalar).range![0];
  const to = (parameters.items[last]!.value as Scalar).range![1];
  if (text.slice(from, to).includes('#')) return null;
  const [low, high] = places.map((at) => (parameters.items[at]!.value as Scalar).source);
  return {
    from, to, insert: `range: ${low}..${high}`, line: lineAt(from),
    text: 'low and high are now range', isRewritten: true,
  };
}

function replaced(
  { lineAt }: Source, { range }: Scalar, insert: string, said: string,
): Edit {
  const [from, to] = range!;
  return { from, to, insert, line: lineAt(from), text: said, isRewritten: true };
}

/** Adds a parameter: to those that there are, or below the estimator. */
function added(
  { text, lineAt }: Source, asked: YAMLMap, named: Scalar, parameters: unknown,
  parameter: string,
): Edit {
  const below = (place: number): string => {
    const start = text.lastIndexOf('\n', place - 1) + 1;
    return `\n${/^[ -]*/.exec(text.slice(start))![0].replaceAll('-', ' ')}`;
  };
  const first = isMap(parameters) ? (parameters.items[0]?.key as Scalar | undefined) : undefined;
  const [from, insert] = first !== undefined
    ? [first.range![0], (parameters as YAMLMap).flow === true
      ? `${parameter}, ` : `${parameter}${below(first.range![0])}`]
    : [named.range![1], asked.flow === true ? `, parameters: { ${parameter} }`
      : `${below(named.range![0])}parameters: { ${parameter} }`];
  const said = `${parameter} is written beside it`;
  return { from, to: from, insert, line: lineAt(from), text: said, isRewritten: true };
}
