import { pow } from '../../../base/elementary.js';
import type { Sensitive } from '../../../base/brands.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import {
  clipAndAddRows, sharedBytes, sharedDoubles, type RowMoments,
} from '../../../numerics/kernels/shards.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { PooledRows } from '../../contract/estimator.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool, FoundColumns } from '../../pooled/estimator.js';
import { noiseOfSquare, type AnyDesign, type MomentRound } from './any-design.js';
import { mapRows, type Frame, type MappedRows } from './mapped.js';

/**
 * Rounds of noisy moments: of rows in spreads, and where columns are correlated of rows that the
 * moments before map to the same width in every direction. Hostile rows widen directions and never
 * narrow them, so a narrow direction is honest correlation.
 */
export interface RoundsFound {
  readonly rows: Sensitive<MappedRows>;
  readonly frame: Frame;
  /** Released number of rows; null without rounds. */
  readonly present: number | null;
  /** Covariance of the first round, in spreads; null without rounds. */
  readonly covariance: Float64Array | null;
  /** Rounds that were not drawn. */
  readonly unused: readonly MomentRound[];
}

/** Correlation with a smaller eigenvalue than this is mapped away. */
const leastEigenvalue = 0.5;
/** Noise alone lowers the eigenvalues by at most about this many times itself. */
const noiseFactor = 1.1;

/** The rows as they came, and room for where they are mapped to. Both arrays are written over. */
export interface Held {
  readonly whole: PooledRows;
  readonly entries: Float64Array;
  readonly present: Uint8Array;
}

/** Draws the rounds, and maps the rows by what they found. */
export async function releaseRounds(
  run: Draws & { readonly design: AnyDesign }, found: CentredPool,
): Promise<RoundsFound> {
  const { mechanisms, design } = run;
  const { facts: { dimension, cohort }, rounds, rowsMax } = design;
  const held = heldRows(found, dimension, rowsMax);
  let frame: Frame = { mean: new Float64Array(dimension), map: null, inverse: null };
  let present: number | null = null;
  let covariance: Float64Array | null = null;
  let drawn = 0;
  for (const [t, round] of rounds.entries()) {
    const planned = noiseOfSquare(rounds[0]!.square, cohort);
    if (t > 0 && !isCorrelated(covariance!, found.columns, planned)) break;
    if (t === 1) frame = narrowed(frame, covariance!, dimension, noiseOf(rounds[0]!, present!));
    const moments = await momentsIn(run, held, found, frame, round);
    drawn += 1;
    if (design.present !== null && present === null) {
      const counted = mechanisms.gaussian(
        design.present.name, moments.map(({ count }) => Float64Array.of(count)),
      );
      present = Math.max(counted.value[0]!, cohort / 8);
    }
    const { mean, seen } = releasedMoments(mechanisms, round, moments, present!);
    frame = { ...frame, mean: moved(frame, mean) };
    if (t === 0) covariance = seen;
    else frame = narrowed(frame, seen, dimension, noiseOf(round, present!));
  }
  const rows = mappedRows(held, found, frame);
  return { rows, frame, present, covariance, unused: rounds.slice(drawn) };
}

/** Moments of rows in spreads that were released before. */
export interface KnownMoments {
  readonly mean: Float64Array;
  readonly covariance: Float64Array;
  /** Noise of the covariance, as the largest variance that it shows. */
  readonly noise: number;
  /** Number of rows. */
  readonly present: number;
}

/** Draws the rounds of rows that are mapped by moments known before, and maps the rows. */
export async function releaseMappedRounds(
  run: Draws & { readonly design: Pick<AnyDesign, 'facts' | 'rounds'> },
  found: CentredPool, held: Sensitive<Held>,
  { mean: first, covariance, noise, present }: KnownMoments,
): Promise<Pick<RoundsFound, 'rows' | 'frame'>> {
  const { mechanisms, design: { facts: { dimension }, rounds } } = run;
  let frame = narrowed({ mean: first, map: null, inverse: null }, covariance, dimension, noise);
  for (const round of rounds) {
    const moments = await momentsIn(run, held, found, frame, round);
    const { mean, seen } = releasedMoments(mechanisms, round, moments, present);
    frame = narrowed(
      { ...frame, mean: moved(frame, mean) }, seen, dimension, noiseOf(round, present),
    );
  }
  return { rows: mappedRows(held, found, frame), frame };
}

function heldRows(
  { pool }: CentredPool, dimension: number, rowsMax: number,
): Sensitive<Held> {
  return pool.map((whole): Held => {
    const count = Math.min(whole.count, rowsMax);
    return { whole, entries: sharedDoubles(count * dimension), present: sharedBytes(count) };
  });
}

