// Figures of benchmarks: summaries of many samples, and lines for people.
import { loadavg } from 'node:os';

const inOrder = (list) => Float64Array.from(list).sort();

/** The value below which a part of the list is; NaN where the list is empty. */
export function quantile(list, part) {
  const sorted = inOrder(list);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN;
}

/** The middle one; of an even number the larger of the two in the middle. */
export const median = (list) => quantile(list, 0.5);
export const sum = (list) => list.reduce((total, value) => total + value, 0);
export const rootMeanSquare = (list) =>
  Math.sqrt(sum(list.map((value) => value ** 2)) / list.length);
export const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(0);
/** The other load on the machine, which a benchmark states beside its figures. */
export const loadText = (load = loadavg()) =>
  `load average ${load.map((value) => value.toFixed(1)).join(' ')}`;

/**
 * Measures each of several things once in every round, so that other work on the machine slows all
 * of them alike.
 * @param things - by name: () => a figure, or a promise of one.
 * @returns by name, the list of figures, one of each round.
 */
export async function inTurns(rounds, things) {
  const found = Object.fromEntries(Object.keys(things).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(things)) found[name].push(await measure(round));
  }
  return found;
}

/** The median of the ratios within each round. */
export const ratioInTurns = (own, other, pick = (figure) => figure) =>
  median(own.map((figure, round) => pick(figure) / pick(other[round])));

/**
 * Prints whether a target is met, and lets the process end with 1 if it is not.
 * @param isJudged - false in a tiny run, whose figures mean nothing.
 */
export function judge(isMet, text, isJudged = true) {
  if (!isMet && isJudged) process.exitCode = 1;
  console.log(`${isMet ? 'met    ' : 'MISSED '} ${text}`);
}
