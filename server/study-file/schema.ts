import * as v from 'valibot';
import { budgetRuleNames } from '../../src/base/budget-rules.js';
import { columnLimits } from '../../src/base/columns.js';
import { textLimits } from '../../src/base/text-form.js';
import { protocolLimits } from '../../src/base/limits.js';
import { runningLimits } from '../../src/base/root-factor.js';
import { columnFormats, wordLimits } from '../../src/base/study-words.js';
import { issuerName } from '../../src/base/token-periods.js';
import { exampleSealed, sealed } from './sealed-schema.js';
import { epochLength, parseTime } from './durations.js';
import { parameters, questionsSchema, reduce } from './questions-schema.js';
import {
  chosen, delta, duration, key, line, name, oneOf, positive, ruled, whole,
} from './schema-parts.js';

const namesRule = `a list of 1 to ${protocolLimits.columns} different names`;
const columnsRule = `${namesRule}, or a map of names and types`;
const listOfNames = ruled(namesRule, v.pipe(
  v.array(name, columnsRule), v.minLength(1, namesRule),
  v.maxLength(protocolLimits.columns, namesRule),
  v.check((names) => new Set(names).size === names.length, namesRule),
));

const columnTypes = ['number', 'integer', 'boolean', 'category', 'text'] as const;
const end = ruled('a number', v.pipe(v.number('a number'), v.finite('a number')));
const flag = ruled('true or false', v.boolean('true or false'));
const categoryRule = `a list of 1 to ${columnLimits.names} different names, in quotes where they `
  + 'look like numbers';
const category = ruled(categoryRule, v.pipe(
  v.array(name, categoryRule), v.minLength(1, categoryRule),
  v.maxLength(columnLimits.names, categoryRule),
));
const typeRule = `one of ${columnTypes.join(', ')}`;
const columnRule = `${typeRule}, or a map with type: one of these`;
const typeAlone = ruled(columnRule, v.picklist(columnTypes, columnRule));
const columnMap = ruled(columnRule, v.strictObject({
  type: key(ruled(typeRule, v.picklist(columnTypes, typeRule)),
    'What the values are. number: any number. integer: a whole number. boolean: true or false. '
    + 'category: one of a public list of names. text: any short text, which a question uses in by '
    + 'or where.', 'category'),
  low: key(v.optional(end), 'Of a number or an integer: the least value that you expect. With '
    + 'high it is the default range of the estimators sum, quantile and distribution, and of a '
    + 'mean that is split by groups. In by, an integer outside low and high counts as other.', 0,
  'not stated'),
  high: key(v.optional(end), 'Of a number or an integer: the largest value that you expect.',
    240, 'not stated'),
  of: key(v.optional(category), 'Of a category: its names. They are public.',
    ['north', 'south'], 'must be given for a category'),
  other: key(v.optional(flag), 'Of a category. true: a file may hold other names, which count as '
    + 'other. false: they are refused.', true, 'false'),
  bytes: key(v.optional(whole(1, textLimits.bytesMax)), 'Of a text: its most bytes in UTF-8. '
    + 'Longer texts are refused.', 64, `${textLimits.bytes} bytes`),
  optional: key(v.optional(flag), 'true: a row may have no value. It then does not count in '
    + 'questions that use the column. Only for a study with questions.', true, 'false'),
  label: key(v.optional(line(wordLimits.label)), 'The column\'s name for people, on pages.',
    'Departure delay', 'the name of the column'),
  unit: key(v.optional(line(wordLimits.unit)), 'Of a number or an integer: what stands after its '
    + 'numbers on pages.', 'minutes', 'nothing'),
  format: key(v.optional(oneOf(...columnFormats)), 'Of a number or an integer: how pages write it. '
    + 'percent: 0.25 as 25 %, without a unit. compact: 1250000 as 1.25M.', 'compact',
    'the digits that the interval leaves'),
}, columnRule));
const column = ruled(columnRule, chosen([typeAlone, columnMap], (input) =>
  (typeof input === 'object' && input !== null ? columnMap : typeAlone)));

