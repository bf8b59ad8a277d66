import type { ParameterValues } from '../../src/estimators/contract/estimator.js';
import type { Statement } from '../../src/privacy/accounting/target.js';
import { ofShortFacts, type StudyDocument } from '../../src/wire/study-document.js';
import { lengths, type Asked } from './state.js';

/** Rows that a contributor may send to an epoch. */
export const rowsMax = 64;

/** Columns have no names yet. */
export const namesOf = ({ columns }: Asked): readonly string[] =>
  Array.from({ length: columns }, (_, i) => `column_${i + 1}`);

/** The way from several rows of a contributor to one. */
export function reduceOf({ question }: Asked): 'mean' | 'sum' | 'one' {
  if (['mean', 'covariance'].includes(question)) return 'mean';
  return ['total', 'ratio'].includes(question) ? 'sum' : 'one';
}

/** The facts of a study that asks the question, before its rule and noise are chosen. */
export function factsOf(
  asked: Asked, { epsilon, delta }: Statement,
  answer: { readonly estimator: string; readonly parameters: ParameterValues },
): StudyDocument {
  return ofShortFacts({
    ...answer, version: 1, study: 'my-study', columns: namesOf(asked), cohort: asked.people,
    participation: 'secret', epoch: { everyMs: lengths[asked.every] },
    contribution: { reduce: reduceOf(asked), rowsMax },
    privacy: { epsilon: asked.epsilon, delta: asked.delta },
    budget: {
      epsilon, delta, rule: asked.delta === 0 ? 'pure' : 'zcdp', scope: 'study',
      releases: asked.epochs,
    },
    admission: { kind: 'open' }, late: 'next', retention: { kind: 'release' },
  });
}
