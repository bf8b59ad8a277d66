import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { nearestSteps, stepsBelow, valueOfSteps } from '../../privacy/accounting/grid.js';
import { groupWeightSteps } from '../../privacy/mechanisms/bounds.js';
import type { FoundKeys, KeptBin, KeptKey, Scores } from '../../privacy/mechanisms/contract.js';
import type { ScoreRuns } from '../../random/samplers/choice.js';
import { sharedRuns } from '../../privacy/mechanisms/score-runs.js';
import { compareLaws, type CaseResult } from './claims.js';
import { fraction, type Interval } from './interval.js';
import type { Law } from './law.js';
import { checkMask, maskCases } from './mask-cases.js';
import { faultsOfChoice, lawOfCall, noiseOf, type Content } from './mechanism-laws.js';
import { checkSealedCase, sealedCases } from './sealed-cases.js';

/** A mechanism with little noise, and all contents of a small domain. */
export interface MechanismCase<C extends Content = Content> {
  readonly name: string;
  readonly event: MechanismEvent;
  readonly contents: readonly C[];
  /** True if one contributor could have made one of the other: what the event's claim is about. */
  readonly areNeighbours: (left: C, right: C) => boolean;
  /** Outcomes that the delta of the event pays for, by their text. */
  readonly removed?: (left: C, right: C) => (key: string) => boolean;
  readonly pathMinimum?: Interval;
}

/** Compares the exact laws of all pairs of neighbours with the cost of the event. */
export function checkMechanism<C extends Content>(
  { name, event, contents, areNeighbours, removed, pathMinimum }: MechanismCase<C>,
): CaseResult {
  const noise = noiseOf(event);
  const cost = costOfEvents([event], { disjoint: [] });
  const laws = contents.map((content): Law => lawOfCall(event, content, noise, pathMinimum));
  const faults = event.kind !== 'exponential' ? [] : contents.flatMap((content) =>
    faultsOfChoice(event, content as Scores).map((fault) => `${textOfContent(content)}: ${fault}`));
  let [pairs, share, tail] = [0, 0, 0];
  contents.forEach((left, i) => {
    contents.slice(i + 1).forEach((right, more) => {
      if (!areNeighbours(left, right)) return;
      const found = compareLaws(laws[i]!, laws[i + 1 + more]!, cost, removed?.(left, right));
      pairs += 1;
      share = Math.max(share, found.share);
      tail = Math.max(tail, found.tail);
      faults.push(...found.faults.map((fault) =>
        `${textOfContent(left)} and ${textOfContent(right)}: ${fault}`));
    });
  });
  return { name, contents: contents.length, pairs, share, tail, faults };
}

function textOfContent(content: Content): string {
  if (content instanceof Float64Array) return `[${content.join(', ')}]`;
  return JSON.stringify(content, (_, value: unknown) =>
    (value instanceof Map ? [...value as Map<unknown, unknown>] : value));
}

/** All lists of `length` entries of `choices`. */
export function listsOf<T>(choices: readonly T[], length: number): readonly (readonly T[])[] {
  return length === 0 ? [[]]
    : listsOf(choices, length - 1).flatMap((list) => choices.map((choice) => [...list, choice]));
}

const vectorsOf = (entries: readonly number[], length: number): readonly Float64Array[] =>
  listsOf(entries, length).map((list) => Float64Array.from(list));

const place = { name: 'draw', cohort: 'rows' } as const;

/** How far two vectors are apart once they are rounded to the grid. */
const gaps = (left: Float64Array, right: Float64Array, grid: number): readonly number[] =>
  Array.from(left, (entry, i) =>
    Number(nearestSteps(entry, grid)) * grid - Number(nearestSteps(right[i]!, grid)) * grid);

