// Compares mechanisms and estimators with their charges without sampling: see
// docs/results/exactness.md, which --page writes. Needs the build. Ends with status 1 on a fault.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { optionsOf } from '../bench/harness/options.js';
import { checkComposed, composedCases } from '../dist/src/audit/exact/composed.js';
import { gridPairs, largerPairs } from '../dist/src/audit/exact/grid-pairs.js';
import { mechanismChecks } from '../dist/src/audit/exact/mechanism-cases.js';
import { checkRelease } from '../dist/src/audit/exact/release-check.js';
import { checkSealed } from '../dist/src/audit/exact/sealed-release.js';
import { crowds } from '../dist/src/audit/pairs.js';
import { utf8 } from '../dist/src/base/bytes.js';
import { assignmentHashBytes } from '../dist/src/estimators/run.js';
import { seededRandom } from '../dist/src/random/work.js';
import { budgetKinds, checkBudget } from './exact/budgets.js';
import { planOf, subjects } from './exact/subjects.js';
import { pageOf } from './exact/page.js';
import { sealedCheckOf, sealedSubjects } from './exact/sealed.js';
import { root } from './generated.js';
import { recordLines } from './record-lines.js';

const { seconds, most, only, mechanisms, composed, epochs, page } = optionsOf(
  'Compares mechanisms and estimators with their charges, without sampling.', {
    seconds: { usual: 60, tiny: 0.5, means: 'for each estimator' },
    most: { usual: 840, tiny: 840, means: 'pairs for each estimator, and a quarter of it larger' },
    only: {
      usual: null, tiny: 'count;sum;sealed count',
      means: 'estimators, or forms as the page names them, separated by semicolons',
    },
    mechanisms: { usual: 'all', tiny: 'threshold', means: 'part of the names of mechanisms' },
    composed: { usual: 'all', tiny: '1 Gaussian', means: 'part of the names of composed draws' },
    epochs: { usual: 3, tiny: 1, means: 'in each schedule on a budget; 0: no budgets' },
    page: {
      usual: null,
      means: 'page of results to bring up to date; the figures are in a file .json beside it',
    },
  });
const crowdMax = 1500;
const prefixes = 4;
/** Random pairs of larger data sets, for each estimator. */
const largerCount = 60;

function crowdOf(plan, facts, parameters) {
  const count = Math.min(facts.cohort, crowdMax);
  const [, { rows }] = crowds({ plan, facts: { ...facts, cohort: count + 1 }, parameters });
  const assignmentHashes = new Uint8Array(count * assignmentHashBytes);
  seededRandom(utf8('crowd')).fill(assignmentHashes);
  // The place of a discovered key is a whole number, in front of each row.
  const { dimension } = facts;
  const own = facts.keys?.list !== 'discovered' ? rows : rows.slice(0, count * dimension)
    .map((value, i) => (i % dimension === 0 ? (i / dimension) % 4
      // Where the answer is keys alone, a row ends with the number of its contributor's keys.
      : facts.keys.answer === 'groups' && i % dimension === dimension - 1 ? 1 : value));
  return {
    crowd: { count, rows: own, assignmentHashes }, standsFor: Math.ceil(facts.cohort / count),
  };
}

async function compared(subject) {
  const planned = planOf(subject);
  if (planned === null) return { pairs: 0, all: 0, faults: [], note: 'cannot be planned' };
  const { plan, facts, parameters } = planned;
  const pairs = gridPairs(plan, facts, subject.landmarks, 'check');
  // In an order that does not begin with empty data sets, so that a part of them is a fair part.
  const mixed = seededRandom(utf8('order'));
  const order = pairs.map((pair) => ({ pair, place: mixed.uniform() }))
    .sort((one, other) => one.place - other.place).slice(0, most).map(({ pair }) => pair);
  const larger = largerPairs(plan, facts, subject.landmarks, 'check',
    Math.min(largerCount, Math.ceil(most / 4)));
  const asked = {
    subject: { plan, dimension: facts.dimension }, prefixes, ...crowdOf(plan, facts, parameters),
    ...(subject.found !== undefined && { keys: subject.found }),
  };
  const small = await checkRelease({ ...asked, pairs: order, isOver: after(seconds) });
  const large = await checkRelease({ ...asked, pairs: larger, isOver: after(seconds / 2) });
  const sum = (part) => small[part] + large[part];
  return {
    pairs: small.pairs, all: pairs.length, larger: large.pairs, calls: sum('calls'),
    answered: sum('answered'), refused: sum('refused'), faults: [...small.faults, ...large.faults],
    events: plan.events.length,
  };
}

