import { assert } from '../../../base/assert.js';
import { utf8 } from '../../../base/bytes.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import { countGrid, exponentialEvent, gaussianEvent } from '../../../privacy/accounting/calibration.js';
import { costOfEvents } from '../../../privacy/accounting/composition.js';
import type { ExponentialEvent, GaussianEvent, GaussianHistogramEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { seededWork } from '../../../random/work.js';
import type {
  CohortPlan, Estimator, ExpectedError, FinishedSummaries, Infeasible, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { columnOf, columnParameter } from '../../counts/tables/common.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf } from '../../contract/values.js';
import { cellsPerWindow, countCells, piecesOf } from '../candidates/cells.js';
import type { ContestRules } from '../candidates/contests.js';
import { fitMixture, type Component, type Fit } from './expectation.js';
import { countGaps, gapsEvent, usedFrom, windowsOf, type Window } from '../candidates/gaps.js';
import { lineDistribution } from '../candidates/line.js';
import { lineContestants, lineScores } from '../candidates/line-contests.js';
import { neighbours } from '../../contract/planning.js';

const windowsMaximum = 8;
const candidates = 40;
const starts = 12;
const shares = { gaps: 0.4, cells: 0.35, choice: 0.25 };
/** A component's gaps spread over about this many buckets. */
const spreadOfGaps = 12;

/**
 * A mixture of normals in one column: weights, means and deviations, without knowing where or how wide they are.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added. Cost: (rho, delta),
 * delta-approximate zCDP, for all data.
 * Why: contributors are in one of three cohorts by a keyed hash, and each cohort is asked one thing, so the dearest
 * counts. Gaps find windows (gaps, with its proof): (rho, delta). In the second cohort a row is in at most one cell of
 * each of at most 8 windows and in the total, so counts move by at most sqrt(16) in L2 when it is replaced (the total
 * stays) and sqrt(9) when it comes or goes: rho. Fits are functions of what was released; the third cohort chooses
 * between them by the exponential mechanism on scores of sensitivity 1 (contests): rho. Dithering adds to each row a
 * function of its own tag.
 *
 * Accuracy is that of the best fit, not of the best mixture: nothing is proved about expectation and maximisation. Values
 * that coincide have no gaps, so rounded data need `resolution`.
 *
 * Source: Ashtiani, Majid, Narayanan (2024), Algorithm 3. Its first half, the gaps, is implemented. Its second half selects
 * privately from a net of mixtures around what the gaps show; here the candidates are fits to noisy counts instead, so the
 * accuracy of theorem 1.5 is not claimed.
 */
export const mixtureLine: Estimator = {
  name: 'mixture-1d',
  title: 'Mixture of normals in one column',
  citations: [{
    key: 'AMN24',
    text: 'H. Ashtiani, M. Majid, S. Narayanan. Sample-efficient private learning of mixtures of Gaussians. NeurIPS 2024.',
    place: 'Algorithm 3 (one column); the candidates are fits to noisy counts, not its net',
  }],
  parameters: [
    columnParameter,
    {
      name: 'components', type: 'integer', default: 3, minimum: 1, maximum: 6,
      description: 'at most this many components; fewer are tried too, and rows of weight 0 stand for those not used',
    },
    {
      name: 'resolution', type: 'number', default: 0, minimum: 0, maximum: 1e100, unit: 'data units',
      description: 'step to which values are rounded; each is spread over its step before it is used, 0 for none',
    },
    {
      name: 'alpha', type: 'number', default: 0.01, minimum: 0.002, maximum: 0.3, unit: 'total variation',
      description: 'fits nearer to each other than three times this are not told apart',
    },
  ],
  shelf: 'research',
  assumption: 'Values follow a mixture of normals, and nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate zCDP, '
    + 'three disjoint cohorts at the full cost each.',
  plan: planMixture,
  outputLabels: (values) => Array.from({ length: numberOf(values, 'components') }, (_, k) =>
    ['weight', 'mean', 'deviation'].map((what) => `${what} ${k + 1}`)).flat(),
};

interface Design {
  readonly facts: StudyFacts;
  readonly column: number;
  readonly components: number;
  readonly resolution: number;
  readonly rules: ContestRules;
  readonly gaps: GaussianHistogramEvent;
  readonly cells: GaussianEvent;
  readonly choice: ExponentialEvent;
}

function planMixture(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const { cohort, target } = facts;
  const { rho, delta } = target;
  const column = columnOf(values, facts.dimension);
  if (!(rho > 0 && delta > 0) || target.isPure === true) {
    return {
      kind: 'infeasible',
      reason: 'finding components anywhere on the line needs a positive rho and a positive delta',
      remedy: 'ask for (epsilon, delta) with delta > 0, or use select with a public list',
    };
  }
  const components = numberOf(values, 'components');
  const gaps = gapsEvent({ cohort: 'gaps', rho, delta });
  const cells = gaussianEvent({
    name: 'cells', cohort: 'cells', dimension: windowsMaximum * cellsPerWindow + 1,
    sensitivity: Math.sqrt(2 * windowsMaximum), rho, grid: countGrid(Math.sqrt(windowsMaximum / rho)),
  });
  const choice = exponentialEvent({ name: 'choice', cohort: 'choice', candidates, sensitivity: 1, rho });
  const least = Math.min(0.2, 1 / components);
  const weight = components === 1 ? 1 : least;
  const needed = Math.ceil((spreadOfGaps * (usedFrom(gaps) + 2.33 * gaps.sigma)) / (weight * shares.gaps));
  if (cohort < needed) {
    return {
      kind: 'infeasible',
      reason: `with ${cohort} contributors a component of weight ${weight.toPrecision(2)} may stay below the threshold of `
        + `${Math.ceil(usedFrom(gaps))} gaps`,
      remedy: `a cohort of ${needed}, fewer components or a larger epsilon`,
      cohortNeeded: needed,
    };
  }
  const rules = { alpha: numberOf(values, 'alpha'), zeta: 1, cap: cohort };
  const resolution = numberOf(values, 'resolution');
  return planFor({ facts, column, components, resolution, rules, gaps, cells, choice });
}

function planFor(design: Design): Plan {
  const { facts, components, gaps, cells, choice } = design;
  const events = [gaps, cells, choice];
  const cohorts = Object.entries(shares).map(([name, share]): CohortPlan =>
    ({ name, share, unit: 'row', mode: 'pooled', groups: 1 }));
  return Object.freeze<Plan>({
    kind: 'plan',
    cohorts,
    cost: costOfEvents(events, { disjoint: Object.keys(shares) }),
    events,
    guarantee: {
      neighbours,
      theorem: 'gaps of a sorted list, noisy cells and private selection; '
        + 'proofs in src/estimators/distributions/mixture-1d and src/estimators/distributions/candidates',
      assumptions: [
        'for accuracy: the rows follow a mixture of normals, each of weight at least a fifth, or equal ones',
        'nothing is proved about how near the best fit comes; only the choice among fits has a promise',
      ],
      corruptionMax: 0,
    },
    outputShape: [components, 3],
    noise: [],
    facts: {
      errorsAreIn: 'deviations of the component, mean and deviation together, for a single component',
      windowsAtMost: windowsMaximum,
      gapsNeeded: usedFrom(gaps),
      noiseOfEachCell: cells.sigma,
      candidates: choice.candidates,
    },
    expectedError: (corruption) => errorOf(design, corruption),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/** Cells are a thirtieth to a half of a deviation wide; up to 120 of them hold what matters of a component. */
function errorOf({ facts, cells, components, choice }: Design, corruption: number): ExpectedError {
  const rows = (facts.cohort * shares.cells) / components;
  const sampling = Math.sqrt(1.5 / rows);
  const noise = Math.hypot((cells.sigma * Math.sqrt(120)) / rows, 20 / (choice.epsilon * facts.cohort * shares.choice));
  const bias = corruption === 0 ? 0 : Infinity;
  return { total: Math.hypot(sampling, noise, bias), sampling, noise, bias };
}

function release(design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms): Released<Outcome> {
  const { facts, gaps, cells, choice, components } = design;
  const contributors = Math.ceil(facts.cohort * shares.gaps);
  const values = (name: string): Sensitive<Float64Array> => {
    const finished = summaries.get(name);
    assert(finished !== undefined, 'a release gets the summaries of its plan');
    return finished.map(([only]) => {
      assert(only?.kind === 'pooled', 'the rows come in one pool');
      return columnValues(only.rows, design);
    });
  };
  const empty = Array.from({ length: gaps.coordinates - 1 }, () => new Map<number, number>());
  const kept = mechanisms.histogram(gaps.name, values('gaps').map((list) => [countGaps(list, contributors), ...empty]));
  const windows = windowsOf(kept.value[0]!, usedFrom(gaps), contributors, windowsMaximum);
  if (windows.length === 0) return kept.map(() => notFound(design));
  const noisy = mechanisms.gaussian(cells.name, values('cells').map((list) => countCells(list, windows, windowsMaximum)));
  const total = noisy.value.at(-1)!;
  if (total < (facts.cohort * shares.cells) / 4) return noisy.map(() => tooFew(facts));
  const fits = fitsOf(noisy.value, windows, design);
  const scores = values('choice').map((list) => scoresOf(fits, list, design.rules));
  const index = mechanisms.exponential(choice.name, scores);
  return Released.all([kept, noisy, index] as const).map(([, , chosen]) => outcomeOf(fits[chosen]!, components));
}

/** The column, spread over its rounding step by what the tag says. */
function columnValues({ count, dimension, values, tags }: PooledRows, { column, resolution }: Design): Float64Array {
  return Float64Array.from({ length: count }, (_, row) => {
    const spread = resolution === 0 ? 0 : Number(tags[row]! & 0xffff_ffffn) / 2 ** 32 - 0.5;
    return values[row * dimension + column]! + spread * resolution;
  });
}

/** As many fits as the choice has candidates: the best ones, of every number of components. */
function fitsOf(noisy: Float64Array, windows: readonly Window[], { cells, components }: Design): readonly Fit[] {
  const pieces = piecesOf(noisy, windows, cells.sigma);
  const total = noisy.at(-1)!;
  const work = seededWork(utf8('starts of fits'));
  const byParts = Array.from({ length: components }, (_, k) =>
    Array.from({ length: k === 0 ? 2 : starts }, () => fitMixture(pieces, total, windows, k + 1, work))
      .sort((one, two) => one.misfit - two.misfit));
  const firsts = byParts.map((list) => list[0]!);
  const others = byParts.flatMap((list) => list.slice(1)).sort((one, two) => one.misfit - two.misfit);
  const list = [...firsts, ...others].slice(0, candidates);
  while (list.length < candidates) list.push(firsts.at(-1)!);
  return list;
}

function scoresOf(fits: readonly Fit[], values: Float64Array, rules: ContestRules): Float64Array {
  const lines = fits.map(({ components }) => lineDistribution({
    kind: 'mixture',
    weights: components.map(({ weight }) => weight),
    parts: components.map(({ mean, deviation }) => ({ kind: 'normal' as const, mean, deviation })),
  }));
  const rows: RowBlock = { count: values.length, dimension: 1, values };
  return lineScores(lineContestants(lines, 64), rows, rules);
}

function outcomeOf({ components }: Fit, most: number): Outcome {
  const inOrder: Component[] = [...components].sort((one, two) => one.mean - two.mean);
  while (inOrder.length < most) inOrder.push({ weight: 0, mean: 0, deviation: 0 });
  const estimate = inOrder.flatMap(({ weight, mean, deviation }) => [weight, mean, deviation]);
  if (!estimate.every((entry) => Number.isFinite(entry))) {
    return { kind: 'refused', reason: 'numerical-failure', text: 'the chosen fit is beyond the range of doubles' };
  }
  return { kind: 'value', estimate, shape: [most, 3], uncertainty: { kind: 'none' } };
}

function notFound({ facts, gaps }: Design): Outcome {
  return {
    kind: 'refused',
    reason: 'scale-not-found',
    text: `no bucket held ${Math.ceil(usedFrom(gaps))} gaps. Planned for ${facts.cohort} contributors: check that they `
      + 'come, give resolution when values are rounded, or raise epsilon',
  };
}

function tooFew({ cohort }: StudyFacts): Outcome {
  return {
    kind: 'refused',
    reason: 'participation-below-plan',
    text: `the noisy count is below a quarter of its part of the ${cohort} contributors planned for: `
      + 'plan for a smaller cohort or wait longer',
  };
}
