// The page docs/results/real-questions.md.
import { median } from '../harness/measure.js';
import { tableLines } from '../harness/pages.js';

/** Keys of one answer that the page lists. */
const keysShown = 8;

const digits = (value) => (value === null || Number.isNaN(value) ? '-'
  : Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3))));
const tableOf = (head, rows) => tableLines(head, rows).join('\n');

/** @param results - for each study its cohorts, each with all answers. */
export function pageOf(results, seeds) {
  return `# Questions to real tables

Studies with several questions, asked about public tables: real names, real skewness, missing values. Each number below is beside
the truth of the same people. The study files are in \`bench/real-questions\`. Privacy is epsilon 2 at delta 1e-6 for all questions of
a study together. Nobody lies.

A cohort is 20,000 people. Each has one row of the table, drawn at random with replacement, because the tables are small. The rows
go through the same code as \`keelson estimate --study\`. The figures are of ${seeds} cohorts with noise of their own.

- **error** is the root mean square distance from the truth, over all keys and cohorts.
- **interval** is half of the usual 95 % interval (the median over keys and cohorts), and **holds** says how often the
  truth was in it. The interval of a mean or a median also covers chance in who takes part, which the truth of the same people does
  not have. It is **open** where so many values are clipped that noise does not hide them: it then says how large the answer is at
  least. Where it hides them, the interval is about the clipped values, and a line under the table says how often it holds those.
- **numbers** says how many had an answer. A key that nobody listed may be missing: the line under the table says which sizes
  were shown.

${results.map((result) => sectionOf(result)).join('\n\n')}

\`npm run bench:pages -- real-questions --page docs/results/real-questions.md\` measures and writes this page. With
\`--rows FOLDER\` it also writes the rows of the first cohort, so that you can ask them yourself:

\`\`\`text
npm run bench:pages -- real-questions --seeds 1 --rows .
npx keelson estimate --study bench/real-questions/flights-by-origin.yaml flights-by-origin.csv
\`\`\`

The tables come from the package \`vega-datasets\`, which the tests install. None is copied.
`;
}

function sectionOf({ name, table, rows, cohorts }) {
  const questions = cohorts[0].map((_, i) => cohorts.map((answers) => answers[i]));
  const summary = tableOf(
    ['question', 'numbers', 'error', 'interval', 'holds'], questions.map(summaryOf));
  const found = questions.filter(([{ question }]) => question.by?.discover !== undefined)
    .map(foundText);
  return `## ${name}

${table.from}: \`${table.of}\`, ${rows.toLocaleString('en')} rows.

${[summary, ...found, ...questions.flatMap(clippedText), 'The first cohort:', tableOf(
    ['question', 'key', 'answer', '95 % interval', 'truth'], cohorts[0].flatMap(linesOf),
  )].join('\n\n')}`;
}

function summaryOf(answers) {
  const { question: { name, estimator, by } } = answers[0];
  const all = answers.flatMap(({ lines }) => lines);
  const given = all.filter(({ estimate }) => estimate !== null);
  const error = Math.sqrt(given.reduce((sum, { estimate, truth }) =>
    sum + (estimate - truth) ** 2, 0) / given.length);
  const stated = given.filter(({ holds }) => holds !== null);
  const halves = stated.flatMap(({ half }) => (half === null ? [] : [half]));
  const holding = stated.filter(({ holds }) => holds).length;
  return [
    `${name}: ${estimator}${by === undefined ? '' : ` by ${by.columns.join(' and ')}`}`,
    `${given.length} of ${all.length}`, digits(error),
    stated.length > 0 && halves.length === 0 ? 'open' : digits(median(halves)),
    stated.length === 0 ? 'has none' : `${holding} of ${stated.length}`,
  ];
}

/** The keys that were found, by their size. */
function foundText(answers) {
  const [{ question }] = answers;
  const sizes = answers.flatMap(({ people, lines }) => {
    const shown = new Set(lines.map(({ key }) => key));
    return [...people].map(([key, { length }]) => ({ length, isShown: shown.has(key) }));
  });
  const largestMissing = Math.max(0, ...sizes.filter(({ isShown }) => !isShown)
    .map(({ length }) => length));
  const smallestShown = Math.min(...sizes.filter(({ isShown }) => isShown)
    .map(({ length }) => length));
  const shown = sizes.filter(({ isShown }) => isShown).length / answers.length;
  return `\`${question.name}\` showed ${digits(shown)} of ${digits(sizes.length / answers.length)} `
    + `keys on average. The largest key that was not shown had ${largestMissing} people. The `
    + `smallest that was shown had ${smallestShown}.`;
}

/** How often the interval of an answer about clipped values holds these. */
function clippedText(answers) {
  const judged = answers.flatMap(({ lines }) => lines)
    .filter(({ holdsClipped }) => holdsClipped !== undefined);
  if (judged.length === 0) return [];
  const holding = judged.filter(({ holdsClipped }) => holdsClipped).length;
  return [`Intervals of \`${answers[0].question.name}\` hold the total of the values within the bounds of `
    + `the column in ${holding} of ${judged.length}.`];
}

function linesOf({ question, lines }) {
  return lines.slice(0, keysShown).map(({ key, estimate, half, holds, truth }) => [
    question.name, key.trim(), digits(estimate),
    half !== null ? `± ${digits(half)}` : holds === null ? '' : 'open',
    digits(truth),
  ]);
}
