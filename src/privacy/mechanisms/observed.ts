import { type Released, Sensitive } from '../../base/brands.js';
import { openSensitive, releasedByMechanism } from '../../base/wrappers.js';
import type { MechanismEvent } from '../accounting/events.js';
import type { NoiseSource } from '../../random/source.js';
import type { Mechanisms } from './contract.js';
import { createMechanisms, type PreparedMechanisms } from './index.js';

/** One call of a mechanism, with the data that it was given. */
export interface ObservedCall {
  /** The name that the call gave: of a keyed event with its key. */
  readonly name: string;
  /** The event that the mechanisms were made with. */
  readonly event: MechanismEvent;
  readonly method: keyof Mechanisms;
  /** The arguments: for `groupHistogram` and `groupSums` the counts or the table, then the keys. */
  readonly contents: readonly unknown[];
}

/**
 * Mechanisms that show what they are given, and release what an observer says. For checks on
 * made-up data: nothing here is private, so only src/audit may import this file. A tidy test checks
 * that.
 *
 * Each call goes through real mechanisms first. So a call that was not charged, or that does not
 * fit its event, throws as it does in a release.
 * @param answer - returns what is released in place of what was drawn.
 */
export function observed(
  events: readonly MechanismEvent[], noise: NoiseSource,
  answer: (call: ObservedCall, drawn: unknown) => unknown,
): PreparedMechanisms {
  const inner = createMechanisms(events, noise);
  const byName = new Map(events.map((event) => [event.name, event]));
  return new Proxy(inner, {
    get(target, method: keyof PreparedMechanisms) {
      if (method === 'prepare') return () => 0;
      const call = target[method].bind(target) as (
        name: string, ...given: readonly unknown[]
      ) => Released<unknown>;
      return (name: string, ...given: readonly unknown[]): Released<unknown> => {
        const drawn = call(name, ...given);
        const event = byName.get(name) ?? byName.get(name.replace(/#\d+$/, ''))!;
        const contents = given.map((value) =>
          (value instanceof Sensitive ? openSensitive<unknown>(value) : value));
        return releasedByMechanism(answer({ name, event, method, contents }, drawn.value));
      };
    },
  });
}

/**
 * How many items of two lists of the same length differ, for checks on made-up data.
 * @param textOf - the item as text: equal texts are equal items.
 */
export function itemsApart<Item>(
  one: Sensitive<readonly Item[]>, other: Sensitive<readonly Item[]>,
  textOf: (item: Item) => string,
): number {
  const [left, right] = [openSensitive(one), openSensitive(other)];
  return left.filter((item, i) => textOf(item) !== textOf(right[i]!)).length;
}
