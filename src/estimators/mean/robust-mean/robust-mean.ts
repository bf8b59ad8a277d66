import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, StudyFacts,
} from '../../contract/estimator.js';
import { lkko21 } from '../../contract/papers.js';
import {
  choiceOf, corruptionParameter, numberOf, optionalNumberOf, rangeOf, rangeParameter,
} from '../../contract/values.js';
import { boundedDesign, demandBounded } from '../../pooled/bounded.js';
import {
  definePooledEstimator, pooledDesign, type DesignRequest, type PooledDesign,
} from '../../pooled/estimator.js';
import {
  centrePartParameter, demandShares, finalPartParameter, radiusParameter, roundsParameter,
  usualRadius,
} from '../../pooled/parameters.js';
import { assumptions } from '../../pooled/plan.js';
import { assumedOfGroups, groupSeenFrom, intervalText } from '../../pooled/radius.js';
import { anyDesign, anyErrorOf, usualChoice } from './any-design.js';
import { releaseAny } from './any-release.js';
import { robustDesign, robustErrorOf } from './design.js';
import { releaseRobust } from './release.js';

/** Largest corruption that can be promised. */
const corruptionLimit = 0.2;

const shapeParameter: ParameterSpec = {
  name: 'shape', type: 'choice', choices: ['any', 'light'], default: 'any',
  description: 'what honest rows are like: any shape with a variance; or about normal in every '
    + 'direction, which hides less of what hostile rows do but answers skewed rows wrongly',
};

/**
 * The default robust private mean.
 *
 * `shape: any`, the default. Noisy moments tell where the rows are and how they vary; correlated
 * rows are mapped so that they vary alike in every direction. Histograms along a few axes and of
 * the distance show clusters that stand apart, behind a valley, and along an axis what a normal
 * core of the rows does not explain, unless one smooth shape explains all (pooled/core-fit). Only
 * these are removed. A radius that fits the distances bounds what rows far out may do. The answer
 * is the mean of the rows left, and along the axis of a core where the core stands.
 *
 * `shape: light`. Noisy second moments tell along which axes rows are wider than honest ones can
 * be. Along these axes, and no others, a noisy histogram tells how: it stays sharp where second
 * moments do not, since one row changes two of its counts by 1 however far out it is. A normal
 * shape is fitted to the histogram, tails that hold far more than the shape are removed, and what
 * that does to the mean of a normal shape is corrected. Where the mean of what is left is still
 * away from the median of the shape, the median is the answer. Where the first second moments show
 * columns that are correlated, the rows are mapped first (normal-mapped).
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), and of every round, histogram and sum (`design`
 * and `any-design` have their sensitivities), composed adaptively.
 * Why. Whether a row is left at any time, and what it is mapped to, are functions of this row and
 * of released numbers alone: its clipped entries, and for every histogram the axis (or the mean
 * that distances are from) and the thresholds. Two neighbouring sets see the same released numbers
 * when their releases are compared, so they differ at any time in the one row at most. Axes,
 * thresholds, the radius and the corrections at the end are functions of released numbers. So is
 * which events were not needed: those carry sums of the rows left instead, within their
 * sensitivities (`reallocation`).
 * With `range`: no delta is spent on the centre (pooled/bounded, and beside a spread
 * stages/range-centre). A noisy number of people beyond it on each side is drawn too
 * (pooled/outside).
 * Assumption of `any`. Honest rows have a variance. Of the rows left a corruption a moves the
 * mean along any direction by at most sqrt(a / (1 - a)) of their deviation there, and by what rows
 * beyond the usual radius add, which is kept below sqrt(c) for the stated share c. With few people,
 * of whom noise would hide more than that, the radius is fixed (`radiusFor`). No shape is
 * assumed, so nothing smaller can be promised: the same rows may be honest or not.
 * Assumption of `normal`. Honest rows are at most one spread wide in every direction, and not
 * strongly skewed. What is not detected widens no axis beyond the detection threshold t, and moves
 * the mean by at most sqrt(c t), c its share. What is detected moves a median by at most about
 * 1.25 c in each axis. In correlated columns the promise is that of `any`. The price is the
 * assumption: skewed rows wider than `spread` are answered by their median, not their mean.
 * Source. The second moments are those of X. Liu, W. Kong, S. Kakade, S. Oh, Robust and
 * differentially private mean estimation (2021), Algorithms 10 to 13, with corrected noise.
 * Histograms, thresholds and corrections are this project's own.
 */
export const robustMean: Estimator = definePooledEstimator({
  name: 'robust-mean',
  title: 'Private robust mean by histograms along a few axes',
  citations: [lkko21('Algorithms 10 to 13, for the second moments')],
  parameters: [
    rangeParameter,
    corruptionParameter(
      corruptionLimit,
      'fraction of false rows that the error is promised for; with shape any, clusters of up to '
      + '1.5 times this fraction are left out',
    ),
    shapeParameter,
    roundsParameter('default 3, and 2 with shape normal', 20),
    {
      name: 'axes', type: 'integer', optional: true, minimum: 1, maximum: 50,
      description: 'maximum number of axes along which there are histograms, with shape normal in '
        + 'each filter round; default 4, and 2 with shape normal',
    },
    centrePartParameter(
      'default .08 to .3, what the cohort needs; with shape normal .2, or .3 without filter rounds',
      0.6,
    ),
    finalPartParameter('default: what the others leave, and .4 with shape normal', 0.9),
    radiusParameter(1e6, ', and with shape any what fits the rows'),
  ],
  maturity: 'recommended',
  describe: describeMeans,
  assumption: 'A few rows do not decide the honest variance; who is outside a range counts as at '
    + 'its bound.',
  claim: 'One contributor’s row replaced by anything, including nothing: '
    + '(rho, delta)-approximate zCDP, rho split between the centre, moments and '
    + 'histograms whose number is public, and the mean of what is left.',
}, { demand, design, answersInRange: true });