const additive: readonly MechanismCase<Float64Array>[] = [
  {
    name: 'gaussian, whole deviation',
    event: { ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma: 1, grid: 1 },
    // Halves and less: how a value is rounded must not matter.
    contents: vectorsOf([-1.5, -1, -0.5, -0.25, 0, 0.5, 1, 1.49], 1),
    areNeighbours: (left, right) => Math.hypot(...gaps(left, right, 1)) <= 1,
  },
  {
    name: 'gaussian, fine grid',
    event: { ...place, kind: 'gaussian', dimension: 1, sensitivity: 1, sigma: 0.75, grid: 0.25 },
    contents: vectorsOf([-0.5, 0, 0.125, 0.5, 1], 1),
    areNeighbours: (left, right) => Math.hypot(...gaps(left, right, 0.25)) <= 1,
  },
  {
    name: 'gaussian, two entries',
    event: {
      ...place, kind: 'gaussian', dimension: 2, sensitivity: Math.SQRT2, sigma: 1, grid: 1,
    },
    contents: vectorsOf([0, 1], 2),
    areNeighbours: (left, right) => Math.hypot(...gaps(left, right, 1)) <= Math.SQRT2,
    pathMinimum: fraction(1n, 1n << 90n),
  },
  {
    name: 'symmetric-gaussian, 2 x 2',
    event: {
      ...place, kind: 'symmetric-gaussian', dimension: 2, sensitivity: Math.SQRT2, sigma: 1,
      grid: 1,
    },
    contents: [[0, 0, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]].map((list) => Float64Array.from(list)),
    areNeighbours: (left, right) => Math.hypot(...gaps(left, right, 1)) <= Math.SQRT2,
    pathMinimum: fraction(1n, 1n << 70n),
  },
  ...[1, 2].map((dimension): MechanismCase<Float64Array> => ({
    name: `laplace, ${dimension === 1 ? 'one entry' : 'two entries'}`,
    event: { ...place, kind: 'laplace', dimension, sensitivity: 1, scale: 0.5, grid: 0.5 },
    contents: vectorsOf(dimension === 1 ? [-1, -0.25, 0, 0.25, 0.5, 1] : [0, 0.5], dimension),
    areNeighbours: (left, right) =>
      gaps(left, right, 0.5).reduce((sum, gap) => sum + Math.abs(gap), 0) <= 1,
    pathMinimum: fraction(1n, 1n << 60n),
  })),
  {
    name: 'laplace, whole counts',
    event: { ...place, kind: 'laplace', dimension: 1, sensitivity: 1, scale: 2, grid: 1 },
    contents: vectorsOf([-1, 0, 1, 2], 1),
    areNeighbours: (left, right) => Math.abs(gaps(left, right, 1)[0]!) <= 1,
  },
  {
    name: 'laplace, fine grid',
    event: { ...place, kind: 'laplace', dimension: 1, sensitivity: 1, scale: 1, grid: 0.125 },
    contents: vectorsOf([0, 0.5, 1], 1),
    areNeighbours: (left, right) => Math.abs(gaps(left, right, 0.125)[0]!) <= 1,
  },
  {
    name: 'exponential',
    event: { ...place, kind: 'exponential', candidates: 3, sensitivity: 1, epsilon: 1.5, times: 1 },
    contents: vectorsOf([0, 0.5, 1], 3),
    areNeighbours: (left, right) => left.every((score, i) => Math.abs(score - right[i]!) <= 1),
  },
];

/** Eight candidates in runs whose ends differ, some of them empty. */
const runs: readonly ScoreRuns[] = [[8], [3, 5], [1, 0, 5, 2]].flatMap((lengths) =>
  listsOf(lengths.length > 2 ? [0, -1] : [0, -0.5, -1], lengths.length).map((scores) =>
    ({ lengths: Float64Array.from(lengths), scores: Float64Array.from(scores) })));

const choiceOfRuns: MechanismCase<ScoreRuns> = {
  name: 'exponential, in runs',
  event: { ...place, kind: 'exponential', candidates: 8, sensitivity: 1, epsilon: 1.5, times: 1 },
  contents: runs,
  areNeighbours: (left, right) =>
    sharedRuns(left, right).every((run) => Math.abs(run.left - run.right) <= 1),
};

const test = {
  ...place, kind: 'gaussian-threshold', sensitivity: 1, sigma: 1.25, delta: 0.05, floor: 2, grid: 1,
} as const;

const threshold: MechanismCase<number> = {
  name: 'threshold',
  event: test,
  contents: [0, 0.5, 1, 1.5, 2, 2.25, 3, 4, 5],
  areNeighbours: (left, right) =>
    Math.abs(valueOfSteps(stepsBelow(left, 1), 1) - valueOfSteps(stepsBelow(right, 1), 1)) <= 1,
  // The steps after a pass may tell everything about a value below the floor.
  removed: (left, right) => (key) => key === 'true' && Math.min(left, right) < test.floor,
};

const labels = listsOf(['a', 'b', 'c'], 4);

function leaders(list: readonly string[]): readonly string[] {
  const counts = ['a', 'b', 'c'].map((label) => list.filter((one) => one === label).length);
  const most = Math.max(...counts);
  return ['a', 'b', 'c'].filter((_, i) => counts[i] === most);
}

