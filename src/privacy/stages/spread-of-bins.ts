import { pow } from '../../base/elementary.js';
import { zeroBin } from '../../numerics/kernels/column-counts.js';
import { normalQuantile } from '../../numerics/normal.js';
import type { KeptBin } from '../mechanisms/contract.js';

/**
 * Spreads from noisy counts of differences per doubling: functions of what was released, so
 * post-processing.
 */

/** Public facts about the pairs. */
export interface PairFacts {
  /** Pairs that the planned cohort leads to. */
  readonly pairs: number;
  /** A bin with fewer pairs is not kept. */
  readonly threshold: number;
  /** Planned share of hostile rows. */
  readonly corruption: number;
}

/** The spread of one column, as its pairs show it. */
export interface ColumnSpread {
  /** The root of the variance that the pairs have. Data units. */
  readonly spread: number;
  /**
   * The deviation of normal rows with the same median difference; in a discrete column that is
   * `spread`.
   */
  readonly medianSpread: number;
  /** Many pairs have a difference of exactly 0. */
  readonly isDiscrete: boolean;
  /** Most pairs have one, so few are left to show how far apart the others are. */
  readonly isMostlyEqual: boolean;
}

/** A column is discrete when more than this share of its pairs has a difference of 0. */
export const discreteShare = 0.1;
/** At least seven rows in ten have one value when more than this share of the pairs is equal. */
const mostlyEqualShare = 0.5;
/** The spread is at most this many times that of the median difference. */
const timesMedianMax = 4;
/** A cluster is far when its differences are this many times the spread of the median one. */
const farFrom = 6;
/** The cluster may hold this many times the planned share of hostile rows. */
const clusterMargin = 1.5;
/**
 * How differences are read.
 * - `square`: the mean square of differences in 1 .. 2. Of values spread evenly there it is 7/3. In
 *   a discrete column one value may hold them all; 2 is then wrong by sqrt(2) deviations at most.
 * - `unseen`: the most that the doubling past the last kept one holds, in thresholds. In a discrete
 *   column there may be nothing.
 */
const readAs = {
  continuous: { square: 7 / 3, unseen: 1 },
  discrete: { square: 2, unseen: 0.5 },
} as const;

/**
 * The spreads of one column, from the bins of its pairs that were kept. Null when no pair that
 * differs was seen.
 *
 * `spread` is the root of half the mean square difference, which is the variance. Each doubling
 * counts with the share of the pairs that it holds. One doubling past the last kept one is added,
 * at the ratio of the last two: it holds less than the threshold, or it would have been kept, and
 * half of that where the last kept one may be a cluster. Bins
 * of a far cluster are left out: they lie behind an empty doubling, and hold no more pairs than the
 * planned hostile rows can be in. `spread` is never below `medianSpread`, nor four times above it.
 */
export function columnSpreadOf(kept: readonly KeptBin[], facts: PairFacts): ColumnSpread | null {
  const apart = kept.filter(({ bin }) => bin !== zeroBin).sort((a, b) => a.bin - b.bin);
  if (apart.length === 0) return null;
  const total = pairsIn(kept, facts);
  const equal = kept.find(({ bin }) => bin === zeroBin)?.noisyCount ?? 0;
  const isDiscrete = equal > discreteShare * total;
  const isMostlyEqual = equal > mostlyEqualShare * total;
  const medianSpread = deviationOf(apart);
  const hostile = total * hostilePairs(clusterMargin * facts.corruption);
  const near = withoutCluster(apart, farFrom * medianSpread, hostile);
  const { square, unseen } = isDiscrete ? readAs.discrete : readAs.continuous;
  const past = pastLast(near, unseen * facts.threshold, total * hostilePairs(facts.corruption));
  const bins = [...near, ...past];
  const spread = rootOfMoment(bins, square / (2 * total));
  if (isDiscrete) return { spread, medianSpread: spread, isDiscrete, isMostlyEqual };
  const most = timesMedianMax * medianSpread;
  return {
    spread: Math.min(most, Math.max(medianSpread, spread)), medianSpread, isDiscrete, isMostlyEqual,
  };
}

/** Together, bins below the threshold hold at most about this many times the threshold. */
const unseenThresholds = 3;

/**
 * How many pairs there are: as many as planned, but for what the kept bins rule out. When fewer
 * people come than planned, shares of the planned pairs would be too small.
 */
function pairsIn(kept: readonly KeptBin[], { pairs, threshold }: PairFacts): number {
  const seen = kept.reduce((sum, { noisyCount }) => sum + noisyCount, 0);
  return Math.max(seen, Math.min(pairs, seen + unseenThresholds * threshold));
}

/**
 * The bins without a far cluster.
 * @param bins - ascending.
 * @param from - distance from which a cluster is far.
 * @param most - what the cluster may hold.
 */
function withoutCluster(
  bins: readonly KeptBin[], from: number, most: number,
): readonly KeptBin[] {
  const first = bins.findIndex(({ bin }, i) => {
    const beyond = bins.slice(i).reduce((sum, { noisyCount }) => sum + noisyCount, 0);
    return i > 0 && bin > bins[i - 1]!.bin + 1 && 2 ** bin >= from && beyond <= most;
  });
  return first < 0 ? bins : bins.slice(0, first);
}

/**
 * About the standard deviation of rows of which a share p has one value, from the mean square
 * distance m from that value: sqrt(p m). The variance is between p m and m, and exactly p m where
 * the others have one value, too. A far cluster is left out, as in `columnSpreadOf`.
 * @param atOnce - rows with that value.
 * @param kept - rows by doubling of their distance; at least one.
 */
