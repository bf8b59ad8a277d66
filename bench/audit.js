// Audits every registered estimator at three epsilons, some in further ways; prints a Markdown
// table. Exit status 1 when a bound is above its claim.
import { execFileSync } from 'node:child_process';
import { estimators } from '../dist/src/estimators/registry.js';
import { auditByKey, keyedSubjects, titleOf } from './audit-keys.js';
import { optionsOf } from './harness/options.js';
import { keelson } from './harness/processes.js';

const {
  seconds: secondsEach, only, keys, epsilons,
} = optionsOf('Audits every estimator; a Markdown table.', {
  seconds: { usual: 60, tiny: 1, means: 'for each audit' },
  only: { usual: null, tiny: 'count', means: 'names of estimators, separated by commas' },
  keys: { usual: 'too', means: 'answers by key: "too", "only" or "none"' },
  epsilons: { usual: [0.5, 1, 4], tiny: [1], means: 'of a release' },
});
/**
 * Parameters that estimators need besides their defaults. All others are audited with spread 1, or
 * with their defaults.
 */
const settings = {
  count: [], sum: ['cap=5'], share: [], ratio: ['cap=5'],
  distribution: ['range=-5..5', 'cells=16'],
  histogram: ['edges=-1,0,1'], quantile: ['range=-5..5'],
  covariance: ['variance-low=.01', 'variance-high=100'],
  gaussian: ['variance-low=.01', 'variance-high=100'],
  'mixture-1d': ['components=1'],
  mixture: ['components=1'],
  select: [
    `hypotheses=${JSON.stringify([0, 3].map((mean) => ({ normal: { mean, deviation: 1 } })))}`,
  ],
  subspace: ['unit=1'],
};
/** Further audits of an estimator, each with a label, settings and events of its own. */
const further = {
  mean: [['final release', ['spread=1'], ['mean']]],
  sum: [['found cap', ['cap=auto', 'cap-max=100'], []]],
};
/** One column, unless an estimator needs more. */
const columns = { mixture: '2', ratio: '2' };
const chosen = only?.split(',');

function settingsOf({ name, parameters }) {
  return settings[name]
    ?? (parameters.some((parameter) => parameter.name === 'spread') ? ['spread=1'] : []);
}

function audited(estimator, epsilon, given, events) {
  const options = [
    ...given.flatMap((setting) => ['--set', setting]),
    ...events.flatMap((event) => ['--event', event]),
  ];
  const command = [
    'audit', estimator.name, '--epsilon', String(epsilon), '--delta', '1e-6', '--columns',
      estimator.dimension ?? columns[estimator.name] ?? '1', '--seconds', String(secondsEach),
    '--json', ...options,
  ];
  try {
    return JSON.parse(execFileSync(process.execPath, [keelson, ...command], {
      stdio: ['ignore', 'pipe', 'ignore'],
    }));
  } catch (error) {
    return error.stdout?.length > 0 ? JSON.parse(error.stdout) : { outcome: 'failed' };
  }
}

const subjects = estimators
  .filter(({ name }) => chosen === undefined || chosen.includes(name))
  .flatMap((estimator) => [
    [estimator, estimator.name, settingsOf(estimator), []],
    ...(further[estimator.name] ?? []).map(([label, ...how]) =>
      [estimator, `${estimator.name}, ${label}`, ...how]),
  ]);
const cells = (entries) => console.log(`| ${entries.join(' | ')} |`);
cells([
  'estimator', 'asked epsilon', 'claimed', 'proved', 'share', 'by counted outputs',
  'trials counted', 'seconds', 'closest pair',
]);
cells(Array.from({ length: 9 }, () => '---'));
function report(name, epsilon, found) {
  if (found.claim === undefined) {
    // A user who asks for one estimator by name must notice that it was not audited.
    if (chosen !== undefined) process.exitCode = 1;
    cells([name, epsilon, found.reason ?? found.outcome, ...Array(6).fill('')]);
    return;
  }
  const { claim, bound, sampled, known, seconds, caught } = found;
  // The part of the audit that proves most.
  const { trialsCounted, pair } = known !== null && known.bound >= sampled ? known : found;
  if (caught) process.exitCode = 1;
  const share = `${Math.round((100 * bound) / claim.epsilon)} %`;
  cells([
    name, epsilon, claim.epsilon.toFixed(3), bound.toFixed(3), share, sampled.toFixed(3),
    trialsCounted, seconds, pair,
  ]);
}

for (const [estimator, name, given, events] of keys === 'only' ? [] : subjects) {
  for (const epsilon of epsilons) {
    report(name, epsilon, audited(estimator, epsilon, given, events));
  }
}
for (const subject of keys === 'none' ? [] : keyedSubjects) {
  if (chosen !== undefined && !chosen.includes(subject.name)) continue;
  for (const epsilon of epsilons) {
    report(titleOf(subject), epsilon, await auditByKey(subject, epsilon, secondsEach));
  }
}