const mode: MechanismCase<readonly string[]> = {
  name: 'mode of labels',
  event: { ...test, sensitivity: 2, floor: 2 },
  // Sorted: the order of labels does not count.
  contents: labels.filter((list) => list.every((label, i) => i === 0 || list[i - 1]! <= label)),
  areNeighbours: (left, right) => {
    const rest = [...right];
    return left.filter((label) => {
      const at = rest.indexOf(label);
      if (at >= 0) rest.splice(at, 1);
      return at < 0;
    }).length === 1;
  },
  // The label itself costs nothing only where it is the same on both sides.
  removed: (left, right) => {
    const [one, other] = [leaders(left), leaders(right)];
    const isSame = one.length === 1 && other.length === 1 && one[0] === other[0];
    return (key) => key !== 'null' && !isSame;
  },
};

type Bins = readonly ReadonlyMap<number, number>[];

/** Histograms of at most `people`, each in one bin of every coordinate; by their rows. */
function histograms(people: number, rows: readonly (readonly number[])[]): readonly Bins[] {
  const found = new Map<string, Bins>();
  for (let present = 0; present <= people; present++) {
    for (const list of listsOf(rows, present)) {
      const bins = rows[0]!.map((_, coordinate) => {
        const counts = new Map<number, number>();
        for (const row of list) {
          counts.set(row[coordinate]!, (counts.get(row[coordinate]!) ?? 0) + 1);
        }
        return new Map([...counts].sort(([one], [other]) => one - other));
      });
      found.set(textOfContent(bins), bins);
    }
  }
  return [...found.values()];
}

/** In each coordinate one contributor leaves a bin, or comes to one, or both. */
function oneMoved(left: Bins, right: Bins): boolean {
  return left.every((bins, i) => {
    const changes = [...new Set([...bins.keys(), ...right[i]!.keys()])]
      .map((bin) => (bins.get(bin) ?? 0) - (right[i]!.get(bin) ?? 0));
    const [up, down] = [1, -1].map((sign) =>
      changes.reduce((sum, change) => sum + Math.max(0, sign * change), 0));
    return up! <= 1 && down! <= 1;
  });
}

const histogramCase = (
  name: string, people: number, rows: readonly (readonly number[])[], sigma: number,
): MechanismCase<Bins> => ({
  name,
  event: {
    ...place, kind: 'gaussian-histogram', coordinates: rows[0]!.length, sigma, delta: 0.1, grid: 1,
  },
  contents: histograms(people, rows),
  areNeighbours: oneMoved,
  // A bin that one side alone has, shown.
  removed: (left, right) => (key) =>
    (JSON.parse(key) as readonly (readonly KeptBin[])[]).some((kept, i) =>
      kept.some(({ bin }) => left[i]!.has(bin) !== right[i]!.has(bin))),
  pathMinimum: fraction(1n, 1n << 70n),
});

interface Keys { readonly counts: readonly number[]; readonly keys: FoundKeys }

/** Three keys, whose order is not that of their places. */
const names = ['b', 'c', 'a'];
const keys: FoundKeys = {
  size: names.length,
  compare: (left, right) => (names[left]! < names[right]! ? -1 : 1),
  find: ([name]) => names.indexOf(name!),
  partsOf: (at) => [names[at]!],
};

const keyCase = (prefilter: number): MechanismCase<Keys> => ({
  name: `group-histogram, prefilter ${prefilter}`,
  event: {
    ...place, kind: 'group-histogram', groupsMax: 2, prefilter, sigma: 1, delta: 0.1, grid: 1,
  },
  contents: listsOf([prefilter - 1, prefilter, prefilter + 1], 3)
    .map((counts) => ({ counts, keys })),
  // A contributor leaves at most two keys and comes to at most two.
  areNeighbours: (left, right) => {
    const changes = left.counts.map((count, i) => count - right.counts[i]!);
    return changes.every((change) => Math.abs(change) <= 1)
      && [1, -1].every((sign) => changes.filter((change) => change === sign).length <= 2);
  },
  removed: (left, right) => {
    const lone = names.filter((_, i) =>
      (left.counts[i]! >= prefilter) !== (right.counts[i]! >= prefilter));
    return (key) => (JSON.parse(key) as readonly KeptKey[]).some((kept) =>
      lone.includes(kept.key[0]!));
  },
  pathMinimum: fraction(1n, 1n << 60n),
});

interface KeyRows extends Keys {
  /** The keys of each contributor: indexes of the sets in `keySets`. */
  readonly people: readonly number[];
}