/** A program over sealed rows. */
async function comparedSealed(subject) {
  const { larger, all, ...asked } = sealedCheckOf(subject, most);
  const small = await checkSealed({ ...asked, isOver: after(seconds) });
  const large = await checkSealed({ ...asked, pairs: larger, isOver: after(seconds / 2) });
  const sum = (part) => small[part] + large[part];
  return {
    title: subject.title, pairs: small.pairs, all, larger: large.pairs, openings: sum('openings'),
    answered: sum('answered'), refused: sum('refused'), faults: [...small.faults, ...large.faults],
  };
}

/** @returns a function that tells whether this many seconds have passed. */
function after(limit) {
  const start = performance.now();
  return () => performance.now() - start > 1000 * limit;
}

/** Writes the page. Results that this run did not compute stay as they were in the last one. */
function writePage(path) {
  const kept = path.replace(/\.md$/, '.json');
  const before = existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : {};
  const names = {
    mechanisms: mechanismChecks, composed: composedCases, budgets: budgetKinds,
    estimators: subjects, sealed: sealedSubjects,
  };
  const titleOf = ({ title, name }) => title ?? name;
  const merged = Object.fromEntries(Object.entries(names).map(([part, all]) => {
    const known = new Map([...before[part] ?? [], ...found[part]]
      .map((each) => [titleOf(each), each]));
    return [part, all.flatMap((each) => known.get(titleOf(each)) ?? [])];
  }));
  writeFileSync(kept, recordLines(merged));
  const mutations = JSON.parse(readFileSync(`${root}docs/results/mutations.json`, 'utf8'));
  writeFileSync(path, pageOf({ ...merged, mutations }));
}

const chosen = only?.split(';');
const found = { mechanisms: [], composed: [], budgets: [], estimators: [], sealed: [] };
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
for (const kind of epochs === 0 ? [] : budgetKinds) {
  const result = await checkBudget(kind, epochs);
  found.budgets.push(result);
  console.log(`budget of ${result.name}: ${result.schedules} schedules, ${result.faults.length} faults`);
}
const isChosen = (names) => chosen === undefined || names.some((name) => chosen.includes(name));
for (const subject of subjects) {
  if (!isChosen([subject.name, subject.title])) continue;
  const result = await compared(subject);
  found.estimators.push({ ...result, title: subject.title, name: subject.name });
  console.log(`${subject.title}: ${result.pairs} of ${result.all} pairs, `
    + `${result.larger ?? 0} larger, ${result.calls ?? 0} calls, `
    + `${result.answered ?? 0} answers, ${result.faults.length} faults`);
}
for (const subject of sealedSubjects) {
  if (!isChosen([subject.title])) continue;
  const result = await comparedSealed(subject);
  found.sealed.push(result);
  console.log(`${result.title}: ${result.pairs} of ${result.all} pairs, ${result.larger} larger, `
    + `${result.openings} openings, ${result.faults.length} faults`);
}
const faults = Object.values(found).flat().flatMap((each) =>
  each.faults.map((fault) => `${each.title ?? each.name}: ${fault}`));
for (const fault of faults) console.log(fault);
console.log(`${faults.length} faults`);
if (page !== null) writePage(page);
process.exitCode = faults.length === 0 ? 0 : 1;
