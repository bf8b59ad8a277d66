import { Released, Sensitive } from '../../src/base/brands.js';
import { openSensitive } from '../../src/base/wrappers.js';
import { inlineCompute } from '../../src/estimators/contract/compute.js';
import type { KeyFacts, Plan, StudyFacts } from '../../src/estimators/contract/estimator.js';
import type { TrialSubject } from '../../src/audit/index.js';
import {
  lineContestants, lineScores,
} from '../../src/estimators/distributions/candidates/line-contests.js';
import {
  countGaps, gapsEvent, usedFrom,
} from '../../src/estimators/distributions/candidates/gaps.js';
import { lineDistribution } from '../../src/estimators/distributions/candidates/line.js';
import { stepRows } from '../../src/estimators/mean/stable-mean/dual-rows.js';
import { gapMax, sensitivitiesOf } from '../../src/estimators/mean/stable-mean/reference-design.js';
import { weightedSums } from '../../src/estimators/mean/stable-mean/reference.js';
import {
  exponentialEvent, gaussianHistogramEvent, laplaceEvent,
} from '../../src/privacy/accounting/calibration.js';
import { clipBall } from '../../src/privacy/stages/clip.js';
import type {
  MechanismEvent, SymmetricGaussianEvent,
} from '../../src/privacy/accounting/events.js';
import type { Mechanisms } from '../../src/privacy/mechanisms/contract.js';
import { allRowsUnclipped } from './all-rows-bug.js';
import { binCounts, intoBall, intoCube, smallPlan, sumOf, tightGaussian } from './build.js';
import { countsBugs } from './counts-bugs.js';
import { trueSpreadOfGroups } from './groups-bug.js';
import { keyedBugs } from './keyed-bugs.js';
import { keysBugs } from './keys-bugs.js';
import { momentsBugs } from './moments-bugs.js';
import { trueCountsRadius } from './radius-bug.js';
import { twiceDrawnCells } from './range-bug.js';
import { reductionBugs } from './reduction-bugs.js';
import { runningBugs } from './running-bugs.js';
import { spreadBugs } from './spread-bugs.js';
import { shapeBugs } from './shape-bugs.js';

/** A mistake that papers, or people, have made; and the same estimator without it. */
export interface PlantedBug {
  readonly name: string;
  readonly epsilon: number;
  readonly delta: number;
  readonly dimension: number;
  readonly cohort: number;
  /** Of a question that is split by keys: the first column is the place of a key. */
  readonly keys?: KeyFacts;
  /** Numbers of its question, on which the rows of an exact check stand. */
  readonly landmarks?: readonly number[];
  /** Enough for a quick audit to catch it. */
  readonly trials: number;
  /** True if a query's values on neighbours show it, before any noise. */
  readonly inSensitivity: boolean;
  make(facts: StudyFacts, planted: boolean): TrialSubject;
}

type Shape = Omit<PlantedBug, 'name' | 'make'>;

/** A delta that a hundred thousand trials can tell from twice as much. */
const wide: Shape = {
  epsilon: 1, delta: 0.05, dimension: 1, cohort: 4, trials: 60_000, inSensitivity: false,
};

const subject = (plan: Plan, facts: StudyFacts): TrialSubject =>
  ({ plan, dimension: facts.dimension });

/** The sum of rows cut to [-1, 1], with noise that just suffices. */
function cubeSum(facts: StudyFacts, cut = true): Plan {
  const { dimension, target } = facts;
  return smallPlan({
    facts,
    length: dimension,
    events: [tightGaussian('sum', dimension, 2 * Math.sqrt(dimension), target)],
    release: (rows, mechanisms) => mechanisms.gaussian('sum', rows('rows').map((block) =>
      sumOf(block, dimension, (row, sum) => {
        (cut ? intoCube(row) : row).forEach((entry, j) => (sum[j]! += entry));
      }))).map((sum) => Array.from(sum)),
  });
}

