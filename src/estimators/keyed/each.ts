import { assert } from '../../base/assert.js';
import type { Sensitive } from '../../base/brands.js';
import { InvariantError } from '../../base/errors.js';
import { protocolLimits } from '../../base/limits.js';
import type { Outcome } from '../../base/outcome.js';
import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { shareOf } from '../../privacy/accounting/target.js';
import type { Mechanisms } from '../../privacy/mechanisms/contract.js';
import { renamed } from '../../privacy/mechanisms/renamed.js';
import type { WorkRandom } from '../../random/source.js';
import type {
  Compute, Estimator, Infeasible, KeyFacts, ParameterValues, Plan, PrivacyTarget, StudyFacts,
} from '../contract/estimator.js';
import { poolOf } from '../contract/finished.js';
import {
  infeasible, makePlan, nearSmallestCohort, needsCohort, pooledArm,
} from '../contract/planning.js';
import { countNoise, type CountNoise } from '../counts/tables/count-noise.js';
import { cohortName } from '../counts/tables/counts.js';
import { rowsSummary } from '../summaries/rows.js';
import { answerOfKeys } from './answer-of-keys.js';
import { rowsOfKeys, type RowsOfKeys } from './rows-of-keys.js';

/** Share of the cost for the noisy sizes of the keys. */
const sizesShare = 0.15;
/** A key's true size is below the size that it is planned for at most this often. */
const failure = 0.01;
/** Sizes of one menu. Each is twice the one before. */
const sizesMax = 16;
/** Keys of one release. Each draws on its own. */
const keysMost = 256;

type PublicKeys = Extract<KeyFacts, { list: 'public' }>;

/** A plan for a public size, with which a key may be answered. */
interface Choice {
  readonly size: number;
  readonly plan: Plan;
}

/** The estimator, made to answer once for each key. Its parameters are those of one key. */
export function forEachKey(estimator: Estimator): Estimator {
  return {
    ...estimator,
    keyed: ['public'],
    plan: (parameters, facts) => planEach(estimator, parameters, facts),
  };
}

/**
 * Any estimator, once for each key of a public list.
 *
 * Claim. Neighbours: one contributor's rows, in at most K of the m keys, are replaced by rows in at
 * most K keys, or by none. Cost: the target's rho, delta or pure epsilon at most.
 * Why: first the sizes of the keys are released, with 15 % of the cost. A contributor counts once
 * in each of its keys, so between neighbours the counts of at most min(2 K, m) keys move by 1 each:
 * L1 and squared L2 are min(2 K, m). Given these numbers, each key takes the plan for the largest
 * size of a public ladder that its noisy size surely has, or none. So which plan a key has is
 * public, and the second step is a list of independent releases, each of its own key's rows. A plan
 * keeps its cost for every data set, also for one that is smaller than planned. Costs of the list
 * are those of `costOfEvents` for keyed events: at most min(2 K, m) times the dearest choice of one
 * key, and less where a row that only comes or goes costs less. Each plan is made for that part of
 * the remaining 85 %. The second step is chosen by the output of the first, and the costs add up
 * (Bun and Steinke 2016, lemma 2.3).
 * A wrong size costs accuracy, never privacy: no plan relies on its cohort for its sensitivities.
 *
 * Assumption: that of the estimator, for the rows of each key.
 * Hostile: a share of the people of a key may be hostile, as the estimator promises. Hostile people
 * can all be in one key.
 * @param facts with a public list of keys; `dimension` has the place of the key in it.
 */
export function planEach(
  estimator: Estimator, parameters: ParameterValues, facts: StudyFacts,
): Plan | Infeasible {
  const { keys, dimension, cohort, target } = facts;
  assert(keys?.list === 'public', 'an answer for each group has a public list of groups');
  if (dimension < 2) {
    return infeasible(`${estimator.name} has no column to answer about`, 'name its columns');
  }
  if (keys.count > keysMost) {
    return infeasible(
      `${estimator.name} answers for at most ${keysMost} groups, and there are ${keys.count}`,
      'use fewer groups, or count, sum or mean',
    );
  }
  const moved = Math.min(2 * keys.groupsMax, keys.count);
  const sizes = countNoise({
    name: 'sizes', counts: keys.count, l1: moved, l2: Math.sqrt(moved), target, share: sizesShare,
  });
  const plannerFor = (times: number): Planner => plannerOf(estimator, parameters, {
    dimension: dimension - 1, participation: facts.participation,
    target: partOf(target, { moved, times }),
  });
  const takesRange = estimator.parameters.some(({ name }) => name === 'range');
  const asked = {
    cohort, keys, spread: spreadOf(sizes),
    others: `${takesRange && parameters['range'] === undefined ? 'a range, ' : ''}fewer groups, `
      + 'or a larger epsilon',
  };
  const largest = plannerFor(moved)(protocolLimits.cohortMax);
  let times = largest.kind === 'infeasible' ? moved : timesOf([largest], keys, moved);
  let choices = ladderOf(plannerFor(times), asked);
  for (;;) {
    if ('kind' in choices) return choices;
    const own = timesOf(choices.map(({ plan }) => plan), keys, moved);
    if (own <= times) break;
    times = own;
    choices = ladderOf(plannerFor(times), asked);
  }
  return planOf(estimator, facts, keys, sizes, choices);
}

