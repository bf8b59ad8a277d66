import { pow } from '../../../base/elementary.js';
import { chiSquareCdf } from '../../../numerics/chi-square.js';
import { normalCdf } from '../../../numerics/normal.js';
import { isLargeGroup, twoThresholdVariance } from '../../../robust/two-threshold-mean.js';

/**
 * A model, from public numbers only, of how far the group points of honest-but-contaminated groups
 * lie from each other. It serves to choose the radius, the number of groups and the share of the
 * test, and to say what error to expect. Privacy never depends on it: where it is wrong the test
 * fails more often or the noise is larger than needed.
 */
export interface LocalEstimator {
  /**
   * Variance of the point of a group times its number of rows, in units of spread, for clean rows.
   */
  varianceFactor(rows: number, dimension: number): number;
  /** Beyond this corruption a group counts as spoiled: its point may be anywhere. */
  readonly spoiledFrom: number;
  /** How far a corruption below that can move the point, in units of spread. */
  reach(share: number, dimension: number): number;
  /**
   * How far a corruption of all contributors can move the average of `groupSize`-row groups that
   * agree within `radius`.
   */
  bias(
    corruption: number, group: { readonly groupSize: number; readonly radius: number },
    dimension: number,
  ): number;
}

/**
 * The robust group point: measured over shifts of every size, groups of 6 to 120 rows and 1 to 30
 * columns, the worst coordinated shift moves it by about (1.5 + .55 sqrt d) hostile rows per honest
 * one.
 */
export const robustLocal: LocalEstimator = {
  varianceFactor: (rows, dimension) =>
    (isLargeGroup(rows, dimension) ? twoThresholdVariance(rows, dimension) : 1.15),
  spoiledFrom: 0.5,
  reach: robustReach,
  bias: (corruption, _group, dimension) => robustReach(corruption, dimension),
};

function robustReach(share: number, dimension: number): number {
  return ((1.5 + 0.55 * Math.sqrt(dimension)) * share) / (1 - share);
}

/**
 * The plain group mean. One hostile row spoils its group, or moves the group's point by up to about
 * the radius without being noticed.
 */
export const meanLocal: LocalEstimator = {
  varianceFactor: () => 1,
  spoiledFrom: 0,
  reach: () => 0,
  bias: (corruption, { groupSize, radius }) => (1 - pow(1 - corruption, groupSize)) * radius,
};

/**
 * groupSize times the mean of 1 / rows over groups with rows: what uneven groups cost the plain
 * average of their points.
 */
export function sizeFactor(groupSize: number): number {
  if (groupSize > 60) return 1 + 1 / groupSize;
  let probability = Math.exp(-groupSize);
  let inverse = 0;
  for (let rows = 1; rows < 160; rows++) {
    probability *= groupSize / rows;
    inverse += probability / rows;
  }
  return (groupSize * inverse) / (1 - Math.exp(-groupSize));
}

/** A kind of group: its share of the groups, 1 / rows, and how far hostile rows moved its point. */
interface Kind {
  readonly probability: number;
  readonly inverseRows: number;
  readonly moved: number;
}

export interface Agreement {
  /** Expected share of ordered pairs of different groups that agree. */
  readonly share: number;
  /**
   * Standard deviation of a group's own agreement over groups; over sqrt(groups) * 2 it is that of
   * the share.
   */
  readonly standardDeviation: number;
}

/** How often two groups agree at a radius, as a function of the radius. */
export class AgreementModel {
  readonly #kinds: readonly Kind[];
  readonly #varianceFactor: number;

  /**
   * @param groupSize - nominal rows per group; actual sizes are Poisson around it.
   * @param corruption - of the contributors.
   */
  constructor(
    groupSize: number,
    corruption: number,
    private readonly dimension: number,
    local: LocalEstimator,
  ) {
    this.#varianceFactor = local.varianceFactor(groupSize, dimension);
    this.#kinds = groupSize <= 40
      ? enumeratedKinds(groupSize, corruption, dimension, local)
      : largeKinds(groupSize, corruption, dimension, local);
  }

