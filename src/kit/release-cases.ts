import { checkRelease } from '../audit/exact/release-check.js';
import type { NumberInfo } from '../base/number-info.js';
import type { ValueOutcome } from '../base/outcome.js';
import type { Case } from './case.js';
import { check, checkSame, written } from './checks.js';
import { seededData, type SampleData } from './sample.js';
import { contributorsOf, type Trial } from './trial.js';

/** The most that rounding to doubles may change an exact answer by. */
const roundingError = 1e-12;

const cohortShares = [0.5, 1, 1.5];

/** Rules for the releases of every estimator. */
export const releaseCases: readonly Case[] = [
  {
    name: 'draws the same bytes from the same seeds, others from others, and only planned events',
    repeats: true, run: drawsPlanned,
  },
  {
    name: 'refuses, or is right, and does not throw, when there is nobody or one',
    run: isRightOfFew,
  },
  {
    name: 'costs no more than it charges on neighbours of honest rows, call by call',
    run: costsItsCharge,
  },
  {
    name: 'has a value in the shape and with the uncertainty that it promises',
    run: hasItsShape,
  },
  ...cohortShares.map((share): Case => ({
    name: `is right or refuses when ${share} of the cohort came`,
    isSlow: true, run: (trial) => isRightWhen(trial, share),
  })),
  {
    name: 'errs as much as it says on honest rows, within a factor 1.5 either way',
    isSlow: true, run: errsAsSaid,
  },
  {
    name: 'stays within its stated error under the contamination it declares',
    isSlow: true, run: staysWithinError,
  },
  {
    name: 'is as good far from the origin, and with a constant column',
    appliesTo: ({ sample }) => sample.location, run: isGoodFarAway,
  },
];

async function drawsPlanned(trial: Trial): Promise<void> {
  const { plan, sample } = trial;
  const list = trial.entries(trial.data('seeds'), sample.cohort);
  const names = new Set<string>();
  const first = await trial.release(trial.filled(list), 'one', names);
  check(first.kind === 'value', 'a release of the whole cohort has no answer');
  checkSame(await trial.release(trial.filled(list), 'one'), first,
    'two releases from the same seeds differ');
  if (sample.exact !== true) {
    const other = await trial.release(trial.filled(list), 'two');
    check(written(other) !== written(first), 'releases from different seeds are the same');
  }
  const planned = plan.events.map(({ name }) => name);
  for (const name of names) check(planned.includes(name), `${name} is drawn, and not planned`);
  check(names.size > 0, 'a release draws nothing');
}

async function isRightOfFew(trial: Trial): Promise<void> {
  const { plan, sample } = trial;
  const expected = sample.answersAnyCohort === true ? 'value' : 'refused';
  for (const list of [[], trial.entries(seededData('one'), 1)]) {
    const outcome = await trial.release(trial.filled(list), 'nobody');
    check(outcome.kind === expected, `a release of ${list.length} contributors is ${outcome.kind}`);
    checkError(trial.errorOf(outcome, list) ?? 0, 4 * plan.expectedError(0).total);
  }
}

async function costsItsCharge(trial: Trial): Promise<void> {
  const { plan, sample: { cohort, dimension, unit, isLarge } } = trial;
  const list = trial.entries(trial.data('pairs'), cohort);
  const far = { ...list[0]!, row: list[0]!.row.map((entry) => entry + 1e6 * unit) };
  const left = contributorsOf(list);
  const pairs = [
    { name: 'one far away', left, right: contributorsOf([far, ...list.slice(1)]) },
    { name: 'one absent', left, right: contributorsOf(list.slice(1)) },
  ];
  const { faults, moved } = await checkRelease({
    subject: { plan, dimension }, prefixes: 2, pairs: isLarge === true ? pairs.slice(0, 1) : pairs,
  });
  check(faults.length === 0, `a release costs more than it charges: ${faults.join('; ')}`);
  check(moved > 0, 'one contributor moves nothing that noise is added to: nothing was tested');
}

