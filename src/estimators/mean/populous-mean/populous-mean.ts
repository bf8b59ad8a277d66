import { cite } from '../../contract/citations.js';
import { describeMeans } from '../../contract/describe.js';
import type {
  Estimator, FinishedSummaries, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { Released } from '../../../base/brands.js';
import type { Outcome } from '../../../base/outcome.js';
import {
  allRowsDesign, releaseAllRows, withAllRows, withoutAllRows, type AllRows, type AllRowsDesign,
} from '../../pooled/all-rows.js';
import type { Draws } from '../../pooled/centre.js';
import { findUnits, withColumns } from '../../pooled/found-columns.js';
import {
  chooseSpread, spreadNotFound, type PrivateSpread, type SpreadChoice,
} from '../../pooled/spread-choice.js';
import { rowsSummary } from '../../summaries/rows.js';
import { poolOf } from '../../contract/finished.js';
import {
  errorUpTo, infeasible, makePlan, nearSmallestCohort, pooledArm, withoutDelta,
} from '../../contract/planning.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { choiceOf } from '../../contract/values.js';
import {
  chooseDesign, corruptionTolerated, hasDesign, type Design, type DesignFacts,
} from './design.js';
import { cohortName, eventsOf } from './events.js';
import { groupedPoints, groupSummary } from './local.js';
import { designFactsOf, populousParameters } from './parameters.js';
import { release, type ReleaseContext } from './release.js';
import { sizeFactor } from './deviation.js';

/**
 * Subsample and aggregate: contributors are hashed into groups, and each group reports one point.
 * The points are averaged with weights that only agreement between groups can earn.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: (rho1 + rho2 + rho3, delta)-approximate zCDP, rho1 for the test, rho2 for the average, rho3
 * for the clipped mean. It holds for all data, whatever a group computes.
 * Why:
 * 1. One contributor's group is a keyed hash of its identity, so neighbours differ in the rows of
 *    one group, present or not, and in one point. A group without rows has no point, and neither
 *    has one whose point is not a number in range. Formally that is a fixed public point at
 *    infinite distance from all others, so losing a group's last row is also a replacement of one
 *    point.
 * 2. Test. The number of agreeing pairs of groups is an integer. One point is in k - 1 pairs, so
 *    the sensitivity is k - 1 (in terms of the mean agreement Q = (k + 2 pairs)/k^2: 2 (k -
 *    1)/k^2). A Gaussian threshold test on it costs (rho1, delta): if either data set is below the
 *    floor, both are below floor + (k - 1) and pass with probability at most delta.
 * 3. Average. If both data sets are at the floor or above, stabilityConstant proves that the
 *    weighted average moves by at most D = 2 r c_k / k. Each computed coordinate is within one grid
 *    step of the exact one, so the published sensitivity is D + 2 grid sqrt(d), and Gaussian noise
 *    costs rho2 = sensitivity^2 / (2 sigma^2). "At most r" is decided in doubles: true distances
 *    may exceed r by a factor 1 + (d + 3) 2^-53, which the factor 1 + 2^-40 on D covers.
 * 4. Clipped mean. The average only says where the points are: its sensitivity pays for the c_k
 *    groups whose weights one group can change, and for points 2 r apart. The answer is the mean of
 *    all points inside a ball about the released average. Whether a point is inside is a function
 *    of this point and of the average. One point is replaced, gone or new, which costs rho3 for
 *    every centre (privacy/stages/clipped-mean). The sensitivity is 2 R / k
 *    with R about r / sqrt 2, so noise is 2 to 3 times less than that of the average.
 *
 * With `spread: auto` rows are pooled until the close, a private spread (privacy/stages/spread) is
 * released first, and groups are formed from the rows' tags. A group is still a function of the
 * contributor alone, so 1 to 3 hold for every spread that may be found. The spread's cost is added,
 * and that of the mean of all rows about the answer (pooled/all-rows).
 *
 * Source: Ashtiani and Liaw (2022), Algorithms 1 and 5, with explicit constants. Step 4 is this
 * project's own.
 */
export const populousMean: Estimator = {
  name: 'populous-mean',
  title: 'Mean by agreement of many groups; robust-mean is more accurate',
  citations: [cite('AL22', 'Algorithms 1 and 5')],
  parameters: populousParameters,
  maturity: 'research',
  describe: describeMeans,
  assumption: 'The groups are many and large, and honest rows are about symmetric.',
  claim: 'One contributor’s row replaced by anything, including nothing: (rho, delta)-approximate '
    + 'zCDP, '
    + 'rho split between a test, the average, and the mean of the groups near it.',
  plan: planPopulousMean,
};

/**
 * A given spread gives no interval. Groups leave out rows far from the others, and the answer
 * leaves out groups far from the others, so skewed rows move it towards their bulk. Per column,
 * with 10,000 rows of standard deviation 1 in 2 columns, that was .15 for exponential rows, .14 for
 * lognormal ones and .24 for a share of .05 ones. Nothing that is released bounds it. With
 * `spread: auto` the mean of all rows is released beside the answer, and the interval covers both.
 */
const interval = {
  given: 'none: nobody knows how far the rows and groups that are left out move '
    + 'the answer (exponential rows: up to a quarter of a spread); spread: auto gives one',
  auto: 'covers the mean of all rows, and noise and sampling of the answer',
} as const;

function planPopulousMean(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const chosen = chooseSpread(values, facts, cohortName);
  if (chosen.kind === 'infeasible') return chosen;
  const choice = chosen.kind === 'given' ? chosen : besideAll(chosen);
  const left = choice.facts;
  const designFacts = designFactsOf(values, left);
  const refusal = withoutDelta(left.target, 'the agreement test');
  if (refusal !== null) return refusal;
  const design = chooseDesign(designFacts);
  return design === null
    ? tooFewFor(designFacts, left)
    : planFor(values, choice, designFacts, design);
}

/** How the spread is known. Where it is found, all rows are at hand, and so is their mean. */
type PopulousChoice =
  Extract<SpreadChoice, { kind: 'given' }> | (AutoSpread & { readonly all: AllRowsDesign });
type AutoSpread = Extract<SpreadChoice, { kind: 'auto' }>;

/** The choice with the mean of all rows: its events, and what it leaves of rho. */
function besideAll(choice: AutoSpread): AutoSpread & { readonly all: AllRowsDesign } {
  const all = allRowsDesign(choice.facts, cohortName);
  const events = [...choice.events, ...all.events];
  return { ...choice, all, events, facts: withoutAllRows(choice.facts) };
}

function tooFewFor(design: DesignFacts, facts: StudyFacts): Infeasible {
  const fits = (cohort: number): boolean => hasDesign({ ...design, cohort });
  const reason = `no number of groups passes the agreement test with ${facts.cohort} contributors, `
    + `${facts.dimension} columns, a corruption of ${design.corruption} and rho `
    + facts.target.rho.toPrecision(3);
  const cohortNeeded = nearSmallestCohort(fits, { from: 2 * design.cohort, slack: 0.03 });
  if (cohortNeeded === Infinity) {
    return infeasible(
      reason, 'lower corruption, use local: robust, or leave groups and radius out',
    );
  }
  const remedy = `a cohort of ${cohortNeeded}, a larger epsilon or a lower corruption`;
  return infeasible(reason, remedy, cohortNeeded);
}

function planFor(
  values: ParameterValues, choice: PopulousChoice, designFacts: DesignFacts, design: Design,
): Plan {
  const { facts } = choice;
  const { test, average, clipped } = eventsOf(design, facts);
  const events = [test, average, clipped.sum, clipped.count];
  const sigma = clipped.sum.sigma / design.groups;
  const local = choiceOf(values, 'local') === 'mean' ? 'mean' : 'robust';
  const corruptionMax = corruptionTolerated(design, designFacts);
  const expectedError = errorOf(design, designFacts, sigma, corruptionMax);
  const sampling = expectedError(0).sampling / Math.sqrt(facts.dimension);
  const context = { design, average, clipped, sampling, designFacts };
  return makePlan({
    arms: [choice.kind === 'auto'
      ? pooledArm(cohortName)
      : { name: cohortName, share: 1, unit: 'row', mode: 'disjoint', groups: design.groups }],
    events: choice.kind === 'auto' ? [...choice.events, ...events] : events,
    guarantee: {
      theorem: 'Ashtiani and Liaw (2022), Algorithm 1 with a Gaussian test, '
        + 'constants in src/estimators/mean/populous-mean',
      assumptions: [
        'for accuracy: spread is at least the standard deviation of an honest row in every column, '
        + 'and not far above it',
        'for accuracy: honest rows are about symmetric around their mean, or nearly so after '
        + 'trimming at 2.5 spreads',
        ...(choice.kind === 'auto' ? [choice.all.assumption] : []),
      ],
      corruptionMax,
    },
    outputShape: [facts.dimension],
    noise: choice.kind === 'auto' ? [] : Array.from(choice.spread, (unit) => unit * sigma),
    facts: {
      spread: choice.kind === 'auto' ? 'found privately' : Array.from(choice.spread).join(', '),
      groups: design.groups,
      groupSize: design.groupSize,
      radiusInSpreads: design.radius,
      agreementWanted: design.thresholds.agreement,
      weightlessBelow: design.thresholds.none,
      fullWeightFrom: design.thresholds.full,
      stabilityConstant: design.stability,
      noisePerCoordinateInSpreads: sigma,
      clipRadiusInSpreads: clipped.ball.radius,
      testPartOfRho: design.testPart,
      testPassProbability: design.passProbability,
      groupsSpoiledShare: design.spoiled,
      local,
      interval: interval[choice.kind],
    },
    expectedError,
    summary: () =>
      (choice.kind === 'auto' ? rowsSummary(facts.dimension) : groupSummary(
        local, choice.spread, average.grid,
      )),
    release: async (summaries, mechanisms, compute) => (choice.kind === 'auto'
      ? releaseWithoutSpread(context, local, choice, summaries, { mechanisms, compute })
      : release({ ...context, spread: choice.spread }, summaries, mechanisms).map(withoutInterval)),
  });
}

/** The answer, with a finding in place of its interval. */
function withoutInterval(outcome: Outcome): Outcome {
  if (outcome.kind === 'refused') return outcome;
  const { kind, estimate, shape, uncertainty } = outcome;
  const findings = [{ reason: 'rows-trimmed', columns: [], amounts: [] }] as const;
  return { kind, estimate, shape, uncertainty, findings };
}

/** Finds the spread, then forms the groups and goes on as with a public one. */
async function releaseWithoutSpread(
  context: Omit<ReleaseContext, 'spread'>, local: 'mean' | 'robust',
  choice: PrivateSpread & { readonly facts: StudyFacts; readonly all: AllRowsDesign },
  summaries: FinishedSummaries, draws: Draws,
): Promise<Released<Outcome>> {
  const { facts } = choice;
  const pool = poolOf(summaries, cohortName);
  const found = await findUnits(draws, pool, facts.dimension, choice);
  const units = found.value;
  if (units.kind === 'failed') {
    return found.map<Outcome>(() => spreadNotFound(facts, units.coordinates));
  }
  const { spread, columns } = units;
  const { design, average } = context;
  const groups =
    pool.map((rows) => groupedPoints(rows, design.groups, local, spread, average.grid));
  const answer = release({ ...context, spread }, new Map([[cohortName, groups]]), draws.mechanisms);
  if (answer.value.kind === 'refused') return answer;
  const centre = Float64Array.from(answer.value.estimate);
  const all = await releaseAllRows(draws, choice.all, pool, centre, spread);
  return Released.all<readonly [Outcome, AllRows]>([answer, all])
    .map(([outcome, beside]) => (beside.isBelowPlan ? participationBelowPlan(facts)
      : withColumns(withAllRows(outcome, {
        all: beside, centre, spread, left: null, clippedAt: null,
      }), columns)));
}

function errorOf(
  design: Design, facts: DesignFacts, sigma: number, corruptionMax: number,
): Plan['expectedError'] {
  const { dimension, local } = facts;
  const variance = local.varianceFactor(design.groupSize, dimension) * sizeFactor(design.groupSize);
  const sampling = Math.sqrt((dimension * variance) / facts.cohort);
  const noise = sigma * Math.sqrt(dimension);
  return errorUpTo(corruptionMax, { sampling, noise }, (share) =>
    (share === 0 ? 0 : local.bias(share, design, dimension)));
}
