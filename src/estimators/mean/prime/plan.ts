import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { privateCentreOn } from '../../../privacy/stages/centre.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import { answerOf, centreNotFound, participationBelowPlan } from '../../pooled/centred-mean.js';
import type {
  Compute, Infeasible, ParameterSpec, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { chooseScale, type ScaleChoice } from '../../pooled/scale-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { choiceOf, corruptionParameter, numberOf, optionalNumberOf, scaleParameter } from '../../contract/values.js';
import { clippedRows, momentsOf, scoreCounts, type ClippedRows } from '../../pooled/clipped-rows.js';
import { designOf, expectedErrorOf, type Design, type Looks } from '../filters/design.js';
import type { PaperKind } from '../filters-reference/design.js';
import { planPaper } from '../filters-reference/plan.js';
import { poolOf, releaseWithScale } from '../../pooled/pool.js';
import { markedSurvivors, type Survivors, type SurvivorsForm } from '../filters/survivors.js';
import { excessAlong, lookOf, thresholdOf, type Look } from '../filters/weights.js';
import { neighbours } from '../../contract/planning.js';

const cohortName = 'rows';
/** Largest hostile share that can be promised. */
const corruptionLimit = 0.2;
/** A round ends when the spread has fallen to this share of what it began with. */
const roundEnds = 0.5;
/** Rows go only where the excess along the directions is at least this share of the spread. */
const excessFloor = 1 / 5.5;

/** Parameters that every filter takes. */
export const filterParameters: readonly ParameterSpec[] = [
  scaleParameter,
  corruptionParameter(corruptionLimit, 'hostile share that the error is promised for'),
  {
    name: 'looks', type: 'integer', default: 3, minimum: 1, maximum: 30,
    description: 'how often the rows are looked at, at most; more looks see finer and each sees less clearly',
  },
  {
    name: 'centre-share', type: 'number', default: 0.2, minimum: 0.02, maximum: 0.6, unit: 'share of rho',
    description: 'part of the cost that finding the centre takes',
  },
  {
    name: 'final-share', type: 'number', default: 0.4, minimum: 0.05, maximum: 0.9, unit: 'share of rho',
    description: 'part of the cost that the mean of the rows left takes; what remains pays for the looks',
  },
  {
    name: 'radius', type: 'number', optional: true, minimum: 0.1, maximum: 1e6, unit: 'scales',
    description: 'rows farther than this from the centre are pulled in; 1.35 sqrt(columns) + 3 when absent, '
      + 'and 1.1 sqrt(columns) + 2.5 where noise hides more than that ball is worth',
  },
  {
    name: 'profile', type: 'choice', choices: ['default', 'paper'], default: 'default',
    description: 'paper: the queries as the paper has them, inside its much larger box, each charged by itself and with '
      + 'noise that keeps the claim; to compare with, as the default is far more accurate',
  },
];

/** What tells one filter from another. */
export interface FilterKind {
  /** Where to look, from the looks of one round: a symmetric matrix of trace 1. A function of released numbers. */
  directions(round: readonly Look[]): Float64Array;
  /** The same filter as printed. */
  readonly paper: PaperKind;
  /** How the rows that are left are kept; default: marked. Releases do not depend on it. */
  readonly survivors?: SurvivorsForm;
}

/** What every filter promises, besides its own way of choosing directions. */
export const filterClaim = 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
  + 'zCDP, rho split between the centre, a fixed number of looks and the mean of what is left.';

/**
 * Plans a filter: a private centre, rows clipped to a ball about it, looks that remove rows, and the mean of what is
 * left.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by none, or added. Cost: (rho, delta),
 * delta-approximate zCDP: the centre's, and that of every look and of the final mean (design.ts has their
 * sensitivities), composed adaptively.
 * Why. Whether a row is left at any time is a function of this row and of released numbers alone: its clipped steps,
 * and for every look the mean, the directions and the threshold. Two neighbouring sets see the same released numbers
 * when their looks are compared, so they differ at any time in the one row at most. Directions, thresholds and the
 * decision to stop are functions of released numbers.
 */
export function planFilter(kind: FilterKind, values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const choice = chooseScale(values, facts, cohortName);
  if (choice.kind === 'infeasible') return choice;
  if (choiceOf(values, 'profile') === 'paper') return planPaper(kind, values, facts, choice);
  const { target, dimension } = choice.facts;
  const [centreShare, finalShare] = [numberOf(values, 'centre-share'), numberOf(values, 'final-share')];
  if (!(target.rho > 0 && target.delta > 0) || centreShare + finalShare >= 0.99) {
    return {
      kind: 'infeasible',
      reason: 'the centre, the looks and the mean each need a part of rho, and the centre a positive delta',
      remedy: 'ask for (epsilon, delta) with delta > 0, and leave centre-share + final-share below .99',
    };
  }
  const corruption = numberOf(values, 'corruption');
  const design = designOf({
    cohort: cohortName, facts: choice.facts, corruption, centreShare, finalShare,
    radius: optionalNumberOf(values, 'radius') ?? null,
    looks: numberOf(values, 'looks'),
  });
  if (facts.cohort < design.cohortForCentre) {
    return {
      kind: 'infeasible',
      reason: `with ${facts.cohort} contributors, ${dimension} columns and rho ${target.rho.toPrecision(3)} `
        + 'the noise hides where the rows are',
      remedy: `a cohort of ${design.cohortForCentre}, fewer columns, a larger epsilon or a larger centre-share`,
      cohortNeeded: design.cohortForCentre,
    };
  }
  return planFor(kind, design, choice, facts, corruption);
}

function planFor(
  kind: FilterKind, design: Design, choice: ScaleChoice, facts: StudyFacts, corruption: number,
): Plan {
  const { dimension, cohort } = facts;
  const events = [...(choice.kind === 'auto' ? [choice.event] : []), ...design.events];
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts: [{ name: cohortName, share: 1, unit: 'row', mode: 'pooled', groups: 1 }],
    cost: costOfEvents(events, { disjoint: [] }),
    events,
    guarantee: {
      neighbours,
      theorem: 'filtering by released second moments; proofs in src/estimators/mean/prime/plan and design',
      assumptions: [
        'for accuracy: honest rows have about one scale of spread in every direction, and light tails',
        'for accuracy: at most the stated share of the contributors is hostile',
      ],
      corruptionMax: corruption,
    },
    outputShape: [dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.scale, (unit) => (unit * design.sum.sigma) / cohort),
    facts: {
      scale: choice.kind === 'auto' ? 'found privately' : Array.from(choice.scale).join(', '),
      clipRadiusInScales: design.ball.radius,
      noisePerCoordinateInScales: design.sum.sigma / cohort,
      looks: design.looks.length,
      spreadThatIsLeftAlone: design.spreadMax,
      rowsCountedAtMost: design.rowsMax,
    },
    expectedError: (share) => expectedErrorOf(design, share, corruption),
    // Sums of whole steps are exact and pairs go by tag, so without surplus rows no order has a say.
    summary: () => rowsSummary(dimension, { upTo: design.rowsMax, tagged: choice.kind === 'auto' }),
    release: async (summaries, mechanisms, compute) => releaseWithScale(
      choice, compute, mechanisms, poolOf(summaries, cohortName),
      (pool, scale) => releaseInScale({ kind, design, mechanisms, compute }, pool, scale)),
  });
}

