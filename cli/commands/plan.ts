import type { BudgetRuleName } from '../../src/base/budget-rules.js';
import { protocolLimits } from '../../src/base/limits.js';
import type {
  ExpectedError, Infeasible, ParameterValues, Plan, PrivacyTarget,
} from '../../src/estimators/contract/estimator.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { epsilonRange, perReleaseTarget } from '../../src/privacy/accounting/target.js';
import {
  autoName, checkName, choiceFacts, printChoice, questionArguments, resolveEstimator, withQuestion,
} from '../estimate/chosen.js';
import { readsCells } from '../estimate/request.js';
import { defineCommand } from '../base/command.js';
import { UsageError } from '../base/errors.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import { settingsFlag } from '../base/settings.js';
import { formatNumber, type Output } from '../base/output.js';
import { errorUnit } from '../../src/error-unit.js';
import { plannerOf, smallestCohortFor, smallestPlan } from '../../src/plan.js';
import {
  cohortFlag, participationArgument, participationOf, privacyArguments, targetOfFlags,
} from '../base/privacy-flags.js';
import { statementOf, type PrivacyStatement } from '../../src/privacy-statement.js';
import {
  choicesOf, describeQuestions, printQuestions, unitOf, type DescribedQuestions,
} from '../plan/questions.js';
import { quarantineBound } from '../../server/studies/keep/quarantine-bound.js';
import { readStudies } from '../base/study-files.js';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Sample sizes, noise and expected error from public numbers, without data.',
  details: [
    'Errors are the root of the expected squared distance from the truth. They are shown in people '
    + 'or in units of the column where public numbers say how; --json and --error have spreads, or '
    + 'the unit that errorsAreIn names. With --error it finds the smallest cohort (number of '
    + 'people) with at most that error, under --corruption. With --budget-epsilon it '
    + 'says for how many releases a budget lasts. With study files in place of an estimator, it '
    + 'prints the plan of each study from its file. Exit status 1: there is no plan for these '
    + 'numbers, or the budget does not pay for one release; it prints why, and what would help.',
  ],
  args: {
    name: {
      type: 'positional',
      required: true,
      valueHint: 'name...',
      description: 'an estimator ("keelson estimators" lists them), auto to have one chosen from '
        + 'these numbers (total and percentile are auto with that question), or study files '
        + '(.yaml)',
    },
    ...questionArguments,
    cohort: {
      type: 'string', valueHint: 'n',
      description: 'contributors per epoch; may be left out with --error',
    },
    columns: {
      type: 'string', valueHint: 'a,b',
      description: 'columns of a row, by name, or how many there are; not for study files or a '
        + 'count of everybody',
    },
    ...privacyArguments,
    set: {
      type: 'string', valueHint: 'key=value',
      description: 'a parameter of the estimator; may be repeated',
    },
    corruption: {
      type: 'string',
      valueHint: 'share',
      description: 'fraction of false rows to design and plan for (default: the estimator\'s)',
    },
    error: {
      type: 'string',
      valueHint: 'x',
      description: 'find the smallest cohort whose expected error is at most this; '
        + 'without --participation, presence is protected',
    },
    ...participationArgument,
    'budget-epsilon': { type: 'string', valueHint: 'e', description: 'epsilon of a whole budget' },
    populations: {
      type: 'string', valueHint: 'file',
      description: 'with study files: budgets that they share (.yaml)',
    },
    'budget-delta': {
      type: 'string', valueHint: 'd', description: 'delta of the budget (default 10 times --delta)',
    },
  },
  repeatable: ['set'],
  examples: [
    'keelson plan mean --cohort 3000 --participation secret --columns 2 \\\n'
    + '    --epsilon 1 --delta 1e-6 --set spread=1',
    'keelson plan auto --question mean --cohort 50000 --participation secret \\\n'
    + '    --columns 2 --epsilon 1 --delta 1e-6',
    'keelson plan studies/flights-mean.yaml',
    'keelson plan populous-mean --columns 2 --epsilon 2 --delta 1e-6 --set spread=1 --corruption '
      + '0.1 --error 0.3',
  ],
  async run({ args: typed, repeated, output }) {
    const args = withQuestion(typed);
    if (isStudyFile(args.name)) {
      return planStudies([args.name, ...args._.slice(1)], args, repeated['set'] ?? [], output);
    }
    // No estimator has such a name.
    if (/[./\\]/.test(args.name)) {
      throw new UsageError(`${args.name} is no study file (.yaml), and plan reads no other: it `
        + 'says errors before there are data. Name what you want to know, as in "keelson plan mean '
        + '--columns minutes --cohort 1000 --epsilon 1"; "keelson estimate" reads the file');
    }
    if (args._.length > 1) {
      throw new UsageError(`one estimator at a time: ${args._[1]!} is one too many`);
    }
    if (args.populations !== undefined) {
      throw new UsageError('--populations is for study files: leave it out');
    }
    checkName(args.name, args.question);
    const set = await settingsFlag(repeated['set'] ?? []);
    const dimension = columnsOf(args, set);
    const { given, error } = sizes(args);
    const hostile = numberFlag(args.corruption, '--corruption', { atLeast: 0, below: 0.5 });
    const { target, budget } = targets(args, given);
    const participation = participationOf(args.participation, given !== undefined, 'secret');
    const raw = declared(args.name, hostile, set);
    // Only `auto` uses the cohort here, and it has one.
    const resolved =
      await resolveEstimator(args, raw, { dimension, target, participation, cohort: given ?? 1 });
    if (resolved.kind === 'infeasible') {
      return infeasible(resolved, { estimator: autoName, dimension, cohort: given }, output);
    }
    const { estimator, parameters, choice } = resolved;
    const corruption = hostile
      ?? (typeof parameters['corruption'] === 'number' ? parameters['corruption'] : 0);
    if (budget !== undefined && budget.releases < 1) {
      const header = { estimator: estimator.name, parameters, dimension, budget };
      return infeasible(tooSmall(budget, target), header, output);
    }
    const planFor = plannerOf(estimator, parameters, { dimension, target, participation });
    const minimumCohort = smallestPlan(planFor);
    const cohort = given ?? (minimumCohort === null ? null
      : smallestCohortFor(planFor, corruption, error!, minimumCohort));
    const header = {
      estimator: estimator.name, ...(choice === null ? {} : choiceFacts(choice)), parameters,
      dimension, corruption, minimumCohort,
    };
    if (cohort === null) {
      return unreachable(planFor(protocolLimits.cohortMax), corruption, error!, header, output);
    }
    const found = planFor(cohort);
    if (found.kind === 'infeasible') return infeasible(found, { ...header, cohort }, output);
    const shown = hostile ?? Math.min(corruption, found.guarantee.corruptionMax);
    const described = {
      ...header,
      corruption: shown,
      cohort,
      outcome: 'plan',
      ...describe(found, target, shown),
      ...(budget === undefined ? {} : { budget }),
    };
    output.json(described);
    if (choice !== null) printChoice(choice, args.question, output);
    print(described, output);
    return 0;
  },
});

