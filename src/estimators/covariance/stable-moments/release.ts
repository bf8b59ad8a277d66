import { pow } from '../../../base/elementary.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool } from '../../pooled/estimator.js';
import type { LeftRows } from '../../pooled/thresholds.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { releaseMapped, type MappedRows } from '../moments/mapped-rows.js';
import { imagesOf } from '../moments/standardised.js';
import { shapeAlong, shapeHidden } from './along.js';
import { partsOf, type MomentsDesign } from './design.js';
import { guard } from './guard.js';
import { pulledIn, sumOf } from './sums.js';
import { centralMoments, mappedTensor, tensorOf } from './tensors.js';

/** What a release draws with. */
export interface MomentsRun extends Draws {
  readonly design: MomentsDesign;
  /** Of interest: one vector of d numbers each, in data units. */
  readonly directions: readonly Float64Array[];
}

/** Draws every event after the scale and the centre. Claim and proof: stable-moments, design. */
export function releaseMoments(
  run: MomentsRun, centred: CentredPool,
): Promise<Released<Outcome>> {
  const { design, directions } = run;
  const { facts, reach, orders } = design;
  return releaseMapped(design, reach, run, centred, async (mapped) => {
    const { images, inverse, left, radius, refusal } = await limitedRows(run, mapped);
    if (refusal !== null) return refusal;
    // Rows fill the ball that the noise is for.
    const factor = design.radius / radius;
    const inside = images.map((all) => pulledIn(all, design.radius, factor));
    const sums: Released<Float64Array>[] = [];
    for (const order of orders) sums.push(await sumOf(order, inside, run));
    const units = inverse.map((entry, at) =>
      entry * centred.scale[Math.floor(at / facts.dimension)]!);
    return Released.all<readonly Float64Array[]>(sums).map((totals) => {
      const means = totals.map((total, i) => {
        const rows = left * pow(factor, i + 1);
        return total.map((entry) => entry / rows);
      });
      const noises = orders.map(({ sum }, i) => sum.sigma / (left * pow(factor, i + 1)));
      return outcomeOf(design, directions, { means, noises, units });
    });
  });
}

/** Rows after the map, and after the guard if there is one. */
interface LimitedRows {
  readonly images: Sensitive<LeftRows>;
  readonly inverse: Float64Array;
  /** Released. */
  readonly left: number;
  readonly radius: number;
  /** When too few are left. */
  readonly refusal: Released<Outcome> | null;
}

async function limitedRows(run: MomentsRun, mapped: MappedRows): Promise<LimitedRows> {
  const { design: { guard: limits, radius, orders, facts } } = run;
  const { rows, present, matrix, inverse } = mapped;
  if (limits === null) {
    const images = rows.map((all) => imagesOf(all, matrix));
    return { images, inverse, left: present, radius, refusal: null };
  }
  const { mechanisms, compute } = run;
  const guarded = await guard(
    {
      mechanisms, compute, design: limits, dimension: facts.dimension, order: orders.length, radius,
      present,
    },
    rows, mapped,
  );
  const left = guarded.left.value;
  const refusal = left < facts.cohort / 4
    ? guarded.left.map(() => participationBelowPlan(facts)) : null;
  return { ...guarded, left, refusal };
}

interface ReleasedMeans {
  /** Of z, z x z, ... as vectors. */
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
