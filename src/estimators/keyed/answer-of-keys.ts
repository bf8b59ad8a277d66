import { findingsMax } from '../../base/findings.js';
import type { Finding, Interval95, Outcome, ValueOutcome } from '../../base/outcome.js';

/**
 * One answer from those of all keys. A key that was refused or not asked has zeros and no interval.
 * Without any answer it is refused for the reason of the first key that was asked.
 * @param answers - null: the key is too small to be asked.
 * @param shape - keys first, then the shape of one key's answer.
 * @param people - as many are enough for the answer of a key.
 */
export function answerOfKeys(
  answers: readonly (Outcome | null)[], shape: readonly number[], people: number,
): Outcome {
  const values = answers.map((answer) => (answer?.kind === 'value' ? answer : null));
  if (values.every((value) => value === null)) {
    return answers.find((answer) => answer !== null) ?? {
      kind: 'refused',
      reason: 'participation-below-plan',
      text: `no group has enough people for an answer (${people} are enough): use fewer groups, a `
        + 'larger epsilon, or wait longer',
    };
  }
  const entries = shape.slice(1).reduce((product, length) => product * length, 1);
  const intervals = (of: (value: ValueOutcome) => Interval95 | undefined): Interval95 | undefined =>
    (values.some((value) => value !== null && of(value) !== undefined)
      ? joined(values.map((value) => (value === null ? undefined : of(value))), entries)
      : undefined);
  const interval95 = intervals((value) => value.interval95);
  const intervalIfFalse95 = intervals((value) => value.intervalIfFalse95);
  const findings = findingsOf(values);
  return {
    kind: 'value',
    estimate: values.flatMap((value) => value?.estimate ?? filled(entries, 0)),
    shape,
    ...(values.includes(null) && { answered: values.map((value) => value !== null) }),
    uncertainty: { kind: 'none' },
    ...(interval95 !== undefined && { interval95 }),
    ...(intervalIfFalse95 !== undefined && { intervalIfFalse95 }),
    ...(findings.length > 0 && { findings }),
  };
}

function joined(intervals: readonly (Interval95 | undefined)[], entries: number): Interval95 {
  return {
    low: intervals.flatMap((interval) => interval?.low ?? filled(entries, -Infinity)),
    high: intervals.flatMap((interval) => interval?.high ?? filled(entries, Infinity)),
  };
}

function filled(length: number, value: number): readonly number[] {
  return new Array<number>(length).fill(value);
}

/** The findings of all keys, each with its group; the first ones if they are too many. */
function findingsOf(values: readonly (ValueOutcome | null)[]): readonly Finding[] {
  return values
    .flatMap((value, group) => value?.findings?.map((finding) => ({ ...finding, group })) ?? [])
    .slice(0, findingsMax);
}
