import * as v from 'valibot';
import { questionLimits as limits } from '../../src/base/questions.js';
import { isQuestionName } from '../../src/base/question-rules.js';
import { chosen, key, name, oneOf, ruled, whole } from './schema-parts.js';

/** The way in which the rows of one person become one row. */
export const reduce = oneOf('mean', 'sum', 'one');

const nameRule = `a name of a to z, digits and hyphens, at most ${limits.nameLength}, that begins `
  + 'with a letter';
const questionName =
  ruled(nameRule, v.pipe(v.string(nameRule), v.check(isQuestionName, nameRule)));

const valueRule = 'a number, true, false or a name';
const value = ruled(
  valueRule, v.union([v.number(), v.boolean(), v.string()], valueRule),
);
const valuesRule = `a list of 1 to ${limits.values} values`;
const values = ruled(valuesRule, v.pipe(
  v.array(value, valuesRule), v.minLength(1, valuesRule),
  v.maxLength(limits.values, valuesRule),
));
const flag = ruled('true or false', v.boolean('true or false'));
const number = ruled('a number', v.pipe(v.number('a number'), v.finite('a number')));

const testRule = 'a value, or a map of is, not, in, at-least, below and present';
const testMap = ruled(testRule, v.pipe(v.strictObject({
  is: key(v.optional(value), 'The value that a row must have.', 'north', 'not tested'),
  not: key(v.optional(value), 'The value that a row may not have.', 'north', 'not tested'),
  in: key(v.optional(values), 'The values of which a row must have one.', ['north', 'south'],
    'not tested'),
  'at-least': key(v.optional(number), 'Of a number or an integer: the least that counts.', 5,
    'not tested'),
  below: key(v.optional(number), 'Of a number or an integer: only smaller values count.', 60,
    'not tested'),
  present: key(v.optional(flag),
    'Of an optional column. true: the row must have a value. false: it must have none.', true,
    'not tested'),
}, testRule), v.check((test) => Object.keys(test).length > 0, testRule)));
const test = ruled(testRule, chosen([value, testMap], (input) =>
  (typeof input === 'object' && input !== null ? testMap : value)));
const whereRule = 'columns, each with a value or with tests';
/** The checks of a record skip these, so that a test would be lost. */
const skipped = ['constructor', 'prototype', '__proto__'];
const unusable = (rule: string) => v.never(rule);
const hasSkipped = (input: unknown): boolean => typeof input === 'object' && input !== null
  && skipped.some((each) => Object.hasOwn(input, each));

const testsByColumn = v.record(name, test, whereRule);
const unusableTests = unusable(`${whereRule}; a column named ${skipped.join(', ')} cannot be tested`);
const where = ruled(whereRule, chosen([testsByColumn], (input) =>
  (hasSkipped(input) ? unusableTests as unknown as typeof testsByColumn : testsByColumn)));

const someNamesRule = 'a list of names of columns';
const someNames = ruled(someNamesRule, v.array(name, someNamesRule));

const groupsRule = `a list of 1 to ${limits.keys} groups; with several columns each is a list`;
const groupOfOne = ruled(groupsRule, v.union([v.number(), v.boolean(), v.string()], groupsRule));
const groupOfSeveral = ruled(groupsRule, v.array(groupOfOne, groupsRule));
const oneGroup = ruled(groupsRule, chosen([groupOfOne, groupOfSeveral], (input) =>
  (Array.isArray(input) ? groupOfSeveral : groupOfOne)));
const groups = ruled(groupsRule, v.pipe(
  v.array(oneGroup, groupsRule), v.minLength(1, groupsRule), v.maxLength(limits.keys, groupsRule),
));

const byRule = 'column: a column, or columns: up to '
  + `${limits.byColumns} of them, and groupsMax: the most groups of one person`;
const by = ruled(byRule, v.pipe(v.strictObject({
  column: key(v.optional(name),
    'The answer is split by the values of this column: a boolean, a category, a text, or an '
    + `integer with a range of at most ${limits.integerValues} values.`, 'region',
    'must be given, unless columns is'),
  columns: key(v.optional(someNames),
    `Up to ${limits.byColumns} columns: there is a group for each combination of their values.`,
    ['region', 'late'], 'must be given, unless column is'),
  groupsMax: key(whole(1, limits.keys),
    'A person counts in at most so many groups, chosen at random from those of its rows. More '
    + 'groups need more noise.', 2),
  groups: key(v.optional(groups), 'The groups, a public list. Rows of other groups do not count.',
    ['north', 'south'], 'all combinations of the columns\' public values'),
  discover: key(v.optional(flag),
    'true: the groups are those that enough people send, and nobody lists them. It needs a delta.',
    true, 'false'),
  answer: key(v.optional(oneOf('counts', 'groups')),
    'With discover, of a count. groups: the release shows the groups alone, without counts. More '
    + 'groups show where people have several.', 'groups', 'counts'),
  top: key(v.optional(whole(1, limits.keys)),
    'With discover: so many groups are shown at most, those with the largest counts.', 100,
    '100 groups'),
  prefilter: key(v.optional(whole(1, limits.prefilter)),
    'With discover: a group of fewer people is not looked at.', 2, '2 people'),
  remember: key(v.optional(whole(1, limits.keys)),
    'With discover: so many groups of the newest answer are shown again in the next one, whatever '
    + 'their counts are. Less than top.', 50, 'none: each release finds its groups anew'),
}, byRule), v.check(({ column, columns }) =>
  (column === undefined) !== (columns === undefined), byRule)));

const parametersRule = 'the estimator\'s parameters by name';
/** The settings of an estimator. */
export const parameters = ruled(parametersRule, v.record(v.string(), v.unknown(), parametersRule));

const questionRule = 'an estimator, and what it is asked about';
const question = ruled(questionRule, v.strictObject({
  estimator: key(name, 'What is worked out, as for a study of one question.', 'count'),
  columns: key(v.optional(someNames, []),
    'The columns that the estimator sees. None: it counts people.', ['minutes']),
  where: key(v.optional(where, {}),
    'Only rows that pass every test count. A value alone must be equal.', { late: true }),
  by: key(v.optional(by), 'The answer is split by the values of one or more columns.',
    { column: 'region', groupsMax: 2 }, 'there is one answer'),
  reduce: key(v.optional(reduce),
    'What the rows of one person become, as in contribution.reduce.', 'mean',
    'contribution.reduce, or else as there; one without columns'),
  part: key(v.optional(whole(1, 100)),
    'The part of the privacy of each release that this question uses, in per cent.', 40,
    'questions without a part divide the rest evenly'),
  parameters: key(v.optional(parameters, {}), 'The settings of the estimator.', { spread: 40 }),
}, questionRule));

const questionsRule = `a map of 1 to ${limits.questions} names and questions`;
const questionsByName = ruled(questionsRule, v.pipe(
  v.record(questionName, question, questionsRule),
  v.check((map) => {
    const { length } = Object.keys(map);
    return length >= 1 && length <= limits.questions;
  }, questionsRule),
));
const unusableQuestions = unusable(`${questionsRule}; no question is named ${skipped.join(', ')}`);

/** Several questions about one contribution. */
export const questionsSchema = ruled(questionsRule, chosen([questionsByName], (input) =>
  (hasSkipped(input)
    ? unusableQuestions as unknown as typeof questionsByName : questionsByName)));

/** A question of a study file. */
export type FileQuestion = v.InferOutput<typeof question>;
/** The tests of one column. */
export type FileTest = v.InferOutput<typeof test>;
