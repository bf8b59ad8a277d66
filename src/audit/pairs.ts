import { utf8 } from '../base/bytes.js';
import {
  assign, assignmentHashBytes, type Assignment,
} from '../estimators/summaries/assignment.js';
import type { ParameterValues, Plan, StudyFacts } from '../estimators/contract/estimator.js';
import { normalQuantile } from '../numerics/normal.js';
import { seededRandom } from '../random/work.js';
import type { Contributors, NeighbourPair } from './contract.js';

/** The public facts that the search needs. */
export interface PairFacts {
  readonly plan: Plan;
  readonly facts: StudyFacts;
  readonly parameters: ParameterValues;
  /** Rows end with the number of their contributor's keys, as for discovered keys alone. */
  readonly statesKeys?: true;
}

/** Beyond every clipping radius, but far from the largest double. */
const far = 1e9;
/** Far away, but near enough that a loop over all bins in between would still end. */
const distant = 1000;
const anchorsMax = 6;

/** The other contributors. */
export interface Crowd {
  readonly name: string;
  /** Rows of all contributors except the one who changes, row-major. */
  readonly rows: Float64Array;
  readonly count: number;
}

/** One contributor's rows before and after. None means absent. In data units. */
interface Change {
  readonly name: string;
  readonly left: readonly Float64Array[];
  readonly right: readonly Float64Array[];
}

/**
 * `still`: all rows are zero, so only one contributor moves. `spread`: honest rows, one unit wide.
 * `divided`, where the parameters name two numbers: every other row is at the first, the rest at
 * the second. A choice between the two is close then.
 * For answers that are split by keys also `few`: one row in each key, where a key has so few
 * people that one more or less may decide whether it counts at all.
 */
export function crowds(facts: PairFacts): readonly Crowd[] {
  const { cohort, dimension } = facts.facts;
  const units = unitsOf(facts);
  const draw = seededRandom(utf8('audit crowd'));
  const count = cohort - 1;
  const normal = (): number => normalQuantile((draw.uniform() * 2 ** 53 + 0.5) / (2 ** 53 + 1));
  const { keys } = facts.facts;
  const spread = new Float64Array(count * dimension).map((_, i) =>
    placeAt(facts.facts, i) ?? normal() * units[i % dimension]!);
  const found = [
    { name: 'still', rows: new Float64Array(count * dimension), count },
    { name: 'spread', rows: spread, count },
    ...dividedBetween(anchorsOf(facts.parameters), count, facts.facts),
    ...(keys?.list === 'public' ? [fewInEachKey(Math.min(keys.count, count), dimension)] : []),
  ];
  if (facts.statesKeys !== true) return found;
  // Each of the others has one row, so one key.
  return found.map(({ rows, ...crowd }) => ({
    ...crowd, rows: rows.map((entry, i) => ((i + 1) % dimension === 0 ? 1 : entry)),
  }));
}

/**
 * The first entry of a keyed row is the place of its key, and rows have the keys in turn. Undefined
 * for other entries.
 */
function placeAt({ dimension, keys }: StudyFacts, i: number): number | undefined {
  return keys?.list === 'public' && i % dimension === 0 ? (i / dimension) % keys.count : undefined;
}

function dividedBetween(
  [first, second]: readonly number[], count: number, facts: StudyFacts,
): readonly Crowd[] {
  if (first === undefined || second === undefined) return [];
  const { dimension, keys } = facts;
  // Each key is divided.
  const turn = dimension * (keys?.list === 'public' ? keys.count : 1);
  const rows = new Float64Array(count * dimension).map((_, i) =>
    placeAt(facts, i) ?? (Math.floor(i / turn) % 2 === 0 ? first : second));
  return [{ name: 'divided', rows, count }];
}

/**
 * A crowd for estimators that ask what most groups found. The rows of some groups are all zero, and
 * those of the others are all at one distant row.
 * @param agreeing - groups of zeros in the first arm that has groups of rows.
 * @returns null where no arm has such groups.
 */
