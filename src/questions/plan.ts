import { utf8 } from '../base/bytes.js';
import { assert } from '../base/assert.js';
import { InvalidParameterError } from '../base/errors.js';
import type { ParameterValues, Participation } from '../base/facts.js';
import { peopleMaxOf, type PeopleFacts } from '../base/people.js';
import { mayLoseKeys } from '../base/public-keys.js';
import {
  isRunningQuestion, questionLimits, type GroupBy, type Question, type RunningFacts,
} from '../base/questions.js';
import type {
  Estimator, Infeasible, Plan, PlannedWork, StudyFacts,
} from '../estimators/contract/estimator.js';
import { forEachKey } from '../estimators/keyed/each.js';
import { isMask, plusCost } from '../privacy/accounting/composition.js';
import { epsilonOfApproximateZcdp } from '../privacy/accounting/conversion.js';
import type { PrivacyCost } from '../privacy/accounting/cost.js';
import type { MechanismEvent } from '../privacy/accounting/events.js';
import { resolvePureTarget, shareOf, type PrivacyTarget } from '../privacy/accounting/target.js';
import type { StudyColumns } from './columns.js';
import { keyMemory, keyRoomBytes, keyRoomOf, type DiscoveredKeys } from './key-table.js';
import { keyBytesMax } from './keys.js';
import { QuestionReduction } from './reduction.js';
import { keysWorkOf, lackOfTime, workMs, type KeysWork } from './release-time.js';
import { besideGroupsCut, planGroupsCut, withGroupsCut, type GroupsCut } from './groups-cut.js';

/** A question and its plan. */
export interface PlannedQuestion {
  readonly question: Question;
  readonly estimator: Estimator;
  readonly plan: Plan;
  /** Entries of a row that the estimator sees. */
  readonly dimension: number;
  /** The names of the public keys by which the answer is split. */
  readonly keys?: readonly (readonly string[])[];
  /** Present if a contributor may have more than groupsMax keys. */
  readonly groupsCut?: GroupsCut;
  /** Present if the keys of the question are discovered. */
  readonly discovered?: DiscoveredKeys & {
    /** The most bytes of one key in a table of keys. */
    readonly keyBytes: number;
  };
}

/** The plans of all questions of a study. One epoch is charged `cost`, once. */
export interface QuestionsPlan {
  readonly kind: 'plan';
  /** In the order of the study. */
  readonly questions: readonly [PlannedQuestion, ...PlannedQuestion[]];
  /** The events of all questions, named `question/event` unless the facts list no questions. */
  readonly events: readonly MechanismEvent[];
  /** The sum of the plans' costs. */
  readonly cost: PrivacyCost;
  /** Bounds on the work of a release: those that plans state, and those on discovered keys. */
  readonly work: readonly (PlannedWork | KeysWork)[];
}

/** The public facts of a study from which its questions are planned. */
export interface QuestionsFacts extends StudyColumns, PeopleFacts {
  readonly participation: Participation;
  /** The budget of all questions together. */
  readonly target: PrivacyTarget;
  /** Which answers are totals over epochs. */
  readonly running?: RunningFacts;
  /** The most rows of a contributor. */
  readonly rowsMax: number;
  /** `short`: faults and events of the only question are not named after it. */
  readonly wireForm?: 'short';
}

/** How questions are planned. */
export interface QuestionPlanner {
  find(estimator: string): Estimator;
  /** `planWithin`: a plan within the facts' target, pure for a pure target. */
  plan(
    estimator: Estimator, parameters: ParameterValues, facts: StudyFacts, question: Question,
  ): Plan | Infeasible;
}

/** Most bytes of the answers of a release. */
const answerBytesMax = 4 * 1024 * 1024;
/** Bytes of a number of an answer, with its error and its interval. */
const numberBytes = 24;