/**
 * The people by whom a key must exceed the size of a plan to have it, but with `failure`. The noisy
 * size may be one bound too low, and another bound is taken off before the plan is chosen.
 */
const spreadOf = (sizes: CountNoise): number => 2 * sizes.upperQuantile(failure);

/**
 * How many times the cost of one key all keys together cost, in rho or in pure epsilon, if each may
 * have any of these plans: `moved`, or less where an event has a `presence`. A kind of plan has the
 * same share of every target, up to the rounding that the margin covers.
 */
function timesOf(plans: readonly Plan[], keys: PublicKeys, moved: number): number {
  if (plans.every(({ events }) => events.every(({ presence }) => presence === undefined))) {
    return moved;
  }
  const together =
    costOfEvents(keyedEvents(plans.map((plan) => ({ size: 0, plan })), keys), { disjoint: [] });
  const isPure = plans.every(({ cost }) => cost.epsilon !== null);
  const [all, ones] = isPure
    ? [together.epsilon!, plans.map(({ cost }) => cost.epsilon!)]
    : [together.rho, plans.map(({ cost }) => cost.rho)];
  const one = Math.max(...ones.map(Number));
  return Math.min(moved, (Number(all) / one) * (1 + 2 ** -20));
}

/**
 * The target of one key. If every key costs this, all together cost the rest after the sizes.
 * @param parts.moved - keys that a contributor changes. parts.times - what `timesOf` returned.
 */
function partOf(
  target: PrivacyTarget, { moved, times }: { readonly moved: number; readonly times: number },
): PrivacyTarget {
  const share = 1 - sizesShare;
  // Pure costs are shared as epsilon, and rho is its square by two.
  const rho = target.isPure === true
    ? (target.epsilon * share / times) ** 2 / 2 * (1 - 2 ** -50)
    : shareOf(target.rho, share) / times * (1 - 2 ** -50);
  return {
    ...target, rho,
    epsilon: target.epsilon * share / (target.isPure === true ? times : moved),
    delta: target.delta / moved * (1 - 2 ** -50),
    deltaTotal: target.deltaTotal / moved,
  };
}

type Planner = (size: number) => Plan | Infeasible;

function plannerOf(
  estimator: Estimator, parameters: ParameterValues, facts: Omit<StudyFacts, 'cohort'>,
): Planner {
  return (size) => {
    const cohort = Math.min(size, protocolLimits.cohortMax);
    const plan = estimator.plan(parameters, { ...facts, cohort });
    if (plan.kind === 'infeasible' || isOfOnePool(plan)) return plan;
    return infeasible(
      `${estimator.name} divides people into subsamples before the sizes of groups are known`,
      'use an estimator without subsamples for each group, such as robust-mean, mean or quantile',
    );
  };
}

/** All rows are in one summary, and the answer is one array. */
function isOfOnePool({ arms, parts }: Plan): boolean {
  const [only] = arms;
  return arms.length === 1 && only!.groups === 1 && only!.unit === 'row' && parts === undefined;
}

interface LadderFacts {
  readonly cohort: number;
  readonly keys: PublicKeys;
  /** The result of `spreadOf`. */
  readonly spread: number;
  /** Advice for a user who has no larger cohort. */
  readonly others: string;
}

/**
 * The plans of a key: for the smallest size that has one, for the size of a key when all are
 * equally large, and for halves and doubles of that. None, if even equally large keys of people
 * who are in as many as they may would be too small: then some key never has an answer.
 */
