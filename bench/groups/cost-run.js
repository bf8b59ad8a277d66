// One process of bench/groups/cost.js: counts many distinct keys, or plans and releases.
import { parseStudyText } from '../../dist/server/study-file/index.js';
import { inlineCompute } from '../../dist/src/estimators/contract/compute.js';
import { StudyReduction } from '../../dist/src/questions/reduction.js';
import { QuestionsRun } from '../../dist/src/questions/run.js';
import { seededNoise } from '../../dist/src/random/insecure.js';
import { seededRandom } from '../../dist/src/random/work.js';

const asked = JSON.parse(process.argv[2]);
const peak = () => 1024 * process.resourceUsage().maxRSS;
const seconds = (begun) => (performance.now() - begun) / 1000;

const studyOf = (cohort, questions) => `study: key-cost
columns:
  app: { type: text, bytes: 16 }
  minutes: { type: number, low: 0, high: 240 }
  region: { type: category, of: [north, south, east, west] }
cohort: ${cohort}
peopleMax: ${cohort}
participation: secret
epoch: { every: 1h }
contribution: { rowsMax: 1 }
questions:
${questions.join('\n')}
privacy: { epsilon: 4, delta: 1e-6 }
budget: { epsilon: 8, delta: 1e-5, scope: study }
`;
const discovered = (name, top) =>
  `  ${name}: { estimator: count, by: { column: app, groupsMax: 1, discover: true, top: ${top} } }`;

const planned = (cohort, questions) =>
  parseStudyText(studyOf(cohort, questions), { name: 'key-cost.yaml' });

/** Adds people with one row each: the work of the epochs' thread on an accepted batch. */
function filler({ document, questions }) {
  const run = new QuestionsRun(
    questions, seededRandom(new Uint8Array(8)), seededNoise('key cost'),
  );
  const reduction = new StudyReduction(document.questions, document);
  const hash = new Uint8Array(32);
  const values = Float64Array.of(0, 30, 1);
  const names = [''];
  const sent = { values, rows: 1, texts: [names, null, null], ranks: null };
  const secrets = { keySecret: () => new Uint8Array(16) };
  const add = (name) => {
    names[0] = name;
    const person = reduction.empty();
    reduction.add(person, sent, secrets);
    run.add(hash, reduction.rowsOf(person, run.tables));
  };
  return { run, add };
}

async function counting() {
  const { run, add } = filler(planned(asked.keys, [discovered('apps', 100)]));
  for (let i = 0; i < 1_000; i++) add('the same');
  const empty = peak();
  const [begun, before] = [performance.now(), process.cpuUsage()];
  for (let i = 0; i < asked.keys; i++) add(`app ${i}`);
  const [filled, counted] = [peak(), seconds(begun)];
  const { user, system } = process.cpuUsage(before);
  const released = performance.now();
  await run.release(inlineCompute());
  return {
    empty, seconds: counted, processor: (user + system) / 1e6, filled, released: peak(),
    releaseSeconds: seconds(released),
  };
}

async function short() {
  // No two are alike, so that no plan serves twice.
  const many = Array.from({ length: asked.questions }, (_, i) => [
    discovered(`apps${i}`, 100 + i),
    `  spread${i}: { estimator: distribution, columns: [minutes], parameters:`
      + ` { cells: ${256 + i} } }`,
    `  middle${i}: { estimator: robust-mean, columns: [minutes], by: { column: region,`
      + ` groupsMax: 1 }, parameters: { spread: ${60 + i} } }`,
    `  minutes${i}: { estimator: sum, columns: [minutes], by: { column: region, groupsMax: 1 } ,`
      + ` parameters: { cap: ${240 + i} } }`,
  ][i % 4]);
  const [begun, before] = [performance.now(), process.cpuUsage()];
  planned(10_000_000, many);
  const planning = seconds(begun);
  const { user, system } = process.cpuUsage(before);
  const { run, add } = filler(planned(100 * asked.shown, [discovered('apps', asked.shown)]));
  for (let i = 0; i < 100 * asked.shown; i++) add(`app ${i % asked.shown}`);
  const released = performance.now();
  const [result] = await run.release(inlineCompute());
  if (result.kind === 'failed') throw result.failure;
  return {
    planning, planningProcessor: (user + system) / 1e6, release: seconds(released),
    found: result.outcome.groups.length,
  };
}

console.log(JSON.stringify(await (asked.part === 'count' ? counting() : short())));
