import type { ArgsDef } from 'citty';
import type { Choice } from '../../src/choose.js';
import type {
  Estimator, Infeasible, ParameterValues, StudyFacts,
} from '../../src/estimators/contract/estimator.js';
import { parseParameters } from '../../src/estimators/contract/parameters.js';
import { isEstimator, loadEstimator, unknownEstimator } from '../../src/estimators/by-name.js';
import { plainAnswers, questionNames, type QuestionName } from '../../src/question-names.js';
import { didYouMean, questionWords } from '../../src/base/suggest.js';
import { byFlags, UsageError } from '../base/errors.js';
import { wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import type { Output } from '../base/output.js';

/** The name that leaves the choice of an estimator to public facts. */
export const autoName = 'auto';

/** The estimator, or for `auto` one whose answer has the numbers of the question. */
export function estimatorAsked(name: string, question = 'mean'): string {
  return name === autoName ? plainAnswers[question as QuestionName] : name;
}

/** A question in place of an estimator, such as `total`, asks `auto` for it. */
export function withQuestion<
  A extends { readonly name?: string | undefined; readonly question?: string | undefined },
>(args: A): A {
  const { name, question } = args;
  const isWord = question === undefined && !isEstimator(name ?? '')
    && questionNames.some((each) => each === name);
  return isWord ? { ...args, name: autoName, question: name } : args;
}

/** Estimators whose releases are made of sums and counts alone. */
const withoutPasses: ReadonlySet<string> = new Set([
  'count', 'sum', 'share', 'ratio', 'histogram', 'median', 'quantile', 'distribution',
]);

/** True if a release may pass over all rows once more, so that threads help. */
export function makesPasses(name: string): boolean {
  return !withoutPasses.has(name);
}

/** The flag of commands that accept `auto`. */
export const questionArguments = {
  question: {
    type: 'enum', options: [...questionNames],
    description: 'with auto: what you want to know (default mean)',
  },
} satisfies ArgsDef;

/** An estimator with its parameters. If it was chosen, `choice` states why. */
export interface Resolved {
  readonly kind: 'estimator';
  readonly estimator: Estimator;
  readonly parameters: ParameterValues;
  readonly choice: Choice | null;
}

/**
 * The estimator of this name, or the choice for `auto`. It reads no rows: `facts` are public.
 * @param set - the parameters of `--set`; with `auto`, the known facts.
 * @throws UsageError for a question without `auto`; InvalidParameterError for a wrong parameter.
 */
export async function resolveEstimator(
  { name, question = 'mean' }: { readonly name: string; readonly question?: string | undefined },
  set: Readonly<Record<string, unknown>>,
  facts: StudyFacts,
): Promise<Resolved | Infeasible> {
  if (name !== autoName) {
    const estimator = await loadEstimator(name);
    const { dimension } = facts;
    const parameters = parseParameters(estimator.parameters, set, { dimension, estimator: name });
    return { kind: 'estimator', estimator, parameters, choice: null };
  }
  const { chooseWithin } = await import('../../src/choose.js');
  const found = chooseWithin(question as QuestionName, set, facts);
  if (found.kind === 'infeasible') {
    return { ...found, reason: byFlags(found.reason), remedy: byFlags(found.remedy) };
  }
  const { estimator, parameters } = found;
  return { kind: 'estimator', estimator, parameters, choice: found };
}

/** Refuses a wrong name before any file is read. @throws UsageError; InvalidParameterError. */
export function checkName(name: string, question: string | undefined): void {
  if (name === autoName) {
    if (question === undefined || questionNames.some((each) => each === question)) return;
    throw new UsageError(`--question is one of ${questionNames.join(', ')}, not "${question}"`
      + didYouMean(question, questionNames, questionWords));
  }
  if (!isEstimator(name)) throw unknownEstimator(name);
  if (question === undefined) return;
  throw new UsageError(`--question is for ${autoName}: leave it out, or write ${autoName} in place `
    + `of ${name}`);
}

/** The members of the JSON output. */
export function choiceFacts({ why, assumes, candidates }: Choice) {
  return {
    choice: {
      why, assumes,
      candidates: candidates.map(({ estimator, expectedError, errorsAreIn, excluded }) =>
        ({ estimator: estimator.name, expectedError, errorsAreIn, excluded })),
    },
  };
}

/** Prints which estimator was chosen. */
export function printChosen(name: string, question: string | undefined, output: Output): void {
  output.text(`chosen: ${name}, for the question ${question ?? 'mean'}`);
}

/** Prints which estimator was chosen, why, and the cost of the others. */
export function printChoice(
  { estimator, why, candidates }: Choice, question: string | undefined, output: Output,
): void {
  printChosen(estimator.name, question, output);
  for (const sentence of why) {
    wrap(byFlags(sentence), terminalColumns - 2).forEach((line) => output.text(`  ${line}`));
  }
  for (const { estimator: { name }, errorText, excluded } of candidates) {
    if (name === estimator.name) continue;
    const error = errorText === null ? '' : `, expected error ${errorText}`;
    const text = `not ${name}${error}${excluded === null ? '' : `: ${byFlags(excluded)}`}`;
    wrap(text, terminalColumns - 2).forEach((line) => output.text(`  ${line}`));
  }
}
