import type { Released, Sensitive } from '../../../base/brands.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { StudyFacts } from '../../contract/estimator.js';
import { errorUpTo } from '../../contract/planning.js';
import type { Draws } from '../../pooled/centre.js';
import type { CentredPool, DesignRequest, PooledDesign, TooFew } from '../../pooled/estimator.js';
import { oneValueFindings } from '../../pooled/found-columns.js';
import {
  imagesFrom, privateCentredMoments, type CentredMoments, type View,
} from '../moments/centred-moments.js';
import { covarianceOutcome, partName, relativeBound } from '../moments/outcomes.js';
import {
  flooredAt, mapOfRounds, noiseNorm, type Preconditioner,
} from '../moments/preconditioner.js';
import { standardisedRows, type StandardisedRows } from '../moments/standardised.js';
import { centredDesign, lift, type CentredDesign } from './centred-design.js';
import { distanceBin, distanceBins, tailsOf, type Tails } from './distances.js';

/** Variance after the map below which noise hides everything. Lower values are raised to it. */
const leastMoment = 2 ** -10;

/**
 * A covariance from every row. Rows are put in scales about a private centre. Rounds of noisy
 * moments then find a map after which all directions vary alike, and the mean more and more
 * closely. A noisy histogram of the distances from the mean says how far out rows stand, and so
 * how wide the last ball is. The moments in that ball, mapped back, are the answer.
 *
 * Claim. (rho, delta), delta-approximate zCDP; delta is for the scale and the centre alone.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator), of the number of rows, of the rounds and the last
 * moments (moments/centred-moments) and of the histogram of distances (sensitivity sqrt 2),
 * composed adaptively.
 * Why.
 * - At any time a row's image is a function of this row and of released numbers: centre, scale, map
 *   and mean. Neighbours are compared given the same releases, so they differ in one image at most.
 *   Where more rows come than are counted, one contributor more or less changes one row for
 *   another.
 * - After the map each image is rounded to the ball's grid and clipped there. So the sums change by
 *   at most 2 R and sqrt 2 R^2, whatever the map is, and are exact. The last ball is the plan's:
 *   rows are divided by how many times wider it is to be, so its sensitivity is public.
 * - The product of means that is taken off the second moments is made of the released sum, so it is
 *   post-processing. So are maps, means, the width of the ball, refusals and intervals.
 *
 * Accuracy. `interval95` is for the covariance of the population that the rows are a sample of. It
 * holds noise, sampling and what clipping may have taken off: what the histogram shows beyond the
 * ball, the tail as it goes on from there, and a crowd beside the ball that noise hides. It does
 * not hold a few rows much farther out. With 20,000
 * contributors, 5 columns and epsilon 1 it covered at least .97 of the entries of nine shapes from
 * uniform to lognormal; with 5,000 contributors .93 of lognormal rows. Where tails are long the
 * estimate is low: by a tenth for t3 and lognormal rows, with 30,000 contributors and 3 columns.
 * Not robust: a share a of hostile rows moves the answer by up to a R^2 along an axis of its
 * choice, relative to the variance there, and may widen the ball.
 *
 * Source: the recursive maps of Kamath, Li, Singhal and Ullman (2019) and of Biswas, Dong, Kamath
 * and Ullman (2020), about means that are found on the way.
 *
 * @param condition - how many times more rows vary in one direction than in another, in scales.
 */
export function designCentred({ facts }: DesignRequest, condition: number): PooledDesign | TooFew {
  const design = centredDesign({ facts, condition });
  if (design === null) {
    return {
      kind: 'too-few',
      hidden: 'how wide the rows are in some direction',
      others: 'closer bounds variance-low and variance-high, fewer columns or a larger epsilon',
    };
  }
  const { dimension } = facts;
  const shape = [dimension, dimension];
  return {
    kind: 'design',
    centre: design.centre,
    plan: {
      events: design.events,
      guarantee: {
        theorem: 'noisy second moments of all rows after a private map; '
          + 'proofs in src/estimators/covariance/covariance and src/estimators/covariance/moments',
        assumptions: [
          `for accuracy: rows vary at most ${condition} times more in one direction than in `
          + 'another, in scales',
        ],
        corruptionMax: 0,
      },
      outputShape: shape,
      parts: [{ name: partName, shape }],
      facts: {
        errorsAreIn: 'the Frobenius norm of S^-1/2 (estimate) S^-1/2 - I, S the true covariance',
        preconditioner: 'bounded',
        madeFrom: 'all rows',
        rounds: design.rounds.length,
        rowsNeeded: design.rowsNeeded,
        rowsCountedAtMost: design.rowsMax,
        clipRadiusAfterTheMap: design.ball.radius,
      },
      expectedError: errorUpTo(0, design),
    },
    release: (draws, centred) => releaseCentred(design, draws, centred),
  };
}

async function releaseCentred(
  design: CentredDesign, draws: Draws, { pool, centre, scale, columns }: CentredPool,
): Promise<Released<Outcome>> {
  const { facts, rowsMax, rowsNeeded } = design;
  const rows = pool.map((whole) => standardisedRows(whole, centre, scale, rowsMax, Infinity));
  const counted = draws.mechanisms.gaussian(design.present.name, rows.map((all) =>
    Float64Array.of(all.present.reduce((sum, one) => sum + one, 0))));
  const present = counted.value[0]!;
  if (present < Math.max(rowsNeeded, facts.cohort / 4)) {
    return counted.map(() => tooFewRows(facts, rowsNeeded));
  }
  const found = await privateMap(design, draws, rows, present);
  const told = privateTails(design, draws, rows, found, present);
  const tails = told.value;
  if (tails === null) return told.map(() => rowsTooWide(facts));
  const matrix = found.matrix.map((entry) => entry / tails.widen);
  const moments = await privateCentredMoments(
    draws, rows, { matrix, mean: found.mean }, design.ball, design.final,
  );
  const units = scale.map((unit, j) => (columns.oneValue[j] === null ? tails.widen * unit : 1));
  const inverse =
    found.inverse.map((entry, at) => entry * units[Math.floor(at / units.length)]!);
  return moments.map((sums) => withFindings(
    answerFrom(design, momentsAbout(sums, present), { inverse, present, tails }), columns, tails,
  ));
}

