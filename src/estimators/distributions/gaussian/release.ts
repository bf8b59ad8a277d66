import { pow } from '../../../base/elementary.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { ownKernels } from '../../../numerics/kernels/index.js';
import { privateCentre } from '../../../privacy/stages/centre.js';
import { privateClippedMean } from '../../../privacy/stages/clipped-mean.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import type { RobustNormal } from '../../../robust/normal-of-rows.js';
import type {
  Compute, FinishedSummaries, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { privateBoundedMoments } from '../../covariance/covariance/bounded.js';
import {
  freedomOf, rowsLeast, rowsPerGroup,
} from '../../covariance/subsample-covariance/groups-design.js';
import { privateGroupMoments } from '../../covariance/moments/group-moments.js';
import { product, transposed, withEigenvalues } from '../../covariance/moments/matrices.js';
import { tooFewPairs } from '../../covariance/moments/outcomes.js';
import { pairsOf } from '../../covariance/moments/pairs.js';
import type { BoundedMoments, Preconditioner } from '../../covariance/moments/preconditioner.js';
import type { GaussianDesign } from './design.js';
import {
  outOfFrame, paddedRows, privateFrame, rowsInFrame, wholeFrame, type Frame,
} from './frame.js';
import { estimatesOf, meansOf } from './groups.js';
import type { StageShare } from './mean-design.js';
import {
  gaussianOutcome, meanNotFound, notNormal, pointOutcome, subspaceNotFound, tooFewGroups,
  unitsNotFound, variancesBeyond, type Shape,
} from './outcome.js';
import { areNormal, sumsBeyond } from './normality.js';
import { dividing, privateUnits } from './units.js';

/** The facts and tools that every stage of a release uses. */
interface Tools {
  readonly study: StudyFacts;
  readonly design: GaussianDesign;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
  /** The rows of a stage, in the coordinates of the frame. */
  readonly rowsOf: (from: StageShare) => Sensitive<PooledRows>;
  /**
   * Robust estimates of a stage's groups in the frame, made once for stages of the same
   * contributors.
   */
  readonly estimates: (from: StageShare, groups: number) => Sensitive<readonly RobustNormal[]>;
}

/**
 * Draws a release: the subspace if asked for, the covariance in it, then the mean in coordinates in
 * which that covariance is the unit matrix.
 */
export async function releaseGaussian(
  study: StudyFacts, design: GaussianDesign, summaries: FinishedSummaries, mechanisms: Mechanisms,
  compute: Compute,
): Promise<Released<Outcome>> {
  const { frame: wanted } = design;
  let frame = wholeFrame(study.dimension);
  if (wanted !== null) {
    const found = privateFrame(
      mechanisms, poolOf(summaries, wanted.from.cohort), study.dimension, wanted,
    );
    const { value } = found;
    if (value === null) return found.map(() => subspaceNotFound(study, wanted));
    if (value.rank === 0) return found.map(() => pointOutcome(value.origin));
    frame = value;
  }
  const rowsOf = (from: StageShare): Sensitive<PooledRows> =>
    poolOf(summaries, from.cohort).map((rows) => rowsInFrame(rows, frame));
  const known = new Map<string, Sensitive<readonly RobustNormal[]>>();
  const estimates: Tools['estimates'] = (from, groups) => {
    const key = `${from.cohort} ${groups}`;
    const found = known.get(key) ?? rowsOf(from).map((whole) =>
      estimatesOf(whole, groups, rowsLeast(design.rowsPerGroup!)));
    known.set(key, found);
    return found;
  };
  return releaseInFrame({ study, design, mechanisms, compute, rowsOf, estimates }, frame);
}

async function releaseInFrame(tools: Tools, frame: Frame): Promise<Released<Outcome>> {
  const { study, design: { choice, covariance, units, rowsPerGroup: size } } = tools;
  let start = units.kind === 'given' ? dividing(units.spread) : undefined;
  if (units.kind === 'found') {
    const rows = tools.rowsOf(covariance.from).map((whole) =>
      ({ ...whole, ...paddedRows(whole, study.dimension) }));
    const released = await privateUnits(tools.mechanisms, tools.compute, rows, frame.rank, units);
    const { value } = released;
    if (value === null) return released.map(() => unitsNotFound(study));
    start = value;
  }
  const moments = await momentsOf(tools, frame.rank, start);
  const found = moments.value;
  if (found.kind === 'too-few-pairs') {
    return moments.map(() => (covariance.kind === 'pairs'
      ? tooFewPairs(study.cohort, covariance.bounded.preconditioner.pairsNeeded)
      : tooFewGroups(study, covariance.groupsNeeded)));
  }
  if (covariance.kind === 'groups') {
    const { beyond, from, groups } = covariance;
    const sums = tools.mechanisms.gaussian(beyond.name, tools.estimates(from, groups).map((list) =>
      sumsBeyond(list, study.dimension)));
    const looksNormal = areNormal(sums.value.subarray(0, frame.rank), {
      sigma: beyond.sigma, groups: found.pairs, rowsPerGroup: size!,
      corruption: choice.corruption!,
    });
    if (!looksNormal) return sums.map(() => notNormal());
  }
  if (!isWithinBounds(found, frame.rank)) return moments.map(() => variancesBeyond(units));
  const { map, inverse } = whitening(found, frame.rank);
  const { final } = covariance.kind === 'pairs' ? covariance.bounded : covariance;
  const shape: Shape = {
    frame, inverse: outOfFrame(frame, inverse), unmap: outOfFrame(frame, found.inverse),
    noise: final.sigma / found.pairs,
    rows: covariance.kind === 'pairs'
      ? found.pairs : found.pairs * freedomOf('robust', frame.rank, rowsPerGroup(
        size!, covariance.groups, { counted: found.pairs, sigma: covariance.count.sigma },
      )),
    slack: covariance.kind === 'pairs' ? 0 : slackOfGroups,
  };
  return releaseMean(tools, shape, map);
}

/**
 * After the rounds every direction whose variance is within the public bounds varies by about 1;
 * noise and the groups' own error leave less than a quarter or more than 1.75 of that to none.
 */
function isWithinBounds(
  { moments }: Extract<BoundedMoments, { kind: 'moments' }>, rank: number,
): boolean {
  const { values } = ownKernels().eigenSymmetric(moments, rank);
  return values[0]! > 0.25 && values.at(-1)! < 1.75;
}

/**
 * How far robust groups of normal rows are off in variance, beside chance, as a share of it. In
 * simulated groups of 20 rows and more the mean of their variances is .98 to 1.02 times the true
 * one, and cutting wide groups takes up to .01.
 */
const slackOfGroups = 0.03;

function momentsOf(
  { study, design: { covariance, units }, mechanisms, compute, rowsOf, estimates }: Tools,
  rank: number, start: Preconditioner | undefined,
): Promise<Released<BoundedMoments>> {
  if (covariance.kind === 'pairs') {
    const { bounded } = covariance;
    const pairs = rowsOf(covariance.from).map((whole) =>
      paddedRows(pairsOf(whole, bounded.slots), study.dimension));
    return privateBoundedMoments(mechanisms, compute, pairs, bounded, {
      rank, ...(start !== undefined && { start }),
    });
  }
  const found = estimates(covariance.from, covariance.groups);
  return privateGroupMoments(mechanisms, found, rank, {
    ...covariance, varianceHigh: units.bounds.varianceHigh, ...(start !== undefined && { start }),
  });
}

/**
 * A map after which the answered covariance is the unit matrix, and its inverse: post-processing.
 */
function whitening(
  { moments, matrix, inverse }: Extract<BoundedMoments, { kind: 'moments' }>, rank: number,
): { readonly map: Float64Array; readonly inverse: Float64Array } {
  const power = (exponent: number): Float64Array =>
    withEigenvalues(moments, rank, (value) => pow(value, exponent));
  return { map: product(power(-0.5), matrix, rank), inverse: product(inverse, power(0.5), rank) };
}

function releaseMean(
  { study, design: { mean, rowsPerGroup: size }, mechanisms, rowsOf, estimates }: Tools,
  shape: Shape, map: Float64Array,
): Released<Outcome> {
  const { rank } = shape.frame;
  const rows: Sensitive<RowBlock> = size === null
    ? rowsOf(mean.from) : estimates(mean.from, mean.points).map((list) => meansOf(list, rank));
  const points = rows.map((block) => paddedRows(mapped(block, map), study.dimension));
  const centred = privateCentre(mechanisms, points, study.dimension, mean.spread);
  const centre = centred.value;
  if (centre.kind === 'failed') return centred.map(() => meanNotFound(study));
  const options = { centre: centre.centre, ball: mean.clipped.ball, cohort: mean.points };
  return privateClippedMean(mechanisms, points, options).map((answer) => {
    if (answer.kind === 'participation-below-plan') return participationBelowPlan(study);
    const moved = answer.mean.map((entry, j) => entry - centre.centre[j]!);
    const noise = moved.map((entry) =>
      Math.hypot(mean.clipped.sum.sigma, entry * mean.clipped.count.sigma) / answer.present);
    const each = size === null ? 1 : rowsPerGroup(
      size, mean.points, { counted: answer.present, sigma: mean.clipped.count.sigma },
    );
    return gaussianOutcome(shape, { mean: answer.mean, noise, rows: answer.present * each });
  });
}

/**
 * Every row times a released map: a function of the row alone. A row that leaves the doubles
 * becomes the null row.
 */
function mapped({ count, dimension, values }: RowBlock, map: Float64Array): RowBlock {
  return {
    count, dimension,
    values: ownKernels().product(values, transposed(map, dimension), count, dimension, dimension),
  };
}
