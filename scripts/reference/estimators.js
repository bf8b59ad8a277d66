import { meaningOfDefault, rangeOf } from '../../dist/cli/commands/estimators.js';
import { estimators } from '../../dist/src/estimators/registry.js';
import { code, generated, page, plain, sentence, table } from './markdown.js';

function listed(maturity) {
  const rows = estimators.filter((estimator) => estimator.maturity === maturity)
    .map(({ name, title, assumption }) =>
      [`[${code(name)}](#${name})`, plain(title), plain(assumption)]);
  return table(['name', 'gives', 'assumes'], rows);
}

const keyLists = { public: 'a public list', discovered: 'groups that are discovered' };

function section(estimator) {
  const {
    name, title, maturity, assumption, claim, liars, parameters, citations, keyed = [],
  } = estimator;
  const rows = parameters.map((spec) => [
    code(spec.name),
    plain(rangeOf(spec) + (spec.unit === undefined ? '' : `, in ${spec.unit}`)),
    plain(meaningOfDefault(spec)),
    plain(sentence(spec.description)),
  ]);
  return page(
    `## ${name}`,
    `${plain(sentence(title))} Maturity: ${maturity}.`,
    `- Assumes: ${plain(assumption)}\n- Privacy: ${plain(sentence(claim))}`
      + (liars === undefined ? '' : `\n- Liars: ${plain(sentence(liars))}`)
      + (keyed.length === 0 ? ''
        : `\n- Can be split by groups: ${keyed.map((list) => keyLists[list]).join(', or ')}.`),
    table(['parameter', 'value', 'default', 'meaning'], rows),
    citations.map(({ key, text, place }) =>
      `- Source: [${key}] ${plain(text)} Here: ${plain(sentence(place))}`).join('\n'),
  ).trimEnd();
}

export function estimatorsPage() {
  return page(
    generated,
    '# Estimators',
    'An estimator works out the answer of a study. A study file names it under `estimator`, with '
    + 'its settings under `parameters`. Accuracy needs what the estimator assumes. Privacy never '
    + 'does.',
    '## Recommended',
    'These answer most questions well.',
    listed('recommended'),
    '## Research',
    'These are systems of papers, and variants to compare with.',
    listed('research'),
    ...estimators.map(section),
  );
}
