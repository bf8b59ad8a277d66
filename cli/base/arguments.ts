import type { ArgsDef, ArgDef } from 'citty';
import { UsageError } from './errors.js';
import { didYouMean, nearest, questionWordsFor } from '../../src/base/suggest.js';

/**
 * citty ignores unknown flags, extra words and missing values, and keeps the last of repeated
 * flags. A misspelt --epsilon must not run with another meaning. So this file checks everything
 * first, and citty only converts.
 */
export interface CheckedArguments {
  /** The same arguments, each flag as one word `--name=value`. */
  readonly words: readonly string[];
  readonly repeated: Readonly<Record<string, readonly string[]>>;
}

/**
 * Flags of earlier versions, each with the flag or argument that replaced it and what to write
 * (docs/internals/names.md).
 */
const renamedFlags: Readonly<Record<string, readonly [now: string, write: string]>> = {
  alerts: ['settings', 'alerts in the file of --settings'],
  by: ['group-by', '--group-by'],
  dimension: ['columns', '--columns'],
  format: ['csv', 'nothing in its place: the first bytes of the input show the format'],
  'frame-ancestors': ['settings', 'frameAncestors in the file of --settings'],
  header: ['csv', '--csv header=yes or --csv header=no'],
  hostile: ['liars', '--liars'],
  input: ['file', 'the file itself, without a flag'],
  keys: ['groups', '--groups'],
  'keys-max': ['groups-max', '--groups-max'],
  missing: ['csv', '--csv missing=null'],
  promise: ['corruption', '--corruption'],
  'release-tick': ['settings', 'releaseTick in the file of --settings'],
  rho: ['epsilon', '--epsilon rho=R'],
  'row-keys': ['encryption-keys', '--encryption-keys'],
  'store-direct': ['settings', 'store.direct in the file of --settings'],
  'store-lease': ['settings', 'store.lease in the file of --settings'],
  'store-pool': ['settings', 'store.connections in the file of --settings'],
  'store-schema': ['settings', 'store.schema in the file of --settings'],
  timing: ['debug', '--debug, which prints the time'],
  traces: ['settings', 'traces in the file of --settings'],
};

interface Collected {
  readonly flags: Map<string, string[]>;
  readonly positionals: string[];
}

/** @throws UsageError on anything that the definitions do not declare. */
export function checkArguments(
  words: readonly string[],
  definitions: ArgsDef,
  repeatable: readonly string[],
): CheckedArguments {
  const collected = collect(words, definitions);
  for (const [name, values] of collected.flags) {
    if (values.length > 1 && !repeatable.includes(name)) {
      throw new UsageError(`--${name} is given ${values.length} times: give it once`);
    }
    checkChoice(name, values, definitions[name]!);
  }
  checkPresence(collected, definitions);
  const flagWords = [...collected.flags].map(([name, values]) =>
    definitions[name]!.type === 'boolean' ? `--${name}` : `--${name}=${values.at(-1)!}`);
  const repeated =
    Object.fromEntries(repeatable.map((name) => [name, collected.flags.get(name) ?? []]));
  return { words: [...flagWords, '--', ...collected.positionals], repeated };
}

function collect(words: readonly string[], definitions: ArgsDef): Collected {
  const collected: Collected = { flags: new Map(), positionals: [] };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === '--') {
      collected.positionals.push(...words.slice(i + 1));
      break;
    }
    if (!isFlag(word)) {
      collected.positionals.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    const typed = equals < 0 ? word : word.slice(0, equals);
    const name = flagName(typed, definitions);
    let value = equals < 0 ? undefined : word.slice(equals + 1);
    if (definitions[name]!.type === 'boolean') {
      if (value !== undefined) {
        throw new UsageError(`--${name} takes no value: write it alone or leave it out`);
      }
      value = 'true';
    } else if (value === undefined) {
      const next = words[i + 1];
      if (next === undefined || isFlag(next)) {
        throw new UsageError(`--${name} needs a value: ${describeValue(name, definitions[name]!)}`);
      }
      value = next;
      i += 1;
    }
    if (value === '') throw new UsageError(`--${name} has an empty value: `
      + `${describeValue(name, definitions[name]!)}`);
    collected.flags.set(name, [...(collected.flags.get(name) ?? []), value]);
  }
  return collected;
}

/** `-` alone means standard input, and `-1.5` is a number. */
function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-' && !/^-[0-9.]/.test(word);
}

function flagName(typed: string, definitions: ArgsDef): string {
  const names = Object.keys(definitions).filter((name) => definitions[name]!.type !== 'positional');
  const bare = typed.replace(/^--?/, '');
  const byName = typed.startsWith('--') && names.includes(bare) ? bare : undefined;
  const byAlias = names.find((name) => typed === `-${aliasOf(definitions[name]!) ?? ''}`);
  const name = byName ?? byAlias;
  if (name === undefined) {
    throw new UsageError(
      `unknown flag ${typed}${flagRemedy(bare, names, definitions)}`, { flag: typed });
  }
  return name;
}

function flagRemedy(bare: string, names: readonly string[], definitions: ArgsDef): string {
  const [now, write] = Object.hasOwn(renamedFlags, bare) ? renamedFlags[bare]! : ['', ''];
  if (Object.hasOwn(definitions, now)) return `: write ${write}`;
  const near = nearest(bare, names);
  return near === undefined ? ': --help lists those there are' : `: did you mean --${near}?`;
}

/** The one-letter form of a flag. */
export function aliasOf(definition: ArgDef): string | undefined {
  return 'alias' in definition && typeof definition.alias === 'string'
    ? definition.alias : undefined;
}

function describeValue(name: string, definition: ArgDef): string {
  if (definition.type === 'enum') return `one of ${(definition.options ?? []).join(', ')}`;
  return `write --${name}=${(definition.valueHint ?? 'VALUE').toUpperCase()}`;
}

function checkChoice(name: string, values: readonly string[], definition: ArgDef): void {
  if (definition.type !== 'enum') return;
  const options = definition.options ?? [];
  for (const value of values) {
    if (!options.includes(value)) {
      const near = didYouMean(value, options, questionWordsFor(options));
      throw new UsageError(`--${name} is one of ${options.join(', ')}${near}`, { flag: name });
    }
  }
}

function checkPresence(collected: Collected, definitions: ArgsDef): void {
  if (collected.flags.has('help')) return;
  const positionals = Object.entries(definitions)
    .filter(([, definition]) => definition.type === 'positional');
  for (const [index, [name, definition]] of positionals.entries()) {
    if (definition.required !== false && collected.positionals[index] === undefined) {
      throw new UsageError(`${name.toUpperCase()} is missing: `
        + `${definition.description ?? 'it must be given'}`);
    }
    if (collected.positionals[index] === '') {
      throw new UsageError(`${name.toUpperCase()} is empty: `
        + `${definition.description ?? 'give a text'}`);
    }
  }
  // If a command takes a list, the valueHint of its last positional argument ends in "...".
  const takesList = positionals.at(-1)?.[1].valueHint?.endsWith('...') === true;
  const surplus = collected.positionals[positionals.length];
  if (surplus !== undefined && !takesList) {
    throw new UsageError(`unexpected argument "${surplus}": --help shows what the command takes`);
  }
  for (const [name, definition] of Object.entries(definitions)) {
    const needed = definition.type !== 'positional' && definition.required === true;
    if (needed && !collected.flags.has(name)) {
      throw new UsageError(`--${name} is missing: ${definition.description ?? ''}`);
    }
  }
}
