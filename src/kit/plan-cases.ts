import { labelsOf } from '../answers/words.js';
import { amountToNumber } from '../privacy/accounting/amount.js';
import { chargeFits, costOfEvents } from '../privacy/accounting/composition.js';
import type { Case } from './case.js';
import { check, checkRefuses, checkSame, deepFrozen } from './checks.js';
import { target, type Trial } from './trial.js';

/** Rules for the plan of every estimator, which is made from public facts alone. */
export const planCases: readonly Case[] = [
  { name: 'is pure: same inputs, same plan, inputs untouched', run: isPure },
  { name: 'costs what its events cost, and no more than was asked', run: costsItsEvents },
  { name: 'describes itself in public numbers', run: describesItself },
  { name: 'describes each number of an answer, from public facts alone', run: describesNumbers },
  { name: 'refuses parameters outside their bounds', run: refusesParameters },
  {
    name: 'says what a hopeless cohort would need, and needs no more than it says',
    run: saysWhatItNeeds,
  },
];

function isPure(trial: Trial): void {
  const parameters = deepFrozen({ ...trial.parameters });
  const facts = deepFrozen({ ...trial.facts });
  const { estimator } = trial;
  checkSame(
    estimator.plan(parameters, facts), estimator.plan(parameters, facts),
    'two plans from the same parameters and facts differ',
  );
}

function costsItsEvents({ plan }: Trial): void {
  const arms = plan.arms.map(({ name }) => name);
  const disjoint = arms.length > 1 ? arms : [];
  checkSame(plan.cost, costOfEvents(plan.events, { disjoint }), 'the plan states another cost than '
    + 'that of its events: make it by makePlan');
  check(chargeFits(plan.cost, target), 'the plan costs more than was asked');
  // The rho of several pure events is less than that of their epsilons together.
  const { rho, epsilon } = plan.cost;
  const pure = epsilon === null ? 0 : amountToNumber(epsilon) / Math.sqrt(2 * target.rho);
  const spent = Math.max(pure, amountToNumber(rho) / target.rho);
  check(spent > 0.99, `the plan spends ${spent.toFixed(3)} of what was asked, and should spend all`);
  const names = new Set(plan.events.map(({ name }) => name));
  check(names.size === plan.events.length, 'two events have the same name');
  for (const { name, cohort } of plan.events) {
    check(arms.includes(cohort), `event ${name} is of ${cohort}, which is no arm of the plan`);
  }
}

function describesItself({ plan, estimator }: Trial): void {
  const shares = plan.arms.reduce((sum, { share }) => sum + share, 0);
  check(Math.abs(shares - 1) < 1e-12, 'the shares of the arms do not add up to 1');
  check(plan.noise.every((deviation) => deviation > 0), 'a standard deviation of noise is not '
    + 'positive: leave noise out where it is not known');
  check(estimator.citations.length > 0, 'the estimator cites nothing');
  check(estimator.claim.length > 20, 'the estimator claims nothing');
  for (const [name, value] of Object.entries(plan.facts)) {
    check(typeof value === 'string' || Number.isFinite(value), `fact ${name} is not finite`);
  }
  const { total, sampling, noise, bias } = plan.expectedError(0);
  check(Math.abs(total - Math.hypot(sampling, noise, bias)) < 1e-9,
    'the total of the expected error is not the root sum of squares of its parts');
  check(plan.expectedError(0.9).total === Infinity,
    'the plan promises an error with nine false rows in ten');
  check(plan.expectedError(plan.guarantee.corruptionMax).total < Infinity,
    'the plan has no expected error at its corruptionMax');
}

function describesNumbers({ plan, estimator, columns, parameters }: Trial): void {
  const frozen = deepFrozen({ ...parameters });
  const numbers = estimator.describe(frozen, columns);
  const length = plan.outputShape.reduce((product, size) => product * size, 1);
  check(numbers.length === length, `${numbers.length} numbers are described, and an answer has `
    + `${length}`);
  checkSame(estimator.describe(frozen, columns), numbers, 'two descriptions of the same differ');
  checkSame(JSON.parse(JSON.stringify(numbers)), numbers, 'a description does not survive JSON');
  for (const number of numbers) {
    const { column = columns[0]!.name } = number as { readonly column?: string };
    check(columns.some(({ name }) => name === column), `${column} is described, and is no column`);
    check(number.group === undefined, 'a number has a group in an answer that is not split');
    check(number.kind !== 'other', 'a number is described as other: say of what kind it is');
  }
  const labels = labelsOf(numbers);
  check(new Set(labels).size === labels.length, 'two numbers of an answer have the same label');
}

function refusesParameters(trial: Trial): void {
  const { parameters: raw } = trial.sample;
  for (const { name, minimum, maximum } of trial.estimator.parameters) {
    const outside = [
      ...(minimum === undefined ? [] : [minimum - Math.abs(minimum) - 1]),
      ...(maximum === undefined ? [] : [2 * Math.abs(maximum) + 1]),
      { odd: true },
    ];
    for (const value of outside) {
      checkRefuses(() => trial.parse({ ...raw, [name]: value }), `parameter ${name} takes any value`);
    }
  }
  checkRefuses(() => trial.parse({ ...raw, unheardOf: 1 }), 'an unknown parameter is taken');
}

function saysWhatItNeeds({ estimator, facts, parameters, sample }: Trial): void {
  const planFor = (cohort: number): ReturnType<typeof estimator.plan> =>
    estimator.plan(parameters, { ...facts, cohort });
  const few = sample.hopelessCohort ?? 50;
  const hopeless = planFor(few);
  const expected = sample.answersAnyCohort === true ? 'plan' : 'infeasible';
  check(hopeless.kind === expected, expected === 'plan'
    ? `there is no plan for ${few} contributors`
    : `there is a plan for ${few} contributors: give the sample another hopelessCohort`);
  if (hopeless.kind !== 'infeasible' || hopeless.cohortNeeded === undefined) return;
  check(planFor(hopeless.cohortNeeded).kind === 'plan',
    `${hopeless.cohortNeeded} contributors are said to suffice, and do not`);
}
