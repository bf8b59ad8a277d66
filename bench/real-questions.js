// Studies of real tables, answered as `keelson estimate` answers them, beside the truth of the same
// people: the page docs/results/real-questions.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createComputePool } from '../dist/server/compute/pool.js';
import { parseStudyText } from '../dist/server/study-file/index.js';
import { estimateStudy } from '../dist/cli/estimate/study.js';
import { columnsOfStudy } from '../dist/cli/input/study-columns.js';
import { seededNoise } from '../dist/src/random/insecure.js';
import { seededRandom } from '../dist/src/random/work.js';
import { utf8 } from '../dist/src/base/bytes.js';
import { randomOf } from './accuracy/random.js';
import { optionsOf } from './harness/options.js';
import { ownFolder, projectPath } from './harness/processes.js';
import { pageOf } from './real-questions/page.js';
import { cohortOf, csvText, tables } from './real-questions/tables.js';
import { judged } from './real-questions/truth.js';

const { seeds, studies, rows: rowsFolder, page, json } = optionsOf('Questions to real tables.', {
  seeds: { usual: 20, tiny: 1, means: 'cohorts of each study' },
  studies: { usual: 'all', tiny: 'weather-by-place', means: 'names of studies' },
  rows: { usual: null, means: 'folder for the rows of the first cohort of each study' },
  page: { usual: null, means: 'file of the page' },
  json: { usual: false, means: 'print each number of each answer as a line of JSON' },
});

const folder = ownFolder('real-questions');
const compute = createComputePool(1);

/** All answers of a study about one cohort. */
async function resultOf(name, table, seed) {
  const file = projectPath(`bench/real-questions/${name}.yaml`);
  const definition = parseStudyText(readFileSync(file, 'utf8'), { name: file });
  const { document } = definition;
  const people = cohortOf(table, document.cohort, randomOf(`${name} ${seed}`));
  const path = join(rowsFolder !== null && seed === 0 ? rowsFolder : folder, `${name}.csv`);
  writeFileSync(path, csvText(people));
  const answers = await estimateStudy({
    definition, only: undefined, input: { path, ...columnsOfStudy(file), missing: 'refuse' },
    stdin: process.stdin, compute,
    // Repeatable, so that the page can be made again. It protects nobody: the tables are public.
    randomness: {
      insecure: true, noise: (label) => seededNoise(`${name} ${seed} ${label}`),
      work: (label) => seededRandom(utf8(`${name} ${seed} ${label}`.padEnd(32).slice(0, 32))),
    },
  });
  const types = Object.fromEntries(document.columns.map((column, i) =>
    [column, document.types[i]]));
  return definition.questions.map(({ question }) => {
    const answer = answers.questions[question.name];
    if (answer.outcome === 'refused') throw new Error(`${question.name}: ${answer.text}`);
    return { question, ...judged({ question, types }, answer, people) };
  });
}

const wanted = studies === 'all' ? Object.keys(tables) : studies.split(',');
const results = [];
for (const name of wanted) {
  const table = tables[name].rows();
  const cohorts = [];
  for (let seed = 0; seed < seeds; seed++) cohorts.push(await resultOf(name, table, seed));
  results.push({ name, table: tables[name], rows: table.length, cohorts });
}
await compute.close();
if (json) {
  for (const { name, cohorts } of results) {
    for (const answers of cohorts) {
      for (const { question, lines } of answers) {
        for (const line of lines) {
          console.log(JSON.stringify({ study: name, question: question.name, ...line }));
        }
      }
    }
  }
} else console.log(pageOf(results, seeds));
if (page !== null) writeFileSync(page, pageOf(results, seeds));
