import type { Released, Sensitive } from '../base/brands.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';

/**
 * Audits of a part of a release, given the rest of it.
 *
 * A release asks its mechanisms one after the other, each for a question that may depend on the answers before. Here
 * the answers of all but some events are fixed beforehand, the same on both sides of a pair. What is left is an
 * adaptive composition of those events alone, so that it must keep the promise of their cost alone: for a release that
 * first pays for a centre and then for a mean, this tells how private the mean is, with no help from the centre.
 *
 * A threshold that vouches for later events (P4) may fail with the probability of its delta. Answers that one side gives
 * with such a probability only must not be fixed; those of a release that went well on ordinary rows are not.
 */
export type Answers = Map<string, Released<unknown>[]>;

type Call = (event: string, value: Sensitive<unknown>) => Released<unknown>;

/** Writes down what is answered. */
export function recording(inner: Mechanisms, answers: Answers): Mechanisms {
  return around(inner, (event, call) => {
    const answer = call();
    answers.set(event, [...(answers.get(event) ?? []), answer]);
    return answer;
  });
}

/** Repeats the answers, but for the events that stay random. */
export function repeating(inner: Mechanisms, answers: Answers, random: ReadonlySet<string>): Mechanisms {
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

/** The release asks for something that the fixed answers do not hold: an outcome of its own, and nothing is drawn. */
export class Unanswered extends Error {}

/** Every method of `Mechanisms` takes an event's name and a value, so one rule serves all of them. */
function around(inner: Mechanisms, rule: (event: string, call: () => Released<unknown>) => Released<unknown>): Mechanisms {
  return new Proxy(inner, {
    get(target, name) {
      const method = Reflect.get(target, name, target) as Call;
      const wrapped: Call = (event, value) => rule(event, () => method.call(target, event, value));
      return wrapped;
    },
  });
}