/** The sets of keys that a contributor may have, of two: none, one of them, or both. */
const keySets: readonly (readonly number[])[] = [[], [0], [1], [0, 1]];

/** All ways in which three people may have two keys. */
const groupWeightsCase: MechanismCase<KeyRows> = {
  name: 'group-weights',
  event: {
    ...place, kind: 'group-weights', groupsMax: 2, sigma: 0.75, delta: 0.1, grid: 0.25,
  },
  contents: listsOf(keySets.map((_, i) => i), 3)
    .filter((list) => list.every((set, i) => i === 0 || list[i - 1]! <= set))
    .map((people) => {
      const counts = [0, 0];
      for (const set of people) {
        const weight = groupWeightSteps(keySets[set]!.length, 0.25);
        for (const key of keySets[set]!) counts[key]! += weight;
      }
      return { people, counts: counts.map((steps) => steps * 0.25), keys };
    }),
  areNeighbours: (left, right) => {
    const rest = [...right.people];
    return left.people.filter((set) => {
      const at = rest.indexOf(set);
      if (at >= 0) rest.splice(at, 1);
      return at < 0;
    }).length === 1;
  },
  removed: (left, right) => {
    const lone = names.filter((_, i) =>
      ((left.counts[i] ?? 0) > 0) !== ((right.counts[i] ?? 0) > 0));
    return (key) => (JSON.parse(key) as readonly KeptKey[]).some((kept) =>
      lone.includes(kept.key[0]!));
  },
  pathMinimum: fraction(1n, 1n << 64n),
};

interface GroupSums extends Keys { readonly sums: readonly (readonly number[])[] }

/** Counts and sums of two keys: the first has others and one contributor, the second only one. */
const heldByKeys = [
  [[1, 0], [2, 1], [2, -1]], [[0, 0], [1, 1], [1, -1]],
] as const satisfies readonly (readonly (readonly [count: number, sum: number])[])[];

/** One contributor turns its value under a key, or moves between keys, or comes or goes. */
const groupSumsCase: MechanismCase<GroupSums> = {
  name: 'group-sums',
  event: {
    ...place, kind: 'group-sums', groupsMax: 1, prefilter: 1, values: 1, sigma: 1, sumsSigma: 1.25,
    delta: 0.1, grid: 1, sumsGrid: 1,
  },
  contents: heldByKeys[0].flatMap((first) => heldByKeys[1].map((second) => ({
    counts: [first[0], second[0]], sums: [[first[1]], [second[1]]], keys,
  }))),
  areNeighbours: (left, right) => {
    const held = ({ counts, sums }: GroupSums): readonly (readonly [number, number])[] =>
      counts.map((count, i) => [count, sums[i]![0]!]);
    const [one, other] = [held(left), held(right)];
    const changed = one.flatMap((each, i) => (each.join() === other[i]!.join() ? [] : [i]));
    // A changed key uses up one of the contributor's keys on each side where its count is higher.
    const used = [one, other].map((side) => changed.filter((i) => side[i]![0] === 2 - i).length);
    return Math.max(...used) <= 1;
  },
  removed: (left, right) => {
    const lone = names.filter((_, i) =>
      ((left.counts[i] ?? 0) >= 1) !== ((right.counts[i] ?? 0) >= 1));
    return (key) => (JSON.parse(key) as readonly KeptKey[]).some((kept) =>
      lone.includes(kept.key[0]!));
  },
  pathMinimum: fraction(1n, 1n << 64n),
};

/** A check of one mechanism. */
export interface MechanismCheck {
  readonly name: string;
  run(): CaseResult;
}

const checkOf = <C extends Content>(each: MechanismCase<C>): MechanismCheck =>
  ({ name: each.name, run: () => checkMechanism(each) });

/** Every mechanism: masks of one number only, by quadrature. */
export const mechanismChecks: readonly MechanismCheck[] = [
  ...additive.map(checkOf),
  checkOf(choiceOfRuns),
  checkOf(threshold),
  checkOf(mode),
  checkOf(histogramCase('histogram, one coordinate', 3, [[0], [1], [2]], 1)),
  checkOf(histogramCase('histogram, two coordinates', 2, [[0, 0], [0, 1], [1, 0]], 0.75)),
  checkOf(keyCase(1)),
  checkOf(keyCase(2)),
  checkOf(groupWeightsCase),
  checkOf(groupSumsCase),
  ...maskCases.map((each): MechanismCheck => ({ name: each.name, run: () => checkMask(each) })),
  ...sealedCases.map((each): MechanismCheck =>
    ({ name: each.name, run: () => checkSealedCase(each) })),
];
