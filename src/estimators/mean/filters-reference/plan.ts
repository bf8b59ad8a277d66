import { assert } from '../../../base/assert.js';
import type { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import type { Plan, StudyFacts } from '../../contract/estimator.js';
import { numberOf } from '../../contract/values.js';
import type { CentreStage, Draws } from '../../pooled/centre.js';
import { gaussianOutcome } from '../../pooled/centred-mean.js';
import type {
  CentredPool, DesignRequest, PooledDesign, TooFew,
} from '../../pooled/estimator.js';
import { assumptions } from '../../pooled/plan.js';
import { rowsInSpreads } from '../../pooled/pool.js';
import { markedSurvivors, type SurvivorsForm } from '../filters/survivors.js';
import { releaseRange } from '../heavy-tails/range.js';
import { boxedRows } from './box.js';
import {
  cohortForReference, referenceDesign, referenceError, type ReferenceDesign, type ReferenceKind,
} from './design.js';
import { filterManyDirections, filterOneDirection, type Ending } from './loops.js';
import { queriesOn } from './queries.js';

/** Which of the printed filters, and how it keeps the rows that are left. */
export interface ReferenceForm {
  readonly reference: ReferenceKind;
  readonly survivors?: SurvivorsForm;
}

/** A printed filter's assumption about who takes part, beside those about honest rows. */
export const turnoutAssumption = `${assumptions.corruption}, and three quarters take part`;

/**
 * Designs a filter as printed: the fullest bin of each column, the paper's box around it, and per
 * step a size, a mean, a norm and a matrix, until the noisy norm is small. `prime` also asks for
 * the excess along the directions, and for a threshold.
 *
 * Claim. (rho, delta), delta-approximate zCDP.
 * Neighbours. One contributor's row replaced by any other row, or by none, or added.
 * Cost. That of the pipeline (pooled/estimator) with the range as its centre, and of every query,
 * composed adaptively.
 * Why. The box is a function of the range's output. Every query is charged by itself for surviving
 * rows that differ in one row each (queries). The survivors of released removals differ so
 * (filters/survivors): a removal's centre, weights and threshold are functions of released numbers,
 * its share is public. The decisions to end, to go on and to refuse are functions of released
 * numbers too.
 *
 * Where the printed constants do not keep the claim, they are corrected. All coordinates of a mean
 * move together, so its noise is for the diagonal of the box rather than for its side. Centres are
 * taken back into the box before anything is measured from them. The noise of a matrix is symmetric
 * and for its Frobenius norm. The last mean is released through noise even when no step ended the
 * filter. Averages never divide by less than half of the cohort, in place of a test that may fail.
 * The test of the noisy size stays, as a refusal.
 */
export function designReference(
  form: ReferenceForm, { values, facts }: DesignRequest,
): PooledDesign | TooFew {
  const corruption = numberOf(values, 'corruption');
  const options = {
    kind: form.reference, facts, corruption, rounds: numberOf(values, 'rounds'),
    centrePart: numberOf(values, 'centre-part'), finalPart: numberOf(values, 'final-part'),
  };
  const cohortNeeded = cohortForReference(options);
  if (facts.cohort < cohortNeeded) {
    return {
      kind: 'too-few',
      cohortNeeded,
      hidden: 'the rows from the printed queries, or all that a share of '
        + `${corruption} could do to them`,
      others: 'variant: default, fewer columns, fewer rounds or a larger epsilon',
    };
  }
  const design = referenceDesign(options);
  return {
    kind: 'design',
    centre: rangeStage(design),
    plan: {
      events: design.events,
      guarantee: {
        theorem: 'the printed queries with corrected noise; proofs in '
          + 'src/estimators/mean/filters-reference and src/estimators/mean/filters/survivors',
        assumptions: [assumptions.lightTails, turnoutAssumption],
        corruptionMax: corruption,
      },
      outputShape: [facts.dimension],
      facts: factsOf(design),
      expectedError: referenceError(design),
    },
    noise: { sigma: design.final.sigma, rows: 1 },
    release: (draws, centred) => releaseAround(form, design, draws, centred, facts),
  };
}

/** The middle of each column's fullest bin, in place of a private centre. */
function rangeStage({ range, facts: { dimension } }: ReferenceDesign): CentreStage {
  assert(range !== null, 'filters that find their own centre plan a range');
  return {
    events: [range.event],
    // `cohortForReference` finds the cohort that the whole needs.
    cohortNeeded: 0,
    find: async ({ mechanisms }, rows, spread) => {
      const inSpreads = rows.map((whole) => rowsInSpreads(whole, spread));
      return releaseRange(mechanisms, range, inSpreads, dimension).map((found) => {
        if (found.kind === 'failed') return found;
        return { kind: 'centre', centre: found.centre.map((entry, j) => entry * spread[j]!) };
      });
    },
  };
}

/** The facts of a printed filter's plan. */
export function factsOf(design: ReferenceDesign): Plan['facts'] {
  return {
    variant: 'reference',
    boxSideInSpreads: 2 * design.box.half * design.box.grid,
    noisePerCoordinateInSpreads: design.final.sigma,
    steps: design.steps.length + design.epochs.reduce((sum, { inner }) => sum + inner.length, 0),
    normAtWhichItEnds: design.stop,
    normThatItSees: design.seen,
    rowsCountedAtMost: design.rowsMax,
  };
}

/**
 * Filters the rows in the box around a released centre, and answers. Claim and proof:
 * `designReference`, of which this is all but the centre.
 * @param facts - of the study, for the text of a refusal.
 */
export async function releaseAround(
  form: ReferenceForm, design: ReferenceDesign, { mechanisms, compute }: Draws,
  { pool, centre, spread }: CentredPool, facts: StudyFacts,
): Promise<Released<Outcome>> {
  const { box, rowsMax, leastCount, traits: { ownWidth } } = design;
  const rows = await pool.mapAsync((whole) =>
    boxedRows(compute, whole, centre, spread, box, rowsMax));
  const survivors = (form.survivors ?? markedSurvivors)(compute, rows);
  const queries = queriesOn({ mechanisms, compute, survivors, box, leastCount, ownWidth });
  const analyst = { design, survivors, queries };
  const ending = await (form.reference === 'one-direction'
    ? filterOneDirection(analyst) : filterManyDirections(analyst));
  if (ending.kind === 'few-rows') return ending.size.map<Outcome>(() => fewLeft(facts));
  return ending.mean.map((mean) => outcomeOf(design, ending, mean, centre, spread));
}

/** The refusal at the printed test: rows may be missing, or removed by the filter. */
function fewLeft({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of rows left is below three quarters of what ${cohort} contributors `
      + 'were planned to leave: plan for a smaller cohort, wait longer, or take variant: default, '
      + 'whose filter removes fewer honest rows',
  };
}

function outcomeOf(
  { box }: ReferenceDesign, { event, present }: Extract<Ending, { kind: 'mean' }>,
  mean: Float64Array, centre: Float64Array, spread: Float64Array,
): Outcome {
  const estimate = Array.from(mean, (entry, j) => centre[j]! + entry * box.grid * spread[j]!);
  const deviation = Array.from(spread, (unit) => unit * event.sigma);
  return gaussianOutcome('the mean times spread', estimate, deviation, (j) =>
    deviations95 * Math.hypot(deviation[j]!, spread[j]! / Math.sqrt(Math.max(1, present))));
}
