import type { ParameterValues } from '../../src/estimators/contract/estimator.js';
import type { QuestionName } from '../../src/question-names.js';
import { namesOf, reduceOf, rowsMax } from './study-facts.js';
import type { Asked } from './state.js';
import type { Rating } from './what-if.js';

const titles: Readonly<Record<QuestionName, string>> = {
  mean: 'A mean of each column', count: 'How many people take part',
  total: 'The total of each column', share: 'The share of people from some value on',
  ratio: 'How much of one column there is for each unit of another',
  median: 'The median of each column', percentile: 'Percentiles of a column',
  histogram: 'How many people are in each bin of values',
  distribution: 'How the values of a column are spread',
  covariance: 'How the columns vary together',
};

/** A study file for the question, with the chosen estimator; null where there is no plan. */
export function studyFileOf(asked: Asked, rating: Rating): string | null {
  const { budget, parameters } = rating;
  const estimator = rating.estimators.find(({ isChosen }) => isChosen)?.name;
  if (estimator === undefined || budget === null) return null;
  const { question, people, epsilon, delta, epochs, every } = asked;
  const rule = delta === 0 ? ', rule: pure' : '';
  return `# ${titles[question]}. Made by the what-if page; all of this is public.
# Rename the study and its columns, then check it: keelson plan FILE.yaml
study: my-study
columns: [${namesOf(asked).join(', ')}]
# People in each epoch: a public guess, never a count.
cohort: ${people}
participation: secret
epoch: { every: ${every} }
contribution: { reduce: ${reduceOf(asked)}, rowsMax: ${rowsMax} }
estimator: ${estimator}
parameters: ${parametersText(parameters, asked)}
privacy: { epsilon: ${epsilon}, delta: ${delta} }
budget: { epsilon: ${budget.epsilon}, delta: ${budget.delta}${rule}, releases: ${epochs}, scope: study }
retention: release
`;
}

/** Numbers in the form that a person would write. */
function parametersText(parameters: ParameterValues, { low, high }: Asked): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      if (name === 'range') return `range: ${low}..${high}`;
      return `${name}: ${Array.isArray(value) ? `[${value.join(', ')}]` : String(value)}`;
    });
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
