import {
  describedOutcome, describedQuestions, type Described, type DescribedStudy,
} from '../../src/answers/describe.js';
import type { ParameterValues } from '../../src/base/facts.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { Answer, ReleaseBody } from '../../src/wire/index.js';

/** An answer that says what its numbers are, where it does not yet. */
export function said(outcome: Outcome, asked: Partial<Described> = {}): Outcome {
  if (outcome.kind === 'refused') return outcome;
  const { estimate, groups, numbers } = outcome;
  const entries = estimate.length / Math.max(1, groups?.length ?? 1);
  return numbers?.length === entries ? outcome
    : describedOutcome({ estimator: '', parameters: {}, columns: [], ...asked }, outcome);
}

/** A release whose answers say what their numbers are, where they do not yet. */
export function saidBody(body: ReleaseBody, study?: DescribedStudy): ReleaseBody {
  const questions = study && describedQuestions(study);
  const of = ({ estimator, parameters }: Pick<Answer, 'estimator' | 'parameters'>, i: number):
  Partial<Described> => questions?.[i] ?? {
    estimator, parameters: JSON.parse(parameters) as ParameterValues, columns: body.columns,
  };
  return {
    ...body, answers: body.answers.map((answer, i) =>
      ({ ...answer, outcome: said(answer.outcome, of(answer, i)) })),
  };
}
