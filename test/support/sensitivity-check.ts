import type { Released, Sensitive } from '../../src/base/brands.js';
import { openSensitive, releasedByMechanism } from '../../src/base/wrappers.js';
import { ownKernels } from '../../src/numerics/kernels/index.js';
import {
  inlineTrials, searchPairs, type Contributors, type NeighbourPair, type TrialSubject,
} from '../../src/audit/index.js';
import type {
  Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { congruence, withEigenvalues } from '../../src/estimators/covariance/moments/matrices.js';
import { assign, assignmentHashBytes } from '../../src/estimators/summaries/assignment.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { costOfEvents } from '../../src/privacy/accounting/composition.js';
import type { GroupSumsEvent, MechanismEvent } from '../../src/privacy/accounting/events.js';
import type { Mechanisms, PlaceTable, Scores } from '../../src/privacy/mechanisms/contract.js';
import { createMechanisms } from '../../src/privacy/mechanisms/index.js';
import { sharedRuns } from '../../src/privacy/mechanisms/score-runs.js';
import { seededNoise } from '../../src/random/insecure.js';

/** One draw: what went in before noise, and what came out. */
interface Draw {
  readonly event: string;
  readonly content: unknown;
  readonly released: unknown;
}

const calls = [
  'gaussian', 'symmetricGaussian', 'laplace', 'threshold', 'histogram', 'groupHistogram',
  'groupSums',
  'mode', 'exponential', 'mask',
] as const satisfies readonly (keyof Mechanisms)[];

/**
 * `sensitivityFaults` of the pairs of neighbours that a short search finds, under each of `seeds`.
 * @param plan of these facts and parameters.
 * @returns the faults, and how many pairs there were.
 */
export async function searchedFaults(
  plan: Plan | Infeasible, facts: StudyFacts, parameters: ParameterValues, seeds: readonly string[],
): Promise<{ readonly faults: readonly string[]; readonly pairs: number }> {
  if (plan.kind === 'infeasible') throw new Error(plan.reason);
  const subject = { plan, dimension: facts.dimension };
  const pool = inlineTrials(subject, (label) => seededNoise(label));
  const pairs = await searchPairs({ plan, facts, parameters }, pool, { glance: 2 });
  const faults: string[] = [];
  for (const pair of pairs) {
    for (const seed of seeds) faults.push(...await sensitivityFaults(subject, pair, seed));
  }
  return { faults, pairs: pairs.length };
}

/**
 * Ways in which queries on neighbours differ by more than their event says, or an event depends on
 * rows of another cohort; none in an estimator that is right. The right side's queries are asked
 * after the left side's answers, as a proof by composition compares them; once the two ask for
 * different events, the comparison ends.
 */
export async function sensitivityFaults(
  subject: TrialSubject, pair: NeighbourPair, seed: string,
): Promise<string[]> {
  const left: Draw[] = [];
  const right: Draw[] = [];
  const pool = (mechanisms: TrialSubject['mechanisms']) =>
    inlineTrials({ ...subject, mechanisms: mechanisms! }, () => seededNoise(seed));
  const make: NonNullable<TrialSubject['mechanisms']> = subject.mechanisms ?? createMechanisms;
  const request = { pair, trials: 1, label: seed };
  await pool((events, noise) => intercepted(make(events, noise, createMechanisms), left, null))
    .run({ ...request, side: 'left' });
  try {
    await pool((events, noise) => intercepted(make(events, noise, createMechanisms), right, left))
      .run({ ...request, side: 'right' });
  } catch (error) {
    if (!(error instanceof Parted)) throw error;
  }
  const changed = cohortOf(subject, pair.left.count >= pair.right.count ? pair.left : pair.right);
  return left.flatMap((draw, i) => {
    const event =
      subject.plan.events.find(({ name }) => name === draw.event.replace(/#\d+$/, ''))!;
    const twin = right[i];
    if (twin === undefined || twin.event !== draw.event) {
      return [`${draw.event}: after equal answers the other side asks for `
        + `${twin?.event ?? 'another event'}`];
    }
    const apart = distance(event, draw.content, twin.content);
    const allowed = event.cohort === changed ? bound(event) : 0;
    const fits = apart <= allowed * (1 + 1e-9) + 1e-9;
    return fits ? [] : [`${event.name}: neighbours differ by ${apart.toPrecision(3)}, at most `
      + `${allowed} was charged`];
  });
}

/** The sides no longer ask the same; nothing more can be compared. */
class Parted extends Error {}

/** Draws and writes down; with `script`, repeats what was drawn there instead. */
function intercepted(inner: Mechanisms, draws: Draw[], script: readonly Draw[] | null): Mechanisms {
  const entries =
    calls.map((name) => [name, (
      event: string, value: Sensitive<unknown>, ...more: readonly unknown[]
    ): Released<unknown> => {
      const planned = script?.[draws.length];
      if (script !== null && planned?.event !== event) throw new Parted();
      const call = inner[name].bind(inner) as (
        event: string, value: Sensitive<unknown>, ...rest: readonly unknown[]
      ) => Released<unknown>;
      const released = planned === undefined
        ? call(event, value, ...more) : releasedByMechanism(planned.released);
      draws.push({ event, content: openSensitive(value), released: released.value });
      return released;
    }]);
  const made: unknown = Object.fromEntries(entries);
  return made as Mechanisms;
}

/** The changed contributor is the last of the longer side. */
function cohortOf({ plan }: TrialSubject, { count, assignmentHashes }: Contributors): string {
  const assignmentHash =
    assignmentHashes.subarray((count - 1) * assignmentHashBytes, count * assignmentHashBytes);
  return plan.arms[assign(assignmentHash, plan.arms).arm]!.name;
}

function bound(event: MechanismEvent): number {
  if (event.kind === 'gaussian-histogram') return 2 * event.coordinates;
  if (event.kind === 'group-histogram') return 2 * event.groupsMax;
  if (event.kind === 'group-weights') return Math.SQRT2;
  if (event.kind === 'group-sums') return rootOfTwice(event);
  if (event.kind === 'wishart-mask' || event.kind === 'affine-mask') return event.logDistance;
  return event.sensitivity;
}

/** In the norm of the event. */
function distance(event: MechanismEvent, left: unknown, right: unknown): number {
  if (event.kind === 'gaussian-histogram') {
    return histogramDistance(left as Bins, right as Bins);
  }
  if (event.kind === 'group-sums') {
    return groupSumsDistance(event, left as PlaceTable, right as PlaceTable);
  }
  if (event.kind === 'wishart-mask' || event.kind === 'affine-mask') {
    return logDistance(left as Float64Array, right as Float64Array, event.dimension);
  }
  if (event.kind === 'exponential') {
    return Math.max(...sharedRuns(left as Scores, right as Scores)
      .map((run) => Math.abs(run.left - run.right)));
  }
  const list = (content: unknown): number[] =>
    (typeof content === 'number' ? [content] : Array.from(content as Float64Array));
  const one = list(left);
  const gaps = list(right).map((entry, i) => Math.abs(entry - one[i]!));
  if (event.kind === 'laplace' || event.kind === 'group-histogram') {
    return gaps.reduce((sum, gap) => sum + gap, 0);
  }
  return Math.hypot(...gaps);
}

/** In standard deviations of the noise: the root of twice the rho that was charged. */
function rootOfTwice(event: GroupSumsEvent): number {
  return Math.sqrt(2 * amountToNumber(costOfEvents([event], { disjoint: [] }).rho));
}

/** How far counts and sums of keys are apart, in standard deviations of the noise. */
export function groupSumsDistance(
  { sigma, sumsSigma, values }: GroupSumsEvent, left: PlaceTable, right: PlaceTable,
): number {
  const parts = ({ counts, sumsOf }: PlaceTable, place: number): number[] => {
    const count = counts[place] ?? 0;
    const sums = count > 0 ? Array.from(sumsOf(place)) : new Array<number>(values).fill(0);
    return [count / sigma, ...sums.map((sum) => sum / sumsSigma)];
  };
  let square = 0;
  for (let place = 0; place < Math.max(left.counts.length, right.counts.length); place++) {
    const other = parts(right, place);
    parts(left, place).forEach((one, i) => { square += (one - other[i]!) ** 2; });
  }
  return Math.sqrt(square);
}

/** The largest logarithm of a factor between two positive definite matrices in any direction. */
function logDistance(left: Float64Array, right: Float64Array, dimension: number): number {
  const inverseRoot = withEigenvalues(left, dimension, (value) => value ** -0.5);
  const { values } = ownKernels()
    .eigenSymmetric(congruence(inverseRoot, right, dimension), dimension);
  return Math.max(...values.map((value) => Math.abs(Math.log(value))));
}

type Bins = readonly ReadonlyMap<number, number>[];

function histogramDistance(left: Bins, right: Bins): number {
  let sum = 0;
  left.forEach((bins, i) => {
    for (const bin of new Set([...bins.keys(), ...right[i]!.keys()])) {
      sum += Math.abs((bins.get(bin) ?? 0) - (right[i]!.get(bin) ?? 0));
    }
  });
  return sum;
}
