// The table of docs/results/lab.md from what `keelson lab --json` printed, and whether it says what
// the page claims:
//   node scripts/lab-table.js RUN.jsonl [--page docs/results/lab.md]
// With --page the page must hold exactly this table. Exit status 1 when a claim fails, or the page
// differs.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: { page }, positionals: [path] } = parseArgs({
  allowPositionals: true, options: { page: { type: 'string' } },
});
const lines = readFileSync(path, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
const { rows } = lines.find(({ type }) => type === 'breakdown');

/** Attacks that move a mean as far as they can. */
const loud = ['shift', 'direction', 'coordinate', 'far'];
/** "Clearly broken": this many times the error of the filter that sees every row. */
const brokenFactor = 5;

/** A refusal is not a wrong answer, but an estimator that always refuses is useless. */
const refusedMost = 0.05;

const faults = [];
/** A run with answers by key: each of them promises something, and plain answers are beside it. */
const isKeyed = rows[0].baselines['naive-mean'] === undefined;
const promisedShare = Math.max(
  ...rows.filter(({ answers }) => answers.some(isRobust)).map(({ corruption }) => corruption));

function isRobust({ estimator, promised }) {
  return (isKeyed || estimator !== 'mean') && promised !== null;
}

let refusals = 0;
let asked = 0;
for (const { attack, corruption, rounds, answers, baselines } of rows) {
  const where = `${attack} at ${100 * corruption} %`;
  for (const answer of answers.filter(isRobust)) {
    const { estimator, refused, error, promised } = answer;
    refusals += refused;
    asked += rounds;
    if (error !== null && !(error <= 2 * promised)) {
      faults.push(`${where}: ${estimator} is at ${error}, promised ${promised}`);
    }
  }
  if (isKeyed || !loud.includes(attack) || corruption !== promisedShare) continue;
  const broken = brokenFactor * baselines['robust-filter'];
  const { error: mean } = answers.find(({ estimator }) => estimator === 'mean');
  const naive = baselines['naive-mean'];
  if (!(naive > broken)) faults.push(`${where}: the naive mean is not broken: ${naive}`);
  if (!(mean > broken)) faults.push(`${where}: the private mean is not broken: ${mean}`);
}
if (refusals > refusedMost * asked) {
  faults.push(`robust estimators refused ${refusals} of ${asked} times`);
}
const wanted = isKeyed
  ? ['ballot-stuffing', 'heavy-hitter-poisoning', 'forge-groups', 'evict-groups'] : loud;
for (const attack of wanted) {
  const isPlayed = rows.some((row) => row.attack === attack && row.corruption === promisedShare);
  if (!isPlayed) faults.push(`${attack} was not played at ${100 * promisedShare} %`);
}

const short = (value) =>
  (value === null ? 'refused' : value >= 1000 ? value.toExponential(0) : value.toFixed(2));
const headOf = {
  'naive-mean': 'naive mean', 'coordinate-median': 'median', 'robust-filter': 'filter',
};
const plain = isKeyed ? ['plain count', 'plain sum', 'plain mean'] : Object.keys(headOf);
const names = rows[0].answers.map(({ estimator }) => estimator);
const cells = rows.map(({ attack, corruption, baselines, answers }) => [
  attack, `${100 * corruption} %`,
  ...plain.map((name) => short(baselines[name])),
  ...answers.map(({ error, promised }) =>
    `${short(error)} (${promised === null ? 'none' : short(promised)})`),
]);
const head = [
  'attack', 'hostile', ...plain.map((name) => headOf[name] ?? name), ...names.map((name) => `\`${name}\``),
];
const table = [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...cells]
  .map((row) => `| ${row.join(' | ')} |`).join('\n');
process.stdout.write(`${table}\n`);
if (page !== undefined && !readFileSync(page, 'utf8').includes(table)) {
  faults.push(`${page} holds another table`);
}
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
