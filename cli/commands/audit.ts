import { availableParallelism } from 'node:os';
import { protocolLimits } from '../../src/base/limits.js';
import {
  audit as runAudit, auditTrialsMin, searchPairs, type AuditResult, type NeighbourPair,
  type PairFacts, type TrialSubject,
} from '../../src/audit/index.js';
import { checkRelease, type ReleaseResult } from '../../src/audit/exact/release-check.js';
import { verdictOf, type Verdict } from '../../src/audit/verdict.js';
import type { Estimator, Infeasible, StudyFacts } from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import { seededNoise } from '../../src/random/insecure.js';
import { secureNoise } from '../../src/random/secure.js';
import { claimOf, costOf, eventsAsked } from '../audit/claim.js';
import { chartOf, curveOf, type CurvePoint } from '../audit/curve.js';
import { Pace } from '../audit/pace.js';
import { startAuditPool } from '../audit/pool.js';
import type { AuditSubject } from '../audit/subject.js';
import { defineCommand } from '../base/command.js';
import type { Io } from '../base/io.js';
import { insecureSeedOf } from '../base/noise.js';
import { numberFlag } from '../base/numbers.js';
import { settingsFlag } from '../base/settings.js';
import { formatNumber, type Output } from '../base/output.js';
import { plannerOf, smallestPlan } from '../../src/plan.js';
import {
  cohortFlag, participationArgument, participationOf, privacyArguments, targetOfFlags,
} from '../base/privacy-flags.js';
import { startProgress } from '../base/progress.js';

const defaultSeconds = 30;

export const audit = defineCommand({
  name: 'audit',
  summary: 'Attack an estimator, to prove a lower bound on its epsilon.',
  details: [
    'Epsilon bounds the privacy loss of an estimator. The audit runs the estimator many times '
    + 'on pairs of made-up data sets that differ in one person. It learns to distinguish the two '
    + 'sides, and prints a lower confidence bound on epsilon, for the given delta. No data are '
    + 'read.',
    'The audit compares three things: calls of mechanisms on both sides, without sampling; exact '
    + 'privacy losses of releases, given the law of the noise; and counted outputs, whatever the '
    + 'noise is. It draws epsilon against delta.',
    'A bound below the claim proves nothing more than the claim; a bound above it proves a defect. '
    + 'If no pair moves what the estimator adds noise to, nothing was tested, and the audit is '
    + 'inconclusive. Exit status 1: the bound is above the claim, the audit is inconclusive, or '
    + 'there is no plan.',
    'Without --cohort and --participation it also audits that presence is protected.',
  ],
  args: {
    name: {
      type: 'positional', required: true,
      description: 'an estimator; "keelson estimators" lists them',
    },
    ...privacyArguments,
    set: {
      type: 'string', valueHint: 'key=value',
      description: 'a parameter of the estimator; may be repeated',
    },
    cohort: {
      type: 'string', valueHint: 'n',
      description: 'contributors (default the fewest that can be planned for)',
    },
    columns: {
      type: 'string', valueHint: 'd', description: 'number of columns of a row (default 1)',
    },
    ...participationArgument,
    trials: {
      type: 'string', valueHint: 'n',
      description: 'releases to run; more give a bound nearer the truth',
    },
    seconds: {
      type: 'string',
      valueHint: 's',
      description: `about how long to run in all (default ${defaultSeconds} without --trials)`,
    },
    event: {
      type: 'string',
      valueHint: 'name',
      description:
        'audit only this part of a release, with all other answers fixed; may be repeated',
    },
  },
  repeatable: ['set', 'event'],
  examples: [
    'keelson audit mean --epsilon 1 --delta 1e-6 --set spread=1',
    'keelson audit mean --epsilon 1 --delta 1e-6 --set spread=1 --event mean --seconds 60',
    'keelson audit populous-mean --epsilon 4 --delta 1e-3 --set spread=1 --columns 2 --trials '
      + '1000000 --json',
  ],
  async run({ args, repeated, io, output }) {
    const startedMs = io.monotonicMs();
    const estimator = findEstimator(args.name);
    const dimension = numberFlag(args.columns ?? '1', '--columns', {
      atLeast: 1, atMost: protocolLimits.columns, whole: true,
    });
    const given = cohortFlag(args.cohort);
    const target = targetOfFlags(args, given);
    const trials =
      numberFlag(args.trials, '--trials', { atLeast: auditTrialsMin, atMost: 1e10, whole: true });
    const seconds = numberFlag(args.seconds, '--seconds', { atLeast: 1, atMost: 1e6 });
    const set = await settingsFlag(repeated['set'] ?? []);
    const parameters = parseParameters(
      estimator.parameters, set, { dimension, estimator: estimator.name },
    );
    const participation = participationOf(args.participation, given !== undefined, 'secret');
    const planFor = plannerOf(estimator, parameters, { dimension, target, participation });
    const cohort = given ?? smallestPlan(planFor) ?? protocolLimits.cohortMax;
    const plan = planFor(cohort);
    if (plan.kind === 'infeasible') return infeasible(estimator, cohort, plan, output);
    const facts: StudyFacts = { dimension, cohort, participation, target };
    const events = eventsAsked(plan, repeated['event'] ?? []);
    const limit = seconds ?? (trials === undefined ? defaultSeconds : undefined);
    const deadlineMs = limit === undefined ? Infinity : startedMs + 1000 * limit;
    const seed = insecureSeedOf(io);
    const result = await run({
      estimator: estimator.name, plan, facts, parameters, events, trials, deadlineMs, seed, io,
    });
    const { known } = result;
    const verdict = verdictOf(result, result.exact, events === null);
    const document = {
      estimator: estimator.name, parameters, dimension, cohort,
      ...(events === null ? {} : { events }), ...result, verdict,
      neighbours: plan.guarantee.neighbours,
      ...(known === null ? {} : { curve: curveOf(plan, events, result.claim, known) }),
      seconds: Math.round((io.monotonicMs() - startedMs) / 10) / 100,
      ...(seed === null ? {} : { insecure: true }),
    };
    output.json(document);
    print(document, amountToNumber(costOf(plan, events).rho), output);
    return verdict === 'no-defect-seen' ? 0 : 1;
  },
});

