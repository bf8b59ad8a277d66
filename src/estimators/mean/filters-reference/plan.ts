import { assert } from '../../../base/assert.js';
import type { Released, Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { deviations95 } from '../../../numerics/normal.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { centreNotFound } from '../../pooled/centred-mean.js';
import type { Compute, Infeasible, ParameterValues, Plan, PooledRows, StudyFacts } from '../../contract/estimator.js';
import { releaseRange } from '../heavy-tails/range.js';
import type { ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf } from '../../contract/values.js';
import { poolOf, releaseWithScale } from '../../pooled/pool.js';
import { markedSurvivors, type SurvivorsForm } from '../filters/survivors.js';
import { boxedRows } from './box.js';
import { cohortForPaper, paperDesign, paperError, type PaperDesign, type PaperKind } from './design.js';
import { filterManyDirections, filterOneDirection, type Ending } from './loops.js';
import { queriesOn } from './queries.js';
import { neighbours } from '../../contract/planning.js';

const cohortName = 'rows';

/** Which of the printed filters, and how it keeps the rows that are left. */
export interface PaperForm {
  readonly paper: PaperKind;
  readonly survivors?: SurvivorsForm;
}

/**
 * Plans a filter as printed: the fullest bin of each column, the paper's box around it, and per step a size, a mean, a
 * norm and a matrix (for `prime` also the excess along the directions, and a threshold), until the noisy norm is small.
 *
 * Claim. Neighbours: one contributor's row replaced by any other, or by none, or added. Cost: (rho, delta), with
 * delta-approximate zCDP: the range's, and that of every query, composed adaptively.
 * Why. The box is a function of the range's output. Every query is charged by itself for surviving rows that differ in
 * one row each (queries); the survivors of released cuts are such (survivors). A cut's centre, weights and threshold are
 * functions of released numbers, its share is public. So are the decisions to end, to go on and to refuse.
 *
 * Where the printed constants do not keep the claim: all coordinates of a mean move together, so its noise is for the
 * diagonal of the box rather than for its side; centres are taken back into the box before anything is measured from
 * them; the noise of a matrix is symmetric and for its Frobenius norm; the last mean is released through noise even
 * when no step ended the filter; averages never divide by less than half of the cohort, in place of a gate that may
 * fail. The gate on the noisy size stays, as a refusal.
 */
export function planPaper(
  form: PaperForm, values: ParameterValues, facts: StudyFacts, choice: Exclude<ScaleChoice, Infeasible>,
): Plan | Infeasible {
  const [centreShare, finalShare] = [numberOf(values, 'centre-share'), numberOf(values, 'final-share')];
  const corruption = numberOf(values, 'corruption');
  if (!(choice.facts.target.rho > 0 && choice.facts.target.delta > 0) || centreShare + finalShare >= 0.99) {
    return {
      kind: 'infeasible', reason: 'the range, the queries and the means each need a part of rho, and the range a delta',
      remedy: 'ask for (epsilon, delta) with delta > 0, and leave centre-share + final-share below .99',
    };
  }
  const asked = {
    kind: form.paper, cohort: cohortName, facts: choice.facts, corruption, looks: numberOf(values, 'looks'),
    centreShare, finalShare,
  };
  const needed = cohortForPaper(asked);
  if (facts.cohort < needed) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${facts.dimension} columns and rho `
        + `${choice.facts.target.rho.toPrecision(3)} the noise of the paper's queries hides the rows, or all that a `
        + `share of ${corruption} could do to them`,
      remedy: `profile: default, a cohort of ${needed}, fewer columns, fewer looks or a larger epsilon`,
      cohortNeeded: needed,
    };
  }
  const design = paperDesign(asked);
  const { range } = design;
  assert(range !== null, 'filters that find their own centre plan a range');
  return planFor(form, { ...design, range }, choice, facts, corruption);
}

function planFor(
  form: PaperForm, design: PaperDesign & { readonly range: NonNullable<PaperDesign['range']> }, choice: ScaleChoice,
  facts: StudyFacts, corruption: number,
): Plan {
  const { dimension } = facts;
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'the printed queries with corrected noise; '
        + 'proofs in src/estimators/mean/filters-reference and src/estimators/mean/filters/survivors',
      assumptions: [
        'for accuracy: honest rows have about one scale of spread in every direction, and light tails',
        'for accuracy: at most the stated share of the contributors is hostile, and three quarters take part',
      ],
      corruptionMax: corruption,
    },
    outputShape: [dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => unit * design.final.sigma),
    facts: { scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '), ...factsOf(design) },
    expectedError: (share) => paperError(design, share),
    summary: () => rowsSummary(dimension),
    release: async (summaries, mechanisms, compute) => releaseWithScale(choice, compute, mechanisms, poolOf(summaries, cohortName),
      (pool, scale) => releaseInScale({ form, design, mechanisms, compute }, design.range, pool, scale)),
  });
}