interface Run {
  readonly kind: FilterKind;
  readonly design: Design;
  readonly mechanisms: Mechanisms;
  readonly compute: Compute;
}

/** @param scale - public, or released. */
async function releaseInScale(
  run: Run, pool: Sensitive<PooledRows>, scale: Float64Array,
): Promise<Released<Outcome>> {
  const { design, mechanisms, compute } = run;
  const { facts, ball, rowsMax } = design;
  const found = await privateCentreOn(compute, mechanisms, pool, facts.dimension, scale);
  const centre = found.value;
  if (centre.kind === 'failed') return found.map<Outcome>(() => centreNotFound(facts, centre.coordinates));
  const rows = await pool.mapAsync((whole) => clippedRows(
    compute, whole, centre.centre, scale, ball, rowsMax, whole.isScratch,
  ));
  const survivors = (run.kind.survivors ?? markedSurvivors)(compute, rows);
  await filter(run, survivors);
  const moments = await (await survivors.rows()).mapAsync((left) => momentsOf(compute, left));
  const sum = mechanisms.gaussian(design.sum.name, moments.map(({ sums }) => inScales(sums, ball.grid)));
  const count = mechanisms.gaussian(design.count.name, moments.map((all) => Float64Array.of(all.count)));
  return Released.all<readonly [Float64Array, Float64Array]>([sum, count]).map(([total, [present = 0]]): Outcome => {
    if (present < facts.cohort / 4) return participationBelowPlan(facts);
    return answerOf(design, { centre: centre.centre, scale, moved: total.map((entry) => entry / present), present });
  });
}

/** Looks, and removes rows, until the rows are no wider than honest ones, or the looks are used up. */
async function filter(run: Run, survivors: Survivors): Promise<void> {
  const { kind, design, mechanisms, compute } = run;
  let round: Look[] = [];
  for (const events of design.looks) {
    const look = await lookAt(run, events, await survivors.rows());
    if (look.spread <= design.spreadMax) return;
    // The rows are much narrower than when this round began: the old directions have done their work.
    if (round.length > 0 && look.spread <= roundEnds * round[0]!.spread) round = [];
    round.push(look);
    const weights = kind.directions(round);
    const along = excessAlong(look, weights);
    if (along <= excessFloor * look.spread || events.scores === null) continue;
    const mean = look.mean.map((entry) => entry / design.ball.grid);
    const unit = design.ball.grid ** 2;
    // The grid is a power of two, so that scores compare alike in either unit.
    const edges = Float64Array.from(design.edges, (edge) => edge / unit);
    const counted = await (await survivors.rows()).mapAsync((left) => scoreCounts(compute, left, { mean, weights }, edges));
    const counts = mechanisms.gaussian(events.scores.name, counted);
    const threshold = thresholdOf(design.edges, counts.value, along, look.count, events.scores.sigma);
    if (threshold !== null) await survivors.cut({ mean, weights, least: threshold / unit, shareMax: null });
  }
}

/** Releases one look. */
async function lookAt(run: Run, events: Looks, rows: Sensitive<ClippedRows>): Promise<Look> {
  const { design: { ball, facts }, mechanisms, compute } = run;
  const moments = await rows.mapAsync((left) => momentsOf(compute, left));
  const count = mechanisms.gaussian(events.count.name, moments.map((all) => Float64Array.of(all.count))).value[0]!;
  const sums = mechanisms.gaussian(events.sum.name, moments.map((all) => inScales(all.sums, ball.grid))).value;
  const products = mechanisms.symmetricGaussian(
    events.square.name, moments.map((all) => inScales(all.products, ball.grid ** 2)),
  ).value;
  return lookOf(count, sums, products, ball.radius, facts.cohort / 2);
}

/** A power of two times whole numbers: exact. */
function inScales(whole: Float64Array, unit: number): Float64Array {
  return whole.map((entry) => entry * unit);
}
