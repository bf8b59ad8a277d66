import { canonicalJson, type JsonValue } from '../../base/canonical-json.js';
import { InvalidInputError } from '../../base/errors.js';
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
    value = JSON.parse(text);
  } catch {
    throw new InvalidInputError('mechanism events are not valid JSON');
  }
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'object' || item === null)) {
    throw new InvalidInputError('mechanism events are a JSON list of objects');
  }
  const events = value.map(inWordsOfNow);
  checkEvents(events);
  return events;
}

/** Ledgers that an earlier version wrote say `keysMax`. */
function inWordsOfNow({ keysMax, ...event }: { readonly keysMax?: number }): MechanismEvent {
  return { ...event, ...(keysMax !== undefined && { groupsMax: keysMax }) } as MechanismEvent;
}