interface Job extends PairFacts {
  readonly estimator: string;
  /** Null: all events. */
  readonly events: readonly string[] | null;
  readonly trials: number | undefined;
  readonly deadlineMs: number;
  readonly seed: string | null;
  readonly io: Io;
}

/** The findings of the audit, from sampling and from exact comparison. */
type Found = AuditResult & { readonly exact: ReleaseResult };

async function run(job: Job): Promise<Found> {
  const { estimator, plan, facts, parameters, events, trials, deadlineMs, seed, io } = job;
  const subject: AuditSubject = {
    estimator, parameters, facts, ...(events === null ? {} : { alone: events }),
  };
  const pool = startAuditPool({ subject, seed }, availableParallelism());
  try {
    const pace = new Pace(pool, io, deadlineMs);
    await pace.measure(job);
    const pairs = await searchPairs({ plan, facts, parameters }, pool, {
      glance: pace.glance(), parts: !pace.isScarce(),
    });
    const exact = await exactly({ plan, dimension: facts.dimension }, pairs, pace);
    const { losses, counted } = pace.divided(trials ?? Infinity);
    const result = await withProgress(counted, io, (onProgress) => runAudit({
      claim: claimOf(plan, facts.target, events),
      pairs,
      pool,
      trials: counted,
      losses: { ...losses, pool },
      coins: seed === null ? secureNoise() : seededNoise(`${seed}:coins`),
      affordable: (left) => Math.min(pace.affordable(), trials === undefined ? Infinity : left),
      chunk: pace.chunk(),
      onProgress: (done, of) => {
        pace.saw(done);
        onProgress(done, of);
      },
    }));
    return { ...result, exact };
  } finally {
    await pool.close();
  }
}

/** Pairs that are compared without sampling, as far as time allows, and prefixes of each. */
const compared = { pairs: 8, prefixes: 4 } as const;

