// The subjects of `npm run check:exact`: every registered estimator, and further forms of some.
import { Sensitive } from '../../dist/src/base/brands.js';
import { parseParameters } from '../../dist/src/estimators/contract/parameters.js';
import { forEachKey } from '../../dist/src/estimators/keyed/each.js';
import { estimators, findEstimator } from '../../dist/src/estimators/registry.js';
import { privacyTarget, resolvePureTarget } from '../../dist/src/privacy/accounting/target.js';

/** Parameters that estimators need besides a spread of 1, and numbers on which rows stand. */
const settings = {
  count: [{ column: 0, threshold: 0.5 }, [0.5, 0]],
  sum: [{ cap: 5 }, [5, 2.5]],
  share: [{ column: 0 }, [0, 1]],
  ratio: [{ cap: 5 }, [5, 1]],
  histogram: [{ column: 0, edges: '-1,0,1' }, [-1, 0, 1]],
  median: [{ range: '-5..5' }, [-5, 5, 0]],
  quantile: [{ column: 0, range: '-5..5' }, [-5, 5, 0]],
  distribution: [{ column: 0, range: '-5..5', cells: 16 }, [-5, 5, 0]],
  covariance: [{ 'variance-low': 0.01, 'variance-high': 100 }],
  'subsample-covariance': [{}],
  gaussian: [{ 'variance-low': 0.01, 'variance-high': 100 }],
  'mixture-1d': [{ column: 0, components: 1 }],
  mixture: [{ components: 1 }],
  select: [{
    hypotheses: JSON.stringify([0, 3].map((mean) =>
      ({ columns: [0, 1].map(() => ({ normal: { mean, deviation: 1 } })) }))),
  }],
  subspace: [{ unit: 1 }],
};

/** Answers by key: the place of a key, and this many columns. */
const byKey = [
  ['count', {}, 0], ['sum', { cap: 5 }, 1], ['histogram', { edges: '-1,0,1' }, 1],
  ['mean', { range: '-5..5' }, 1], ['share', {}, 1], ['ratio', { cap: 5 }, 2],
  ['quantile', { range: '-5..5', probabilities: '0.75' }, 1],
];
const publicKeys = { list: 'public', groupsMax: 2, count: 4 };
const discoveredKeys = { list: 'discovered', groupsMax: 2, top: 4, prefilter: 1 };

/** The places of keys are their names. */
const foundKeys = Sensitive.of({
  size: publicKeys.count, compare: (left, right) => left - right,
  find: ([place]) => Number(place),
  partsOf: (place) => [String(place)],
});

/** A range whose ends rounding alone would put a step too far apart. */
const halfSteps = [-1 - 2 ** -40, 2 ** 21 - 1];

const cohorts = [2000, 20_000, 200_000, 2_000_000];
const target = privacyTarget({ epsilon: 8, delta: 1e-4 });
const pure = resolvePureTarget({ epsilon: 2, delta: 0 });

const subject = (name, title, set, dimension, more = {}) =>
  ({ name, title, set, dimension, landmarks: [], ...more });

/** Each with the estimator's name; `title` names the form of it. */
export const subjects = [
  ...estimators.flatMap(({ name }) => {
    const [set, landmarks = []] = settings[name] ?? [{ spread: 1 }];
    return [subject(name, name, set, 2, { landmarks })];
  }),
  subject('heavy-tailed', 'heavy-tailed, groups', { spread: 1, variant: 'groups' }, 1),
  subject('heavy-tailed', 'heavy-tailed, candidates',
    { spread: 1, radius: 100, variant: 'candidates' }, 2),
  subject('prime', 'prime, one direction', { spread: 1, directions: 'one' }, 2),
  subject('stable-mean', 'stable-mean, reference', { spread: 1, variant: 'reference' }, 2),
  subject('sum', 'sum, found cap', { cap: 'auto', 'cap-max': 100 }, 2),
  subject('sum', 'sum, range above 0', { range: '5..10' }, 1, { landmarks: [5, 10] }),
  subject('sum', 'sum, half steps', { range: halfSteps.join('..') }, 1, { landmarks: halfSteps }),
  subject('histogram', 'histogram, bins without bounds', { column: 0, width: 1 }, 1),
  subject('quantile', 'quantile, without intervals',
    { column: 0, range: '-5..5', probabilities: '0.001' }, 1, { landmarks: [-5, 5, 0] }),
  subject('quantile', 'quantile, without a range', {}, 1),
  subject('mean', 'mean, public range', { range: '-5..5' }, 1, { landmarks: [-5, 5] }),
  subject('mean', 'mean, one column', { spread: 1 }, 1),
  ...['count', 'sum', 'histogram', 'share', 'quantile'].map((name) => subject(
    name, `${name}, pure`, settings[name][0], 1, { landmarks: settings[name][1], target: pure },
  )),
  subject('sum', 'sum, found cap, pure', { cap: 'auto', 'cap-max': 100 }, 1, { target: pure }),
  subject('mean', 'mean, public range, pure', { range: '-5..5' }, 1,
    { landmarks: [-5, 5], target: pure }),
  ...byKey.map(([name, set, columns]) =>
    subject(name, `${name}, by key`, set, columns + 1, { keys: publicKeys })),
  ...byKey.filter(([name]) => findEstimator(name).keyed?.includes('discovered')).map(
    ([name, set, columns]) => subject(name, `${name}, keys that nobody listed`, set, columns + 1, {
      keys: discoveredKeys, found: foundKeys,
    }),
  ),
  subject('count', 'count, keys alone', {}, 2, {
    keys: { ...discoveredKeys, answer: 'groups' }, found: foundKeys,
  }),
  subject('count', 'count, number of keys', { of: 'groups' }, 1, {
    keys: discoveredKeys, found: foundKeys,
  }),
];

/** The plan of a subject at the smallest cohort that has one; null if there is none. */
export function planOf({ name, set, dimension, keys, target: own = target }) {
  const found = findEstimator(name);
  const isEach = keys !== undefined && found.keyed?.includes(keys.list) !== true;
  const estimator = isEach ? forEachKey(found) : found;
  const columns = Math.max(1, keys === undefined ? dimension : dimension - 1);
  const parameters = parseParameters(estimator.parameters, set, { dimension: columns });
  for (const cohort of cohorts) {
    const facts = {
      dimension, cohort, participation: 'secret', target: own, ...(keys && { keys }),
    };
    const plan = estimator.plan(parameters, facts);
    if (plan.kind === 'plan') return { plan, facts, parameters };
  }
  return null;
}
