import { InvalidParameterError } from './base/errors.js';
import { checkObject, checkOptions } from './base/given.js';
import { choiceNow, parameterNow } from './base/old-names.js';
import { didYouMean, questionWords } from './base/suggest.js';
import { errorUnit } from './error-unit.js';
import { checkDimension, checkParticipation } from './estimators/contract/given.js';
import type {
  Estimator, Infeasible, ParameterValues, Plan, StudyFacts,
} from './estimators/contract/estimator.js';
import { parseParameters } from './estimators/contract/parameters.js';
import {
  count, covariance, distribution, gaussian, histogram, mean, median, mixture, mixture1d,
  primeHeavy, quantile, ratio, robustMean, share, stableCovariance, sum,
} from './estimators/index.js';
import { normalQuantile } from './numerics/normal.js';
import { hasInterval, planWithin, type PlanOptions } from './plan.js';
import { targetAlone } from './privacy/accounting/target.js';
import { plainAnswers, questionNames, type QuestionName } from './question-names.js';

/** Options of `chooseEstimator`. All of them are public: it never sees a row. */
export interface ChooseOptions extends Omit<PlanOptions, 'estimator'> {
  /** The question to answer. Default: `mean`. */
  readonly question?: QuestionName;
  /**
   * The known facts, as parameters of estimators by name, each used where it is taken: `spread`,
   * `threshold`, `edges` and so on. Three have a meaning for the choice too. `corruption`: the
   * share of contributors that may lie, 0 to 0.5, default 0.05; for `covariance` 0 unless `shape`
   * is light, since nothing resists liars otherwise. `shape`: `any` (default), or
   * `light` where honest rows are about normal. `range`: `low..high`, which becomes twenty
   * equal bins of a histogram.
   */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** An estimator that answers the question, and what it would cost. */
export interface Candidate {
  readonly estimator: Estimator;
  /** Root of the expected squared error at the stated corruption; null without a plan. */
  readonly expectedError: number | null;
  /** The unit of `expectedError`: `spreads`, unless the plan names another. */
  readonly errorsAreIn: string;
  /** Both for people, in a unit of the rows where public facts give one: `50 people`. */
  readonly errorText: string | null;
  /** Why it is not chosen whatever its error is, in one sentence; null if it could be. */
  readonly excluded: string | null;
  /** The parameters to plan it with; null where it lacks a fact that it needs. */
  readonly parameters: ParameterValues | null;
  /** Null where there is none. */
  readonly plan: Plan | null;
}

/** The estimator to use, and why. */
export interface Choice {
  readonly kind: 'choice';
  readonly estimator: Estimator;
  /** For `plan`, `estimate` or a study file. */
  readonly parameters: ParameterValues;
  readonly plan: Plan;
  /** Plain sentences, from public facts alone. */
  readonly why: readonly string[];
  /** The assumption behind accurate answers. Privacy never depends on it. */
  readonly assumes: string;
  /** Every estimator that was compared, the chosen one among them. */
  readonly candidates: readonly Candidate[];
}

interface Known {
  readonly columns: number;
  readonly corruption: number;
  /** True if nothing that answers the question resists liars, and none were stated. */
  readonly isUnprotected: boolean;
  readonly shape: 'any' | 'light';
  readonly given: Readonly<Record<string, unknown>>;
}

/** One line of the decision table. */
interface Contender {
  readonly name: string;
  /** When to use it, in words. */
  readonly suits: string;
  /** The facts that it needs, in words. */
  readonly needs: string;
  /** How much people who lie can do, in words. */
  readonly liars: string;
  /** The needed facts that are not known, in words; null if none are missing. */
  readonly lacks?: (known: Known) => string | null;
  /** Parameters that follow from the known facts. */
  readonly parameters?: (known: Known) => Readonly<Record<string, unknown>>;
  /** It answers something near to the question, where nothing else has an answer. */
  readonly standsIn?: (known: Known) => boolean;
  /** Its planned error in spreads, where its plan has another unit and it does not stand in. */
  readonly inSpreads?: (error: number, known: Known) => number;
  /** A sentence to the reasons where it is chosen. */
  readonly says?: (known: Known) => string;
  /** True if `parameters` reads a `range`, which the estimator itself does not take. */
  readonly readsRange?: true;
}

/** Named one by one, so that a page that plans bundles no other estimator. */
const contending: readonly Estimator[] = [
  count, covariance, distribution, gaussian, histogram, mean, median, mixture, mixture1d,
  primeHeavy, quantile, ratio, robustMean, share, stableCovariance, sum,
];

const estimatorOf = (name: string): Estimator => contending.find((each) => each.name === name)!;

/** The needs of quantiles, and the power of liars over them. */
const ofRanks = {
  needs: 'nothing; a `range` for values near one another and far from zero, such as years',
  liars: 'a share moves the rank by that share',
} as const;

const ofNormalRows = ({ shape }: Known): string | null =>
  (shape === 'light' ? null : 'it needs shape=light');

/** Deviations between the mean and the median of columns that are about normal (gamma 60: .04). */
const aboutNormal = 0.05;

/**
 * An error of medians, in ranks and Euclidean over the columns, as an error of means in spreads:
 * where columns are about normal, a rank r from the middle is so many deviations from the mean. The
 * rank is taken to be the same in each column.
 */
function normalSpreads(error: number, { columns }: Known): number {
  const rank = 0.5 + error / Math.sqrt(columns);
  return rank < 1 ? Math.sqrt(columns) * (normalQuantile(rank) + aboutNormal) : Infinity;
}

/**
 * Which estimators answer which question. `keelson estimate auto`, `keelson plan auto` and the
 * table of docs/guides/choose-an-estimator.md are made of this.
 */
export const decisions: Readonly<Record<QuestionName, readonly Contender[]>> = {
  count: [{
    name: 'count', suits: 'How many people take part, or have a value of at least a threshold?',
    needs: 'perhaps a `threshold`', liars: 'each moves the count by at most one',
  }],
  total: [{
    name: plainAnswers.total, suits: 'What is the total of each column, such as hours or costs?',
    needs: 'a `cap` or a `range` that nearly all values lie in; or `cap: auto` and a `cap-max`',
    liars: 'each moves the total by at most the cap',
    lacks: ({ given }) => ('range' in given || 'cap' in given
      ? null : 'it needs a public cap (cap=most) or range (range=low..high), '
        + 'or cap=auto and cap-max=most'),
  }],
  share: [{
    name: 'share', suits: 'Which share of the people has at least a threshold, or says yes?',
    needs: 'perhaps a `threshold`', liars: 'a share moves it by at most that share',
  }],
  ratio: [{
    name: 'ratio', suits: 'How much of one column is there for each unit of another?',
    needs: 'two columns, and a `cap` for both',
    liars: 'each moves both totals by at most their caps',
    lacks: ({ columns, given }) => {
      if (columns !== 2) return 'it needs two columns';
      return 'cap' in given ? null : 'it needs public caps (cap=first,second)';
    },
  }],
  histogram: [{
    name: 'histogram', suits: 'How many people are in each interval of values?',
    needs: '`edges`, a `range` or a `width`', liars: 'each moves one person between intervals',
    lacks: ({ given }) => (['edges', 'range', 'width'].some((name) => name in given)
      ? null : 'it needs edges, a range (range=low..high) or a width'),
    parameters: ({ given }) => ('range' in given ? { edges: edgesOf(rangeOf(given)) } : {}),
    readsRange: true,
  }],
  median: [{
    name: 'median', suits: 'Which value of each column has half the people below it?',
    ...ofRanks,
  }],
  percentile: [{
    name: plainAnswers.percentile, suits: 'What is the upper tenth, or several quantiles at once?',
    ...ofRanks,
  }],
  mean: [
    {
      name: 'robust-mean', suits: 'What is the mean of each column? Some people may lie.',
      needs: 'nothing; a `spread` helps with few people',
      liars: 'the stated `corruption`, 5 % unless you say otherwise',
    },
    {
      name: 'prime-heavy', suits: 'The same, where some honest values are far out on one side.',
      needs: 'a `spread` for each column', liars: 'the stated `corruption`',
      lacks: ({ given, shape }) => {
        if (shape === 'light') return 'it is for rows of any shape: with normal rows it errs more';
        return 'spread' in given && given['spread'] !== 'auto'
          ? null : 'it needs a spread (spread=size)';
      },
    },
    {
      name: 'mean', suits: 'The same, where nobody has a reason to lie.',
      needs: 'nothing; a `spread` helps with few people',
      liars: 'not promised: each moves the mean',
    },
    {
      name: 'median',
      suits: 'The same with too few people for a mean with an interval, or few and `shape` light: '
        + 'the value that half of them are below.',
      ...ofRanks,
      standsIn: ({ shape }) => shape !== 'light',
      inSpreads: normalSpreads,
      says: ({ shape }) => (shape === 'light'
        ? 'This is the median: half of them are below it. In columns about normal the mean is '
          + 'there, too. Its interval allows for nobody who lies; the expected error does.'
        : 'No mean with an interval can be found with so few people. This is the median: half of '
          + 'them are below it; in a skewed column the mean is elsewhere.'),
    },
  ],
  covariance: [
    {
      name: 'stable-covariance',
      suits: 'How do columns vary together (covariance)? Some people may lie; tails are normal.',
      needs: '`shape` light; at most 16 columns', liars: 'the stated `corruption`',
      lacks: (known) =>
        (known.columns > 16 ? 'it takes at most 16 columns' : ofNormalRows(known)),
    },
    {
      name: 'covariance', suits: 'The same, where nobody has a reason to lie.',
      needs: 'nothing; bounds on the variance help', liars: 'not promised',
    },
  ],
  distribution: [
    {
      name: 'distribution',
      suits: 'How are the values of one column spread, and what is any quantile?',
      needs: 'a `range` that nearly all values lie in',
      liars: 'a share moves every count and rank by that share',
      lacks: ({ given }) => ('range' in given || 'edges' in given
        ? null : 'it needs a public range (range=low..high)'),
    },
    {
      name: 'gaussian', suits: 'Which normal distribution do rows follow?',
      needs: '`shape` light; bounds on the variance help',
      liars: 'the stated `corruption` with `local: robust`; else not promised',
      lacks: ofNormalRows,
      parameters: ({ corruption }) => (corruption > 0 ? { local: 'robust' } : { corruption: 0 }),
    },
    {
      name: 'mixture-1d', suits: 'Which kinds of values are in one column (a mixture of normals)?',
      needs: 'one column', liars: 'not promised',
      lacks: ({ columns }) => (columns === 1 ? null : 'it takes one column'),
    },
    {
      name: 'mixture', suits: 'The same in two to six columns.',
      needs: 'two to six columns', liars: 'not promised',
      lacks: ({ columns }) => (columns > 1 && columns <= 6 ? null : 'it takes 2 to 6 columns'),
    },
  ],
};

function rangeOf(given: Readonly<Record<string, unknown>>): { low: number; high: number } {
  const [low, high] = String(given['range']).split('..').map(Number);
  if (low === undefined || high === undefined || !(low < high)) {
    throw new InvalidParameterError(
      'parameters.range is low..high with low below high, for example 0..240', { path: 'range' },
    );
  }
  return { low, high };
}

/** Twenty equal bins of the range, and one beyond each end. */
function edgesOf({ low, high }: { low: number; high: number }): readonly number[] {
  return Array.from({ length: 21 }, (_, i) => low + ((high - low) * i) / 20);
}

/**
 * Recommends an estimator for a question, from public facts alone, and says why. Of the estimators
 * whose needs are met, and which promise an error at the stated corruption, it picks the one
 * whose plan has the smallest expected error, and among equals the last in `decisions`. One whose
 * answer has an interval with so many people goes before one whose has none. Errors in different
 * units are not compared: the first in `decisions` then wins. Costs one plan for each estimator of
 * the question.
 * @returns the choice, or why there is none and what would help.
 * @throws InvalidParameterError naming the option or parameter that is missing or wrong.
 * @example
 * const found = chooseEstimator({
 *   columns: 2, cohort: 50_000, epsilon: 1, delta: 1e-6, participation: 'secret',
 * });
 * if (found.kind === 'choice') console.log(found.estimator.name, found.why.join(' '));
 */
export function chooseEstimator(options: ChooseOptions): Choice | Infeasible {
  checkOptions(options, [
    'question', 'columns', 'cohort', 'epsilon', 'delta', 'parameters', 'participation',
  ], 'chooseEstimator');
  const {
    question = 'mean', columns, cohort, epsilon, delta, parameters = {}, participation,
  } = options;
  checkDimension(columns);
  checkParticipation(participation);
  const target = targetAlone({ epsilon, delta });
  const facts = { dimension: columns, cohort, participation, target };
  return chooseWithin(question, parameters, facts);
}

/** Why no estimator fits, and what each estimator of the question lacks. */
export interface NoChoice extends Infeasible {
  readonly candidates: readonly Candidate[];
}

/**
 * `chooseEstimator` for facts that are checked.
 * @param standIns - whether one that answers another number may stand in where none else can.
 */
export function chooseWithin(
  question: QuestionName, given: Readonly<Record<string, unknown>>, facts: StudyFacts,
  { standIns = true } = {},
): Choice | NoChoice {
  if (!questionNames.includes(question)) {
    throw new InvalidParameterError(
      `question is one of ${questionNames.join(', ')}`
        + didYouMean(String(question), questionNames, questionWords),
    );
  }
  const known = knownFacts(question, given, facts.dimension);
  const contenders = decisions[question].filter(({ standsIn }) =>
    standIns || standsIn?.(known) !== true);
  const rated = contenders.map((contender) => rate(contender, known, facts));
  const eligible = rated.filter(({ candidate: { plan, excluded } }) =>
    plan !== null && excluded === null);
  const isWithout = ({ candidate: { plan } }: Rated): boolean =>
    plan !== null && !hasInterval(plan, facts.cohort);
  const best = bestOf(eligible.filter((each) => !isWithout(each))) ?? bestOf(eligible);
  if (best === null) return noneOf(question, rated);
  const others = eligible.filter((each) =>
    each.standsIn === best.standsIn && isWithout(each) === isWithout(best));
  return {
    kind: 'choice', estimator: best.candidate.estimator, parameters: best.candidate.parameters!,
    plan: best.candidate.plan!,
    why: reasons(best, others.length, known),
    assumes: best.candidate.estimator.assumption,
    candidates: rated.map((each) => {
      const { candidate, standsIn } = each;
      const without = standsIn ? standsInWhere : isWithout(each) && !isWithout(best)
        ? `it has no interval with fewer than ${candidate.plan!.facts['intervalFrom']!} people`
        : null;
      return each === best
        ? candidate : { ...candidate, excluded: candidate.excluded ?? without };
    }),
  };
}

const standsInWhere = 'it is another number, for where no mean with an interval can be found';

/** The one of least error; one that stands in where there is no other. */
function bestOf(eligible: readonly Rated[]): Rated | null {
  const proper = eligible.filter(({ standsIn }) => !standsIn);
  const [first] = proper;
  if (first === undefined) return eligible[0] ?? null;
  return proper.filter(({ candidate }) =>
    candidate.errorsAreIn === first.candidate.errorsAreIn)
    .reduce((least, each) =>
      (each.candidate.expectedError! <= least.candidate.expectedError! ? each : least));
}

interface Rated {
  readonly candidate: Candidate;
  readonly infeasible: Infeasible | null;
  readonly standsIn: boolean;
  /** True if a fact that it needs is not known. */
  readonly isLacking: boolean;
  /** Sentences of the contender, for the reasons. */
  readonly says: readonly string[];
}

function knownFacts(
  question: QuestionName, given: Readonly<Record<string, unknown>>, columns: number,
): Known {
  checkObject(given, 'parameters are what is known, by name');
  const taken = new Set(decisions[question].flatMap(({ name, readsRange }) => [
    ...estimatorOf(name).parameters.map((spec) => spec.name),
    ...(readsRange === true ? ['range'] : []),
  ]));
  const names = ['corruption', 'shape', ...taken];
  const odd = Object.keys(given).find((name) => !names.includes(name));
  if (odd !== undefined) {
    const remedy = parameterNow(odd, names);
    throw new InvalidParameterError(
      `no estimator of this question takes "${odd}"`
        + (remedy === undefined ? didYouMean(odd, names) || `: they take ${names.join(', ')}`
          : `: ${remedy}`),
      { path: odd },
    );
  }
  const shape = given['shape'] ?? 'any';
  if (shape !== 'any' && shape !== 'light') {
    const now = choiceNow('shape', shape, ['any', 'light']);
    throw new InvalidParameterError(
      now === undefined ? 'parameters.shape is any or light' : `parameters.shape: ${now}`,
      { path: 'shape' },
    );
  }
  const isUnprotected =
    question === 'covariance' && shape === 'any' && given['corruption'] === undefined;
  const corruption = isUnprotected ? 0 : Number(given['corruption'] ?? 0.05);
  if (!(corruption >= 0 && corruption < 0.5)) {
    throw new InvalidParameterError(
      'parameters.corruption is a share of the contributors, from 0 to below 0.5',
      { path: 'corruption' },
    );
  }
  return { columns, corruption, isUnprotected, shape, given };
}

function rate(contender: Contender, known: Known, facts: StudyFacts): Rated {
  const estimator = estimatorOf(contender.name);
  const standsIn = contender.standsIn?.(known) ?? false;
  const says = contender.says === undefined ? [] : [contender.says(known)];
  let parameters: ParameterValues | null = null;
  const none =
    { estimator, expectedError: null, errorsAreIn: 'spreads', errorText: null, plan: null };
  const lacking = contender.lacks?.(known) ?? null;
  const shared = { standsIn, says, isLacking: lacking !== null };
  const without = (excluded: string, infeasible: Infeasible | null = null): Rated =>
    ({ candidate: { ...none, excluded, parameters }, infeasible, ...shared });
  if (lacking !== null) return without(lacking);
  const { corruption } = known;
  const spec = estimator.parameters.find(({ name }) => name === 'corruption');
  if (spec?.maximum !== undefined && corruption > spec.maximum) {
    return without(`it bears at most ${percent(spec.maximum)} of hostile contributors`);
  }
  const declared = new Set(estimator.parameters.map(({ name }) => name));
  const wanted = {
    corruption, shape: known.shape, ...known.given, ...contender.parameters?.(known),
  };
  const raw = Object.fromEntries(Object.entries(wanted).filter(([name]) => declared.has(name)));
  parameters = parseParameters(estimator.parameters, raw, { dimension: facts.dimension });
  const plan = planWithin(estimator, parameters, facts);
  const promisesNothing = `it promises nothing when ${percent(corruption)} of the contributors lie`;
  if (plan.kind === 'infeasible') {
    // More contributors do not help one that would promise nothing.
    const larger = plan.cohortNeeded === undefined
      ? plan : planWithin(estimator, parameters, { ...facts, cohort: plan.cohortNeeded });
    if (larger.kind === 'plan' && larger.guarantee.corruptionMax < corruption) {
      return without(promisesNothing);
    }
    return without(`it has no plan: ${plan.reason}`, plan);
  }
  const excluded = plan.guarantee.corruptionMax >= corruption ? null : promisesNothing;
  const { total } = plan.expectedError(corruption);
  const isConverted = !standsIn && contender.inSpreads !== undefined;
  const expectedError = isConverted ? contender.inSpreads(total, known) : total;
  const errorsAreIn =
    isConverted ? 'spreads' : String(plan.facts['errorsAreIn'] ?? 'spreads');
  const { factor, name } =
    errorUnit(errorsAreIn, { cohort: facts.cohort, parameters, facts: plan.facts });
  const errorText = Number.isFinite(expectedError)
    ? `${Number((factor * expectedError).toPrecision(3))} ${name}` : null;
  const candidate =
    { estimator, expectedError, errorsAreIn, errorText, excluded, parameters, plan };
  return { candidate, infeasible: null, ...shared };
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function reasons(
  { candidate: best, says }: Rated, eligible: number, known: Known,
): readonly string[] {
  const { estimator, errorText } = best;
  const liars = known.isUnprotected
    ? 'Nothing that takes rows of any shape resists people who lie here. Say shape=light if '
      + 'honest rows are about normal and some people may lie.'
    : known.corruption === 0 ? 'Nobody is expected to lie.'
    : `Up to ${percent(known.corruption)} of the contributors may lie, so only estimators that `
      + 'promise an error under that were considered.';
  const error = `its expected error is ${errorText ?? 'not bounded'}`;
  const compared = eligible > 1
    ? `Of ${eligible} that fit, ${estimator.name} was chosen: ${error}.`
    : `Only ${estimator.name} fits what is known: ${error}.`;
  const spread = best.parameters!['spread'] === 'auto'
    ? ['No spread is given, so it is found privately; that takes a part of the budget.'] : [];
  return [liars, compared, ...spread, ...says];
}

/** The advice of the first estimator that has some, else what each lacks. */
function noneOf(question: QuestionName, rated: readonly Rated[]): NoChoice {
  const lacks = rated.map(({ candidate: { estimator, excluded } }) =>
    `${estimator.name}: ${excluded!}`).join('; ');
  const found = rated.find(({ infeasible }) => infeasible !== null)?.infeasible;
  const isUnknown = rated.every(({ isLacking }) => isLacking);
  return {
    kind: 'infeasible',
    reason: `${isUnknown ? 'too little' : 'no estimator fits what'} is known for the question `
      + `${question} (${lacks})`,
    remedy: found?.remedy ?? (isUnknown ? 'give what is missing'
      : 'give what is missing, or corruption=0 if nobody has a reason to lie'),
    ...(found?.cohortNeeded === undefined ? {} : { cohortNeeded: found.cohortNeeded }),
    candidates: rated.map(({ candidate }) => candidate),
  };
}