/** Moments of the rows in this frame, inside the ball of the round. In steps. */
function momentsIn(
  { compute }: Draws, held: Sensitive<Held>, { centre, spread }: CentredPool, frame: Frame,
  round: MomentRound,
): Promise<Sensitive<RowMoments>> {
  const dimension = spread.length;
  const { ball } = round;
  return held.mapAsync(async ({ whole, entries, present: there }) => {
    const rows = { dimension, count: there.length };
    if (frame.map === null) {
      // The first round is of rows in spreads about the centre. Clipping puts them there, too.
      const inSpreads = { ...ball, centre, unit: spread };
      return clipAndAddRows(compute, { ...rows, values: whole.values }, inSpreads, entries, there);
    }
    mapRows(whole, centre, spread, frame, entries, there);
    const mapped = {
      ...ball, centre: new Float64Array(dimension), unit: new Float64Array(dimension).fill(1),
    };
    return clipAndAddRows(compute, { ...rows, values: entries }, mapped, entries, there);
  });
}

/** Draws the moments of a round: their mean, and their covariance about it. */
function releasedMoments(
  mechanisms: Mechanisms, round: MomentRound, moments: Sensitive<RowMoments>, present: number,
): { readonly mean: Float64Array; readonly seen: Float64Array } {
  const { grid } = round.ball;
  const sums = mechanisms.gaussian(
    round.sum.name, moments.map((all) => all.sums.map((entry) => entry * grid)),
  ).value;
  const products = mechanisms.symmetricGaussian(
    round.square.name, moments.map((all) => all.products.map((entry) => entry * grid ** 2)),
  ).value;
  const mean = sums.map((entry) => entry / present);
  const seen = products.map((entry, at) => entry / present
    - mean[Math.floor(at / mean.length)]! * mean[at % mean.length]!);
  return { mean, seen };
}

function mappedRows(
  held: Sensitive<Held>, { centre, spread }: CentredPool, frame: Frame,
): Sensitive<MappedRows> {
  return held.map(({ whole, entries, present: there }): MappedRows => {
    mapRows(whole, centre, spread, frame, entries, there);
    return {
      count: there.length, dimension: spread.length, entries, present: there,
      alive: there.slice(),
    };
  });
}

function noiseOf({ square }: MomentRound, present: number): number {
  return noiseOfSquare(square, present);
}

/**
 * True if some direction is far narrower than the columns: columns are given unit variance, which
 * divides the noise of entry (i, j) by their deviations. A direction that is no narrower than this
 * noise makes it is none.
 */
export function isCorrelated(
  covariance: Float64Array, { oneValue }: FoundColumns, noise: number,
): boolean {
  const dimension = oneValue.length;
  const root = Float64Array.from({ length: dimension }, (_, j) =>
    Math.sqrt(Math.max(noise, covariance[j * dimension + j]!)));
  const byNoise = noise * root.reduce((sum, entry) => sum + pow(entry, -2), 0) / dimension;
  const least = Math.min(leastEigenvalue, 1 - noiseFactor * byNoise);
  const scaled = covariance.map((entry, at) => {
    const [i, j] = [Math.floor(at / dimension), at % dimension];
    if (i === j) return 1;
    return oneValue[i] !== null || oneValue[j] !== null ? 0 : entry / (root[i]! * root[j]!);
  });
  return ownKernels().eigenSymmetric(scaled, dimension).values[0]! < least;
}

/** The frame whose rows had this covariance, with variance 1 in every direction. */
function narrowed(
  { mean, map, inverse }: Frame, covariance: Float64Array, dimension: number, noise: number,
): Frame {
  const kernels = ownKernels();
  const { values, vectors } = kernels.eigenSymmetric(covariance, dimension);
  const power = (exponent: number): Float64Array => {
    const result = new Float64Array(dimension ** 2);
    const weights = values.map((value) => pow(Math.max(noise, value), exponent));
    kernels.gram(vectors, dimension, dimension, { weights }, result);
    return result;
  };
  const product = (left: Float64Array, right: Float64Array): Float64Array =>
    kernels.product(left, right, dimension, dimension, dimension);
  const [narrow, wide] = [power(-0.5), power(0.5)];
  return {
    mean,
    map: map === null ? narrow : product(narrow, map),
    inverse: inverse === null ? wide : product(inverse, wide),
  };
}

/** The mean in spreads when mapped rows have this one. */
function moved({ mean, inverse }: Frame, by: Float64Array): Float64Array {
  const back = unmapped(inverse, by);
  return mean.map((entry, j) => entry + back[j]!);
}

/** inverse times a vector. */
export function unmapped(inverse: Float64Array | null, vector: Float64Array): Float64Array {
  if (inverse === null) return vector;
  const { length } = vector;
  return vector.map((_, i) =>
    vector.reduce((sum, entry, j) => sum + inverse[i * length + j]! * entry, 0));
}
