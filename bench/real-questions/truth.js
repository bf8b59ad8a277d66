// The true answers of a study, computed from the rows of its people.

const clipped = (value, { low = -Infinity, high = Infinity }) =>
  Math.min(high, Math.max(low, Number(value)));
const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

/** The value at a share of sorted numbers, as `quantile` defines it. */
const quantileOf = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/**
 * The definition of each number of one answer: a function of the values of the people under a key.
 */
function numbersOf({ estimator, parameters }, type) {
  const held = (values) => values.map((value) => clipped(value, type));
  const sorted = (values) => Float64Array.from(held(values)).sort();
  switch (estimator) {
    case 'count': return [['', (values) => values.length]];
    // The values in full, also those that the answer clips; and the clipped ones, of which it is.
    case 'sum': return [
      ['', (values) => sumOf(values.map(Number)), (values) => sumOf(held(values))],
    ];
    case 'mean':
    case 'robust-mean':
    case 'share': return [['', (values) => sumOf(values.map(Number)) / values.length]];
    default: return (parameters.probabilities ?? [0.05, 0.25, 0.5, 0.75, 0.95])
      .map((share) => [` at ${share}`, (values) => quantileOf(sorted(values), share)]);
  }
}

/**
 * The numbers of one answer beside the truth. Each person has one row.
 * @param answer - of `estimateStudy`: its keys, estimate and interval95.
 * @returns for each number: { key, part, truth, estimate, half, holds, holdsClipped }. holds is
 *   null where there is no interval, and half also where an end is open; estimate is null where a
 *   key has no answer. holdsClipped is there where the answer is about clipped values.
 */
export function judged({ question, types }, answer, rows) {
  const [column] = question.columns;
  const by = question.by?.columns ?? [];
  const people = new Map();
  for (const row of rows) {
    if (column !== undefined && row[column] === null) continue;
    const key = by.map((name) => nameOf(row[name], types[name])).join(', ');
    const found = people.get(key) ?? [];
    people.set(key, found);
    found.push(column === undefined ? 1 : row[column]);
  }
  const numbers = numbersOf(question, types[column] ?? {});
  const keys = by.length === 0 ? [''] : answer.groups.map((key) => [key].flat().join(', '));
  const width = answer.groups === undefined ? 0 : answer.estimate.length / keys.length;
  const lines = keys.flatMap((key, i) => numbers.map(([part, of, ofClipped], j) =>
    lineOf(answer, width * i + j, answer.answered?.[i] ?? true, {
      key: `${key}${part}`, truth: of(people.get(key) ?? []),
      ...(ofClipped && { clipped: ofClipped(people.get(key) ?? []) }),
    })));
  return { lines, people };
}

/** A value that is not on the list of a category counts as other. */
const nameOf = (value, type) =>
  (type.of === undefined || type.of.includes(value) ? value : 'other');

function lineOf({ estimate, interval95 }, at, isAnswered, { key, truth, clipped: inBounds }) {
  if (!isAnswered) return { key, truth, estimate: null, half: null, holds: null };
  const [low, high] = [interval95?.low[at] ?? -Infinity, interval95?.high[at] ?? Infinity];
  const holds = (value) => low <= value && value <= high;
  return {
    key, truth, estimate: estimate[at],
    half: Number.isFinite(high - low) ? (high - low) / 2 : null,
    holds: Number.isFinite(low) || Number.isFinite(high) ? holds(truth) : null,
    ...(inBounds !== undefined && { holdsClipped: holds(inBounds) }),
  };
}