  at(radius: number): Agreement {
    const kinds = this.#kinds;
    const own = new Float64Array(kinds.length);
    for (let i = 0; i < kinds.length; i++) {
      for (let j = 0; j <= i; j++) {
        const agrees = this.#pair(kinds[i]!, kinds[j]!, radius);
        own[i]! += kinds[j]!.probability * agrees;
        if (j < i) own[j]! += kinds[i]!.probability * agrees;
      }
    }
    // Spoiled groups are the missing probability: they agree with none.
    let share = 0;
    let squares = 0;
    kinds.forEach((kind, i) => {
      share += kind.probability * own[i]!;
      squares += kind.probability * own[i]! ** 2;
    });
    return { share, standardDeviation: Math.sqrt(Math.max(0, squares - share * share)) };
  }

  /** Share of groups without a usable point: empty or spoiled. */
  get spoiled(): number {
    return 1 - this.#kinds.reduce((sum, kind) => sum + kind.probability, 0);
  }

  #pair(first: Kind, second: Kind, radius: number): number {
    const variance = this.#varianceFactor * (first.inverseRows + second.inverseRows);
    const left = radius * radius - (first.moved - second.moved) ** 2;
    // Columns may be anything from independent to one multiple of another: the worse of the two
    // ends.
    return left <= 0
      ? 0
      : Math.min(
        chiSquareCdf(left / variance, this.dimension),
        chiSquareCdf(left / variance / this.dimension, 1),
      );
  }
}

/** Poisson sizes and binomial hostile counts one by one, gathered into at most sixteen kinds. */
function enumeratedKinds(
  size: number, corruption: number, dimension: number, local: LocalEstimator,
): Kind[] {
  const gathered = new Map<number, { probability: number; inverse: number; moved: number }>();
  const rowsMax = Math.ceil(size + 8 * Math.sqrt(size) + 10);
  let sizeProbability = Math.exp(-size);
  let below = sizeProbability;
  for (let rows = 1; rows <= rowsMax; rows++) {
    sizeProbability *= size / rows;
    const sizeBin = Math.floor(4 * Math.min(0.9999, below + sizeProbability / 2));
    below += sizeProbability;
    let hostileProbability = pow(1 - corruption, rows);
    for (let hostile = 0; hostile <= rows; hostile++) {
      const share = hostile / rows;
      if (hostile > 0) {
        hostileProbability *= ((rows - hostile + 1) / hostile) * (corruption / (1 - corruption));
      }
      if (hostile > 0 && share >= local.spoiledFrom) break;
      const key = sizeBin * 8 + Math.ceil(share * 6);
      const bin = gathered.get(key) ?? { probability: 0, inverse: 0, moved: 0 };
      const probability = sizeProbability * hostileProbability;
      bin.probability += probability;
      bin.inverse += probability / rows;
      bin.moved += probability * local.reach(share, dimension);
      gathered.set(key, bin);
    }
  }
  return [...gathered.values()].filter((bin) => bin.probability > 1e-6).map((bin) => ({
    probability: bin.probability,
    inverseRows: bin.inverse / bin.probability,
    moved: bin.moved / bin.probability,
  }));
}

/** Large groups: three-point Gauss-Hermite rules for the size and for the corruption. */
function largeKinds(
  size: number, corruption: number, dimension: number, local: LocalEstimator,
): Kind[] {
  const nodes = [{ at: -Math.sqrt(3), weight: 1 / 6 }, { at: 0, weight: 2 / 3 }, {
    at: Math.sqrt(3), weight: 1 / 6,
  }];
  const deviation = Math.sqrt((corruption * (1 - corruption)) / size);
  const clean = spoiledNever(local, corruption, size, deviation);
  return nodes.flatMap((rows) => nodes.map((hostile) => {
    const share = Math.min(
      Math.max(0, corruption + hostile.at * deviation), 0.99 * Math.max(local.spoiledFrom, 0.01),
    );
    return {
      probability: rows.weight * hostile.weight * clean,
      inverseRows: 1 / (size + rows.at * Math.sqrt(size)),
      moved: local.reach(share, dimension),
    };
  }));
}

function spoiledNever(
  local: LocalEstimator, corruption: number, size: number, deviation: number,
): number {
  if (corruption === 0) return 1;
  if (local.spoiledFrom === 0) return pow(1 - corruption, size);
  return normalCdf((local.spoiledFrom - corruption) / deviation);
}