/** What a plan as printed says of itself. */
export function factsOf(design: PaperDesign): Readonly<Record<string, string | number>> {
  return {
    profile: 'paper',
    boxSideInScales: 2 * design.box.half * design.box.grid,
    noisePerCoordinateInScales: design.final.sigma,
    steps: design.steps.length + design.epochs.reduce((sum, { inner }) => sum + inner.length, 0),
    normAtWhichItEnds: design.stop,
    normThatItSees: design.seen,
    rowsCountedAtMost: design.rowsMax,
  };
}

/** What a release draws with. */
export interface PaperRun {
  readonly form: PaperForm;
  readonly design: PaperDesign;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** @param scale - public, or released. */
async function releaseInScale(
  run: PaperRun, range: NonNullable<PaperDesign['range']>, pool: Sensitive<PooledRows>, scale: Float64Array,
): Promise<Released<Outcome>> {
  const { design: { facts }, mechanisms } = run;
  const found = releaseRange(mechanisms, range, pool.map((whole) => ({
    ...whole, values: whole.values.map((entry, at) => entry / scale[at % facts.dimension]!),
  })), facts.dimension);
  const place = found.value;
  if (place.kind === 'failed') return found.map<Outcome>(() => centreNotFound(facts, place.coordinates));
  const centre = place.centre.map((entry, j) => entry * scale[j]!);
  return releaseAround(run, pool, found.map(() => centre), scale, facts);
}

/**
 * Filters the rows in the box around a released centre, and answers. Claim and proof: `planPaper`, of which this is all
 * but the centre.
 * @param scale - public, or released.
 * @param facts - of the study, for the text of a refusal.
 */
export async function releaseAround(
  { form, design, mechanisms, compute }: PaperRun, pool: Sensitive<PooledRows>, around: Released<Float64Array>,
  scale: Float64Array, facts: StudyFacts,
): Promise<Released<Outcome>> {
  const { box, rowsMax, leastCount, traits: { ownWidth } } = design;
  const centre = around.value;
  const rows = await pool.mapAsync((whole) => boxedRows(compute, whole, centre, scale, box, rowsMax));
  const survivors = (form.survivors ?? markedSurvivors)(compute, rows);
  const queries = queriesOn({ mechanisms, compute, survivors, box, leastCount, ownWidth });
  const analyst = { design, survivors, queries };
  const ending = await (form.paper === 'one-direction' ? filterOneDirection(analyst) : filterManyDirections(analyst));
  if (ending.kind === 'few-rows') return around.map<Outcome>(() => fewLeft(facts));
  return ending.mean.map((mean) => outcomeOf(design, ending, mean, centre, scale));
}

/** The refusal at the printed gate, which the rows that the filter has taken may close as well as those that never came. */
function fewLeft({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy number of rows left is below three quarters of what ${cohort} contributors were planned to leave: plan for `
      + 'a smaller cohort, wait longer, or take profile: default, whose filter removes fewer honest rows',
  };
}

function outcomeOf(
  { box }: PaperDesign, { event, present }: Extract<Ending, { kind: 'mean' }>, mean: Float64Array,
  centre: Float64Array, scale: Float64Array,
): Outcome {
  const estimate = Array.from(mean, (entry, j) => centre[j]! + entry * box.grid * scale[j]!);
  if (!estimate.every((entry) => Number.isFinite(entry))) {
    return { kind: 'refused', reason: 'numerical-failure', text: 'the mean times scale is beyond the range of doubles' };
  }
  const deviation = Array.from(scale, (unit) => unit * event.sigma);
  const half = deviation.map((noise, j) => deviations95 * Math.hypot(noise, scale[j]! / Math.sqrt(Math.max(1, present))));
  return {
    kind: 'value', estimate, shape: [estimate.length],
    uncertainty: { kind: 'gaussian', standardDeviation: deviation },
    interval95: {
      low: estimate.map((entry, j) => entry - half[j]!), high: estimate.map((entry, j) => entry + half[j]!),
    },
  };
}
