import { utf8 } from '../../../base/bytes.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import {
  countGrid, exponentialEvent, gaussianEvent,
} from '../../../privacy/accounting/calibration.js';
import type {
  ExponentialEvent, GaussianEvent, GaussianHistogramEvent,
} from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type { RowBlock } from '../../../privacy/stages/rows.js';
import { seededRandom } from '../../../random/work.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, FinishedSummaries, Infeasible, ParameterValues, Plan, PooledRows, StudyFacts,
} from '../../contract/estimator.js';
import { poolOf } from '../../contract/finished.js';
import { finiteValue, participationBelowPlan } from '../../contract/outcomes.js';
import { errorUpTo, infeasible, makePlan, pooledArm } from '../../contract/planning.js';
import { columnOf, columnParameter } from '../../counts/tables/common.js';
import { rowsSummary } from '../../summaries/rows.js';
import { numberOf } from '../../contract/values.js';
import { cellsPerWindow, countCells, piecesOf } from '../candidates/cells.js';
import { noIntervalOfFit, type ContestRules } from '../candidates/contests.js';
import { describeMixture1d } from './describe.js';
import {
  fitMixture, startAnywhere, startApart, type Component, type Fit,
} from './expectation.js';
import {
  countGaps, filledWindows, gapsEvent, gapsNotAllowed, usedFrom, windowsOf, type Window,
} from '../candidates/gaps.js';
import { lineDistribution } from '../candidates/line.js';
import { lineContestants, lineScores } from '../candidates/line-contests.js';

const windowsMaximum = 8;
const candidates = 40;
/** Starts at random places, and with means that are far from each other. */
const starts = { anywhere: 12, apart: 8 } as const;
const shares = { gaps: 0.4, cells: 0.35, choice: 0.25 };
/** A component's gaps fall into about this many buckets. */
const bucketsOfComponent = 12;

/**
 * A mixture of normals in one column: weights, means and standard deviations, without knowing where
 * or how wide they are.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: (rho, delta), delta-approximate zCDP, for all data.
 * Why: a keyed hash puts each contributor into one of three cohorts. Each cohort is asked one
 * question, so the largest of three costs counts.
 * - Gaps find windows (gaps, with its proof): (rho, delta). More are laid beside them, as a
 *   function of those, and all are at most 8.
 * - In the second cohort a row is in the total, and in at most one cell of each of at most 8
 *   windows. A replaced row moves the counts by at most sqrt(16) in L2, since the total stays. A
 *   row that comes or goes moves them by at most sqrt(9). Cost: rho.
 * - Fits are functions of what was released. The third cohort chooses between them by the
 *   exponential mechanism on scores of sensitivity 1 (contests): rho.
 * Dithering adds to each row a function of its own tag.
 *
 * Accuracy is that of the best fit, not of the best mixture: nothing is proved about expectation
 * and maximisation. Equal values have no gaps, so rounded data need `resolution`.
 *
 * Source: Ashtiani, Majid, Narayanan (2024), Algorithm 3. Its first half, the gaps, is implemented.
 * Its second half selects privately from a net of mixtures around what the gaps show. Here the
 * candidates are fits to noisy counts, so the accuracy of theorem 1.5 is not claimed.
 */
