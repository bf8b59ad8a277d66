import { canonicalJson, type JsonValue } from '../../base/canonical-json.js';
import { InvalidInputError } from '../../base/errors.js';
import { oldEvents, storedNow } from '../../base/old-names.js';
import { checkEvents } from './event-check.js';
import type { MechanismEvent } from './events.js';

/** Canonical JSON of a plan's events, as the ledger stores it. Doubles keep their exact value. */
export function eventsToJson(events: readonly MechanismEvent[]): string {
  checkEvents(events);
  return canonicalJson(events as unknown as JsonValue);
}

/**
 * Reads what `eventsToJson` wrote.
 * @throws InvalidInputError when the text is not JSON or not a list; InvalidParameterError when an
 *   event is malformed.
 */
export function eventsFromJson(text: string): readonly MechanismEvent[] {
  let value: unknown;
  try {
    value = parsed(text);
  } catch {
    throw new InvalidInputError('mechanism events are not valid JSON');
  }
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'object' || item === null)) {
    throw new InvalidInputError('mechanism events are a JSON list of objects');
  }
  const events = value as readonly MechanismEvent[];
  checkEvents(events);
  return events;
}

/**
 * True if two texts of a ledger describe the same draws, also where one is in the words of an
 * earlier version.
 */
export function areSameEvents(left: string, right: string): boolean {
  const now = (text: string): string => canonicalJson(parsed(text) as JsonValue);
  return left === right || now(left) === now(right);
}

const before = /"(keysMax|key-histogram|key-sums|key-weights)"/;

function parsed(text: string): unknown {
  return JSON.parse(text, before.test(text) ? inWordsOfNow : undefined);
}

/**
 * Ledgers of an earlier version have other kinds of events, and say `keysMax`, in events and in
 * what splits them by group.
 */
function inWordsOfNow(member: string, value: unknown): unknown {
  if (member === 'kind') return storedNow(oldEvents, value as string);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'keysMax')) return value;
  const { keysMax, ...rest } = value as { readonly keysMax: unknown };
  return { ...rest, groupsMax: keysMax };
}
