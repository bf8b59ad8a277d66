import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { repositoryLinks } from './links.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Pages of docs/reference that the build makes. Links to them are not dead before it. */
const generated = [
  'study-file', 'settings-file', 'commands', 'estimators', 'error-codes', 'metrics',
];

const sections = [
  ['Start', 'start', [
    ['Install', 'install'], ['Your first study', 'first-study'],
    ['Your first dashboard', 'first-dashboard'], ['A public study', 'public-study'],
  ]],
  ['Guides', 'guides', [
    ['Choose an estimator', 'choose-an-estimator'], ['Choose epsilon', 'choose-epsilon'],
    ['Choose cohort and spread', 'choose-cohort-and-spread'],
    ['The total of a cost', 'total-of-a-cost'],
    ['The whole distribution', 'whole-distribution'],
    ['Count by name', 'count-by-name'], ['Count by country', 'count-by-country'],
    ['Median per device', 'median-per-device'],
    ['Several questions', 'several-questions'],
    ['Keys nobody listed', 'groups-nobody-listed'],
    ['Totals over weeks', 'totals-over-weeks'],
    ['Data files', 'data-files'], ['Estimate in a program', 'estimate-in-a-program'],
    ['A budget for a file', 'budget-for-a-file'], ['Answers in Python', 'python'],
    ['Embed a chart', 'embed-a-chart'], ['Embed the client', 'embed-the-client'],
    ['Embed the aggregator', 'embed-the-aggregator'],
    ['Blind tokens', 'blind-tokens'], ['Sealed studies', 'sealed-study'],
    ['Respond to an incident', 'respond-to-an-incident'],
    ['Robust means compared', 'robust-means'],
  ]],
  ['Concepts', 'concepts', [
    ['Privacy budget', 'privacy-budget'], ['Robustness', 'robustness'], ['Epochs', 'epochs'],
    ['Threat model', 'threat-model'], ['Glossary', 'glossary'],
  ]],
  ['Reference', 'reference', [
    ['Study file', 'study-file'], ['Settings file', 'settings-file'], ['Commands', 'commands'],
    ['Estimators', 'estimators'],
    ['Error codes', 'error-codes'], ['Metrics', 'metrics'], ['Protocol', 'protocol'],
    ['Trying a client', 'conformance'], ['The Python package', 'python'],
  ]],
  ['Operating', 'operating', [
    ['Operations', 'operations'], ['Deploy', 'deploy'], ['PostgreSQL', 'postgres'],
    ['Sizes', 'scale'],
  ]],
  ['Internals', 'internals', [
    ['Extending Keelson', 'extending'],
    ['Keys of channels', 'channel-keys'],
    ['Simulation', 'simulation'], ['Fuzzing', 'fuzzing'], ['Mixtures', 'mixtures'],
    ['Stabilised relaxations', 'stabilised-relaxations'], ['Papers', 'papers'],
    ['Where values change', 'values'], ['Public names', 'names'],
    ['Dependencies', 'dependencies'],
  ]],
  ['Results', 'results', [
    ['Accuracy', 'accuracy'], ['Audits', 'audit'],
    ['Exact checks', 'exactness'], ['Relations', 'relations'], ['A sealed robust mean', 'sealed'],
    ['Real tables', 'real-data'], ['Questions to tables', 'real-questions'],
    ['What questions promise', 'questions'], ['What estimators promise', 'promises'],
    ['Liars that know the rules', 'adaptive-liars'], ['Means of real columns', 'real-means'],
    ['Liars per group', 'robust-by-group'], ['Groups', 'groups'], ['Bars', 'bars'],
    ['Beside others', 'peers'], ['The first hour beside others', 'first-hour'],
    ['Attack lab', 'lab'], ['Speed', 'speed'],
  ]],
];

const sidebar = sections.map(([text, folder, pages]) => ({
  text,
  items: pages
    .filter(([, name]) => existsSync(`${root}docs/${folder}/${name}.md`))
    .map(([title, name]) => ({ text: title, link: `/${folder}/${name}` })),
}));

/** The site of the pages: `npm run docs` writes it to site/. A dead link is an error. */
export default defineConfig({
  title: 'Keelson',
  description: 'Private answers from many people, even when some of them lie',
  outDir: `${root}site`,
  cacheDir: `${root}node_modules/.cache/vitepress`,
  ignoreDeadLinks: [new RegExp(`/reference/(${generated.join('|')})$`)],
  markdown: {
    // Braces stay text: study files are full of them.
    attrs: { disable: true },
    config: (markdown) => markdown.use(repositoryLinks(root)),
    // The protocol's byte blocks: plain text.
    languages: [{ name: 'hex', scopeName: 'source.hex', patterns: [], repository: {} }],
  },
  themeConfig: { sidebar, outline: [2, 3], search: { provider: 'local' } },
});