function halved(event: MechanismEvent): MechanismEvent {
  return event.kind === 'gaussian' ? { ...event, sigma: event.sigma / 2 } : event;
}

const halfNoise: PlantedBug = {
  name: 'half the noise',
  ...wide,
  trials: 20_000,
  make: (facts, planted) => ({
    ...subject(cubeSum(facts), facts),
    mechanisms: (events, noise, create) => create(planted ? events.map(halved) : events, noise),
  }),
};

const unclipped: PlantedBug = {
  name: 'noise on the unclipped copy',
  ...wide,
  trials: 10_000,
  inSensitivity: true,
  make: (facts, planted) => subject(cubeSum(facts, !planted), facts),
};

const oneCoordinate: PlantedBug = {
  name: 'sensitivity of one coordinate for a vector (E1)',
  ...wide,
  trials: 20_000,
  delta: 1e-6,
  dimension: 8,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension, target } = facts;
    const sensitivity = planted ? 2 : 2 * dimension;
    const plan = smallPlan({
      facts,
      length: dimension,
      events: [laplaceEvent({
        name: 'sum', cohort: 'rows', dimension, sensitivity, epsilon: target.epsilon,
        grid: 2 ** -16,
      })],
      release: (rows, mechanisms) => mechanisms.laplace('sum', rows('rows').map((block) =>
        sumOf(block, dimension, (row, sum) =>
          intoCube(row).forEach((entry, j) => (sum[j]! += entry)))))
        .map((sum) => Array.from(sum)),
    });
    return subject(plan, facts);
  },
};

/**
 * Squared distances from a noisy mean that may have left the cube: their sensitivity of 4 holds
 * inside only.
 */
const noProjection: PlantedBug = {
  name: 'projection missing (E2)',
  ...wide,
  trials: 60_000,
  epsilon: 2,
  cohort: 2,
  inSensitivity: true,
  make(facts, planted) {
    const { cohort, target } = facts;
    const half = { epsilon: target.epsilon / 2, deltaTotal: target.deltaTotal / 2 };
    const plan = smallPlan({
      facts,
      length: 2,
      events: [tightGaussian('mean', 1, 2, half), tightGaussian('scores', 1, 4, half)],
      release(rows, mechanisms) {
        const block = rows('rows').map((all) => ({ ...all, values: intoCube(all.values) }));
        const sum = mechanisms.gaussian('mean', block.map((all) =>
          sumOf(all, 1, ([entry], total) => (total[0]! += entry!))));
        const noisy = sum.value[0]! / cohort;
        const mean = planted ? noisy : Math.min(1, Math.max(-1, noisy));
        const scores = mechanisms.gaussian('scores', block.map((all) =>
          sumOf(all, 1, ([entry], total) => (total[0]! += (entry! - mean) ** 2))));
        return scores.map(([total]) => [mean, total!]);
      },
    });
    return subject(plan, facts);
  },
};

const binsMax = 64;

/**
 * The fullest bin by noisy count, also of bins that one person alone occupies. The counts are
 * noised as they should be; which bins there are reaches the answer without passing through a
 * mechanism, so no query shows it.
 */
const noThreshold: PlantedBug = {
  name: 'histogram argmax without threshold (E5)',
  ...wide,
  trials: 10_000,
  delta: 1e-6,
  cohort: 6,
  make(facts, planted) {
    const { epsilon, rho, deltaTotal: delta } = facts.target;
    const stable = gaussianHistogramEvent({
      name: 'stable', cohort: 'rows', coordinates: 1, rho, delta,
    });
    const counts = laplaceEvent({
      name: 'counts', cohort: 'rows', dimension: binsMax, sensitivity: 2, epsilon, grid: 2 ** -16,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [planted ? counts : stable],
      release(rows, mechanisms) {
        const bins = rows('rows').map((block) => binCounts(block, 5));
        if (!planted) {
          return mechanisms.histogram('stable', bins.map((one) => [one]))
            .map(([kept]) => [kept?.[0]?.bin ?? -1]);
        }
        const occupied = [...openSensitive(bins)].sort(([, one], [, two]) => two - one)
          .slice(0, binsMax);
        const noisy = mechanisms.laplace('counts', Sensitive.of(Float64Array.from(
          { length: binsMax }, (_, i) => occupied[i]?.[1] ?? 0,
        )));
        return noisy.map((list) => {
          const best = occupied.reduce((most, _, i) => (list[i]! > list[most]! ? i : most), 0);
          return [occupied[best]?.[0] ?? -1];
        });
      },
    });
    return subject(plan, facts);
  },
};