/**
 * The number of columns to plan for. A count of everybody needs none, and is planned for one.
 * @throws UsageError where none are given, and the answer is about some.
 */
function columnsOf(
  { name, question, columns }: {
    readonly name: string; readonly question?: string | undefined;
    readonly columns?: string | undefined;
  },
  set: Readonly<Record<string, unknown>>,
): number {
  if (columns === undefined) {
    if (!readsCells(name, question, set)) return 1;
    throw new UsageError('--columns is missing: give the names of the columns, or their number');
  }
  const names = listFlag(columns, '--columns')!;
  const count = Number.isNaN(Number(columns)) ? String(names.length) : columns;
  return numberFlag(
    count, '--columns', { atLeast: 1, atMost: protocolLimits.columns, whole: true },
  );
}

/** The cohort, or the error to solve for. @throws UsageError for both or none. */
function sizes(args: {
  readonly name: string; readonly cohort?: string | undefined; readonly error?: string | undefined;
}): { readonly given: number | undefined; readonly error: number | undefined } {
  const error = numberFlag(args.error, '--error', { above: 0 });
  const given = cohortFlag(args.cohort);
  if (given === undefined && error === undefined) {
    throw new UsageError('--cohort is missing: give it, or --error to solve for it');
  }
  if (given === undefined && args.name === autoName) {
    throw new UsageError(`--cohort is missing: ${autoName} needs it`);
  }
  if (given !== undefined && error !== undefined) {
    throw new UsageError('--cohort and --error are both given: --error solves for the cohort');
  }
  return { given, error };
}