export function divideGroups(
  { plan, facts, parameters }: PairFacts,
): { readonly groups: number; readonly crowdOf: (agreeing: number) => Crowd } | null {
  const arm = plan.arms.findIndex(({ unit, groups }) => unit === 'row' && groups > 1);
  if (arm < 0 || facts.keys !== undefined) return null;
  const units = unitsOf({ plan, facts, parameters });
  const count = facts.cohort - 1;
  const places = placesOf(assignmentHashesOf(count, crowdHashes), plan);
  const crowdOf = (agreeing: number): Crowd => {
    const rows = new Float64Array(count * facts.dimension);
    places.forEach((place, i) => {
      if (place.arm !== arm || place.group < agreeing) return;
      rows.set(units.map((unit) => unit * distant), i * facts.dimension);
    });
    return { name: `${agreeing} groups agree`, rows, count };
  };
  return { groups: plan.arms[arm]!.groups, crowdOf };
}

function fewInEachKey(count: number, dimension: number): Crowd {
  const rows = new Float64Array(count * dimension);
  for (let i = 0; i < count; i++) rows[i * dimension] = i;
  return { name: 'few', rows, count };
}

/** The first `count` contributors of a crowd, for outcomes that depend on the number of people. */
export function part(crowd: Crowd, count: number, dimension: number): Crowd {
  return {
    name: `${crowd.name}, ${count} present`, rows: crowd.rows.subarray(0, count * dimension), count,
  };
}

/**
 * Pairs within one crowd: the changes that could move an answer most, for a contributor in each
 * cohort. If the estimator compares rows in pairs, the contributor has a partner.
 */
export function pairsWithin(
  crowd: Crowd, facts: PairFacts, depth: 'all' | 'few' = 'all',
): readonly NeighbourPair[] {
  const { plan } = facts;
  const changes = changesOf(facts).slice(0, depth === 'all' ? Infinity : fewChanges);
  const seats = seatsIn(crowd, plan);
  return interleaved(seats.flatMap((seat) => {
    const lists = [changes.map((change) => pairOf(crowd, change, seat, facts, false))];
    // A contributor alone in its group decides the group's summary.
    const { groups, unit } = plan.arms[seat.place.arm]!;
    if (groups > 1 && unit === 'row') {
      lists.push(changes.map((change) => pairOf(crowd, change, seat, facts, true)));
    }
    return lists;
  }));
}

/** The first of each list, then the second of each, and so on. */
export function interleaved<T>(lists: readonly (readonly T[])[]): readonly T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) =>
    lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** The first changes of the list are worth trying in every crowd. */
const fewChanges = 4;

function changesOf(asked: PairFacts): Change[] {
  if (asked.facts.keys?.list === 'public') return changesOfKeys(asked, asked.facts.keys);
  return changesOfRow(asked)
    .map(({ name, left, right }) => ({ name, left: [left], right: right === null ? [] : [right] }));
}

/** Changes of a contributor with a row for each of its keys: other keys, other values, or none. */
function changesOfKeys(
  asked: PairFacts, { count, groupsMax }: { readonly count: number; readonly groupsMax: number },
): Change[] {
  const units = unitsOf(asked);
  const most = Math.min(groupsMax, count);
  const rows = (first: number, number: number, multiple: number): Float64Array[] =>
    Array.from({ length: number }, (_, i) =>
      units.map((unit, j) => (j === 0 ? first + i
        : asked.statesKeys === true && j === units.length - 1 ? number : unit * multiple)));
  const changes: Change[] = [far, -far].map((multiple) => ({
    name: `all keys to other keys, ${multiple > 0 ? 'far up' : 'far down'}`,
    left: rows(0, most, multiple), right: rows(count - most, most, multiple),
  }));
  if (asked.statesKeys === true) {
    const [left, right] = [rows(0, 1, far), rows(count - 1, 1, far)];
    changes.push({ name: 'one key to another key', left, right });
  }
  changes.push({
    name: 'far to far under the same keys', left: rows(0, most, far), right: rows(0, most, -far),
  });
  if (asked.facts.participation === 'secret') {
    changes.push({ name: 'all keys to absent', left: rows(0, most, far), right: [] });
    changes.push({
      name: 'one key to absent', left: rows(0, most, far), right: rows(0, most - 1, far),
    });
  }
  return changes;
}