async function hasItsShape(trial: Trial): Promise<void> {
  const { plan, estimator } = trial;
  const list = trial.entries(seededData('shape'), trial.sample.cohort);
  const outcome = await trial.release(trial.filled(list), 'shape');
  check(outcome.kind === 'value', 'a release of the whole cohort has no answer');
  const { shape, parts, estimate, uncertainty, interval95 } = outcome;
  checkSame(shape, plan.outputShape, 'an answer has another shape than the plan');
  checkSame(parts ?? null, plan.parts ?? null, 'an answer has other parts than the plan');
  check(estimate.length === shape.reduce((product, size) => product * size, 1),
    'an answer has another number of entries than its shape');
  check(estimate.every((value) => Number.isFinite(value)), 'an answer is not finite');
  checkDescribed(estimator.describe(trial.parameters, trial.columns, outcome), outcome);
  if (uncertainty.kind === 'gaussian' && plan.noise.length > 0) {
    check(uncertainty.standardDeviation.every((deviation, j) =>
      deviation / plan.noise[j]! > 0.5 && deviation / plan.noise[j]! < 2),
    'an answer has another noise than the plan');
  }
  check(interval95?.low.every((low, j) =>
    low < estimate[j]! && estimate[j]! < interval95.high[j]!) !== false,
  'an answer is not in its interval');
}

/**
 * Fails unless every number of an answer has a description, and its interval holds a value that the
 * description says is possible.
 */
function checkDescribed(
  numbers: readonly NumberInfo[], { estimate, interval95 }: ValueOutcome,
): void {
  check(numbers.length === estimate.length, 'an answer has a number that is not described');
  numbers.forEach(({ least = -Infinity, most = Infinity }, i) => {
    check(least < most, 'a description has least above most');
    check((interval95?.high[i] ?? estimate[i]!) >= least
      && (interval95?.low[i] ?? estimate[i]!) <= most,
    `the interval of number ${i} holds no value that its description says is possible`);
  });
}

function checkError(error: number, most: number): void {
  check(error < most + roundingError, `the error is ${error.toPrecision(3)} units, and `
    + `${most.toPrecision(3)} are allowed`);
}

async function isRightWhen(trial: Trial, share: number): Promise<void> {
  const { plan, sample } = trial;
  const rounds = sample.isOneNumber === true ? 250 : 4;
  const contributors = Math.round(share * sample.cohort);
  const { rms, answered } =
    await trial.measured({ label: `cohort ${share}`, contributors, rounds });
  check(share !== 1 || answered === rounds, 'a release of the whole cohort is refused');
  if (answered > 0) checkError(rms, 2.5 * plan.expectedError(0).total);
}

async function errsAsSaid(trial: Trial): Promise<void> {
  const { plan, sample } = trial;
  const rounds = sample.isOneNumber === true ? 100 : sample.honestRounds ?? 16;
  const { rms, answered } =
    await trial.measured({ label: 'honest', contributors: sample.cohort, rounds });
  check(answered === rounds, 'a release of honest rows is refused');
  const { total, sampling, noise } = plan.expectedError(0);
  checkError(rms, 1.5 * total);
  // The bias is the worst of all rows that the estimator allows, and these have none.
  const least = Math.hypot(sampling, noise) / 1.5;
  check(sample.exact === true || rms > least,
    `the error is ${rms.toPrecision(3)} units, and at least ${least.toPrecision(3)} were expected`);
}

async function staysWithinError(trial: Trial): Promise<void> {
  const { plan, sample } = trial;
  const fraction = plan.guarantee.corruptionMax;
  const said = plan.expectedError(fraction).total;
  for (const shift of fraction === 0 ? [] : [1, 1.8, 4, 1e6]) {
    const row = (data: SampleData): Float64Array =>
      sample.honest(data).map((entry) => entry + shift * sample.unit);
    const { rms, answered } = await trial.measured({
      label: `shift ${shift}`, contributors: sample.cohort, rounds: 4, falseRows: { fraction, row },
    });
    check(answered >= 3, `two of four releases with false rows ${shift} units away are refused`);
    checkError(rms, 1.5 * said);
  }
}

async function isGoodFarAway(trial: Trial): Promise<void> {
  const { plan, sample } = trial;
  const shift = 1e6 * sample.unit;
  const most = 4 * plan.expectedError(0).total;
  const far = trial.entries(trial.data('far'), sample.cohort).map(({ assignmentHash, row }) =>
    ({ assignmentHash, row: row.map((entry) => entry + shift) }));
  const constant = far.map(({ assignmentHash, row }) =>
    ({ assignmentHash, row: row.map((entry, j) => (j === 0 ? shift : entry)) }));
  for (const [list, seed] of [[far, 'far'], [constant, 'constant']] as const) {
    const error = trial.errorOf(await trial.release(trial.filled(list), seed), [], shift);
    check(error !== undefined, seed === 'far' ? 'a release of rows far away is refused'
      : 'a release with a constant column is refused');
    checkError(error, most);
  }
}