const mapRule = `a map of 1 to ${protocolLimits.columns} names and types; a name that is a whole `
  + 'number, constructor or prototype needs the list form';
const mapOfTypes = ruled(mapRule, v.pipe(
  v.record(name, column, mapRule),
  v.check((map) => {
    const { length } = Object.keys(map);
    return length >= 1 && length <= protocolLimits.columns;
  }, mapRule),
));
const unusableMap = v.never(mapRule);

/** JavaScript sorts names that are whole numbers, and the checks skip names of its own. */
function isUsableMap(input: object): boolean {
  const own = new Set(['constructor', 'prototype', '__proto__']);
  return Object.keys(input).every((each) => !/^\d+$/.test(each) && !own.has(each));
}

const columns = ruled(columnsRule, chosen([listOfNames, mapOfTypes], (input) => {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return listOfNames;
  return isUsableMap(input) ? mapOfTypes : unusableMap as unknown as typeof mapOfTypes;
}));

const { leastMs, least, mostMs, most } = epochLength;
const epochRule =
  'either every: a duration, or contributors: a count (only with participation: public)';
const epoch = ruled(epochRule, v.pipe(
  v.strictObject({
    every: key(v.optional(duration(leastMs, least, mostMs, most)),
      'An epoch ends after this time, and its release is published.', '1d',
      'must be given, unless contributors is'),
    contributors: key(v.optional(whole(1, protocolLimits.cohortMax)),
      'An epoch ends when this many people have contributed. Everybody can then see when people '
      + 'come, so it needs participation: public.', 3000, 'must be given, unless every is'),
  }, epochRule),
  v.check(
    ({ every, contributors }) => (every === undefined) !== (contributors === undefined), epochRule,
  ),
));

/** The time for which a charge counts in a budget that renews. */
const window = duration(100, '100ms', 3_660 * 86_400_000, '3660d');
const windowAbout = 'The budget renews: what a release costs counts for this long. '
  + 'Without it, what is spent stays spent for ever.';

const rule = oneOf(...budgetRuleNames);
const ruleAbout = 'How costs are added up. zcdp suits every study. gaussian has 7 % less noise, '
  + 'and takes only noise without a delta: counts, sums, quantiles and means with a range. '
  + 'pure adds up epsilons and takes only estimators with pure noise, with delta 0. renyi is for '
  + 'estimators whose cost is known at one Renyi order.';

const unlessShared = 'must be given, unless population is';

const budgetRule = 'epsilon and delta, or population: a name from the populations file';
const budget = ruled(budgetRule, v.pipe(
  v.strictObject({
    epsilon: key(v.optional(positive), 'What all releases together may cost.', 8, unlessShared),
    delta: key(v.optional(delta),
      'The probability that the bound of the whole budget fails.', 1e-5, unlessShared),
    rule: key(v.optional(rule), ruleAbout, 'zcdp',
      'that of the budget if it exists, else gaussian or zcdp: which has less noise'),
    scope: key(v.optional(oneOf('study', 'contributor')),
      'study: one budget for the study. contributor: each person has a budget, and is left out of '
      + 'an epoch that it does not pay for.', 'study', 'study'),
    per: key(v.optional(window), windowAbout, '30d', 'for ever'),
    releases: key(v.optional(whole(1, protocolLimits.budgetReleasesMax)),
      'For how many releases the budget must last: those of one window with per, those that one '
      + 'person is part of with scope: contributor. Fewer releases have less noise each, and a few '
      + 'have Laplace noise where the estimators have it. Not with rule: renyi.', 8,
      'as many as releases of privacy allow'),
    population: key(v.optional(name),
      'The name of a budget in the populations file, which several studies about the same people '
      + 'share. It stands alone, in place of the other keys.', 'travellers',
      'the study has a budget of its own'),
  }, budgetRule),
  v.check(({ population, ...own }) => (population === undefined
    ? own.epsilon !== undefined && own.delta !== undefined
    : Object.values(own).every((value) => value === undefined)), budgetRule),
));