/** One contributor's row before and after. null means absent. */
interface RowChange {
  readonly name: string;
  readonly left: Float64Array;
  readonly right: Float64Array | null;
}

function changesOfRow({ plan, facts, parameters }: PairFacts): RowChange[] {
  const { dimension, participation } = facts;
  const units = unitsOf({ plan, facts, parameters });
  const along = (multiple: number): Float64Array => units.map((unit) => unit * multiple);
  const axis = (multiple: number): Float64Array =>
    units.map((unit, j) => (j === 0 ? unit * multiple : 0));
  const changes: RowChange[] = [
    { name: 'far corner to far corner', left: along(far), right: along(-far) },
    { name: 'a duplicate to far away', left: along(0), right: along(far) },
  ];
  if (participation === 'secret') {
    changes.push({ name: 'a duplicate to absent', left: along(0), right: null });
    changes.push({ name: 'far away to absent', left: along(far), right: null });
  }
  changes.push({ name: 'a duplicate to a distant row', left: along(0), right: along(distant) });
  changes.push({ name: 'a duplicate to another bin', left: along(0), right: along(6) });
  if (dimension > 1) {
    changes.push({ name: 'far to far along one column', left: axis(far), right: axis(-far) });
    const other = units.map((unit, j) => (j === 1 ? unit * far : 0));
    changes.push({
      name: 'far along one column to far along another', left: axis(far), right: other,
    });
  }
  for (const size of reaches(plan)) {
    changes.push({
      name: `across, ${size} spreads each way`, left: along(size), right: along(-size),
    });
  }
  const anchors = anchorsOf(parameters);
  anchors.forEach((anchor, i) => anchors.slice(i + 1).forEach((second) => changes.push({
    name: `from ${anchor} to ${second}`,
    left: new Float64Array(dimension).fill(anchor),
    right: new Float64Array(dimension).fill(second),
  })));
  return changes;
}

/**
 * Distances, in spreads, within which a row may have more weight than from far away: radii in the
 * plan, and fractions of them.
 */
function reaches(plan: Plan): readonly number[] {
  const stated = Object.entries(plan.facts)
    .filter(([name, value]) => /radius/i.test(name) && typeof value === 'number' && value > 0)
    .map(([, value]) => Number((value as number).toPrecision(3)));
  const [first] = stated;
  return first === undefined
    ? [1]
    : [...new Set([0.45 * first, 0.9 * first].map((size) => Number(size.toPrecision(2))))];
}

/** Numbers in the parameters, such as the ends of a public range, or the means of hypotheses. */
function anchorsOf(parameters: ParameterValues): readonly number[] {
  const numbers = Object.entries(parameters)
    .filter(([name]) => /low|high|min|max|range|edge|bin|bound|width|threshold/i.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? (value as readonly unknown[]) : [value]))
    .concat(meansOf(parameters['hypotheses']))
    .filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  return [...new Set(numbers)].slice(0, anchorsMax);
}

/** @param list a list of distributions in JSON, as `select` takes it */
function meansOf(list: unknown): readonly unknown[] {
  if (typeof list !== 'string') return [];
  const found: unknown[] = [];
  JSON.parse(list, (name, value: unknown) => {
    if (name === 'mean') found.push(value);
    return value;
  });
  return found;
}

/** The size of a usual step for the estimator, per column. */
function unitsOf({ facts, parameters }: PairFacts): Float64Array {
  const { spread } = parameters;
  return new Float64Array(facts.dimension).map((_, j) =>
    (Array.isArray(spread) && facts.keys === undefined ? (spread[j] as number) : 1));
}

/** The places of the contributor who changes and of all others. */
interface Seat {
  readonly name: string;
  readonly assignmentHash: Uint8Array;
  readonly place: Assignment;
  readonly others: readonly Assignment[];
  readonly assignmentHashes: Uint8Array;
}

/** How many assignment hashes to try until one leads to the wanted place. */
const candidates = 2000;

/**
 * A seat in every cohort in which one can be found. It has a partner if rows are taken in pairs.
 */