/**
 * Plans the questions of a study. Pure.
 *
 * Claim: one epoch costs each contributor at most the sum of the plans' costs, which is within the
 * target. This holds whatever the questions ask, also if no row can pass the tests of two of them.
 * Proof. Neighbours differ in one contributor's rows. Its reduction gives each question one changed
 * contribution (see QuestionReduction), and each question's release has its plan's cost against
 * that. The questions draw independent noise from events of their own. Rho, delta, pure epsilon and
 * a divergence at one order add up under adaptive composition, so the sum bounds the cost. Two
 * questions whose tests exclude each other do not cost the maximum only: the replaced contributor
 * may leave one and enter the other, so both releases change.
 * Within the target: a plan's cost is at most its part of the target, rounded up to units of
 * 2^-64. Each part is first lowered by one unit, so a cost is at most the exact part, and the
 * parts add up to at most 100 %.
 *
 * The delta for events is divided among the questions whose plans charge some, by their parts.
 * @returns the plan, or why the first question without one has none. Where the facts list the
 *   questions, the reason begins with `questions.<name>`.
 * @throws InvalidParameterError when a question does not fit the columns or its estimator. Where
 *   the facts list the questions, details.path begins with `questions.<name>`.
 */
export function planQuestions(
  questions: readonly Question[], facts: QuestionsFacts, planner: QuestionPlanner,
): QuestionsPlan | Infeasible {
  const all = questions.reduce((sum, { part }) => sum + part, 0);
  const first = questions.map((question) => planOne(question, all, facts, planner));
  // The cost of a plan, which takes long, is not worked out of plans that are made again.
  const usesDelta = first.map((found) => 'kind' in found || found.plan.events.some((event) =>
    'delta' in event && event.delta > 0));
  const parts = questions.reduce((sum, { part }, i) => sum + (usesDelta[i] ? part : 0), 0);
  const planned: PlannedQuestion[] = [];
  for (const [i, question] of questions.entries()) {
    const found = usesDelta[i] && parts < all
      ? planOne(question, parts, facts, planner) : first[i]!;
    if ('kind' in found) return found;
    planned.push(found);
  }
  return lacksKeyRoom(planned, facts) ?? lacksReleaseTime(planned, facts)
    ?? tooLarge(planned, facts) ?? together(planned, facts);
}

/** @param deltaParts - the sum of the parts of all questions that divide the delta. */
function planOne(
  question: Question, deltaParts: number, facts: QuestionsFacts, planner: QuestionPlanner,
): PlannedQuestion | Infeasible {
  const { name, by } = question;
  const estimator = planner.find(question.estimator);
  if (by?.discover !== undefined && estimator.keyed?.includes('discovered') !== true) {
    return infeasible(
      facts, name, `${estimator.name} cannot split its answer by groups that are discovered`,
      'list the groups in by.groups, or ask for a count, sum, mean, share or ratio',
    );
  }
  try {
    const { keys, dimension } = new QuestionReduction(question, facts);
    const isEach = keys !== null && estimator.keyed?.includes('public') !== true;
    const asked = isEach ? forEachKey(estimator) : estimator;
    const isRunning = isRunningQuestion(facts.running, name);
    const target = shareOfTarget(facts.target, question.part, deltaParts);
    const groupsCut = by !== undefined && hasNumbers(by) && mayLoseKeys(by, facts, facts.rowsMax)
      ? planGroupsCut(target, by.groupsMax) : undefined;
    const plan = planner.plan(asked, question.parameters, {
      ...(isRunning && { running: { separation: facts.running!.separation } }),
      dimension, cohort: facts.cohort, participation: facts.participation,
      target: groupsCut === undefined ? target : besideGroupsCut(target),
      ...(keys !== null && {
        keys: { list: 'public', groupsMax: by!.groupsMax, count: keys.names.length },
      }),
      ...(by?.discover !== undefined && {
        keys: { list: 'discovered', groupsMax: by.groupsMax, ...by.discover },
      }),
    }, question);
    if (plan.kind === 'infeasible') return { ...plan, reason: reasonOf(facts, name, plan.reason) };
    if (isRunning && plan.running === undefined) return notRunning(facts, name, estimator);
    if (plan.events.some(isMask) && (question.part < 100 || by !== undefined)) {
      return infeasible(
        facts, name, `the noise of ${estimator.name} has a cost at one Renyi order only`,
        'give it a study of its own',
      );
    }
    const planned: PlannedQuestion = {
      question, estimator, dimension, ...(keys !== null && { keys: keys.names }),
      ...(groupsCut === undefined ? { plan } : { plan: withGroupsCut(plan, groupsCut), groupsCut }),
    };
    return by?.discover === undefined ? planned : withKeyMemory(planned, by, facts);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    const { path } = error.details;
    if (facts.wireForm === 'short') throw error;
    throw new InvalidParameterError(reasonOf(facts, name, error.message), {
      ...error.details,
      path: `questions.${name}${typeof path === 'string' ? `.${path}` : ''}`,
    });
  }
}

