import { utf8 } from '../../base/bytes.js';
import { assign, assignmentHashBytes } from '../../estimators/summaries/assignment.js';
import type { Plan, StudyFacts } from '../../estimators/contract/estimator.js';
import { seededRandom } from '../../random/work.js';
import type { Contributors, NeighbourPair } from '../contract.js';
import { listsOf } from './mechanism-cases.js';

/** Contributors of a data set of the grid, at most. */
export const seats = 4;
/** Beyond every clipping radius, but far from the largest double. */
const far = 1e9;

/** Neighbours, and the cohort of the contributor who changes. */
export interface GridPair extends NeighbourPair {
  readonly cohort: string;
}

/** The rows that one contributor may send: one, unless the question is split by keys. */
type Sent = readonly (readonly number[])[];

/**
 * The coarse grid of what one contributor may send; absent is the first.
 * @param landmarks - numbers of the question: edges, bounds, thresholds. Rows stand on them and
 *   between them.
 */
function choicesOf({ dimension, keys, participation }: StudyFacts, landmarks: readonly number[]):
readonly Sent[] {
  const values = [...new Set([...landmarks, 0, 1, -1, far, -far])].slice(0, 5);
  const absent: readonly Sent[] = participation === 'secret' ? [[]] : [];
  if (keys?.list === 'public') {
    const rowOf = (key: number, value: number): readonly number[] =>
      Array.from({ length: dimension }, (_, j) => (j === 0 ? key : value));
    const most = Math.min(keys.groupsMax, keys.count);
    const first = Array.from({ length: most }, (_, key) => key);
    const others = first.map((key) => keys.count - 1 - key);
    return [
      ...absent, [rowOf(0, 1)], first.map((key) => rowOf(key, 1)),
      first.map((key) => rowOf(key, far)), others.map((key) => rowOf(key, -far)),
    ];
  }
  if (keys?.answer === 'groups') {
    // A row is the place of a key, columns, and the number of keys that its contributor has.
    const rowsOf = (...places: readonly number[]): Sent => places.map((key) =>
      Array.from({ length: dimension }, (_, j) =>
        (j === 0 ? key : j === dimension - 1 ? places.length : 1)));
    return [...absent, rowsOf(0), rowsOf(1), rowsOf(0, 1), rowsOf(2, 3)];
  }
  if (keys !== undefined) {
    // The place of a discovered key is in front too. Values differ under a key, and between keys.
    const rowOf = (key: number, value: number): readonly number[] =>
      Array.from({ length: dimension }, (_, j) => (j === 0 ? key : value));
    return [
      ...absent, [rowOf(0, 1)], dimension === 1 ? [rowOf(1, 1)] : [rowOf(0, far)],
      [rowOf(0, 1), rowOf(1, -far)], [rowOf(2, far), rowOf(3, far)],
    ];
  }
  const rows = values.map((value, i) =>
    Array.from({ length: dimension }, (_, j) => (j === 0 || i % 2 === 0 ? value : 0)));
  return [...absent, ...rows.map((row) => [row])];
}

/**
 * All pairs of neighbouring data sets of at most four contributors on a coarse grid. The others
 * are listed up to their order; `label` fixes who is in which group.
 */
export function gridPairs(
  plan: Plan, facts: StudyFacts, landmarks: readonly number[], label: string,
): readonly GridPair[] {
  const choices = choicesOf(facts, landmarks);
  const hashes = new Uint8Array(seats * assignmentHashBytes);
  seededRandom(utf8(`grid ${label}`)).fill(hashes);
  const cohort =
    plan.arms[assign(hashes.subarray(0, assignmentHashBytes), plan.arms).arm]!.name;
  const places = choices.map((_, i) => i);
  const others = listsOf(places, seats - 1)
    .filter((list) => list.every((choice, i) => i === 0 || list[i - 1]! <= choice));
  const dataSet = (list: readonly number[]): Contributors =>
    contributorsOf(list.map((choice) => choices[choice]!), hashes, facts.dimension);
  return others.flatMap((rest) => places.flatMap((one) => places.slice(one + 1).map((other) => ({
    name: `${textOf(choices[one]!)} or ${textOf(choices[other]!)}, beside `
      + rest.map((choice) => textOf(choices[choice]!)).join(', '),
    left: dataSet([one, ...rest]), right: dataSet([other, ...rest]), cohort,
  }))));
}

/** The fewest contributors of a larger data set, besides the one who changes. */
const largerLeast = 12;
/** The fewest in each of its arms: an empty arm ends many releases early. */
const eachCohortLeast = 2;

/**
 * Random pairs of larger data sets on the same grid, with somebody in every cohort. The one who
 * changes is in any cohort, and their row changes in any way.
 * @param count - pairs. Each has 12 or more contributors, 2 or more in each cohort, and one who
 *   changes.
 */
export function largerPairs(
  plan: Plan, facts: StudyFacts, landmarks: readonly number[], label: string, count: number,
): readonly GridPair[] {
  const choices = choicesOf(facts, landmarks);
  const random = seededRandom(utf8(`larger ${label}`));
  const below = (limit: number): number => Math.floor(random.uniform() * limit);
  const hash = (): Uint8Array => {
    const drawn = new Uint8Array(assignmentHashBytes);
    random.fill(drawn);
    return drawn;
  };
  const cohortOf = (drawn: Uint8Array): number => assign(drawn, plan.arms).arm;
  const each = Math.max(eachCohortLeast, Math.ceil(largerLeast / plan.arms.length));
  return Array.from({ length: count }, (_, at) => {
    const changing = hash();
    const hashes = [changing];
    const missing = plan.arms.map(() => each);
    while (hashes.length <= each * plan.arms.length) {
      const drawn = hash();
      const own = cohortOf(drawn);
      if (missing[own] === 0) continue;
      missing[own]! -= 1;
      hashes.push(drawn);
    }
    const rest = hashes.slice(1).map(() => choices[below(choices.length)]!);
    const one = below(choices.length - 1);
    const other = one + 1 + below(choices.length - 1 - one);
    const dataSet = (choice: number): Contributors => contributorsOf(
      [choices[choice]!, ...rest],
      Uint8Array.from(hashes.flatMap((bytes) => [...bytes])), facts.dimension,
    );
    return {
      name: `${textOf(choices[one]!)} or ${textOf(choices[other]!)}, beside ${rest.length} others, `
        + `larger data set ${at}`,
      left: dataSet(one), right: dataSet(other), cohort: plan.arms[cohortOf(changing)]!.name,
    };
  });
}

function textOf(sent: Sent): string {
  return sent.length === 0 ? 'nobody' : sent.map((row) => `[${row.join(' ')}]`).join('+');
}

function contributorsOf(
  sent: readonly Sent[], hashes: Uint8Array, dimension: number,
): Contributors {
  const count = sent.reduce((sum, rows) => sum + rows.length, 0);
  const assignmentHashes = new Uint8Array(count * assignmentHashBytes);
  const rows = new Float64Array(count * dimension);
  let at = 0;
  sent.forEach((own, seat) => {
    for (const row of own) {
      assignmentHashes.set(
        hashes.subarray(seat * assignmentHashBytes, (seat + 1) * assignmentHashBytes),
        at * assignmentHashBytes,
      );
      rows.set(row, at * dimension);
      at += 1;
    }
  });
  return { count, assignmentHashes, rows };
}
