import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import {
  clipAllRows, momentsOfRows, sharedBytes, sharedDoubles,
} from '../../../numerics/kernels/shards.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool } from '../../pooled/estimator.js';
import type { LeftRows } from '../../pooled/thresholds.js';
import { releaseMapped } from '../moments/mapped-rows.js';
import { imagesOf } from '../moments/standardised.js';
import { partsOf, type MomentsDesign, type OrderEvents } from './design.js';
import { centralMoments, mappedTensor, powerFeatures, tensorOf } from './tensors.js';

/** Variance after the map, below which a direction has no shape. */
const leastVariance = 2 ** -10;

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
  const { facts, reach, radius, orders } = design;
  return releaseMapped(design, reach, run, centred, async ({ rows, present, matrix, inverse }) => {
    const images = rows.map((all) => insideBall(imagesOf(all, matrix), radius));
    const sums: Released<Float64Array>[] = [];
    for (const order of orders) sums.push(await sumOf(order, images, run));
    const units = inverse.map((entry, at) =>
      entry * centred.scale[Math.floor(at / facts.dimension)]!);
    return Released.all<readonly Float64Array[]>(sums).map((totals) => {
      const means = totals.map((total) => total.map((entry) => entry / present));
      return outcomeOf(design, directions, means, units);
    });
  });
}

/** Rows farther out are pulled in; a function of each row alone. */
function insideBall(rows: LeftRows, radius: number): LeftRows {
  const { count, dimension, steps } = rows;
  for (let i = 0; i < count; i++) {
    let square = 0;
    for (let j = 0; j < dimension; j++) square += steps[i * dimension + j]! ** 2;
    if (!(square > radius * radius)) continue;
    const factor = radius / Math.sqrt(square);
    for (let j = 0; j < dimension; j++) steps[i * dimension + j]! *= factor;
  }
  return rows;
}

async function sumOf(
  { space, ball, sum }: OrderEvents, images: Sensitive<LeftRows>, { mechanisms, compute }: Draws,
): Promise<Released<Float64Array>> {
  const total = await images.mapAsync(async (rows) => {
    const features = powerFeatures(rows, space);
    const set = { values: features, dimension: space.indices.length, count: rows.count };
    const { grid, steps } = ball;
    const inside = sharedDoubles(features.length);
    const clip = { grid, steps, centre: new Float64Array(set.dimension) };
    await clipAllRows(compute, set, clip, inside, sharedBytes(rows.count));
    const { sums } = await momentsOfRows(compute, { ...set, values: inside });
    return sums.map((entry) => entry * grid);
  });
  return mechanisms.gaussian(sum.name, total);
}

/** @param means - of z, z x z, ... as vectors; @param units - undoes the map: data units. */
function outcomeOf(
  design: MomentsDesign, directions: readonly Float64Array[], means: readonly Float64Array[],
  units: Float64Array,
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
    const moment = (tensor: Float64Array, order: number): number =>
      mappedTensor(tensor, order, axis, 1, dimension)[0]!;
    const variance = Math.max(moment(central.second, 2), leastVariance);
    return {
      skewness: moment(central.third, 3) / variance ** 1.5,
      excess: central.fourth === null ? null : moment(central.fourth, 4) / variance ** 2 - 3,
    };
  });
  const third = inUnits(central.third, 3);
  const fourth = central.fourth === null ? null : inUnits(central.fourth, 4);
  const estimate = [
    ...third, ...(fourth ?? []), ...along.map(({ skewness }) => skewness),
    ...(fourth === null ? [] : along.map(({ excess }) => excess!)),
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