/** An answer of keys alone has no numbers that could be wrong. */
function hasNumbers({ discover }: GroupBy): boolean {
  return discover?.answer !== 'groups';
}

/** With the memory that discovered keys take. */
function withKeyMemory(
  planned: PlannedQuestion, by: GroupBy, facts: QuestionsFacts,
): PlannedQuestion {
  const keyBytes = keyBytesMax(by, facts);
  const memory = keyMemory(keyBytes) + (planned.plan.bytesPerKey ?? 0);
  return { ...planned, discovered: { groupsMax: by.groupsMax, keyBytes, keyMemory: memory } };
}

/**
 * There must be room for the keys of all people, whatever they are: see KeyTable. It depends on
 * public numbers only.
 */
function lacksKeyRoom(
  planned: readonly PlannedQuestion[], facts: QuestionsFacts,
): Infeasible | null {
  const people = peopleMaxOf(facts);
  const tables: DiscoveredKeys[] = [];
  for (const { question: { name }, discovered } of planned) {
    if (discovered === undefined) continue;
    tables.push(discovered);
    const fitting = Math.floor(keyRoomBytes / keyRoomOf(tables, facts.rowsMax));
    if (people <= fitting) continue;
    return infeasible(
      facts, name, `the groups of ${people} people, the most that an epoch takes, may not find room${
        tables.length === 1 ? '' : ' beside those of the questions before'}: there is room for `
        + `those of ${fitting} people`,
      'a smaller peopleMax (16 times the cohort, where it is left out) or groupsMax, fewer bytes '
        + 'for the texts of by, or fewer such questions',
    );
  }
  return null;
}

function infeasible(
  facts: QuestionsFacts, name: string, reason: string, remedy: string,
): Infeasible {
  return { kind: 'infeasible', reason: reasonOf(facts, name, reason), remedy };
}

/** A total over epochs adds up whole numbers of contributors. */
function notRunning(facts: QuestionsFacts, name: string, estimator: Estimator): Infeasible {
  return infeasible(
    facts, name,
    `${estimator.name} with these settings has no running total, which adds up counts of people`,
    'ask for a count, also by public groups, or for a histogram with edges; or leave running out',
  );
}

function reasonOf({ wireForm }: QuestionsFacts, name: string, reason: string): string {
  return wireForm === 'short' ? reason : `questions.${name}: ${reason}`;
}

/** One unit of the ledger. */
const unit = 2 ** -64;

/**
 * A question's part of the target. The whole of it is the target itself. A plan may pass a pure
 * target by a factor of 1 + 2^-40; see planWithin.
 * @param deltaParts - the sum of the parts of all questions that divide the delta.
 */
