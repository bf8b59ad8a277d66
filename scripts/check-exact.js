// Compares mechanisms and estimators with their charges without sampling: see
// docs/results/exactness.md, which --page writes. Needs the build. Ends with status 1 on a fault.
import { writeFileSync } from 'node:fs';
import { optionsOf } from '../bench/options.js';
import { checkComposed, composedCases } from '../dist/src/audit/exact/composed.js';
import { gridPairs } from '../dist/src/audit/exact/grid-pairs.js';
import { mechanismChecks } from '../dist/src/audit/exact/mechanism-cases.js';
import { checkRelease } from '../dist/src/audit/exact/release-check.js';
import { crowds } from '../dist/src/audit/pairs.js';
import { utf8 } from '../dist/src/base/bytes.js';
import { assignmentHashBytes } from '../dist/src/estimators/run.js';
import { seededRandom } from '../dist/src/random/work.js';
import { budgetKinds, checkBudget } from './exact/budgets.js';
import { planOf, subjects } from './exact/subjects.js';
import { pageOf } from './exact/page.js';

const { seconds, only, mechanisms, composed, epochs, page } = optionsOf(
  'Compares mechanisms and estimators with their charges, without sampling.', {
    seconds: { usual: 12, tiny: 0.5, means: 'for each estimator' },
    only: { usual: null, tiny: 'count,sum', means: 'names of estimators, separated by commas' },
    mechanisms: { usual: 'all', tiny: 'threshold', means: 'part of the names of mechanisms' },
    composed: { usual: 'all', tiny: '1 Gaussian', means: 'part of the names of composed draws' },
    epochs: { usual: 3, tiny: 1, means: 'in each schedule on a budget' },
    page: { usual: null, means: 'file that the page of results is written to' },
  });
const crowdMax = 1500;
const prefixes = 4;

function crowdOf(plan, facts, parameters) {
  const count = Math.min(facts.cohort, crowdMax);
  const [, { rows }] = crowds({ plan, facts: { ...facts, cohort: count + 1 }, parameters });
  const assignmentHashes = new Uint8Array(count * assignmentHashBytes);
  seededRandom(utf8('crowd')).fill(assignmentHashes);
  // The place of a discovered key is a whole number.
  const places = rows.slice(0, count).map((_, i) => i % 4);
  const own = facts.keys?.list === 'discovered' ? places : rows;
  return { count, rows: own, assignmentHashes };
}

async function compared(subject) {
  const planned = planOf(subject);
  if (planned === null) return { pairs: 0, all: 0, faults: [], note: 'cannot be planned' };
  const { plan, facts, parameters } = planned;
  const pairs = gridPairs(plan, facts, subject.landmarks, 'check');
  // In an order that does not begin with empty data sets, so that a part of them is a fair part.
  const mixed = seededRandom(utf8('order'));
  const order = pairs.map((pair) => ({ pair, place: mixed.uniform() }))
    .sort((one, other) => one.place - other.place).map(({ pair }) => pair);
  const start = performance.now();
  const result = await checkRelease({
    subject: { plan, dimension: facts.dimension }, pairs: order, prefixes,
    crowd: crowdOf(plan, facts, parameters),
    ...(subject.found !== undefined && { keys: subject.found }),
    isOver: () => performance.now() - start > 1000 * seconds,
  });
  return { ...result, all: pairs.length, events: plan.events.length };
}

const chosen = only?.split(',');
const found = { mechanisms: [], composed: [], budgets: [], estimators: [] };
for (const check of mechanismChecks) {
  if (mechanisms !== 'all' && !check.name.includes(mechanisms)) continue;
  const result = check.run();
  found.mechanisms.push(result);
  console.log(`${check.name}: ${result.pairs} pairs, ${result.faults.length} faults`);
}
for (const each of composedCases) {
  if (composed !== 'all' && !each.name.startsWith(composed)) continue;
  const result = checkComposed(each);
  found.composed.push(result);
  console.log(`${each.name}: epsilon ${result.exact.toFixed(4)}, ${result.faults.length} faults`);
}
for (const kind of budgetKinds) {
  const result = await checkBudget(kind, epochs);
  found.budgets.push(result);
  console.log(`budget of ${result.name}: ${result.schedules} schedules, ${result.faults.length} faults`);
}
for (const subject of subjects) {
  if (chosen !== undefined && !chosen.includes(subject.name)) continue;
  const result = await compared(subject);
  found.estimators.push({ ...result, title: subject.title, name: subject.name });
  console.log(`${subject.title}: ${result.pairs} of ${result.all} pairs, `
    + `${result.calls ?? 0} calls, ${result.faults.length} faults`);
}
const faults = Object.values(found).flat().flatMap((each) =>
  each.faults.map((fault) => `${each.title ?? each.name}: ${fault}`));
for (const fault of faults) console.log(fault);
console.log(`${faults.length} faults`);
if (page !== undefined && page !== null) writeFileSync(page, pageOf(found));
process.exitCode = faults.length === 0 ? 0 : 1;
