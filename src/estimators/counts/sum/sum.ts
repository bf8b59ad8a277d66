import { InvalidParameterError } from '../../../base/errors.js';
import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterSpec, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import {
  optionalNumbersOf, rangeOf, rangeParameter, valueBounds,
} from '../../contract/values.js';
import { boundsOf, type Bounds } from './bounds.js';
import { describeSum } from './describe.js';
import { planDiscoveredTotals } from './discovered-totals.js';
import { planFoundCap } from './found-cap.js';
import { planGivenBounds } from './given-bounds.js';

const parameters: readonly ParameterSpec[] = [
  {
    name: 'cap', type: 'positive', choices: ['auto'], optional: true, minimum: 1e-150,
    maximum: valueBounds.maximum, unit: 'data units',
    description: 'the most that one contributor counts for in a column, one number or one per '
      + 'column; values are clipped to 0..cap; auto finds it privately for 3 tenths of the cost; '
      + 'give this or range',
  },
  {
    name: 'cap-max', type: 'positive', optional: true, minimum: 1e-140,
    maximum: valueBounds.maximum, unit: 'data units',
    description: 'for cap auto: the largest value that counts in full, one number or one per '
      + 'column; no cap below a three-billionth of it is tried',
  },
  {
    ...rangeParameter,
    description: 'public bounds of the columns, like -50..200, one or one per column; values are '
      + 'clipped to them; give this or cap',
  },
];

/**
 * The total of each column over all contributors, each value clipped to public bounds or to a cap
 * that is found privately.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it. Proof and
 * split of the cost: given-bounds, and found-cap for cap auto.
 *
 * It estimates the total of the clipped values. A value beyond the bounds counts as at the bound,
 * so the total of the values themselves may be farther out by any amount. Noisy numbers of people
 * below and above the bounds are drawn too. Where one is more than noise, the finding
 * `values-clipped` reports it, and the interval is open on this side. With a cap that is found, the
 * total is that of values up to capMax, and found-cap says what its interval stands on.
 *
 * Split by keys it has a total of each column for each key, with given bounds only. The bounds are
 * those of one contributor under one key. Keys that nobody listed cost a delta too
 * (discovered-totals).
 *
 * A hostile contributor moves a total by at most its unit, max(high, 0) - min(low, 0), and with a
 * cap that is found by at most capMax.
 * Source: Dwork and Roth (2014), sums of bounded values; the discrete Gaussian of Canonne, Kamath
 * and Steinke (2020).
 */
export const sum: Estimator = {
  name: 'sum',
  title: 'Total of each column over all contributors, each value clipped to bounds',
  citations: [
    cite('CKS20', 'theorem 14, for whole multiples of 2^-20 of the bound'),
  ],
  parameters,
  keyed: ['public', 'discovered'],
  maturity: 'recommended',
  describe: describeSum,
  assumption: 'You know a bound for nearly all values, or the largest bound to try.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  liars: 'If m people lie, each total moves by at most m times its cap, or m times the width of '
    + 'its range with 0 in it. With a cap that is found, by at most m times cap-max',
  plan: planSum,
};

/** @throws InvalidParameterError when parameters contradict each other, or one is missing. */
function planSum(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  demandColumns(facts);
  const found = foundCapOf(values);
  if (found !== null) return planFoundCap(found, facts);
  const bounds = givenBoundsOf(values);
  const { keys } = facts;
  if (keys?.list !== 'discovered') return planGivenBounds(bounds, facts);
  const totals = planDiscoveredTotals(bounds, { ...facts, keys });
  return 'kind' in totals ? totals : totals.plan;
}

/** @throws InvalidParameterError when there is nothing to add up. */
function demandColumns(facts: StudyFacts): void {
  if (columnsOf(facts) > 0) return;
  throw new InvalidParameterError(
    'the question has no columns: give it those that are added up, or ask count',
    { path: 'columns' },
  );
}

/** @throws InvalidParameterError when both or neither of cap and range are given. */
function givenBoundsOf(values: ParameterValues): readonly Bounds[] {
  const range = rangeOf(values);
  if (range === null) {
    return optionalNumbersOf(values, 'cap')?.map((high) => boundsOf(0, high)) ?? refuse(
      'cap', 'neither parameters.cap nor parameters.range is given: give cap=most, what one '
      + 'contributor counts for at most, range=low..high, between which nearly all values lie, or '
      + 'cap=auto and cap-max=most, the largest cap that may be found',
    );
  }
  if (values['cap'] !== undefined) {
    refuse('cap', 'parameters.cap and parameters.range are both given: give one of them');
  }
  return Array.from(range.low, (low, j) => boundsOf(low, range.high[j]!));
}

/**
 * Null when bounds are given.
 * @throws InvalidParameterError when cap auto lacks cap-max or has a range, and when cap-max is
 *   given without it.
 */
function foundCapOf(values: ParameterValues): readonly number[] | null {
  const capMax = optionalNumbersOf(values, 'cap-max');
  if (values['cap'] !== 'auto') {
    if (capMax !== undefined) {
      refuse('cap-max', 'parameters.cap-max is for cap=auto: leave it out, or give cap=auto in '
        + 'place of a cap or range');
    }
    return null;
  }
  if (values['range'] !== undefined) {
    refuse('cap', 'parameters.cap and parameters.range are both given: give one of them');
  }
  if (capMax !== undefined) return capMax;
  return refuse(
    'cap-max', 'parameters.cap is auto, and parameters.cap-max is missing: give cap-max=most, '
    + 'the largest cap that may be found',
  );
}

function refuse(name: string, text: string): never {
  throw new InvalidParameterError(text, { path: `parameters.${name}` });
}
