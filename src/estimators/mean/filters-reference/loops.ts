import type { Released } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import type { GaussianEvent } from '../../../privacy/accounting/events.js';
import type { Removal, Survivors } from '../filters/survivors.js';
import type { EpochEvents, InnerEvents, ReferenceDesign } from './design.js';
import { excessOf, type Queries } from './queries.js';

/**
 * The printed filters, seen from the side that asks: everything here is public or released, rows
 * are read through `Queries` and removed by numbers that are all released.
 */
export interface Analyst {
  readonly design: ReferenceDesign;
  readonly queries: Queries;
  readonly survivors: Survivors;
}

/** How a filter ends: with a mean in steps of the box, or because too few rows are left. */
export type Ending =
  | {
    readonly kind: 'mean'; readonly mean: Released<Float64Array>; readonly present: number;
    readonly event: GaussianEvent;
  }
  /** `size`: the noisy number of rows left. */
  | { readonly kind: 'few-rows'; readonly size: Released<number> };

/** As printed: a noisy size below this share of the cohort ends the filter without an answer. */
const sizeShare = 0.75;
/** Directions are used when the rows exceed along them at least this part of the norm. */
const alongShare = 1 / 5.5;
/** The part of the excess that scores above a threshold must make up. */
const excessPart = 0.31;
/**
 * The printed step size is one over this, over the norm; 1 / (100 (.1 / C + 1.01)) needs hundreds
 * of steps.
 */
const rate = 1;

/**
 * A uniform number for a random threshold: the low bits of a noisy value. Its noise spreads over
 * 2^19 steps and more, so that 16 low bits are uniform to one part in a thousand whatever the
 * value; a function of what is released.
 */
function uniformOf(value: number, grid: number): number {
  const span = 2 ** 16;
  const low = (Math.round(value / grid) % span + span) % span;
  return (low + 0.5) / span;
}

/**
 * Algorithms 1 and 6 to 8: one direction at a time, thresholds uniform below what a score can be.
 */
export async function filterOneDirection({ design, queries, survivors }: Analyst): Promise<Ending> {
  const { facts: { cohort }, box, stop } = design;
  for (const events of design.steps) {
    const counted = await queries.size(events.size);
    const size = counted.value;
    if (size < sizeShare * cohort) return { kind: 'few-rows', size: counted };
    const mean = await queries.mean(events.mean);
    const norm = (await queries.norm(events.norm, mean.value)).value;
    if (norm <= stop) return { kind: 'mean', mean, present: size, event: events.mean };
    const square = (await queries.square(events.square, mean.value)).value;
    const top = box.diagonal ** 2;
    await survivors.remove({
      mean: mean.value, weights: topDirection(square, mean.value.length),
      ...limitsOf((top * uniformOf(size, events.size.grid)) / box.grid ** 2, design),
    });
  }
  return finalMean(design, queries);
}

/**
 * Algorithms 9 to 13, 15 and 16: density matrices over all directions, thresholds from a noisy
 * histogram of scores.
 */
export async function filterManyDirections(analyst: Analyst): Promise<Ending> {
  const { design, queries } = analyst;
  for (const epoch of design.epochs) {
    const counted = await queries.size(epoch.size);
    const size = counted.value;
    if (size < sizeShare * design.facts.cohort) return { kind: 'few-rows', size: counted };
    const mean = await queries.mean(epoch.mean);
    const norm = (await queries.norm(epoch.norm, mean.value)).value;
    if (norm <= design.stop) return { kind: 'mean', mean, present: size, event: epoch.mean };
    await runEpoch(analyst, epoch, { size, norm });
  }
  return finalMean(design, queries);
}

async function runEpoch(
  analyst: Analyst, epoch: EpochEvents, first: { readonly size: number; readonly norm: number },
): Promise<void> {
  const { design, queries, survivors } = analyst;
  const { facts: { dimension }, traits } = design;
  const sum = new Float64Array(dimension * dimension);
  for (const events of epoch.inner) {
    const mean = (await queries.mean(events.mean)).value;
    const norm = (await queries.norm(events.norm, mean)).value;
    if (norm <= first.norm * traits.roundEnds) return;
    const excess =
      excessOf((await queries.square(events.square, mean)).value, dimension, traits.ownWidth);
    for (let i = 0; i < sum.length; i++) sum[i]! += (rate / Math.max(first.norm, 0.1)) * excess[i]!;
    const weights = ownKernels().exponentialSymmetric(sum, dimension, 'unitTrace');
    const along = (await queries.along(events.along, mean, weights)).value;
    if (along <= alongShare * norm) continue;
    const least = await threshold(analyst, events, { mean, weights, size: first.size });
    if (least === null) continue;
    const random = uniformOf(along, events.along.grid);
    await survivors.remove({
      mean, weights, ...limitsOf((least * random) / design.box.grid ** 2, design),
    });
  }
}

/**
 * Algorithm 11: the highest lower end of a bin above which scores make up enough of the excess. In
 * spreads squared.
 */
async function threshold(
  { design, queries }: Analyst, events: InnerEvents,
  { mean, weights, size }: {
    readonly mean: Float64Array; readonly weights: Float64Array; readonly size: number;
  },
): Promise<number | null> {
  const { edges } = design;
  const total = (await queries.total(events.total, mean, weights)).value;
  const counts = (await queries.scores(events.scores, mean, weights, edges)).value;
  const wanted = excessPart * total * Math.max(size, design.leastCount);
  let [rows, sum] = [0, 0];
  for (let l = edges.length - 1; l >= 0; l--) {
    rows += counts[l]!;
    sum += edges[l]! * counts[l]!;
    if (sum - edges[l]! * rows >= wanted) return edges[l]!;
  }
  return null;
}

/** After the last step nothing has been released yet that is a mean of the rows left now. */
async function finalMean(
  { final, finalSize, facts }: ReferenceDesign, queries: Queries,
): Promise<Ending> {
  const counted = await queries.size(finalSize);
  const present = counted.value;
  if (present < sizeShare * facts.cohort) return { kind: 'few-rows', size: counted };
  return { kind: 'mean', mean: await queries.mean(final), present, event: final };
}

function limitsOf(
  least: number, { traits, corruption }: ReferenceDesign,
): Pick<Removal, 'least' | 'shareMax'> {
  return { least, shareMax: traits.isCapped ? 2 * corruption : null };
}

function topDirection(square: Float64Array, dimension: number): Float64Array {
  const { vectors } = ownKernels().eigenSymmetric(square, dimension);
  const top = vectors.subarray((dimension - 1) * dimension);
  return square.map((_, at) => top[Math.floor(at / dimension)]! * top[at % dimension]!);
}