const reachBins = 100;

/**
 * The fullest bin between the smallest and the largest row, empty bins included: one person widens
 * the range.
 */
const dataDependentBins: PlantedBug = {
  name: 'argmax over data-dependent bins (E5)',
  ...wide,
  trials: 4_000,
  delta: 1e-6,
  cohort: 6,
  inSensitivity: true,
  make(facts, planted) {
    const plan = smallPlan({
      facts,
      length: 1,
      events: [exponentialEvent({
        name: 'bin', cohort: 'rows', candidates: 2 * reachBins + 1, sensitivity: 1,
        epsilon: facts.target.epsilon,
      })],
      release: (rows, mechanisms) => mechanisms.exponential('bin', rows('rows').map((block) => {
        const bins =
          new Map([...binCounts(block, 10)].filter(([bin]) => Math.abs(bin) <= reachBins));
        const low = Math.min(...bins.keys());
        const high = Math.max(...bins.keys());
        return Float64Array.from({ length: 2 * reachBins + 1 }, (_, i) => {
          const bin = i - reachBins;
          return planted && bins.size > 0 && (bin < low || bin > high) ? -1e9 : bins.get(bin) ?? 0;
        });
      })).map((index) => [index]),
    });
    return subject(plan, facts);
  },
};

/**
 * Noise on a symmetric matrix, seen in a frame that the rows choose: A Z A^T for a rotation A. Of
 * isotropic noise that is the same law for every A. Independent entries on and above the diagonal
 * have another one when turned: what is off the diagonal has half the variance then. The values
 * under the noise are zero for everybody, so no query shows it.
 */
const turnedTriangle: PlantedBug = {
  name: 'upper-triangular noise, turned (E30)',
  ...wide,
  epsilon: 0.1,
  delta: 0.01,
  trials: 20_000,
  make(facts, planted) {
    const { target } = facts;
    const wideEnough = tightGaussian('noise', planted ? 3 : 2, 1, target);
    const plan = smallPlan({
      facts,
      length: 3,
      events: [planted ? wideEnough : { ...wideEnough, kind: 'symmetric-gaussian' }],
      release(rows, mechanisms) {
        const isTurned = openSensitive(rows('rows').map(({ count, values }) =>
          values.slice(0, count).filter((entry) => entry > 0).length % 2 === 1));
        const noise = planted
          ? mechanisms.gaussian('noise', Sensitive.of(new Float64Array(3)))
          : mechanisms.symmetricGaussian('noise', Sensitive.of(new Float64Array(4)))
            .map(([a = 0, b = 0, , c = 0]) =>
              Float64Array.of(a, b, c));
        return noise.map(([a = 0, b = 0, c = 0]) =>
          (isTurned ? [(a + c) / 2 - b, (a - c) / 2, (a + c) / 2 + b] : [a, b, c]));
      },
    });
    return subject(plan, facts);
  },
};

/**
 * Second moments of rows of norm 1, as their upper triangle: one replaced row moves it by sqrt 2,
 * not by 1.
 */
