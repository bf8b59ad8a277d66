import { equalBytes, fromUtf8, utf8 } from '../base/bytes.js';
import { canonicalJson, type JsonValue } from '../base/canonical-json.js';
import { studyKeyNow } from '../base/old-names.js';

/** Facts of a study in the words of this version. */
export interface FactsNow {
  /** The bytes that were given, if they have no old name. */
  readonly facts: Uint8Array;
  /** Each old name and its new one, such as `questions[0].share is now part`. */
  readonly renamed: readonly string[];
}

/**
 * Reads facts that were signed when some members had other names, so that a log of then can still
 * be verified. A signature and a study's id are of the bytes as they were: check them on those.
 * Names of parameters stay as they are: nothing that reads a log needs them.
 * Bytes that are not canonical JSON come back as they are, and the reader of facts refuses them.
 */
export function factsNow(facts: Uint8Array): FactsNow {
  const renamed: string[] = [];
  try {
    const parsed = JSON.parse(fromUtf8(facts)) as JsonValue;
    if (!equalBytes(utf8(canonicalJson(parsed)), facts)) return { facts, renamed };
    const now = named(parsed, [], renamed);
    return renamed.length === 0 ? { facts, renamed } : { facts: utf8(canonicalJson(now)), renamed };
  } catch {
    // Not JSON, nested too deeply, or with numbers that JavaScript does not hold.
    return { facts, renamed };
  }
}

function named(value: JsonValue, path: readonly string[], renamed: string[]): JsonValue {
  if (Array.isArray(value)) {
    return value.map((each: JsonValue, i) => named(each, [...path, `[${i}]`], renamed));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Readonly<Record<string, JsonValue>>;
  const plain = path.filter((part) => !part.startsWith('[')).join('.');
  const isListed = plain === 'admission' && members['kind'] === 'keys';
  const isRated = plain === 'admission' && members['kind'] === 'rate';
  return Object.fromEntries(Object.entries(members).map(([name, each]) => {
    const own = [...path, name];
    // Other members of facts than these are not where a study file has them.
    const now = isRated || path[0] === 'questions' ? studyKeyNow(own) : undefined;
    const text = own.join('.').replaceAll('.[', '[');
    if (now !== undefined) renamed.push(`${text} is now ${now}`);
    const isWord = (isListed && name === 'kind')
      || (plain === 'questions.by.discover' && name === 'answer' && each === 'keys');
    if (!isWord) return [now ?? name, named(each, own, renamed)];
    const word = isListed ? 'contributorKeys' : 'groups';
    renamed.push(`${text}: keys is now ${word}`);
    return [name, word];
  }));
}