export function spreadAbout(kept: readonly KeptBin[], atOnce: number, corruption: number): number {
  const bins = [...kept].sort((a, b) => a.bin - b.bin);
  const total = bins.reduce((sum, { noisyCount }) => sum + noisyCount, atOnce);
  const from = farFrom * 2 ** (bins[0]!.bin + 1);
  const near = withoutCluster(bins, from, clusterMargin * corruption * total);
  return rootOfMoment(near, (readAs.discrete.square * atOnce) / total ** 2);
}

/** The share of the pairs in which at least one row is of a share of the rows. */
const hostilePairs = (share: number): number => 1 - Math.max(0, 1 - share) ** 2;

/** This many times the most that the next doubling holds would surely have been kept. */
const surelyKept = 1.5;

/**
 * The doubling past the last one, as the last two say. If that many pairs would surely have been
 * kept, and hostile rows may be all of the last doubling, then it may be a cluster, which ends
 * there, or a tail. The next doubling then gets half of the most.
 * @param bins - ascending. @param most - that the next doubling holds.
 * @param cluster - pairs that hostile rows can be in.
 */
function pastLast(bins: readonly KeptBin[], most: number, cluster: number): readonly KeptBin[] {
  const [before, last] = bins.slice(-2);
  if (last === undefined || last.bin !== before!.bin + 1) return [];
  const next = last.noisyCount * Math.min(1, last.noisyCount / before!.noisyCount);
  const isCluster = next > surelyKept * most && last.noisyCount <= cluster;
  return [{ bin: last.bin + 1, noisyCount: isCluster ? most / 2 : Math.min(most, next) }];
}

/** sqrt(weight * sum count 4^bin), without overflow. @param bins - ascending. */
function rootOfMoment(bins: readonly KeptBin[], weight: number): number {
  const top = bins.at(-1)!.bin;
  const sum = bins.reduce((all, { bin, noisyCount }) => all + noisyCount * 4 ** (bin - top), 0);
  return 2 ** top * Math.sqrt(weight * sum);
}

/** The number of deviations within which a share of normal differences lies. */
const within = (share: number): number => normalQuantile((1 + share) / 2);
/** The difference of two normal values has this many times their deviation. */
const ofDifference = Math.SQRT2;
/** Honest differences beyond this many of their deviations are a few in a thousand. */
const reach = 3;
/** A larger share below an edge than this one says nothing more of a normal shape. */
const shareMax = 0.99;
const passes = 4;

/**
 * Where a quarter of the differences are nearer than this share of what the half says, rows have
 * heavy tails: their deviation is more than the half says. No attack of bench/accuracy on normal
 * rows comes below .95, rows with tails of index 3 on one side show .82.
 */
const peaked = 0.9;
const peakedPower = 4;
const widestPeaked = 2;

/**
 * The deviation of rows whose pairs have differences in the bins 2^bin .. 2^(bin + 1); at least
 * one bin.
 *
 * It is that of normal rows with the same median difference. The median is read off between the
 * edges of its bin, linearly in the normal quantiles of the shares below them: exact for a normal
 * shape, and within the bin for any. Bins beyond what such rows can be apart are left out and the
 * median is taken again, so that rows far out do not move it. Bins below the lowest
 * one kept hold together about as much as that one does, differences near zero being evenly spread:
 * so much is added below, or losing them would raise the median. Differences more peaked than any
 * attack makes those of normal rows widen the answer, to twice at most: honest tails would look
 * hostile in units of a median.
 */
export function deviationOf(kept: readonly KeptBin[]): number {
  let bins = [...kept].sort((left, right) => left.bin - right.bin);
  let deviation = deviationAt(bins, 0.5);
  for (let pass = 1; pass < passes; pass++) {
    const near = bins.filter(({ bin }) => 2 ** bin <= reach * ofDifference * deviation);
    if (near.length === bins.length) break;
    bins = near;
    deviation = deviationAt(bins, 0.5);
  }
  const width = pow((peaked * deviation) / deviationAt(bins, 0.25), peakedPower);
  return deviation * Math.min(widestPeaked, Math.max(1, width));
}

/**
 * The deviation of normal rows of which a share of the differences is as near. Bins ascending,
 * counts positive.
 */
function deviationAt(bins: readonly KeptBin[], share: number): number {
  return placeOf(bins, share) / (within(share) * ofDifference);
}

function placeOf(bins: readonly KeptBin[], share: number): number {
  const lowest = bins[0]!;
  const total = bins.reduce((sum, { noisyCount }) => sum + noisyCount, lowest.noisyCount);
  let below = lowest.noisyCount;
  if (below > share * total) return 2 ** lowest.bin * ((share * total) / below);
  for (const { bin, noisyCount } of bins) {
    const upTo = below + noisyCount;
    if (upTo >= share * total) return between(2 ** bin, share, below / total, upTo / total);
    below = upTo;
  }
  return 2 ** (bins.at(-1)!.bin + 1);
}

/** Where a share is reached between `edge` and twice that, from the shares below the two. */
function between(edge: number, share: number, below: number, upTo: number): number {
  const [low, high] = [within(Math.min(below, shareMax)), within(Math.min(upTo, shareMax))];
  return high > low
    ? edge * (1 + Math.min(1, Math.max(0, (within(share) - low) / (high - low)))) : edge;
}