function ladderOf(
  planFor: Planner, { cohort, keys: { count, groupsMax }, spread, others }: LadderFacts,
): readonly Choice[] | Infeasible {
  const least = nearSmallestCohort((size) => planFor(size).kind === 'plan', { from: 16 });
  if (least === Infinity) {
    const plan = planFor(cohort);
    if (plan.kind === 'infeasible') return plan;
  }
  const answered = Math.ceil(least + spread);
  const needed = Math.ceil(answered * count / Math.min(groupsMax, count));
  if (!(needed <= cohort)) {
    return needsCohort(
      `answers need groups of ${answered} people or more, and a cohort of ${cohort} has not as many `
      + `for each of ${count} groups`, needed, others,
    );
  }
  const usual = Math.max(least, Math.floor(cohort / count - spread));
  let from = usual;
  while (from / 2 >= least) from /= 2;
  const sizes = from < least + 1 ? [] : [least];
  for (let size = from; size <= cohort; size *= 2) sizes.push(Math.floor(size));
  return sizes.slice(0, sizesMax).flatMap((size): readonly Choice[] => {
    const plan = planFor(size);
    return plan.kind === 'plan' ? [{ size, plan }] : [];
  });
}

function planOf(
  { name, assumption }: Estimator, facts: StudyFacts, keys: PublicKeys,
  sizes: CountNoise, choices: readonly Choice[],
): Plan {
  const { cohort, dimension } = facts;
  const least = choices[0]!;
  const spread = spreadOf(sizes);
  const usual = choices[choiceFor(choices, cohort / keys.count - spread)] ?? least;
  const shape = [keys.count, ...usual.plan.outputShape];
  const answered = Math.ceil(least.size + spread);
  return makePlan({
    arms: [pooledArm(cohortName)],
    events: [sizes.event, ...keyedEvents(choices, keys)],
    guarantee: {
      theorem: `${name} for each group: ${usual.plan.guarantee.theorem}; groups together by the proof `
        + 'in src/estimators/keyed/each',
      assumptions: [`of the rows of each group: ${assumption}`],
      corruptionMax: usual.plan.guarantee.corruptionMax,
    },
    outputShape: shape,
    facts: {
      keys: keys.count,
      keysOfOnePerson: keys.groupsMax,
      smallestKeyAnswered: answered,
      plannedSizeOfAKey: usual.size,
      ...usual.plan.facts,
    },
    expectedError: (corruption) => usual.plan.expectedError(corruption),
    summary: () => rowsSummary(dimension),
    release: async (summaries, mechanisms, compute) => {
      const byKey = poolOf(summaries, cohortName).map((rows) => rowsOfKeys(rows, keys.count));
      const noisy = sizes.draw(mechanisms, byKey.map(({ counts }) => counts));
      const noise = sizes.upperQuantile(failure);
      const chosen = Array.from(noisy.value, (size) => choiceFor(choices, size - noise));
      const answers: (Outcome | null)[] = [];
      for (const [key, at] of chosen.entries()) {
        answers.push(at < 0 ? null
          : await releaseOne(choices[at]!.plan, byKey, key, forKey(mechanisms, at, key), compute));
      }
      return noisy.map(() => answerOfKeys(answers, shape, answered));
    },
  });
}

function keyedEvents(choices: readonly Choice[], keys: PublicKeys): readonly MechanismEvent[] {
  return choices.flatMap(({ plan }, at) => plan.events.map((event): MechanismEvent => ({
    ...event, name: nameOf(at, event.name), cohort: cohortName,
    keyed: { keys: keys.count, groupsMax: keys.groupsMax },
  })));
}

/** The last choice whose size is at most `size`; -1: none is. */
function choiceFor(choices: readonly Choice[], size: number): number {
  return choices.findLastIndex((choice) => choice.size <= size);
}

const nameOf = (choice: number, event: string): string => `each@${choice}/${event}`;

const forKey = (mechanisms: Mechanisms, choice: number, key: number): Mechanisms =>
  renamed(mechanisms, (event) => `${nameOf(choice, event)}#${key}`);

/** One key's release, made from its rows alone. */
async function releaseOne(
  plan: Plan, byKey: Sensitive<RowsOfKeys>, key: number, mechanisms: Mechanisms, compute: Compute,
): Promise<Outcome> {
  const { name } = plan.arms[0]!;
  const summary = plan.summary(name);
  const finished = byKey.map(({ rows }) => {
    const { count, dimension, values, tags } = rows[key]!;
    let state = summary.empty();
    for (let row = 0; row < count; row++) {
      const own = values.subarray(row * dimension, (row + 1) * dimension);
      state = summary.add(state, own, tags[row]!);
    }
    return [summary.finish(state, noWork)];
  });
  return (await plan.release(new Map([[name, finished]]), mechanisms, compute)).value;
}

/** A pool is only put in order when it is finished, so it draws nothing. */
const none = (): never => {
  throw new InvariantError('the rows of a group need no random choices');
};
const noWork: WorkRandom = { kind: 'work', fill: none, uniform: none, fork: none };