function shareOfTarget(target: PrivacyTarget, share: number, deltaParts: number): PrivacyTarget {
  if (share === 100) return target;
  assert(target.isAlone !== true, 'a target alone is not divided');
  const { deltaTotal } = target;
  if (target.isPure === true) {
    const epsilon = shareOf(target.epsilon, share / 100) * (1 - 2 ** -39) - unit;
    return resolvePureTarget({ epsilon, delta: deltaTotal });
  }
  const rho = Math.max(shareOf(target.rho, share / 100) - unit, 0);
  const delta = Math.max(shareOf(target.delta, share / deltaParts) - unit, 0);
  return { ...target, rho, delta, epsilon: epsilonOfApproximateZcdp(rho, delta, deltaTotal) };
}

/** Why the answers would be too large together. It depends on public numbers only. */
function tooLarge(
  planned: readonly PlannedQuestion[], facts: QuestionsFacts,
): Infeasible | null {
  // One answer without a list is bounded by the frame that holds its release.
  if (facts.wireForm === 'short') return null;
  let [count, bytes] = [0, 0];
  for (const { question: { name, by }, plan, keys = [], discovered } of planned) {
    const found = plan.findsKeys === true ? plan.outputShape[0]! : 0;
    count += keys.length + found;
    bytes += found * ((discovered?.keyBytes ?? 0) + (by?.columns.length ?? 0));
    bytes += numberBytes * plan.outputShape.reduce((product, size) => product * size, 1);
    for (const key of keys) for (const part of key) bytes += utf8(part).length + 2;
    if (count > questionLimits.keys) {
      return infeasible(
        facts, name,
        `the answers have ${count} groups up to here, and ${questionLimits.keys} are the most`,
        'use fewer or shorter lists of groups',
      );
    }
    if (bytes > answerBytesMax) {
      return infeasible(
        facts, name,
        `the answers have ${bytes} bytes up to here, and ${answerBytesMax} are the most`,
        'use fewer groups, or fewer numbers for each',
      );
    }
  }
  return null;
}

function together(
  planned: readonly PlannedQuestion[], facts: QuestionsFacts,
): QuestionsPlan {
  const plans = planned.map(({ plan }) => plan);
  return {
    kind: 'plan',
    questions: planned as [PlannedQuestion, ...PlannedQuestion[]],
    events: facts.wireForm === 'short' ? plans[0]!.events
      : planned.flatMap(({ question: { name }, plan }) => plan.events.map((event) => ({
        ...event, name: `${name}/${event.name}`, cohort: `${name}/${event.cohort}`,
      }))),
    cost: plans.map(({ cost }) => cost).reduce(plusCost),
    work: planned.flatMap((each) => workOf(each, facts)),
  };
}

/** Bounds on the work of a release: what its plan states, and the work with discovered keys. */
function workOf(
  { discovered, plan: { work, events, outputShape: [shown = 0] } }: PlannedQuestion,
  facts: QuestionsFacts,
): QuestionsPlan['work'] {
  const stated = work === undefined ? [] : [work];
  if (discovered === undefined) return stated;
  const { groupsMax, keyBytes } = discovered;
  const keys = { groupsMax, keyBytes, shown, events };
  return [...stated, keysWorkOf(keys, facts.rowsMax, peopleMaxOf(facts))];
}

/**
 * Why a release of this study may not fit its planned time: the keys that its people may send, or
 * the passes over rows that they may cause, take more than the longest plan holds. The time of a
 * release would then tell about the rows. A longer plan instead is no remedy: releases would come
 * later and later, and epochs would be extended. It depends on public numbers only.
 */
function lacksReleaseTime(
  planned: readonly PlannedQuestion[], facts: QuestionsFacts,
): Infeasible | null {
  const { epoch } = facts;
  if (epoch === undefined) return null;
  let needMs = 0;
  for (const each of planned) {
    needMs += workMs(workOf(each, facts));
    const lack = lackOfTime(needMs, epoch, each.discovered && peopleMaxOf(facts));
    if (lack !== null) return infeasible(facts, each.question.name, lack.reason, lack.remedy);
  }
  return null;
}