export const mixture1d: Estimator = {
  name: 'mixture-1d',
  title: 'Mixture of normals in one column',
  citations: [cite(
    'AMN24', 'Algorithm 3 (one column); the candidates are fits to noisy counts, not its net',
  )],
  parameters: [
    columnParameter,
    {
      name: 'components', type: 'integer', default: 3, minimum: 1, maximum: 6,
      description: 'at most this many components; fewer are tried too, and rows of weight 0 stand '
        + 'for those not used',
    },
    {
      name: 'resolution', type: 'number', default: 0, minimum: 0, maximum: 1e100,
      unit: 'data units',
      description: 'step to which values are rounded; each is spread over its step before it is '
        + 'used, 0 for none',
    },
    {
      name: 'alpha', type: 'number', default: 0.01, minimum: 0.002, maximum: 0.3,
      unit: 'total variation',
      description: 'fits nearer to each other than three times this count as equal',
    },
  ],
  maturity: 'research',
  describe: describeMixture1d,
  assumption: 'Values follow a mixture of normals, and nobody sends false rows.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, '
    + 'three disjoint cohorts at the full cost each.',
  plan: planMixture,
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
  const refusal = gapsNotAllowed(target, 'anywhere on the line');
  if (refusal !== null) return refusal;
  const components = numberOf(values, 'components');
  const gaps = gapsEvent({ cohort: 'gaps', rho, delta });
  const cells = gaussianEvent({
    name: 'cells', cohort: 'cells', dimension: windowsMaximum * cellsPerWindow + 1,
    sensitivity: Math.sqrt(2 * windowsMaximum), rho,
    grid: countGrid(Math.sqrt(windowsMaximum / rho)),
  });
  const choice = exponentialEvent({
    name: 'choice', cohort: 'choice', candidates, sensitivity: 1, rho,
  });
  const weight = leastWeight(components);
  const [needed, neededForOne] = [weight, 1].map((share) => cohortFor(gaps, share)) as
    [number, number];
  if (cohort < needed) {
    const one = components > 1 && cohort >= neededForOne
      ? 'components: 1 or gaussian of this column, which look for one normal and find it from '
        + `fewer contributors (${neededForOne}), ` : '';
    return infeasible(
      `with ${cohort} contributors a component of weight ${weight.toPrecision(2)} may stay below `
      + `the threshold of ${Math.ceil(usedFrom(gaps))} gaps`,
      `a cohort of ${needed}, ${one}fewer components or a larger epsilon`,
      needed,
    );
  }
  const rules = { alpha: numberOf(values, 'alpha'), zeta: 1, cap: cohort };
  const resolution = numberOf(values, 'resolution');
  return planFor({ facts, column, components, resolution, rules, gaps, cells, choice });
}

/** Components of this weight are to be found. */
function leastWeight(components: number): number {
  return components === 1 ? 1 : Math.min(0.2, 1 / components);
}

/** Contributors with whom a component of this weight fills a bucket of gaps past the threshold. */
function cohortFor(gaps: GaussianHistogramEvent, weight: number): number {
  const gapsNeeded = bucketsOfComponent * (usedFrom(gaps) + 2.33 * gaps.sigma);
  return Math.ceil(gapsNeeded / (weight * shares.gaps));
}

