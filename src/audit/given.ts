import type { Released, Sensitive } from '../base/brands.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';

/**
 * Audits a part of a release, given the answers of the rest.
 *
 * A release asks its mechanisms one after the other, and each question may depend on earlier
 * answers. Here the answers of all but some events are fixed in advance, the same on both sides of
 * a pair. The rest is an adaptive composition of the remaining events alone, so it must keep the
 * promise of their cost alone. For a release that first pays for a centre and then for a mean, this
 * shows how private the mean is without help from the centre.
 *
 * A threshold test that later events rely on may fail with the probability of its delta. Do not fix
 * answers that one side gives only with such a small probability. The answers of a successful
 * release on ordinary rows are safe.
 */
export type Answers = Map<string, Released<unknown>[]>;

type Call = (event: string, value: Sensitive<unknown>) => Released<unknown>;

/** Records all answers. */
export function recording(inner: Mechanisms, answers: Answers): Mechanisms {
  return around(inner, (event, call) => {
    const answer = call();
    answers.set(event, [...(answers.get(event) ?? []), answer]);
    return answer;
  });
}

/** Repeats the answers, but for the events that stay random. */
export function repeating(
  inner: Mechanisms, answers: Answers, random: ReadonlySet<string>,
): Mechanisms {
  const used = new Map<string, number>();
  return around(inner, (event, call) => {
    if (random.has(event)) return call();
    const place = used.get(event) ?? 0;
    used.set(event, place + 1);
    const answer = answers.get(event)?.[place];
    if (answer === undefined) throw new Unanswered();
    return answer;
  });
}

/**
 * The release asks for something that has no recorded answer. This is an outcome of its own, and
 * nothing is drawn.
 */
export class Unanswered extends Error {}

/**
 * Every method of `Mechanisms` takes an event's name and a value, so one rule serves all of them.
 */
function around(
  inner: Mechanisms, rule: (event: string, call: () => Released<unknown>) => Released<unknown>,
): Mechanisms {
  return new Proxy(inner, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as Call;
      const wrapped: Call = (event, value) => rule(event, () => method.call(target, event, value));
      return wrapped;
    },
  });
}