const contributionRule = 'reduce: mean, sum or one, and rowsMax: the most rows a contributor may '
  + 'send in an epoch';
const contribution = ruled(contributionRule, v.strictObject({
  reduce: key(v.optional(reduce),
    'However many rows a person sends in an epoch, they count as one row. mean: their average. '
    + 'sum: their sum, for totals. one: one of them, chosen at random.', 'mean',
    'mean; sum for the estimator sum; one with a category, or for a histogram of a boolean'),
  rowsMax: key(v.optional(whole(1, 1_000_000_000), 64),
    'The most rows that a person may send in an epoch.', 64),
}, contributionRule));

const privacyRule = 'epsilon and delta of each release';
const privacy = ruled(privacyRule, v.strictObject({
  epsilon: key(positive,
    'How much one release may reveal about any one person. Smaller is more private, with more '
    + 'noise. 1 is a usual choice.', 1),
  delta: key(delta, 'The probability that the bound epsilon fails. Choose it far below one '
    + 'divided by the cohort. With rule: pure it may be 0.', 1e-6),
}, privacyRule));

const admissionRule = 'open; or contributorKeys: a file with one public key in each line, or a '
  + 'list of them; or enrolment: { issuer: a public key of 64 hexadecimal digits, in quotes }; or '
  + 'tokens: { issuer, from, per, keys }, as "keelson keys issuer" prints them; or rate: { '
  + 'contributorKeys: a count, per: a duration }';
const publicKeyRule = 'a public key of 64 hexadecimal digits, in quotes';
const publicKey = ruled(publicKeyRule, v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{64}$/)));
const listedKeysRule = 'the name of a file, relative to the study file, or a list of keys';
const listedKeys = ruled(listedKeysRule, v.union([
  v.pipe(v.string(), v.minLength(1)), v.pipe(v.array(publicKey), v.minLength(1)),
]));
const exampleKey = '0123456789abcdef'.repeat(4);
const hostRule = 'the name of a host in lower case, perhaps with a port';
const isTime = (text: string): boolean => parseTime(text) > 0;
const timeRule = 'a time like 2030-01-31 or 2030-01-31T12:00Z';
const keyIdsRule = `1 to ${protocolLimits.tokenPeriods} different ids of 64 hexadecimal digits, in `
  + 'quotes';