function seatsIn(crowd: Crowd, plan: Plan): readonly Seat[] {
  const assignmentHashes = assignmentHashesOf(crowd.count, crowdHashes);
  const others = placesOf(assignmentHashes, plan);
  const own = assignmentHashesOf(candidates, 'audit seats');
  const found = placesOf(own, plan);
  const members = new Map<string, number>();
  const key = ({ arm, group, slot }: Assignment): string => `${arm}/${group}/${slot}`;
  for (const place of others) members.set(key(place), (members.get(key(place)) ?? 0) + 1);
  return plan.arms.flatMap(({ name, unit }, cohort) => {
    const isThere = (place: Assignment): boolean => place.arm === cohort;
    const isPaired = (place: Assignment): boolean =>
      unit === 'row' || members.get(key(place)) === 1;
    const best = found.findIndex((place) => isThere(place) && isPaired(place));
    const index = best >= 0 ? best : found.findIndex(isThere);
    if (index < 0) return [];
    const assignmentHash = own.subarray(
      index * assignmentHashBytes, (index + 1) * assignmentHashBytes,
    );
    const suffix = plan.arms.length === 1 ? '' : `, in arm ${name}`;
    return [{ name: suffix, assignmentHash, place: found[index]!, others, assignmentHashes }];
  });
}

const crowdHashes = 'audit tickets';

function placesOf(hashes: Uint8Array, { arms }: Plan): readonly Assignment[] {
  return Array.from({ length: hashes.length / assignmentHashBytes }, (_, i) =>
    assign(hashes.subarray(i * assignmentHashBytes, (i + 1) * assignmentHashBytes), arms));
}

function pairOf(
  crowd: Crowd, change: Change, seat: Seat, asked: PairFacts, isAlone: boolean,
): NeighbourPair {
  const { dimension } = asked.facts;
  const present: number[] = [];
  seat.others.forEach(({ arm, group }, i) => {
    if (!isAlone || arm !== seat.place.arm || group !== seat.place.group) present.push(i);
  });
  const most = present.length + Math.max(change.left.length, change.right.length);
  const assignmentHashes = new Uint8Array(most * assignmentHashBytes);
  const rows = new Float64Array(most * dimension);
  present.forEach((other, i) => {
    assignmentHashes.set(seat.assignmentHashes.subarray(other * assignmentHashBytes, (other + 1)
      * assignmentHashBytes), i * assignmentHashBytes);
    rows.set(crowd.rows.subarray(other * dimension, (other + 1) * dimension), i * dimension);
  });
  for (let at = present.length; at < most; at++) {
    assignmentHashes.set(seat.assignmentHash, at * assignmentHashBytes);
  }
  const side = (changed: readonly Float64Array[]): Contributors => {
    const count = present.length + changed.length;
    const own = rows.slice(0, count * dimension);
    changed.forEach((row, i) => { own.set(row, (present.length + i) * dimension); });
    return {
      count, assignmentHashes: assignmentHashes.subarray(0, count * assignmentHashBytes), rows: own,
    };
  };
  const name = `${crowd.name}: ${change.name}${seat.name}${isAlone ? ', alone in its group' : ''}`;
  const entries = entriesMoved(change, asked);
  return {
    name, left: side(change.left), right: side(change.right), crowd: crowd.name,
    ...(entries !== null && { entries }),
  };
}

/** The entries of the keys in which the contributor is on either side; null: any. */
function entriesMoved(
  { left, right }: Change, { plan: { outputShape }, facts: { keys } }: PairFacts,
): readonly number[] | null {
  if (keys?.list !== 'public' || outputShape[0] !== keys.count) return null;
  const each = outputShape.slice(1).reduce((product, size) => product * size, 1);
  const moved = new Set([...left, ...right].map(([place]) => place!));
  return [...moved].flatMap((key) => Array.from({ length: each }, (_, i) => key * each + i));
}

/**
 * Fixed places for everybody: a guarantee holds for each assignment, so an audit may choose one.
 */
function assignmentHashesOf(count: number, label: string): Uint8Array {
  const assignmentHashes = new Uint8Array(count * assignmentHashBytes);
  seededRandom(utf8(label)).fill(assignmentHashes);
  return assignmentHashes;
}
