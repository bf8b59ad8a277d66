import * as v from 'valibot';
import { isName, nameRule } from '../../src/base/facts-limits.js';
import { limits } from '../../src/base/limits.js';
import { durationForm, parseDuration } from './durations.js';

/**
 * The form of a study file. Every schema carries its rule as its description and as the message of each of its
 * checks, so that whatever fails, the operator is told what may stand there.
 */
const named = `${nameRule} (64 hexadecimal digits), with single spaces only`;
const name = ruled(named, v.pipe(v.string(named), v.check(isName, named)));

const above0 = 'a number above 0';
const positive = ruled(above0, v.pipe(v.number(above0), v.finite(above0), v.gtValue(0, above0)));

const deltaRule = 'a number in [0, 0.5), usually below 1 / (10 * contributors), such as 1e-6';
const delta = ruled(deltaRule, v.pipe(v.number(deltaRule), v.minValue(0, deltaRule), v.ltValue(0.5, deltaRule)));

function ruled<const Schema extends v.GenericSchema>(rule: string, schema: Schema) {
  return v.pipe(schema, v.description(rule));
}

function whole(low: number, high: number) {
  const rule = `a whole number from ${low} to ${high}`;
  return ruled(rule, v.pipe(v.number(rule), v.integer(rule), v.minValue(low, rule), v.maxValue(high, rule)));
}

function oneOf<const Choices extends readonly string[]>(...choices: Choices) {
  const rule = `one of ${choices.join(', ')}`;
  return ruled(rule, v.picklist(choices, rule));
}

function duration(lowMs: number, low: string, highMs: number, high: string) {
  const rule = `${durationForm}, from ${low} to ${high}`;
  const within = (text: string): boolean => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= lowMs && ms <= highMs;
  };
  return ruled(rule, v.pipe(v.string(rule), v.check(within, rule), v.transform((text) => parseDuration(text)!)));
}

const columnsRule = `a list of 1 to ${limits.columns} different names`;
const columns = ruled(columnsRule, v.pipe(
  v.array(name, columnsRule), v.minLength(1, columnsRule), v.maxLength(limits.columns, columnsRule),
  v.check((names) => new Set(names).size === names.length, columnsRule),
));

const epochRule = 'either every: a duration, or contributors: a count (only with participation: public)';
const epoch = ruled(epochRule, v.pipe(
  v.strictObject({
    every: v.optional(duration(100, '100ms', 366 * 86_400_000, '366d')),
    contributors: v.optional(whole(1, limits.cohortMax)),
  }, epochRule),
  v.check(({ every, contributors }) => (every === undefined) !== (contributors === undefined), epochRule),
));

/** Of a budget that renews: how long a charge counts. */
const window = duration(100, '100ms', 3_660 * 86_400_000, '3660d');

const budgetRule = 'epsilon and delta, or population: a name from the populations file';
const budget = ruled(budgetRule, v.pipe(
  v.strictObject({
    epsilon: v.optional(positive),
    delta: v.optional(delta),
    rule: v.optional(oneOf('zcdp', 'pure', 'renyi')),
    scope: v.optional(oneOf('study', 'contributor')),
    per: v.optional(window),
    population: v.optional(name),
  }, budgetRule),
  v.check(({ population, ...own }) => (population === undefined
    ? own.epsilon !== undefined && own.delta !== undefined
    : Object.values(own).every((value) => value === undefined)), budgetRule),
));

const contributionRule = 'reduce: mean or one, and rowsMax: the most rows a contributor may send in an epoch';
const contribution = ruled(contributionRule, v.strictObject({
  reduce: v.optional(oneOf('mean', 'one'), 'mean'),
  rowsMax: v.optional(whole(1, 1_000_000_000), 64),
}, contributionRule));

const privacyRule = 'epsilon and delta of each release';
const privacy = ruled(privacyRule, v.strictObject({ epsilon: positive, delta }, privacyRule));

const admissionRule = 'open; or keys: a file with one public key in each line, or a list of keys; or enrolment: '
  + '{ issuer: a public key of 64 hexadecimal digits, in quotes }; or rate: { keys: a count, per: a duration }';
const key = v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{64}$/));
const admission = ruled(admissionRule, v.union([
  v.literal('open'),
  v.strictObject({ keys: v.union([v.pipe(v.string(), v.minLength(1)), v.pipe(v.array(key), v.minLength(1))]) }),
  v.strictObject({ enrolment: v.strictObject({ issuer: key }) }),
  v.strictObject({ rate: v.strictObject({
    keys: whole(1, limits.cohortMax), per: duration(1_000, '1s', 366 * 86_400_000, '366d'),
  }) }),
], admissionRule));

const retentionRule = 'release (rows are deleted once the release is stored), or a duration from 1s to 3650d';
const retention = ruled(retentionRule, v.union(
  [v.literal('release'), duration(1_000, '1s', 3_650 * 86_400_000, '3650d')], retentionRule));

const quarantineRule = 'beyond: how far from a published answer, in scales, the mean of a key\'s rows may be; '
  + 'automatic: true to exclude every such key at each release';
const automatic = ruled('true or false', v.boolean('true or false'));
const quarantine = ruled(
  quarantineRule, v.strictObject({ beyond: positive, automatic: v.optional(automatic, false) }, quarantineRule));

const parametersRule = 'the estimator\'s parameters by name';
const parameters = ruled(parametersRule, v.record(v.string(), v.unknown(), parametersRule));

/** A study file. */
export const studySchema = v.strictObject({
  study: name,
  columns,
  cohort: whole(1, limits.cohortMax),
  participation: v.optional(oneOf('secret', 'public'), 'secret'),
  epoch,
  contribution: v.optional(contribution, {}),
  estimator: name,
  parameters: v.optional(parameters, {}),
  privacy,
  budget,
  admission: v.optional(admission, 'open'),
  late: v.optional(oneOf('next', 'drop'), 'next'),
  retention: v.optional(retention, 'release'),
  quarantine: v.optional(quarantine),
}, 'a study: keys and values');

const populationRule = 'epsilon, delta and perhaps rule and per';
const populationsRule = 'names, each with epsilon, delta and perhaps rule and per';
/** A populations file: budgets that several studies over the same people share. */
export const populationsSchema = v.strictObject({
  populations: ruled(populationsRule, v.record(name, v.strictObject({
    epsilon: positive, delta, rule: v.optional(oneOf('zcdp', 'pure', 'renyi'), 'zcdp'), per: v.optional(window),
  }, populationRule), populationsRule)),
}, 'populations: names and budgets');

export type StudyFile = v.InferOutput<typeof studySchema>;
