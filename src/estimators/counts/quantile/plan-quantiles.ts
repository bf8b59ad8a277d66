import { ln } from '../../../base/elementary.js';
import { findingsMax } from '../../../base/findings.js';
import { Released, type Sensitive } from '../../../base/brands.js';
import type { Finding, Outcome } from '../../../base/outcome.js';
import type { ExponentialEvent } from '../../../privacy/accounting/events.js';
import type { Mechanisms } from '../../../privacy/mechanisms/contract.js';
import type {
  FinishedSummaries, Infeasible, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { participationBelowPlan } from '../../contract/outcomes.js';
import { answerAtBound } from '../../contract/outside.js';
import { errorUpTo, infeasible, makePlan } from '../../contract/planning.js';
import { wholeArm } from '../tables/counts.js';
import {
  certifiedQuantile, marginAt, noiseAt, openEnds, type CertifiedQuantile,
} from './certified.js';
import {
  aimsOf, corruptionMaxOf, designOf, isEnough, ladderCohort, placesOf, rankErrorAt,
  smallestIntervals, smallestPoints, type Asked, type Cells, type ColumnDesign, type Design,
} from './design.js';
import { countsBetween, edgesAbout, type Chosen, type Place } from './edges.js';
import { valuesOf, valuesSummary } from './values-summary.js';

/** An answer in this part of the range at one of its ends may be that of people beyond it. */
const atBoundShare = 0.001;

/**
 * Quantiles of some columns, with or without public ranges, and with intervals where there are
 * enough people.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data: epsilon^2 / 8 for each choice by the exponential
 * mechanism, and the rest for the counts. Where the budget asks for pure epsilon: epsilon for each
 * choice, and Laplace noise on the counts.
 * Why: candidates are fixed by public parameters (`Candidates`). Their scores change by at most 1
 * (rank-scores), so each choice is the exponential mechanism of its event. Its cost does not depend
 * on how many candidates there are. The choices see the same values and compose. A row that only
 * comes or goes changes scores by at most the event's `presence`, so answers for keys cost less.
 *
 * With intervals, two values are chosen for each quantile of p: at the ranks p N - h and p N + h of
 * the N present, for a public h. They are released, so the edges of cells that are made of them are
 * public (edges). A row is in one cell of each of d columns: replaced, it moves the counts by at
 * most 2 d in L1 and sqrt(2 d) in L2, for any edges; one that only comes or goes by d and sqrt d.
 * The counts pass once through the mechanism of their event (count-noise). The second step is
 * private for every outcome of the first, and costs add up (Bun and Steinke 2016, lemma 2.3). The
 * answers, their intervals and the number present follow from the noisy counts (certified).
 *
 * Without intervals, one value is chosen for each quantile, and the number present gets noise of
 * its own: it changes by at most 1. In a small cohort it is not drawn, and the choices have the
 * whole cost. Sorting the answers keeps a higher probability from having a lower quantile, and
 * never brings the list farther from the true quantiles.
 *
 * Robust: an eta share of hostile contributors moves the rank of an answer by at most
 * max(p, 1 - p) eta / (1 - eta) among the honest, wherever they are, for eta <= min(p, 1 - p).
 *
 * Values beyond the range count as at its end when values are chosen, and in cells of their own
 * beside it. An answer at an end of the range says that it may be farther out (`values-clipped`),
 * unless its interval shows that few people are beyond.
 *
 * Where it fails. A choice goes astray if a run of candidates far out outweighs those among the
 * rows: see `cohortFor`. Rows that are nearly equal and far from zero have few candidates among
 * them. Without an interval nothing in the answer shows it; with one, the interval is wide. The
 * plan says so, and a range mends it.
 */
export function planQuantiles(asked: Asked, facts: StudyFacts): Plan | Infeasible {
  const design = designOf(asked, facts);
  if (design.cells !== null || isEnough(design)) return planFor(design);
  const cohortNeeded = smallestPoints(asked, facts);
  const quantiles = asked.probabilities.length * asked.columns.length;
  return infeasible(
    `with ${facts.cohort} contributors, ${quantiles} quantile${quantiles === 1 ? '' : 's'} and rho `
    + `${facts.target.rho.toPrecision(3)}, noise may move an answer beyond all values`,
    `a cohort of ${cohortNeeded}, ${asked.columns.length > 1 ? 'fewer columns' : 'fewer '
      + 'probabilities or none so near to 0 or 1'}, or a larger epsilon`,
    cohortNeeded,
  );
}

function planFor(design: Design): Plan {
  const { facts, asked, columns, present, cells } = design;
  const { cohort, dimension } = facts;
  const { outputShape } = asked;
  const intervalFrom = cells === null ? smallestIntervals(asked, facts) : null;
  return makePlan({
    arms: [wholeArm],
    events: [
      ...columns.map(({ choice }) => choice),
      ...present === null ? [] : [present.event],
      ...cells === null ? [] : [cells.noise.event],
    ],
    guarantee: {
      theorem: 'exponential mechanism on ranks of sensitivity 1; proof in '
        + 'src/estimators/counts/tables/rank-scores'
        + (cells === null ? '' : '; then counts of cells between public edges'),
      assumptions: assumptionsOf(design),
      corruptionMax: corruptionMaxOf(asked),
    },
    outputShape,
    facts: {
      errorsAreIn: 'shares of the contributors, by which the ranks of the answers are off',
      candidates: columns[0]!.choice.candidates,
      epsilonOfEachChoice: columns[0]!.choice.epsilon,
      ...cells === null ? {
        rankErrorShare95: rankErrorAt(design, 0.05) / cohort,
        ...present !== null && { noiseOfNumberPresent: present.standardDeviation },
        ...Number.isFinite(intervalFrom) && { intervalFrom: intervalFrom! },
        interval: `none with fewer than ${intervalFrom} people, at this cost: noise would hide `
          + 'which values enclose the quantile. Fewer quantiles, or a larger epsilon, need fewer '
          + 'people',
      } : {
        noiseOfCounts: cells.noise.standardDeviation,
        intervalReachShare: reachShareOf(design, cells),
        interval: 'the values of which the noisy counts say that the quantile is between them. It '
          + 'holds for values of any kind. A range makes it wider or open only where people are '
          + 'beyond',
      },
    },
    expectedError: expectedErrorOf(design),
    summary: () => valuesSummary(dimension, columns.map(({ column }) => column)),
    release: async (summaries, mechanisms) => release(design, summaries, mechanisms),
  });
}

function assumptionsOf(design: Design): readonly string[] {
  const { asked: { columns }, present, cells } = design;
  const isRanged = columns.every(({ range }) => range !== undefined);
  return [
    isRanged
      ? 'a tenth of the contributors around each quantile span at least 1/100 of the range, or '
        + `1/200 of an octave and there are ${ladderCohort(design)} contributors: else answers `
        + 'may go astray'
      : 'a tenth of the contributors around each quantile span at least 1/200 of an octave: '
        + 'values that are nearer to one another and far from zero, such as years, need a range',
    ...!isRanged ? [] : ['everybody outside the range counts as at its bound: an '
      + 'answer at an end of the range may be farther out if values can be outside, and says '
      + 'so'],
    ...present !== null || cells !== null ? [] : ['about as many contributors come as planned: in '
      + 'so small a cohort it is not checked, and with far fewer the answers go astray'],
    ...cells === null ? [] : ['for the interval: contributors are independent of one another'],
    'for expected errors: honest values are spread evenly around each quantile',
  ];
}

/** Half of an interval, in shares of the people: the margin of its middle edge and half a step. */
function reachShareOf(
  { facts: { cohort }, asked: { probabilities } }: Design, cells: Cells,
): number {
  const reaches = probabilities.map((probability, j) => {
    const { first, middle, last } = placesOf(probabilities.length, j);
    const margin = marginAt(cells.noise, probability, {
      people: cohort, below: middle, above: cells.ofColumn - middle,
    });
    const [low, high] = aimsOf(cells, probabilities, j, cohort);
    return margin + (high - low) / (2 * (last - first));
  });
  return Math.max(...reaches) / cohort;
}

/**
 * In shares of the ranks, Euclidean over the quantiles, for values spread evenly. Away from a
 * quantile scores fall by one per contributor, so the noise of a choice in ranks is Laplace of
 * scale 2 / epsilon. With an interval the noise is that of the counts on both sides.
 */
function expectedErrorOf(
  { facts: { cohort }, asked, columns, cells }: Design,
): Plan['expectedError'] {
  const { probabilities } = asked;
  const sum = (part: (probability: number, j: number) => number): number => Math.sqrt(
    columns.length * probabilities.reduce((total, p, j) => total + part(p, j), 0),
  );
  const noiseOf = (probability: number, j: number): number => {
    if (cells === null) return Math.SQRT2 * 2 / columns[0]!.choice.epsilon;
    const { middle } = placesOf(probabilities.length, j);
    return noiseAt(cells.noise, probability, middle, cells.ofColumn - middle);
  };
  return errorUpTo(
    corruptionMaxOf(asked),
    {
      sampling: sum((p) => (p * (1 - p)) / cohort),
      noise: sum((p, j) => (noiseOf(p, j) / cohort) ** 2),
    },
    (share) => sum((p) => ((Math.max(p, 1 - p) * share) / (1 - share)) ** 2),
  );
}

function release(
  design: Design, summaries: FinishedSummaries, mechanisms: Mechanisms,
): Released<Outcome> {
  const values = valuesOf(summaries, design.columns.length);
  return design.cells === null
    ? releasePoints(design, values, mechanisms)
    : releaseIntervals(design, design.cells, values, mechanisms);
}

function releasePoints(
  { facts, asked, columns, present }: Design, values: Sensitive<readonly Float64Array[]>,
  mechanisms: Mechanisms,
): Released<Outcome> {
  const { outputShape, probabilities } = asked;
  const drawn = present?.draw(mechanisms, values.map(([sorted]) =>
    Float64Array.of(sorted!.length)));
  // The choices are charged but not drawn: with so few contributors their answers would mislead.
  if (drawn !== undefined && drawn.value[0]! < facts.cohort / 4) {
    return drawn.map(() => participationBelowPlan(facts));
  }
  const chosen = columns.flatMap(({ choice, candidates }, j) => probabilities.map((probability) =>
    mechanisms.exponential(choice.name, values.map((all) =>
      candidates.runs(all[j]!, { probability, reach: reachOf(choice) })))));
  return Released.all<readonly number[]>(chosen).map((list): Outcome => {
    const found = columns.map(({ candidates }, j) =>
      list.slice(j * probabilities.length, (j + 1) * probabilities.length)
        .map((index) => candidates.valueAt(index)).sort((left, right) => left - right));
    const findings = columns.flatMap(({ column, range }, j) => (
      found[j]!.some((value) => isAtBound(value, range)) ? answerAtBound(column) : []));
    return {
      kind: 'value', estimate: found.flat(), shape: outputShape, uncertainty: { kind: 'none' },
      // For nothing: the chosen candidates are released.
      ...findings.length > 0 && { findings },
    };
  });
}

function releaseIntervals(
  design: Design, cells: Cells, values: Sensitive<readonly Float64Array[]>, mechanisms: Mechanisms,
): Released<Outcome> {
  const { facts, columns } = design;
  const edges = columns.map((own, j) =>
    edgesAbout(endsOf(design, cells, own, values.map((all) => all[j]!), mechanisms), own.range));
  const counts = cells.noise.draw(mechanisms, values.map((all) => {
    const list = all.map((sorted, j) => countsBetween(sorted, edges[j]!));
    return Float64Array.from(list.flatMap((own) => Array.from(own)));
  }));
  return counts.map((noisy): Outcome => {
    const people = noisy.reduce((sum, count) => sum + count, 0) / columns.length;
    if (people < facts.cohort / 4) return participationBelowPlan(facts);
    return outcomeOf(design, cells, edges, noisy);
  });
}

/** The two places that are chosen for each quantile of a column. */
function endsOf(
  { facts: { cohort }, asked: { probabilities } }: Design, cells: Cells,
  { choice, candidates }: ColumnDesign, sorted: Sensitive<Float64Array>, mechanisms: Mechanisms,
): readonly Chosen[] {
  const chosenAt = (probability: number, offset: number): Place => candidates.edgesAt(
    mechanisms.exponential(choice.name, sorted.map((own) =>
      candidates.runs(own, { probability, offset, reach: reachOf(choice) }))).value,
  );
  return probabilities.map((probability, j) => {
    const [low, high] = aimsOf(cells, probabilities, j, cohort);
    return [chosenAt(probability, low), chosenAt(probability, high)];
  });
}

/** Made of released edges and counts. */
function outcomeOf(
  { facts: { cohort }, asked: { probabilities, outputShape }, columns }: Design, cells: Cells,
  edges: readonly Float64Array[], noisy: Float64Array,
): Outcome {
  const { ofColumn, noise } = cells;
  const found = columns.map((_, j) => probabilities.map((probability) => certifiedQuantile(
    edges[j]!, noisy.slice(j * ofColumn, (j + 1) * ofColumn), noise, probability,
  )));
  const findings = columns.flatMap(({ column, range }, j): readonly Finding[] => [
    ...found[j]!.some((one) => isOpen(one) && isAtBound(one.estimate, range))
      ? answerAtBound(column) : [],
    ...found[j]!.flatMap((one, k) => openEnds(one, column, Math.ceil(marginAt(
      noise, probabilities[k]!, { people: cohort, below: 1, above: ofColumn - 1 },
    )))),
  ]).slice(0, findingsMax);
  const all = found.flat();
  return {
    kind: 'value', shape: outputShape, uncertainty: { kind: 'none' },
    estimate: all.map(({ estimate }) => estimate),
    interval95: { low: all.map(({ low }) => low), high: all.map(({ high }) => high) },
    ...findings.length > 0 && { findings },
  };
}

const isOpen = ({ low, high }: CertifiedQuantile): boolean =>
  low === -Infinity || high === Infinity;

/**
 * Scores stop at the loss at which all candidates together have a chance of 2^-60: so a choice
 * looks at no more contributors than these, however many there are.
 */
function reachOf({ epsilon, candidates }: ExponentialEvent): number {
  return Math.ceil((2 / epsilon) * ln(candidates * 2 ** 60));
}

function isAtBound(value: number, range: ColumnDesign['range']): boolean {
  if (range === undefined) return false;
  const [low, high] = range;
  const near = atBoundShare * (high - low);
  return value <= low + near || value >= high - near;
}