/** A map and the mean that it is about, in scales from the centre. */
interface FoundMap extends Preconditioner, View {}

/**
 * Draws the rounds of the map. Each takes the rows about the mean that the round before found, and
 * so finds the mean more closely.
 */
async function privateMap(
  { facts: { dimension }, rounds }: CentredDesign, draws: Draws, rows: Sensitive<StandardisedRows>,
  present: number,
): Promise<FoundMap> {
  const mean = new Float64Array(dimension);
  let at = 0;
  const map = await mapOfRounds({
    rank: dimension, events: rounds.map(({ products }) => products), varianceHigh: 1,
    pairs: present, lift,
    draw: async (matrix, _, inverse) => {
      const round = rounds[at]!;
      at += 1;
      const view = { matrix, mean: mean.slice() };
      const drawn = await privateCentredMoments(draws, rows, view, round.ball, round);
      const { sum } = drawn.value;
      for (let i = 0; i < dimension; i++) {
        for (let j = 0; j < dimension; j++) {
          mean[i]! += (inverse[i * dimension + j]! * sum[j]!) / present;
        }
      }
      return drawn.map((sums) => momentsAbout(sums, present).map((entry) => entry * present));
    },
  });
  return { ...map, mean };
}

/** Second moments about the mean: post-processing of the sums. */
function momentsAbout({ sum, products }: CentredMoments, present: number): Float64Array {
  const dimension = sum.length;
  return products.map((entry, at) =>
    entry / present
    - (sum[Math.floor(at / dimension)]! * sum[at % dimension]!) / present ** 2);
}

function privateTails(
  { facts: { dimension }, distance, ball, final }: CentredDesign, { mechanisms }: Draws,
  rows: Sensitive<StandardisedRows>, view: View, present: number,
): Released<Tails | null> {
  const counts = mechanisms.gaussian(distance.name, rows.map((all) =>
    distancesOf(all, view, ball.radius)));
  const entries = (dimension * (dimension + 1)) / 2;
  return counts.map((noisy) => tailsOf({
    counts: noisy, sigma: distance.sigma, present, dimension, radius: ball.radius,
    noise: (final.products.sigma * Math.sqrt(entries)) / present,
  }));
}

/** How many rows are in each bin of distance after the map. */
function distancesOf(rows: StandardisedRows, view: View, radius: number): Float64Array {
  const bins = new Float64Array(distanceBins);
  const { count, dimension, present } = rows;
  const images = imagesFrom(rows, view);
  for (let i = 0; i < count; i++) {
    if (present[i] === 0) continue;
    let square = 0;
    for (let j = 0; j < dimension; j++) square += (images[i * dimension + j]! / radius) ** 2;
    bins[distanceBin(square)]! += 1;
  }
  return bins;
}

function answerFrom(
  { facts: { dimension }, final: { products } }: CentredDesign, raw: Float64Array,
  { inverse, present, tails }: { inverse: Float64Array; present: number; tails: Tails },
): Outcome {
  const noise = products.sigma / present;
  const { floored: moments } = flooredAt(raw, dimension, leastMoment);
  const relative = relativeBound(moments, dimension, noiseNorm(dimension) * noise);
  return covarianceOutcome({
    dimension, moments, inverse, noise, relative, pairs: present,
    tails: { lost: tails.lost / tails.widen ** 2, fourth: tails.fourth / tails.widen ** 4 },
  });
}

/**
 * Says what was found out. Of a column that is nearly always one value nothing is known but that:
 * its entries are 0 without an interval.
 */
function withFindings(
  outcome: Outcome, { oneValue }: CentredPool['columns'], { widen }: Tails,
): Outcome {
  if (outcome.kind !== 'value') return outcome;
  const { estimate, interval95 } = outcome;
  const isUnknown = (at: number): boolean =>
    oneValue[Math.floor(at / oneValue.length)] !== null || oneValue[at % oneValue.length] !== null;
  const set = (list: readonly number[], entry: number): readonly number[] =>
    list.map((known, at) => (isUnknown(at) ? entry : known));
  const findings: Finding[] = [...oneValueFindings(oneValue)];
  if (widen > 1) findings.push({ reason: 'long-tails', columns: [], amounts: [] });
  if (findings.length === 0) return outcome;
  return {
    ...outcome, findings, estimate: set(estimate, 0),
    ...(interval95 !== undefined && {
      interval95: { low: set(interval95.low, -Infinity), high: set(interval95.high, Infinity) },
    }),
  };
}

function rowsTooWide({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'rows-too-wide',
    text: 'by the noisy count fewer than half of the rows are in the ball that the rounds of the '
      + `map found. Planned for ${cohort} contributors: give a larger scale, or scale: auto.`,
  };
}

function tooFewRows({ cohort }: StudyFacts, rowsNeeded: number): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of rows is below ${Math.max(rowsNeeded, Math.ceil(cohort / 4))}, `
      + `below which noise hides whole directions; ${cohort} contributors were planned for: plan `
      + 'for a smaller cohort, closer variance bounds or a larger epsilon, or wait longer',
  };
}
