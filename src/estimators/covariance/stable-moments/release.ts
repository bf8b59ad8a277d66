import { pow } from '../../../base/elementary.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool } from '../../pooled/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { releaseMapped, type MappedRows } from '../moments/mapped-rows.js';
import { imagesOf } from '../moments/standardised.js';
import { shapeAlong, shapeHidden } from './along.js';
import { partsOf, type MomentsDesign } from './design.js';
import { guard, type Guarded } from './guard.js';
import { markFar, pulledIn, sumOf, type TailRows } from './sums.js';
import { centralMoments, mappedTensor, tensorOf } from './tensors.js';

/** The design and directions of a release, and the tools with which it draws. */
export interface MomentsRun extends Draws {
  readonly design: MomentsDesign;
  /** Directions of interest: one vector of d numbers each, in data units. */
  readonly directions: readonly Float64Array[];
}

/** Draws every event after the spread and the centre. Claim and proof: stable-moments, design. */
export function releaseMoments(
  run: MomentsRun, centred: CentredPool,
): Promise<Released<Outcome>> {
  const { design, directions } = run;
  const { facts, reach, orders } = design;
  return releaseMapped(design, reach, run, centred, async (mapped) => {
    const { images, inverse, radius } = await limitedRows(run, mapped);
    const counted = countedRows(run, images);
    const [kept, pulled] = counted.value as unknown as [number, number];
    const left = kept + pulled;
    if (left < facts.cohort / 4) return counted.map(() => participationBelowPlan(facts));
    // Rows fill the ball that the noise is for.
    const factor = design.radius / radius;
    const inside = images.map((all) => pulledIn(all, design.radius, factor));
    const sums: Released<Float64Array>[] = [];
    for (const order of orders) sums.push(await sumOf(order, inside, run));
    const units = inverse.map((entry, at) =>
      entry * centred.spread[Math.floor(at / facts.dimension)]!);
    return Released.all<readonly Float64Array[]>(sums).map((totals) => {
      const means = totals.map((total, i) => {
        const rows = left * pow(factor, i + 1);
        return total.map((entry) => entry / rows);
      });
      const noises = orders.map(({ sum }, i) => sum.sigma / (left * pow(factor, i + 1)));
      const outcome = outcomeOf(design, directions, { means, noises, units });
      const findings = farRows(design, { all: mapped.all, left, pulled });
      if (outcome.kind === 'refused' || findings.length === 0) return outcome;
      return { ...outcome, findings };
    });
  });
}

/** Rows after the map, and after the guard if there is one. */
async function limitedRows(run: MomentsRun, mapped: MappedRows): Promise<Guarded> {
  const { design: { guard: limits, radius, orders, facts } } = run;
  const { rows, present, matrix, inverse } = mapped;
  if (limits === null) {
    const images = rows.map((all): TailRows => {
      const marked = { ...imagesOf(all, matrix), pulled: new Uint8Array(all.count) };
      markFar(marked, radius);
      return marked;
    });
    return { images, inverse, radius };
  }
  const { mechanisms, compute } = run;
  return guard(
    {
      mechanisms, compute, design: limits, dimension: facts.dimension, order: orders.length, radius,
      present,
    },
    rows, mapped,
  );
}

/** Releases how many rows are left as they were, and pulled in. Claim and proof: design. */
function countedRows(
  { mechanisms, design: { left } }: MomentsRun, images: Sensitive<TailRows>,
): Released<Float64Array> {
  return mechanisms.gaussian(left.name, images.map(({ alive, pulled }) => {
    const numbers = new Float64Array(2);
    alive.forEach((one, i) => { numbers[pulled[i]!]! += one; });
    return numbers;
  }));
}

/** Standard deviations of noise that a number of rows must stand out of. */
const standsOut = 4;

/**
 * The findings on rows that do not count as they are: moments are without the rows that were left
 * out, and with those of too heavy tails pulled in. Normal rows that are pulled in are fewer than
 * noise hides, since they are not seen farther out. All numbers are released.
 */
function farRows(
  { present, left: { sigma } }: MomentsDesign,
  { all, left, pulled }: { readonly all: number; readonly left: number; readonly pulled: number },
): readonly Finding[] {
  const out = all - left;
  // Both are sums of two noisy numbers.
  const isApart = out > standsOut * Math.SQRT2 * Math.hypot(sigma, present.sigma);
  return [
    ...(isApart ? [{ reason: 'cluster-apart', columns: [], amounts: [out / all] }] : []),
    ...(pulled > standsOut * sigma
      ? [{ reason: 'values-clipped', columns: [], amounts: [pulled] }] : []),
  ];
}

interface ReleasedMeans {
  /** The means of z, z x z, ... as vectors. */
  readonly means: readonly Float64Array[];
  /** Standard deviation of the noise in any direction of each. */
  readonly noises: readonly number[];
  /** Undoes the map: data units. */
  readonly units: Float64Array;
}

function outcomeOf(
  design: MomentsDesign, directions: readonly Float64Array[],
  { means, noises, units }: ReleasedMeans,
): Outcome {
  const { facts: { dimension }, orders } = design;
  const raw = means.map((mean, i) => tensorOf(mean, orders[i]!.space));
  const central = centralMoments(raw[0]!, raw[1]!, raw[2]!, raw[3] ?? null);
  const inUnits = (tensor: Float64Array, order: number): Float64Array =>
    mappedTensor(tensor, order, units, dimension, dimension);
  const along = directions.map((direction) => {
    // The direction as a functional of z.
    const functional = Float64Array.from({ length: dimension }, (_, a) =>
      direction.reduce((sum, entry, i) => sum + entry * units[i * dimension + a]!, 0));
    const length = Math.hypot(...functional);
    const axis = functional.map((entry) => entry / length);
    return shapeAlong({ dimension, noises, ...central }, axis);
  });
  const hidden = along.indexOf(null);
  if (hidden >= 0) return shapeHidden(hidden);
  const third = inUnits(central.third, 3);
  const fourth = central.fourth === null ? null : inUnits(central.fourth, 4);
  const estimate = [
    ...third, ...(fourth ?? []), ...along.map((each) => each!.skewness),
    ...(fourth === null ? [] : along.map((each) => each!.excess!)),
  ];
  if (!estimate.every((entry) => Number.isFinite(entry))) {
    const text = 'a moment is beyond the range of doubles: change units';
    return { kind: 'refused', reason: 'numerical-failure', text };
  }
  return {
    kind: 'value', estimate, shape: [estimate.length], parts: partsOf(design, directions.length),
    uncertainty: { kind: 'none' },
  };
}
