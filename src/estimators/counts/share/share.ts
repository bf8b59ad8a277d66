import { cite } from '../../contract/citations.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from '../../contract/estimator.js';
import { columnsOf } from '../../contract/given.js';
import { numberOf, valueBounds } from '../../contract/values.js';
import { planMeans } from '../quotients/means.js';
import { columnOf, columnParameter, sideOf, sideParameter } from '../tables/common.js';
import { corruptionMax } from '../tables/noisy-counts.js';
import { describeShare } from './describe.js';

/**
 * Which share of the contributors is on one side of a public threshold in one column.
 *
 * Claim. Neighbours: one contributor's row replaced by any other row, or by nothing, or added.
 * Cost: rho zCDP, no delta, for all data; or pure epsilon, where the budget asks for it.
 * Why: it is the mean of a value that is 0 or 1, with the range 0..1 (quotients/means). It divides
 * by the noisy number of contributors, never by the exact one. Split by keys that nobody listed it
 * costs a delta too (quotients/discovered-means).
 *
 * The share is that of the people who took part, like a count. Its interval is about the noise
 * alone. It does not say how far these people differ from others. A noisy share may be below 0 or
 * above 1.
 * Hostile: L contributors beside n honest ones move a share by at most L / (n + L), under one key
 * too. So a share c of the contributors moves it by at most c.
 * Source: Fieller (1954) for the interval; the discrete Gaussian of Canonne, Kamath and Steinke
 * (2020).
 */
export const share: Estimator = {
  name: 'share',
  title: 'Share of the contributors on one side of a threshold, or of those who say yes',
  citations: [cite('CKS20', 'theorem 14, for a sum and a count in one draw')],
  parameters: [
    columnParameter,
    {
      name: 'threshold', type: 'number', default: 0.5, ...valueBounds,
      unit: 'data units',
      description: 'the share is of contributors on one side of this value; a column of true and '
        + 'false needs none',
    },
    sideParameter,
  ],
  keyed: ['public', 'discovered'],
  maturity: 'recommended',
  describe: describeShare,
  assumption: 'None.',
  claim: 'One contributor’s row replaced by anything, including nothing: rho-zCDP, no delta; '
    + 'pure epsilon under such a budget.',
  liars: 'If m of n people lie, the share moves by at most m / n; split by groups, m of the n '
    + 'people of a group',
  plan: planShare,
};

function planShare(values: ParameterValues, facts: StudyFacts): Plan | Infeasible {
  const column = columnOf(values, columnsOf(facts));
  const isCounted = sideOf(values, numberOf(values, 'threshold'));
  return planMeans({
    ranges: [{ low: 0, high: 1 }],
    valueOf: (row, from) => (isCounted(row[from + column]!) ? 1 : 0),
    isClipped: false,
    isScalar: true,
    isSample: false,
    corruptionMax,
  }, facts);
}
