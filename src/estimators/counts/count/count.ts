import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import { optionalNumberOf, valueBounds } from '../../contract/values.js';
import { planDiscoveredCounts } from '../discovered/counts.js';
import { planDiscoveredKeys } from '../discovered/keys.js';
import { planDistinct } from '../discovered/distinct.js';
import type { IsCounted } from '../discovered/places.js';
import { columnOf, columnParameter, sideOf, sideParameter } from '../tables/common.js';
import type { BinOf } from '../tables/counts.js';
import {
  keyPlacesOf, mostMoved, placeOf, rootAbove, type KeyPlaces,
} from '../tables/key-places.js';
import { planNoisyCounts } from '../tables/noisy-counts.js';
import { describeCount } from './describe.js';

/**
 * How many contributors took part, or how many of them are on one side of a public threshold.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it.
 * Why: the number is the sum over contributors of a function of their own row that is 0 or 1. One
 * contributor replaced, gone or new changes it by at most 1. It is a whole number, so it is on the
 * event's grid. It is released once with noise of sensitivity 1, the discrete Gaussian or Laplace
 * (count-noise).
 *
 * Split by public keys: one count for each of m keys, empty ones too. A contributor counts under at
 * most K keys.
 * Claim. The neighbours are the same, the cost too. One contributor moves the vector of counts by
 * min(2K, m) in L1, and by its root in L2, at most.
 * Why: a row adds 0 or 1 to the count of its key. So a key that the contributor has on one side, or
 * on both, moves by at most 1, and `mostMoved` with both = one = 1 is min(2K, m): j + 2 (K - j) and
 * j + (m - j) do not grow with j. Disjoint sets of K keys reach it. The noise does not depend on m
 * from 2K on.
 *
 * Split by keys that nobody listed: see discovered/counts, discovered/keys for the keys alone, and
 * discovered/distinct for how many keys there are.
 *
 * A hostile contributor changes the count by one, like everybody else; split by keys, the counts of
 * K keys. So L of them move one key by at most L, and the sum over all keys by at most K L.
 * Source: Dwork and Roth (2014), counting queries; the discrete Gaussian of Canonne, Kamath and
 * Steinke (2020).
 */
export const count: Estimator = {
  name: 'count',
  title: 'Number of contributors, all or on one side of a threshold',
  citations: [cite('CKS20', 'theorem 4, with sensitivity 1')],
  parameters: [
    columnParameter,
    {
      name: 'threshold', type: 'number', optional: true, ...valueBounds,
      unit: 'data units',
      description: 'count only contributors on one side of this value; everybody who sent a row '
        + 'when absent',
    },
    sideParameter,
    {
      name: 'of', type: 'choice', optional: true, choices: ['contributors', 'groups'],
      description: 'split by discovered groups: the contributors of each group, or, with groups, '
        + 'how many distinct groups there are; contributors when absent',
    },
  ],
  keyed: ['public', 'discovered'],
  maturity: 'recommended',
  describe: describeCount,
  assumption: 'None.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  liars: 'If m people lie, each count moves by at most m. Split by groups, all counts together '
    + 'move by at most m times the groups that a person may have. Liars forge a discovered group '
    + 'by being as many as its threshold, and push out none',
  plan: planCount,
};

/** @throws InvalidParameterError for `of: groups` where the keys are not discovered. */
function planCount(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const isCounted = countedBy(values, columnsOf(facts));
  const ofKeys = values['of'] === 'groups';
  if (facts.keys?.list === 'discovered') {
    const discovered = { ...facts, keys: facts.keys };
    if (ofKeys && facts.keys.remember !== undefined) {
      throw new InvalidParameterError(
        'by.remember is for groups that are shown, and parameters.of is groups, which shows none: '
        + 'leave one of them out',
        { path: 'by.remember' },
      );
    }
    if (facts.keys.answer === 'groups') {
      if (!ofKeys) return planDiscoveredKeys(isCounted, discovered);
      throw new InvalidParameterError(
        'by.answer is groups, which shows groups, and parameters.of is groups, which counts them: '
        + 'leave one of them out',
        { path: 'by.answer' },
      );
    }
    return ofKeys ? planDistinct(isCounted, discovered)
      : planDiscoveredCounts(isCounted, discovered);
  }
  if (ofKeys) {
    throw new InvalidParameterError(
      'parameters.of is groups, which counts groups that nobody listed: give by with discover, or '
      + 'leave of out',
      { path: 'parameters.of' },
    );
  }
  const places = keyPlacesOf(facts);
  if (facts.keys !== undefined) return planCounts(places, isCounted, facts);
  return planNoisyCounts({
    name: 'count', counts: 1, l1: 1, l2: 1, binOf: (row) => (isCounted(row, 0) ? 0 : null),
    theorem: 'a count of sensitivity 1 with discrete noise; '
      + 'proof in src/estimators/counts/count/count',
    facts: { errorsAreIn: 'shares of the cohort' },
    bias: 1,
  }, facts);
}

/** A count for each key. */
function planCounts(
  places: KeyPlaces, isCounted: IsCounted, facts: StudyFacts,
): Plan | Infeasible {
  const { count: keys, groupsMax, columnsFrom } = places;
  const l1 = mostMoved(places, { both: 1, one: 1 });
  const binOf: BinOf = (row) => (isCounted(row, columnsFrom) ? placeOf(row, places) : null);
  return planNoisyCounts({
    name: 'counts', counts: keys, l1, l2: rootAbove(l1), binOf,
    theorem: 'counts by group of L2 sensitivity sqrt(min(2K, m)) with discrete noise; '
      + 'proof in src/estimators/counts/count/count',
    facts: { errorsAreIn: 'shares of the cohort, over all groups', keys, groupsMax },
    bias: Math.sqrt(l1),
  }, facts);
}

/**
 * @throws InvalidParameterError when there is no such column, or a column is named without a
 *   threshold.
 */
function countedBy(values: ParameterValues, columns: number): IsCounted {
  const threshold = optionalNumberOf(values, 'threshold');
  if (threshold === undefined) {
    if (optionalNumberOf(values, 'column') === undefined) return () => true;
    throw new InvalidParameterError(
      'parameters.column is given without parameters.threshold: '
      + 'give threshold=value to count by it, or leave column out',
      { path: 'parameters.column' },
    );
  }
  const column = columnOf(values, columns);
  const isCounted = sideOf(values, threshold);
  return (row, from) => isCounted(row[from + column]!);
}
