// The time and memory of keys that are on no list. Each figure is of a process of its own. On a
// busy machine its processor time is more informative than its wall-clock time. Ends with 1 when a
// target is missed.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { judge, loadText } from '../harness/measure.js';
import { optionsOf } from '../harness/options.js';
import { keelson, ownFolder, projectPath, usedBy } from '../harness/processes.js';

const { rows, keys, questions, shown, tiny } =
  optionsOf('Time and memory of keys that nobody listed.', {
    rows: { usual: 1e6, tiny: 3_000, means: 'of the file for estimate, each with its own text' },
    keys: { usual: 1e7, tiny: 20_000, means: 'distinct keys of one epoch' },
    questions: { usual: 16, tiny: 16, means: 'planned together' },
    shown: { usual: 4_096, tiny: 200, means: 'keys of one release' },
  });
const folder = ownFolder('keys');
const mebibyte = 2 ** 20;

function compare(what, figures, processor) {
  const isMet = figures.every(({ value, limit }) => value <= limit);
  const text = figures.map(({ value, limit, unit }) => `${value.toFixed(unit === 's' ? 1 : 0)} `
    + `${unit} (asked ${limit})`);
  if (processor !== undefined) text.push(`processor ${processor.toFixed(2)} s`);
  judge(isMet, `${what.padEnd(52)}${text.join(', ')}`, !tiny);
}

/**
 * A person, a text of its own and a number in each row. The first 500 share a text, so that one is
 * shown and the command succeeds.
 */
function writeRows(path) {
  const file = openSync(path, 'w');
  writeSync(file, 'id,region,minutes\n');
  for (let first = 0; first < rows; first += 10_000) {
    let text = '';
    for (let i = first; i < Math.min(rows, first + 10_000); i++) {
      text += `person${i},place ${i < 500 ? 0 : (i * 7_919) % rows},${i % 240}\n`;
    }
    writeSync(file, text);
  }
  closeSync(file);
}

const study = (by) => `study: key-cost
columns: { region: { type: text, bytes: 16 }, minutes: { type: number, low: 0, high: 240 } }
cohort: ${rows}
participation: secret
epoch: { every: 1h }
contribution: { rowsMax: 1 }
questions: { places: { estimator: count, by: { column: region, groupsMax: 1, ${by} } } }
privacy: { epsilon: 1, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5, scope: study }
`;

console.log(`${loadText()} before`);
const input = join(folder, 'rows.csv');
writeRows(input);
const run = (asked) => JSON.parse(
  usedBy([projectPath('bench/groups/cost-run.js'), JSON.stringify(asked)]).stdout);

for (const [name, by, ...words] of [
  ['discovered texts', 'discover: true'],
  ['discovered texts, by person', 'discover: true', '--contributor', 'id'],
  ['listed texts, by person', 'groups: [place 1, place 2]', '--contributor', 'id'],
]) {
  const file = join(folder, 'study.yaml');
  writeFileSync(file, study(by));
  const { wall, mebibytes, processor } = usedBy([
    keelson, 'estimate', '--study', file, input, '--json', ...words,
  ]);
  compare(`estimate, ${rows} rows, ${name}`, [
    { value: wall, limit: 8, unit: 's' }, { value: mebibytes, limit: 400, unit: 'MiB' },
  ], processor);
}
const counted = run({ part: 'count', keys });
const above = (bytes) => (bytes - counted.empty) / mebibyte;
compare(`${keys} distinct keys counted`, [
  { value: counted.seconds, limit: 25, unit: 's' },
  { value: above(counted.filled), limit: 300, unit: 'MiB' },
], counted.processor);
console.log(`        with their release: ${above(counted.released).toFixed(0)} MiB, `
  + `${counted.releaseSeconds.toFixed(1)} s`);
const { planning, planningProcessor, release, found } = run({ part: 'short', questions, shown });
compare(`planning of ${questions} questions`, [
  { value: 1000 * planning, limit: 200, unit: 'ms' },
], planningProcessor);
compare(`release of ${found} keys`, [{ value: release, limit: 1, unit: 's' }]);