const upperTriangle: PlantedBug = {
  name: 'symmetric noise i.i.d. on the upper triangle (E6)',
  ...wide,
  dimension: 2,
  inSensitivity: true,
  make(facts, planted) {
    const { target } = facts;
    const rightly: SymmetricGaussianEvent = {
      ...tightGaussian('moments', 2, Math.SQRT2, target), kind: 'symmetric-gaussian',
    };
    const plan = smallPlan({
      facts,
      length: 3,
      events: [planted ? tightGaussian('moments', 3, 1, target) : rightly],
      release(rows, mechanisms) {
        const moments = rows('rows').map((block) => sumOf(block, 3, (row, sum) => {
          const [x = 0, y = 0] = intoBall(row);
          [x * x, x * y, y * y].forEach((entry, i) => (sum[i]! += entry));
        }));
        if (planted) {
          return mechanisms.gaussian('moments', moments).map((triangle) => Array.from(triangle));
        }
        const full = moments.map(([a = 0, b = 0, c = 0]) => Float64Array.of(a, b, b, c));
        return mechanisms.symmetricGaussian('moments', full)
          .map(([a = 0, b = 0, , c = 0]) => [a, b, c]);
      },
    });
    return subject(plan, facts);
  },
};

/**
 * Readers saw the first release; after the crash the server draws again, where it should repeat
 * what it stored. Each draw is as charged, there is one too many: no query's values show it.
 */
const redrawn: PlantedBug = {
  name: 'noise redrawn after a crash',
  ...wide,
  make(facts, planted) {
    const inner = cubeSum(facts);
    // The mechanisms of the process that crashed; made and used in one go, before those of its
    // successor.
    let crashed: Mechanisms;
    const plan: Plan = {
      ...inner,
      outputShape: [2 * facts.dimension],
      async release(summaries, mechanisms, compute) {
        const seen = await inner.release(summaries, crashed, compute);
        const again = planted ? await inner.release(summaries, mechanisms, compute) : seen;
        return Released.all([seen, again] as const).map(([one, two]) => {
          if (one.kind === 'refused' || two.kind === 'refused') return one;
          const estimate = [...one.estimate, ...two.estimate];
          return { ...one, estimate, shape: [estimate.length] };
        });
      },
    };
    return {
      ...subject(plan, facts),
      mechanisms(events, noise, create) {
        crashed = create(events, noise);
        return create(events, noise);
      },
    };
  },
};

/** Two cohorts are charged as disjoint, and each is answered from everybody. */
const reused: PlantedBug = {
  name: 'a sample reused across groups',
  ...wide,
  cohort: 8,
  inSensitivity: true,
  make(facts, planted) {
    const cohorts = ['first', 'second'];
    const plan = smallPlan({
      facts,
      cohorts,
      length: 2,
      events: cohorts.map((cohort) => tightGaussian(cohort, 1, 2, facts.target, cohort)),
      release(rows, mechanisms) {
        const sums = cohorts.map((cohort) => mechanisms.gaussian(cohort, rows(cohort).map((own) => {
          const used = planted ? cohorts.map((each) => openSensitive(rows(each))) : [own];
          return Float64Array.of(used.reduce((total, block) =>
            total + sumOf(block, 1, ([entry], sum) =>
              (sum[0]! += Math.min(1, Math.max(-1, entry!))))[0]!, 0));
        })));
        return Released.all<readonly Float64Array[]>(sums)
          .map((list) => list.map((sum) => sum[0]!));
      },
    });
    return subject(plan, facts);
  },
};

/**
 * Gaps of sorted rows in buckets; occupied ones are listed whether or not anybody could be alone in
 * them.
 */