/**
 * The parameters. If the estimator has one for the corruption, it is also designed for this
 * share.
 */
function declared(
  name: string, hostile: number | undefined, set: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const takesIt = name === autoName
    || findEstimator(name).parameters.some((spec) => spec.name === 'corruption');
  return hostile !== undefined && takesIt ? { corruption: hostile, ...set } : set;
}

function isStudyFile(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** The study's file has everything about it, so flags that could contradict it are refused. */
const flagsOfEstimators = [
  'cohort', 'columns', 'epsilon', 'delta', 'error', 'participation', 'question',
  'budget-epsilon', 'budget-delta',
] as const;

function planStudies(
  files: readonly string[],
  args: { readonly [name in (typeof flagsOfEstimators)[number] | 'corruption'
    | 'populations']?: string | undefined },
  settings: readonly string[],
  output: Output,
): 0 {
  const extra = settings.length > 0
    ? 'set' : flagsOfEstimators.find((name) => args[name] !== undefined);
  if (extra !== undefined) {
    throw new UsageError(`--${extra} is given with a study file: change the file instead`);
  }
  const hostile = numberFlag(args.corruption, '--corruption', { atLeast: 0, below: 0.5 });
  const plans = readStudies(files, args.populations)
    .map((planned) => {
      const { document, questions: [asked], target, releases, binds } = planned;
      if (document.wireForm === undefined) return describeQuestions(planned, hostile);
      const { plan: found, question: { parameters }, estimator, dimension } = asked;
      const { study, cohort, budget: { epsilon, delta } } = document;
      const declared = parameters['corruption'];
      // Some designs do not use the declared share.
      const corruption = hostile
        ?? Math.min(typeof declared === 'number' ? declared : 0, found.guarantee.corruptionMax);
      const quarantined = quarantineBound(planned)?.honestKeys ?? null;
      const planFor = plannerOf(estimator, parameters, {
        dimension, target, participation: document.participation,
      });
      const unit = unitOf(document.columns, document);
      return {
        study, estimator: estimator.name, parameters, dimension, corruption,
        ...(unit !== undefined && { unit }),
        minimumCohort: smallestPlan(planFor), cohort, outcome: 'plan',
        ...describe(found, target, corruption),
        budget: { epsilon, delta, releases, binds, ...choicesOf(document) },
        ...(quarantined === null ? {} : { honestKeysExcluded: quarantined }),
      };
    });
  output.json({ studies: plans });
  plans.forEach((each, i) => {
    if (i > 0) output.text();
    output.text(`study ${each.study}`);
    if ('questions' in each) printStudy(each, output);
    else print(each, output);
  });
  return 0;
}

interface BudgetFacts {
  readonly epsilon: number;
  readonly delta: number;
  readonly releases: number;
  /** The cap that runs out first. */
  readonly binds: string;
  /** The rule of a study's budget. */
  readonly rule?: BudgetRuleName;
  /** Set if the budget says for how many releases it must last. */
  readonly noise?: 'laplace' | 'gaussian';
}

interface TargetFlags {
  readonly epsilon?: string | undefined;
  readonly delta?: string | undefined;
  readonly 'budget-epsilon'?: string | undefined;
  readonly 'budget-delta'?: string | undefined;
}

/** The outcome for a budget that does not pay for one release. */
function tooSmall(budget: BudgetFacts, target: PrivacyTarget): Infeasible {
  const sizeOf = (epsilon: number, delta: number): string =>
    `epsilon ${formatNumber(epsilon)}, delta ${formatNumber(delta)}`;
  return {
    kind: 'infeasible',
    reason: 'not one release fits the budget: '
      + `a release costs ${sizeOf(target.epsilon, target.deltaTotal)}, `
      + `and the budget is ${sizeOf(budget.epsilon, budget.delta)}`,
    remedy: 'raise --budget-epsilon or --budget-delta, or lower --epsilon or --delta',
  };
}

/**
 * The privacy target of one release. With a budget, the budget also limits the chargeable delta.
 */
function targets(
  args: TargetFlags, cohort: number | undefined,
): { target: PrivacyTarget; budget?: BudgetFacts } {
  const alone = targetOfFlags(args, cohort);
  const epsilon = numberFlag(args['budget-epsilon'], '--budget-epsilon', epsilonRange);
  const delta = numberFlag(args['budget-delta'], '--budget-delta', { atLeast: 1e-100, below: 0.5 });
  if (epsilon === undefined) {
    if (delta !== undefined) throw new UsageError('--budget-delta needs --budget-epsilon');
    return { target: alone };
  }
  if (alone.isPure === true) {
    if (delta !== undefined) {
      throw new UsageError('--budget-delta with --delta 0: pure releases need no delta');
    }
    return { target: alone, budget: {
      epsilon, delta: 0, releases: Math.floor(epsilon / alone.epsilon), binds: 'epsilon',
    } };
  }
  const whole = { epsilon, delta: delta ?? Math.min(10 * alone.deltaTotal, 0.4) };
  const found = perReleaseTarget({ epsilon: alone.epsilon, delta: alone.deltaTotal }, whole);
  return { target: found.target, budget: { ...whole, releases: found.epochs, binds: found.binds } };
}

function describe(found: Plan, target: PrivacyTarget, corruption: number) {
  return {
    privacy: statementOf(found, target),
    noise: found.noise,
    shape: found.outputShape,
    expectedError: { clean: found.expectedError(0), corrupted: found.expectedError(corruption) },
    guarantee: found.guarantee,
    facts: found.facts,
  };
}

function infeasible(found: Infeasible, header: Record<string, unknown>, output: Output): 1 {
  const { reason, remedy, cohortNeeded } = found;
  output.json(
    {
      ...header, outcome: 'infeasible', reason, remedy,
      ...(cohortNeeded === undefined ? {} : { cohortNeeded }),
    },
  );
  output.text(`infeasible: ${reason}`);
  output.text(`  ${remedy}`);
  if (typeof header['minimumCohort'] === 'number') {
    output.text(`  the smallest cohort with a plan is ${header['minimumCohort']}`);
  }
  return 1;
}

function unreachable(
  largest: Plan | Infeasible,
  corruption: number,
  error: number,
  header: Record<string, unknown>,
  output: Output,
): 1 {
  if (largest.kind === 'infeasible') return infeasible(largest, header, output);
  const reached = largest.expectedError(corruption).total;
  const reason = `no cohort up to ${protocolLimits.cohortMax} brings the expected error to `
    + `${formatNumber(error)} with ${formatNumber(100 * corruption)} % hostile; the largest `
    + `reaches ${formatNumber(reached)}`;
  return infeasible(
    {
      kind: 'infeasible', reason,
      remedy: 'allow a larger error, a larger epsilon or a smaller corruption',
    },
    header,
    output,
  );
}

type Described = ReturnType<typeof describe> & {
  readonly estimator: string;
  readonly parameters: ParameterValues;
  readonly cohort: number;
  readonly dimension: number;
  readonly unit?: string;
  readonly corruption: number;
  readonly minimumCohort: number | null;
  readonly budget?: BudgetFacts;
  /** Honest keys that an automatic quarantine is expected to exclude in one epoch. */
  readonly honestKeysExcluded?: number;
};

function print(plan: Described, output: Output): void {
  const { privacy, noise, guarantee, facts: { errorsAreIn = 'spreads', ...facts } } = plan;
  const { factor, name: unit } = errorUnit(String(errorsAreIn), plan);
  const errorRow = (
    name: string, { total, sampling, noise: part, bias }: ExpectedError,
  ): string[] =>
    [name, ...[total, sampling, part, bias].map((error) => formatNumber(factor * error))];
  output.table(['', ''], [
    ['estimator', plan.estimator],
    // From one person on there is no limit.
    ['cohort', (plan.minimumCohort ?? 1) === 1
      ? String(plan.cohort) : `${plan.cohort} (at least ${plan.minimumCohort})`],
    ['privacy', privacyText(privacy)],
    ['neighbours', privacy.neighbours],
    ['corruption', `up to ${formatNumber(guarantee.corruptionMax)}`],
    ['assumes', findEstimator(plan.estimator).assumption],
    ['noise', noiseText(noise, plan.facts['spread'] === 'found privately')],
    ...Object.entries(facts)
      .map(([name, fact]) => [name, typeof fact === 'number' ? formatNumber(fact) : fact]),
    ...(plan.budget === undefined ? [] : [['budget', budgetText(plan.budget)]]),
    ...(plan.honestKeysExcluded === undefined ? [] : [[
      'quarantine', `excludes about ${formatNumber(plan.honestKeysExcluded)} honest keys in an `
        + 'epoch, for good, of rows that are normal with this spread; more where they are not',
    ]]),
  ]);
  output.text();
  output.table(['expected error', 'total', 'sampling', 'noise', 'bias'], [
    errorRow('nobody hostile', plan.expectedError.clean),
    ...(plan.corruption === 0 ? [] : [
      errorRow(`${formatNumber(100 * plan.corruption)} % hostile`, plan.expectedError.corrupted),
    ]),
  ]);
  wrap(`errors are in ${unit}`, terminalColumns).forEach((line) => output.text(line));
}

/** A study that lists its questions. */
function printStudy(
  { cohort, privacy, questions, budget }: DescribedQuestions, output: Output,
): void {
  output.table(['', ''], [
    ['cohort', `${cohort}`],
    ['privacy', privacyText(privacy)],
    ['neighbours', privacy.neighbours],
    ['budget', budgetText(budget)],
  ]);
  output.text();
  printQuestions({ questions, cohort }, output);
}

function privacyText({ epsilon, delta, rho }: PrivacyStatement): string {
  return `epsilon ${formatNumber(epsilon)}, delta ${formatNumber(delta)}, rho ${formatNumber(rho)}`;
}

/** Standard deviations of the first eight output coordinates, in data units. */
function noiseText(noise: readonly number[], spreadIsFound: boolean): string {
  if (noise.length === 0) {
    return spreadIsFound ? 'in units of the spread that the release finds, below' : 'not Gaussian';
  }
  const shown = noise.slice(0, 8).map(formatNumber).join(', ');
  return `standard deviation ${shown}${noise.length > 8 ? ', ...' : ''}`;
}

function budgetText({ epsilon, delta, releases, binds, rule, noise }: BudgetFacts): string {
  const size = `epsilon ${formatNumber(epsilon)}, delta ${formatNumber(delta)}`;
  const count = releases === 1 ? '1 release' : `${releases} releases`;
  const drawn = noise === undefined ? ''
    : `; noise ${noise === 'laplace' ? 'Laplace' : 'Gaussian'}, the least for so many`;
  const added = rule === undefined || rule === 'zcdp' ? '' : ` by rule ${rule}`;
  const first = rule === 'gaussian' && binds === 'rho' ? 'mu' : binds;
  return `${size} lasts ${count}${added}; ${first} runs out first${drawn}`;
}