const tokensRule = 'issuer: a host, from: a time, per: a duration, and keys: ids of keys';
const tokens = ruled(tokensRule, v.strictObject({
  issuer: key(ruled(hostRule, v.pipe(v.string(hostRule), v.regex(issuerName, hostRule))),
    'The issuer\'s name.', 'tokens.example.org'),
  from: key(ruled(timeRule, v.pipe(v.string(timeRule), v.check(isTime, timeRule),
    v.transform(parseTime))), 'When the first period begins, in UTC.', '2030-01-01'),
  per: key(duration(1_000, '1s', 366 * 86_400_000, '366d'),
    'The length of a period. A person has one token in each.', '30d'),
  keys: key(ruled(keyIdsRule, v.pipe(
    v.array(publicKey), v.minLength(1), v.maxLength(protocolLimits.tokenPeriods),
    v.check((ids) => new Set(ids.map((id) => id.toLowerCase())).size === ids.length, keyIdsRule),
  )), 'The ids of the issuer\'s keys, one for each period, in order. After the last period the '
    + 'study needs a new version with more.', [exampleKey]),
}, tokensRule));
const byList = v.strictObject({
  contributorKeys: key(listedKeys, 'Only these keys may contribute: a file with one public key in '
    + 'each line, or the keys themselves.', 'people.keys'),
}, admissionRule);
const byEnrolment = v.strictObject({
  enrolment: key(ruled('issuer: a public key', v.strictObject({
    issuer: key(
      publicKey, 'The public key that signs the tokens. "keelson keys enrol" makes it.', exampleKey,
    ),
  })), 'A key may contribute when it shows a token that the issuer signed.',
  { issuer: exampleKey }),
}, admissionRule);
const byTokens = v.strictObject({
  tokens: key(tokens, 'A key may contribute when it shows a blind token. The issuer gives each '
    + 'person one in each period, and cannot tell which key uses it. It needs late: drop and '
    + 'epochs that end by time.', { issuer: 'tokens.example.org', from: '2030-01-01',
    per: '30d', keys: [exampleKey] }),
}, admissionRule);
const byRate = v.strictObject({
  rate: key(ruled('contributorKeys: a count, and per: a duration', v.strictObject({
    contributorKeys:
      key(whole(1, protocolLimits.cohortMax), 'So many new keys are admitted in each period.', 100),
    per: key(duration(1_000, '1s', 366 * 86_400_000, '366d'), 'The length of a period.', '1h'),
  })), 'Anybody may contribute, but only so many new keys are admitted in each period. '
    + 'It needs participation: public.', { contributorKeys: 100, per: '1h' }),
}, admissionRule);
const openToAll = v.literal('open', admissionRule);
const admission = ruled(admissionRule, chosen(
  [openToAll, byList, byEnrolment, byTokens, byRate], (input) => {
    if (typeof input !== 'object' || input === null) return openToAll;
    return 'enrolment' in input ? byEnrolment : 'tokens' in input ? byTokens
      : 'rate' in input ? byRate : byList;
  },
));

const retentionRule = 'release (rows are deleted once the release is stored), or a duration from '
  + '1s to 3650d';
const retention = ruled(retentionRule, v.union(
  [v.literal('release'), duration(1_000, '1s', 3_650 * 86_400_000, '3650d')], retentionRule));

const quarantineRule = 'beyond: how far from a published answer, in spreads, the mean of a key\'s '
  + 'rows may be; automatic: true to exclude every such key at each release';
const automatic = ruled('true or false', v.boolean('true or false'));
const quarantine = ruled(quarantineRule, v.strictObject({
  beyond: key(positive,
    'How far the mean of a key\'s rows may be from a published answer, in spreads. Keys beyond it '
    + 'are shown to the operator.', 20),
  automatic: key(v.optional(automatic, false),
    'true: every such key is excluded at each release. false: the operator excludes keys.', false),
}, quarantineRule));

const runningRule = `separation: how many epochs, from 2 to ${runningLimits.separation}, and questions: `
  + 'names, in a study that lists questions';
const running = ruled(runningRule, v.strictObject({
  separation: key(whole(2, runningLimits.separation),
    'A person takes part in at most one of so many successive epochs, and is refused in others. '
    + 'The larger, the less noise a total has.', 30),
  questions: key(v.optional(listOfNames), 'The questions whose answers become totals.',
    ['regions'], 'must be given where questions is; the study has one question'),
}, runningRule));