const listedBuckets: PlantedBug = {
  name: 'gap buckets listed without the threshold',
  ...wide,
  trials: 10_000,
  delta: 1e-6,
  cohort: 6,
  make(facts, planted) {
    const { epsilon, rho, delta } = facts.target;
    const stable = gapsEvent({ cohort: 'rows', rho, delta });
    const counts = laplaceEvent({
      name: 'counts', cohort: 'rows', dimension: binsMax, sensitivity: 6, epsilon, grid: 2 ** -16,
    });
    const plan = smallPlan({
      facts,
      length: 1,
      events: [planted ? counts : stable],
      release(rows, mechanisms) {
        const gaps = rows('rows')
          .map((block) => countGaps(block.values.slice(0, block.count), facts.cohort));
        if (!planted) {
          const empty =
            Array.from({ length: stable.coordinates - 1 }, () => new Map<number, number>());
          return mechanisms.histogram(stable.name, gaps.map((one) => [one, ...empty]))
            .map(([kept]) =>
              [kept?.find(({ noisyCount }) => noisyCount > usedFrom(stable))?.bin ?? -1]);
        }
        const occupied = [...openSensitive(gaps)].slice(0, binsMax);
        const noisy = mechanisms.laplace('counts', Sensitive.of(Float64Array.from(
          { length: binsMax }, (_, i) => occupied[i]?.[1] ?? 0,
        )));
        return noisy.map((list) => {
          const best = occupied.reduce((most, _, i) => (list[i]! > list[most]! ? i : most), 0);
          return [occupied[best]?.[0] ?? -1];
        });
      },
    });
    return subject(plan, facts);
  },
};

/** A selection whose scores a contributor moves by five, where one is charged. */
const steepScores: PlantedBug = {
  name: 'selection score with the wrong sensitivity',
  ...wide,
  trials: 20_000,
  delta: 1e-6,
  cohort: 2,
  inSensitivity: true,
  make(facts, planted) {
    const sides = [-1, 0].map((low) =>
      lineDistribution({ kind: 'uniform', low: 100 * low, high: 100 * (low + 1) }));
    const contestants = lineContestants(sides, 8);
    const plan = smallPlan({
      facts,
      length: 1,
      events: [exponentialEvent({
        name: 'choice', cohort: 'rows', candidates: 2, sensitivity: 1,
        epsilon: facts.target.epsilon,
      })],
      release: (rows, mechanisms) => mechanisms.exponential('choice', rows('rows').map((block) =>
        lineScores(contestants, block, { alpha: 0.1, zeta: 1, cap: facts.cohort })
          .map((score) => (planted ? 5 * score : score)))).map((index) => [index]),
    });
    return subject(plan, facts);
  },
};

/**
 * The weight that rows keep under a bound on their width, by a solver that stops at once: feasible,
 * and far from stable.
 */
const uncertifiedWeights: PlantedBug = {
  name: 'solver gap not charged',
  ...wide,
  trials: 10_000,
  cohort: 60,
  inSensitivity: true,
  make(facts, planted) {
    const { dimension, cohort, target } = facts;
    const rowsMax = 2 * cohort;
    const bound = cohort;
    const ball = clipBall(50, { products: true, rowsMax });
    const { weight } = sensitivitiesOf({ bound, radius: ball.radius, rowsMax, dimension });
    const asked = {
      unit: ball.grid, bound, rowsMax, radius: ball.radius, gap: planted ? Infinity : gapMax,
    };
    const [middle, unit] = [new Float64Array(dimension), new Float64Array(dimension).fill(1)];
    const plan = smallPlan({
      facts,
      length: 1,
      events: [tightGaussian('weight', 1, weight, target)],
      async release(rows, mechanisms) {
        const kept = await rows('rows').mapAsync(async (block) => {
          const pool = { ...block, tags: new BigUint64Array(block.count) };
          const steps = await stepRows(inlineCompute(), pool, rowsMax, ball, middle, unit);
          return Float64Array.of((await weightedSums(inlineCompute(), steps, asked)).kept);
        });
        return mechanisms.gaussian('weight', kept).map((noisy) => Array.from(noisy));
      },
    });
    return subject(plan, facts);
  },
};

export const plantedBugs: readonly PlantedBug[] = [
  halfNoise, unclipped, oneCoordinate, noProjection, noThreshold, upperTriangle, turnedTriangle,
  redrawn, reused, dataDependentBins, steepScores, listedBuckets, uncertifiedWeights,
  ...spreadBugs, allRowsUnclipped, trueCountsRadius, trueSpreadOfGroups, twiceDrawnCells,
  ...shapeBugs, ...momentsBugs, ...countsBugs, ...keyedBugs, ...keysBugs, ...reductionBugs,
  ...runningBugs,
];
