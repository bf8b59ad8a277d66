import type { StudyDefinition } from '../../server/studies/definition.js';
import { leftOutText } from '../../src/answers/left-out.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';
import { errorUnit } from '../../src/error-unit.js';
import { statementOf } from '../../src/privacy-statement.js';
import { amountToNumber } from '../../src/privacy/accounting/amount.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import { formatNumber, type Output } from '../base/output.js';

/** The plan of one question of a list. */
export type DescribedQuestion = ReturnType<typeof describeQuestion>;
/** The plan of a study that lists its questions. */
export type DescribedQuestions = ReturnType<typeof describeQuestions>;

/**
 * The plans of the questions of a study, for JSON.
 * @param hostile - the share of hostile people to plan for; undefined: what each question declares.
 */
export function describeQuestions(
  { document, questions, cost, target, releases, binds }: StudyDefinition,
  hostile: number | undefined,
) {
  const { study, cohort, budget: { epsilon, delta } } = document;
  const [{ plan: { guarantee } }] = questions;
  return {
    study, cohort, outcome: 'plan' as const,
    privacy: statementOf({ cost, guarantee }, target),
    questions: Object.fromEntries(questions.map((planned) =>
      [planned.question.name, describeQuestion(planned, document, hostile)])),
    budget: { epsilon, delta, releases, binds, ...choicesOf(document) },
  };
}

/** The rule of a study's budget, and its noise if the budget states its releases. */
export function choicesOf(
  { noise, budget: { rule } }: StudyDocument,
): Pick<StudyDocument, 'noise'> & Pick<StudyDocument['budget'], 'rule'> {
  return noise === undefined ? { rule } : { rule, noise };
}

function describeQuestion(
  { question, plan, keys }: PlannedQuestion, document: StudyDocument,
  hostile: number | undefined,
) {
  const { corruptionMax } = plan.guarantee;
  const unit = unitOf(question.columns, document);
  const declared = question.parameters['corruption'];
  const corruption =
    hostile ?? Math.min(typeof declared === 'number' ? declared : 0, corruptionMax);
  return {
    ...question, corruption, ...(unit !== undefined && { unit }),
    ...(keys !== undefined && { keys: keys.length }),
    rho: amountToNumber(plan.cost.rho), noise: plan.noise, shape: plan.outputShape,
    expectedError: { clean: plan.expectedError(0), corrupted: plan.expectedError(corruption) },
    guarantee: plan.guarantee, facts: plan.facts, leftOut: leftOutText(question, document),
  };
}

/** The unit that a study states for the only one of some columns. */
export function unitOf(
  columns: readonly string[], { columns: all, columnWords }: StudyDocument,
): string | undefined {
  return columns.length === 1 ? columnWords?.[all.indexOf(columns[0]!)]?.unit : undefined;
}

/** A line for each question: its cost and its expected error, with the unit. */
export function printQuestions(
  { questions, cohort }: Pick<DescribedQuestions, 'questions' | 'cohort'>, output: Output,
): void {
  const named = Object.entries(questions);
  const units = named.map(([, each]) =>
    errorUnit(String(each.facts['errorsAreIn'] ?? 'spreads'), { ...each, cohort }));
  const declares = named.some(([, { corruption }]) => corruption > 0);
  output.table(
    ['question', 'estimator', 'groups', 'part', 'error', ...(declares ? ['if hostile'] : [])],
    named.map(([name, { expectedError, keys, ...each }], i) => [
      name, each.estimator, keys === undefined ? '' : `${keys}`, `${each.part} %`,
      formatNumber(units[i]!.factor * expectedError.clean.total),
      ...(each.corruption > 0
        ? [formatNumber(units[i]!.factor * expectedError.corrupted.total)] : []),
    ]),
  );
  output.text();
  output.table(['question', 'unit of the error'], named.map(([name], i) => [name, units[i]!.name]));
  output.text();
  const notes = [
    ...named.flatMap(([name, { facts }]) =>
      runningTexts(facts).map((text) => `${name}: ${text}`)),
    ...named.flatMap(([name, { facts: { smallestKeyAnswered: people } }]) =>
      (people === undefined ? [] : [`${name}: answers keys of ${people} people or more`])),
    ...named.flatMap(([name, { leftOut }]) => leftOut.map((text) => `${name}: ${text}`)),
    'Errors are expected ones, without hostile people.',
    ...(declares ? ['"If hostile" is with the share of them that the question declares.'] : []),
  ];
  for (const note of notes) {
    wrap(note, terminalColumns).forEach((line) => output.text(line));
  }
}

/** The gain of a running total, in words; nothing for other answers. */
function runningTexts(facts: DescribedQuestion['facts']): readonly string[] {
  return Object.entries(facts).flatMap(([name, total]) => {
    const epochs = /^noiseOfTotalOver(\d+)Epochs$/.exec(name)?.[1];
    const separate = facts[`noiseOfSeparateReleasesOver${epochs}Epochs`];
    if (typeof total !== 'number' || typeof separate !== 'number') return [];
    return [`a total of ${epochs} epochs has a noise of ${formatNumber(total)}, a sum of separate `
      + `releases ${formatNumber(separate)}`];
  });
}