function planFor(design: Design): Plan {
  const { facts, components, gaps, cells, choice } = design;
  return makePlan({
    arms: Object.entries(shares).map(([name, share]) => pooledArm(name, share)),
    events: [gaps, cells, choice],
    guarantee: {
      theorem: 'gaps of a sorted list, noisy cells and private selection; '
        + 'proofs in src/estimators/distributions/mixture-1d and '
        + 'src/estimators/distributions/candidates',
      assumptions: [
        'for accuracy: the rows follow a mixture of normals, each of weight at least a fifth, or '
        + 'equal ones',
        'nothing is proved about how near the best fit comes; only the choice among fits has a '
        + 'promise',
      ],
      corruptionMax: 0,
    },
    outputShape: [components, 3],
    facts: {
      errorsAreIn: 'deviations of the component, mean and deviation together, for a single '
        + 'component',
      windowsAtMost: windowsMaximum,
      gapsNeeded: usedFrom(gaps),
      noiseOfEachCell: cells.sigma,
      candidates: choice.candidates,
      interval: noIntervalOfFit,
    },
    expectedError: errorOf(design),
    summary: () => rowsSummary(facts.dimension),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

/**
 * Cells are 1/30 to 1/2 of a standard deviation wide. Up to 120 of them hold what matters of a
 * component.
 */
function errorOf({ facts, cells, components, choice }: Design): Plan['expectedError'] {
  const rows = (facts.cohort * shares.cells) / components;
  const voters = facts.cohort * shares.choice;
  const noise = Math.hypot((cells.sigma * Math.sqrt(120)) / rows, 20 / (choice.epsilon * voters));
  return errorUpTo(0, { sampling: Math.sqrt(1.5 / rows), noise });
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, gaps, cells, choice, components } = design;
  const contributors = Math.ceil(facts.cohort * shares.gaps);
  const values = (name: keyof typeof shares): Sensitive<Float64Array> =>
    poolOf(summaries, name).map((rows) => columnValues(rows, design));
  const empty = Array.from({ length: gaps.coordinates - 1 }, () => new Map<number, number>());
  const kept = mechanisms.histogram(gaps.name, values('gaps').map((list) =>
    [countGaps(list, contributors), ...empty]));
  const found = windowsOf(kept.value[0]!, usedFrom(gaps), contributors, windowsMaximum);
  if (found.length === 0) return kept.map(() => notFound(design));
  const windows = filledWindows(found, windowsMaximum);
  const noisy = mechanisms.gaussian(cells.name, values('cells').map((list) =>
    countCells(list, windows, windowsMaximum)));
  const total = noisy.value.at(-1)!;
  if (total < (facts.cohort * shares.cells) / 4) {
    return noisy.map<Outcome>(() => participationBelowPlan(facts, 'its part of the'));
  }
  const fits = fitsOf(noisy.value, windows, design);
  const scores = values('choice').map((list) => scoresOf(fits, list, design.rules));
  const index = mechanisms.exponential(choice.name, scores);
  return Released.all([kept, noisy, index] as const).map(([, , chosen]) =>
    outcomeOf(fits[chosen]!, components));
}

/** The column. Each value is moved within its rounding step by a function of its tag. */
function columnValues(
  { count, dimension, values, tags }: PooledRows, { column, resolution }: Design,
): Float64Array {
  return Float64Array.from({ length: count }, (_, row) => {
    const dither = resolution === 0 ? 0 : Number(tags[row]! & 0xffff_ffffn) / 2 ** 32 - 0.5;
    return values[row * dimension + column]! + dither * resolution;
  });
}

/** As many fits as the choice has candidates: the best ones of every number of components. */
function fitsOf(
  noisy: Float64Array, windows: readonly Window[], { cells, components }: Design,
): readonly Fit[] {
  const pieces = piecesOf(noisy, windows, cells.sigma);
  const total = noisy.at(-1)!;
  const [anywhere, apart] =
    [seededRandom(utf8('starts of fits')), seededRandom(utf8('starts far from each other'))];
  const byParts = Array.from({ length: components }, (_, k) => [
    ...Array.from({ length: k === 0 ? 2 : starts.anywhere }, () =>
      startAnywhere(pieces, windows, k + 1, anywhere)),
    ...Array.from({ length: k === 0 ? 0 : starts.apart }, () => startApart(pieces, k + 1, apart)),
  ].map((start) => fitMixture(pieces, total, windows, start))
    .sort((one, two) => one.misfit - two.misfit));
  const firsts = byParts.map((list) => list[0]!);
  const others = byParts.flatMap((list) =>
    list.slice(1)).sort((one, two) => one.misfit - two.misfit);
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
  return finiteValue(
    { estimate, shape: [most, 3], uncertainty: { kind: 'none' } }, 'the chosen fit is',
  );
}

function notFound({ facts, gaps }: Design): Outcome {
  return {
    kind: 'refused',
    reason: 'spread-not-found',
    text: `no bucket held ${Math.ceil(usedFrom(gaps))} gaps. Planned for ${facts.cohort} `
      + 'contributors: check that they '
      + 'come, give resolution when values are rounded, or raise epsilon',
  };
}