/** Compares the calls of releases on neighbours, after the same released values. */
async function exactly(
  subject: TrialSubject, pairs: readonly NeighbourPair[], pace: Pace,
): Promise<ReleaseResult> {
  return checkRelease({
    subject, pairs: pairs.slice(0, compared.pairs), prefixes: compared.prefixes,
    isOver: pace.shortWhile(),
  });
}

async function withProgress(
  total: number,
  io: Io,
  audited: (onProgress: (done: number, total: number) => void) => Promise<AuditResult>,
): Promise<AuditResult> {
  const progress = startProgress('auditing', io, { name: 'trials', size: 1, digits: 0 });
  try {
    return await audited((done, of = total) => progress.update(done, of));
  } finally {
    progress.end();
  }
}

function infeasible(
  estimator: Estimator, cohort: number, { reason, remedy }: Infeasible, output: Output,
): 1 {
  output.json({ estimator: estimator.name, cohort, outcome: 'infeasible', reason, remedy });
  output.text(`infeasible: ${reason}`);
  output.text(`  ${remedy}`);
  return 1;
}

type Document = Found & {
  readonly estimator: string;
  readonly cohort: number;
  readonly events?: readonly string[];
  readonly verdict: Verdict;
  readonly neighbours: string;
  readonly curve?: readonly CurvePoint[];
};

const verdictWords: Readonly<Record<Verdict, string>> = {
  defect: 'DEFECT: the bound is above the claim',
  'no-defect-seen': 'no defect seen: the bound is below the claim',
  inconclusive: 'INCONCLUSIVE: no pair moved any content, so nothing was tested: give parameters '
    + 'within reach of rows',
};

function print(result: Document, rho: number, output: Output): void {
  const { claim, bound, sampled, confidence, trials, trialsCounted, known, exact } = result;
  const rounded = (number: number): string => formatNumber(Number(number.toPrecision(3)));
  output.table(['', ''], [
    ['estimator', `${result.estimator}, cohort ${result.cohort}`],
    ...(result.events === undefined
      ? [] : [['events', `${result.events.join(', ')}, given the answers of the others`]]),
    ['claimed', `epsilon ${formatNumber(claim.epsilon)} at delta ${formatNumber(claim.delta)}`],
    ['proved', `epsilon is at least ${rounded(bound)}, `
      + `${formatNumber(Math.round((100 * bound) / claim.epsilon))} % of the claim`],
    ['confidence', `${confidence}, over everything that was tried`],
    ['neighbours', result.neighbours],
    ...(known === null ? [['exact losses', 'none: the release draws a mask']] : [
      ['exact losses', `epsilon is at least ${rounded(known.bound)}, if noise has its stated law`],
      ['  trials', `${known.trials}, of which ${known.trialsCounted} were counted`],
      ['  closest pair', `${known.pair} (of ${known.pairsTried}); its contents cost rho `
        + `${rounded(known.rho)} of ${rounded(rho)}`],
    ]),
    ['counted outputs', trialsCounted === 0 ? 'none: there was no time for enough of them'
      : `epsilon is at least ${rounded(sampled)}, whatever the noise is`],
    ...(trialsCounted === 0 ? [] : [
      ['  trials', `${trials}, of which ${trialsCounted} were counted`],
      ['  closest pair', `${result.pair} (of ${result.pairsTried})`],
      ['  told apart by', result.event],
    ]),
    ['without sampling', `${exact.calls} calls of ${exact.prefixes} releases on ${exact.pairs} `
      + `pairs compared, ${exact.faults.length} faults`],
  ]);
  if (result.curve !== undefined) {
    output.text();
    output.text('Epsilon at each delta: = is proved by exact losses, - is claimed.');
    output.table(['delta', 'claimed', 'proved', ''], chartOf(result.curve));
  }
  output.text();
  for (const fault of exact.faults) output.text(`fault: ${fault}`);
  output.text(exact.faults.length > 0 ? 'DEFECT: a release costs more than was charged'
    : verdictWords[result.verdict]);
}