function design(request: DesignRequest): PooledDesign {
  const { values, range } = request;
  if (range !== null) return boundedDesign(request, range, numberOf(values, 'corruption'));
  return isNormal(values) ? designForNormal(request) : designForAny(request);
}

function isNormal(values: ParameterValues): boolean {
  return choiceOf(values, 'shape') === 'light';
}

/** Values of the parameters whose presets depend on the shape. */
function presetsOf(values: ParameterValues) {
  const preset = isNormal(values) ? presets.normal : presets.any;
  return {
    rounds: optionalNumberOf(values, 'rounds') ?? preset.rounds,
    axes: optionalNumberOf(values, 'axes') ?? preset.axes,
    centrePart: optionalNumberOf(values, 'centre-part') ?? preset.centrePart,
    finalPart: optionalNumberOf(values, 'final-part') ?? preset.finalPart,
  };
}

const presets = {
  any: { rounds: 3, axes: 4, centrePart: null, finalPart: null },
  normal: { rounds: 2, axes: 2, centrePart: 0.2, centrePartOfMean: 0.3, finalPart: 0.4 },
} as const;

function demand(values: ParameterValues, facts: StudyFacts): Infeasible | null {
  const isBounded = rangeOf(values) !== null;
  const refused = isBounded ? demandBounded(values, facts.target) : null;
  if (refused !== null || (isBounded && values['spread'] === 'auto')) return refused;
  const { centrePart, finalPart } = presetsOf(values);
  return demandShares({
    ...values, 'centre-part': centrePart ?? presets.normal.centrePart,
    'final-part': finalPart ?? presets.normal.finalPart,
  }, facts, { needsDelta: !isBounded });
}

function designForAny({ values, facts, bounds, spread }: DesignRequest): PooledDesign {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const design = anyDesign({
    facts, bounds, corruption, radius: optionalNumberOf(values, 'radius') ?? null,
    isSpreadGiven: spread !== null, ...presetsOf(values),
  });
  const { rounds, sum, axes } = design;
  const radius = usualChoice(design);
  return pooledDesign(design, {
    plan: {
      guarantee: {
        theorem: 'clusters and radius by released histograms; proofs in '
          + 'src/estimators/mean/robust-mean',
        assumptions: [
          'for accuracy: honest rows have a variance', assumptions.corruption,
          `for its interval if nobody lies: ${assumedOfGroups(design.distance.sigma)}`,
        ],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInSpreads: radius,
        ...design.cut > 0 && {
          radius: 'fixed: with so few people noise hides as many liars as would raise it. Rows '
            + `beyond it move the mean by at most ${design.cut.toPrecision(2)} spreads if all are `
            + 'honest, and the interval allows for them',
        },
        noisePerCoordinateInSpreads: (sum.sigma * radius) / cohort,
        rounds: rounds.length,
        axesAtMost: axes.length,
        rowsCountedAtMost: design.rowsMax,
        clusterSeenFrom: groupSeenFrom(design.distance.sigma),
        interval: intervalText(design.distance.sigma),
      },
      expectedError: anyErrorOf(design, corruption),
    },
    noise: { sigma: sum.sigma * radius, rows: cohort },
    release: (draws, centred) => releaseAny({ design, ...draws }, centred),
  });
}

function designForNormal({ values, facts, bounds }: DesignRequest): PooledDesign {
  const { dimension, cohort } = facts;
  const corruption = numberOf(values, 'corruption');
  const { rounds: roundsMax, axes, centrePart, finalPart } = presetsOf(values);
  const design = robustDesign({
    facts, bounds, corruption, rounds: roundsMax, axes,
    centrePart: centrePart ?? presets.normal.centrePart,
    finalPart: finalPart ?? presets.normal.finalPart,
    radius: optionalNumberOf(values, 'radius') ?? usualRadius(dimension),
    // Few rows find their centre less surely, and the smaller ball forgives a wrong one less.
    centrePartOfMean:
      optionalNumberOf(values, 'centre-part') ?? presets.normal.centrePartOfMean,
    // About normal rows are about sqrt(columns) spreads from their mean.
    radiusOfMean: optionalNumberOf(values, 'radius') ?? Math.sqrt(dimension) + 1.5,
  });
  const { rounds, sigma } = design;
  return pooledDesign(design, {
    plan: {
      guarantee: {
        theorem: 'thresholds by released histograms; proofs in src/estimators/mean/robust-mean',
        assumptions: [
          'for accuracy: honest rows are at most about one spread wide in every direction, '
          + 'and light tails',
          'for accuracy: along axes in which hostile rows make the whole wider, honest ones are '
          + 'about normal',
          assumptions.corruption,
        ],
        corruptionMax: corruption,
      },
      outputShape: [dimension],
      facts: {
        clipRadiusInSpreads: design.ball.radius,
        noisePerCoordinateInSpreads: sigma / cohort,
        rounds: rounds.length,
        axesAtMost: Math.min(dimension, rounds.length * (rounds[0]?.histograms.length ?? 0)),
        varianceDetectedAbove: 1 + design.excessMax,
        rowsCountedAtMost: design.rowsMax,
      },
      expectedError: robustErrorOf(design, corruption),
    },
    noise: { sigma, rows: cohort },
    release: (draws, centred) => releaseRobust({ design, ...draws }, centred),
  });
}