/** A study file. */
export const studySchema = v.strictObject({
  study: key(
    name, 'The name of the study. People and commands ask for it by this name.', 'commutes',
  ),
  title: key(v.optional(line(wordLimits.title)), 'The study\'s name for people, on pages.',
    'How long people travel to work', 'pages show the name'),
  description: key(v.optional(line(wordLimits.description)), 'What the study is about, in a few '
    + 'sentences for people. It is public.',
    'Each day, people send how long they travelled. The answer is the average.', 'nothing'),
  columns: key(columns,
    'The names of the values in a row, in their order. In a list all are numbers. A map gives each '
    + 'name its type: { minutes: number, late: boolean }.',
    ['minutes', 'kilometres']),
  cohort: key(whole(1, protocolLimits.cohortMax),
    'About how many people you expect in each epoch. It is a public guess and never a count: the '
    + 'noise and the promised error are planned for it.', 3000),
  peopleMax: key(v.optional(whole(1, protocolLimits.peopleMax)),
    'The most people of an epoch. Those who come after them are asked to send again in the next '
    + 'epoch. It is public: memory and the time of a release are planned for it, and not for the '
    + 'people who come.', 48_000, '16 times the cohort'),
  participation: key(v.optional(oneOf('secret', 'public'), 'secret'),
    'secret: it is also protected whether a person takes part. public: only what people send is '
    + 'protected.', 'secret'),
  epoch: key(epoch, 'When an epoch ends. Each epoch gives one release.', { every: '1d' }),
  contribution: key(v.optional(contribution, {}), 'What becomes of the rows of one person.',
    { reduce: 'mean', rowsMax: 64 }),
  estimator: key(v.optional(name),
    'What is worked out. "keelson estimators" lists the names.', 'robust-mean',
    'must be given, unless questions is'),
  parameters: key(v.optional(parameters),
    'The settings of the estimator, each under its name. The page of estimators has them all.',
    { spread: [20, 10], corruption: 0.05 }, 'the defaults of the estimator'),
  questions: key(v.optional(questionsSchema),
    'Several questions about the same rows, each under its name, in place of estimator and '
    + 'parameters. A person sends rows once, and each release answers all questions. Their costs '
    + 'add up to that of the release.',
    { delays: { estimator: 'robust-mean', columns: ['minutes'], parameters: { spread: 40 } } },
    'the study has one question: estimator and parameters'),
  privacy: key(privacy, 'What each release may cost.', { epsilon: 1, delta: 1e-6 }),
  budget: key(budget, 'What all releases together may cost. The study ends when it is used up, '
    + 'unless it renews.',
    { epsilon: 8, delta: 1e-5, scope: 'study' }),
  admission: key(
    v.optional(admission, 'open'), 'Who may contribute. open: anybody with a key.', 'open',
  ),
  late: key(v.optional(oneOf('next', 'drop')),
    'What becomes of rows that arrive after their epoch has closed. next: they count in the next '
    + 'epoch. drop: they are refused.', 'next', 'next; drop in a sealed study'),
  retention: key(v.optional(retention, 'release'),
    'How long rows are kept. release: until the release is stored.', 'release'),
  quarantine: key(v.optional(quarantine),
    'Finds keys whose rows are far from published answers, so that they can be excluded.',
    { beyond: 20 }, 'nobody is compared with answers'),
  running: key(v.optional(running),
    'Answers become totals over epochs, with far less noise than the sum of separate releases. It '
    + 'needs budget.scope: contributor. For counts and histograms with edges.',
    { separation: 30 }, 'each answer is about one epoch'),
  sealed: key(v.optional(sealed), 'Three servers of three operators hold shares of each row, and '
    + 'none of them sees a row. For count, histogram, quantile and mean. See the guide.',
  exampleSealed, 'the one server reads rows'),
}, 'a study: keys and values');

const populationRule = 'epsilon, delta and perhaps rule and per';
const populationsRule = 'names, each with epsilon, delta and perhaps rule and per';
const population = ruled(populationRule, v.strictObject({
  epsilon: key(positive, 'What all releases of all these studies together may cost.', 8),
  delta: key(delta, 'The probability that the bound of the whole budget fails.', 1e-5),
  rule: key(v.optional(rule, 'zcdp'), ruleAbout, 'zcdp'),
  per: key(v.optional(window), windowAbout, '30d', 'for ever'),
}, populationRule));
/** A populations file: budgets that several studies over the same people share. */
export const populationsSchema = v.strictObject({
  populations: key(
    ruled(populationsRule, v.record(name, population, populationsRule)),
    'Budgets by name. A study uses one by budget: { population: NAME }.',
    { travellers: { epsilon: 8, delta: 1e-5 } },
  ),
}, 'populations: names and budgets');

export type StudyFile = v.InferOutput<typeof studySchema>;
/** A column of the map form. */
export type FileColumn = v.InferOutput<typeof column>;
