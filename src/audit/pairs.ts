import { utf8 } from '../base/bytes.js';
import { assign, ticketBytes } from '../estimators/assignment.js';
import type { ParameterValues, Plan, StudyFacts } from '../estimators/contract.js';
import { normalQuantile } from '../numerics/normal.js';
import { seededWork } from '../random/work.js';
import type { Contributors, NeighbourPair } from './contract.js';

/** What the search needs to know: public facts only. */
export interface PairFacts {
  readonly plan: Plan;
  readonly facts: StudyFacts;
  readonly parameters: ParameterValues;
}

/** Beyond every clip radius, yet far from the end of the doubles. */
const far = 1e9;
/** Far, but few enough bins away that a careless range of bins could still be walked. */
const distant = 1000;
const anchorsMax = 6;

/** Who the other contributors are. */
export interface Crowd {
  readonly name: string;
  /** Rows of everybody but the one who changes, row-major. */
  readonly rows: Float64Array;
  readonly count: number;
}

/** One contributor's row before and after; null is absence. In data units. */
interface Change {
  readonly name: string;
  readonly left: Float64Array | null;
  readonly right: Float64Array | null;
}

/** `still`: all at zero, so that nothing but one contributor moves. `spread`: honest rows, one unit wide. */
export function crowds(facts: PairFacts): readonly Crowd[] {
  const { cohort, dimension } = facts.facts;
  const units = unitsOf(facts);
  const draw = seededWork(utf8('audit crowd'));
  const count = cohort - 1;
  const normal = (): number => normalQuantile((draw.uniform() * 2 ** 53 + 0.5) / (2 ** 53 + 1));
  const spread = new Float64Array(count * dimension).map((_, i) => normal() * units[i % dimension]!);
  return [
    { name: 'still', rows: new Float64Array(count * dimension), count },
    { name: 'spread', rows: spread, count },
  ];
}

/** The first `count` of a crowd: fewer people, for outcomes that hang on how many there are. */
export function part(crowd: Crowd, count: number, dimension: number): Crowd {
  return { name: `${crowd.name}, ${count} present`, rows: crowd.rows.subarray(0, count * dimension), count };
}

/** Pairs within one crowd: the changes that an answer could react to most. */
export function pairsWithin(crowd: Crowd, facts: PairFacts, depth: 'all' | 'few' = 'all'): readonly NeighbourPair[] {
  const changes = changesOf(facts).slice(0, depth === 'all' ? Infinity : fewChanges);
  const everyone = changes.map((change) => pairOf(crowd, change, facts, false));
  const isGrouped = facts.plan.cohorts.some(({ groups }) => groups > 1);
  // Alone in its group, one contributor decides what the group says.
  return isGrouped ? [...everyone, ...changes.map((change) => pairOf(crowd, change, facts, true))] : everyone;
}

/** Changes at the head of the list that are worth trying in every crowd. */
const fewChanges = 4;

function changesOf({ plan, facts, parameters }: PairFacts): Change[] {
  const { dimension, participation } = facts;
  const units = unitsOf({ plan, facts, parameters });
  const along = (multiple: number): Float64Array => units.map((unit) => unit * multiple);
  const axis = (multiple: number): Float64Array => units.map((unit, j) => (j === 0 ? unit * multiple : 0));
  const changes: Change[] = [
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
    changes.push({ name: 'far along one column to far along another', left: axis(far), right: other });
  }
  for (const size of reaches(plan)) {
    changes.push({ name: `across, ${size} scales each way`, left: along(size), right: along(-size) });
  }
  const anchors = anchorsOf(parameters);
  anchors.forEach((anchor, i) => anchors.slice(i + 1).forEach((second) => changes.push({
    name: `from ${anchor} to ${second}`,
    left: new Float64Array(dimension).fill(anchor),
    right: new Float64Array(dimension).fill(second),
  })));
  return changes;
}

/** Distances, in scales, within which a row may weigh more than from far away: radii that the plan states, and parts. */
function reaches(plan: Plan): readonly number[] {
  const stated = Object.entries(plan.facts)
    .filter(([name, value]) => /radius/i.test(name) && typeof value === 'number' && value > 0)
    .map(([, value]) => Number((value as number).toPrecision(3)));
  const [first] = stated;
  return first === undefined ? [1] : [...new Set([0.45 * first, 0.9 * first].map((size) => Number(size.toPrecision(2))))];
}

/** Numbers that the parameters name, such as the ends of a public range. */
function anchorsOf(parameters: ParameterValues): readonly number[] {
  const numbers = Object.entries(parameters)
    .filter(([name]) => /low|high|min|max|range|edge|bin|bound|width|threshold/i.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? (value as readonly unknown[]) : [value]))
    .filter((value): value is number => typeof value === 'number' && Number.isFinite(value));
  return [...new Set(numbers)].slice(0, anchorsMax);
}

/** The size of a step that the estimator takes for ordinary, per column. */
function unitsOf({ facts, parameters }: PairFacts): Float64Array {
  const { scale } = parameters;
  return new Float64Array(facts.dimension).map((_, j) => (Array.isArray(scale) ? (scale[j] as number) : 1));
}

function pairOf(crowd: Crowd, change: Change, { plan, facts }: PairFacts, isAlone: boolean): NeighbourPair {
  const tickets = ticketsOf(crowd.count + 1);
  const own = tickets.subarray(0, ticketBytes);
  const mine = assign(own, plan.cohorts);
  const others: number[] = [];
  for (let i = 0; i < crowd.count; i++) {
    const place = assign(tickets.subarray((i + 1) * ticketBytes, (i + 2) * ticketBytes), plan.cohorts);
    if (!isAlone || place.cohort !== mine.cohort || place.group !== mine.group) others.push(i);
  }
  const side = (row: Float64Array | null): Contributors => {
    const count = others.length + (row === null ? 0 : 1);
    const both = { tickets: new Uint8Array(count * ticketBytes), rows: new Float64Array(count * facts.dimension) };
    others.forEach((other, i) => {
      both.tickets.set(tickets.subarray((other + 1) * ticketBytes, (other + 2) * ticketBytes), i * ticketBytes);
      both.rows.set(crowd.rows.subarray(other * facts.dimension, (other + 1) * facts.dimension), i * facts.dimension);
    });
    if (row !== null) {
      both.tickets.set(own, others.length * ticketBytes);
      both.rows.set(row, others.length * facts.dimension);
    }
    return { count, ...both };
  };
  const name = `${crowd.name}: ${change.name}${isAlone ? ', alone in its group' : ''}`;
  return { name, left: side(change.left), right: side(change.right) };
}

/** Fixed places for everybody: a guarantee holds for each assignment, so an audit may choose one. */
function ticketsOf(count: number): Uint8Array {
  const tickets = new Uint8Array(count * ticketBytes);
  seededWork(utf8('audit tickets')).fill(tickets);
  return tickets;
}
