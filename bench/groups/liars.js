// The effect of liars on answers that are split by groups: each answer with and without them, by
// the same noise, beside the largest effect that is promised.
import { parseStudyText } from '../../dist/server/study-file/index.js';
import { findAttack } from '../../dist/simulation/index.js';
import { utf8 } from '../../dist/src/base/bytes.js';
import { inlineCompute } from '../../dist/src/estimators/contract/compute.js';
import { shownChance } from '../../dist/src/estimators/counts/discovered/forged.js';
import { keyKeepingCount } from '../../dist/src/privacy/mechanisms/bounds.js';
import { planStudy } from '../../dist/src/plan-study.js';
import { findEstimator } from '../../dist/src/estimators/registry.js';
import { StudyReduction } from '../../dist/src/questions/reduction.js';
import { QuestionsRun } from '../../dist/src/questions/run.js';
import { seededNoise } from '../../dist/src/random/insecure.js';
import { seededRandom } from '../../dist/src/random/work.js';
import { randomOf } from '../accuracy/data.js';

export const attacks = [
  'ballot-stuffing', 'heavy-hitter-poisoning', 'forge-groups', 'evict-groups',
];
const regions = 8;
const apps = Array.from({ length: 200 }, (_, i) => `app${i}`);
const invented = Array.from({ length: 4_096 }, (_, i) => `forged${i}`);
const [minutesMax, stopsMax, top] = [240, 20, 200];
const edges = [30, 60];
const by = '{ column: region, groupsMax: 2 }';
const columns = 5;
const rowsMax = 16;
const texts = [null, null, null, null, [...apps, ...invented]];

const split = `  count: { estimator: count, by: ${by} }
  sum: { estimator: sum, columns: [minutes], by: ${by}, parameters: { cap: ${minutesMax} } }
  mean: { estimator: mean, columns: [minutes], by: ${by},
    parameters: { range: 0..${minutesMax} } }
  share: { estimator: share, columns: [late], by: ${by}, reduce: one }
  ratio: { estimator: ratio, columns: [minutes, stops], by: ${by},
    parameters: { cap: [${minutesMax}, ${stopsMax}] } }
  histogram: { estimator: histogram, columns: [minutes], by: ${by},
    parameters: { edges: [${edges}] } }`;
const discovered =
  `  apps: { estimator: count, by: { column: app, groupsMax: 2, discover: true, top: ${top} } }`;

const studyOf = (people, epsilon, questions) => `study: liars
columns:
  minutes: { type: number, low: 0, high: ${minutesMax} }
  stops: { type: number, low: 0, high: ${stopsMax} }
  late: boolean
  region: { type: category, of: [${Array.from({ length: regions }, (_, i) => `r${i}`)}] }
  app: { type: text, bytes: 16 }
cohort: ${people}
participation: secret
epoch: { every: 1m }
contribution: { rowsMax: ${rowsMax}, reduce: mean }
questions:
${questions}
privacy: { epsilon: ${epsilon}, delta: 1e-6 }
budget: { epsilon: 100, delta: 1e-5, scope: study }
`;

/** One row of each honest person: minutes, stops, late, region, app. Large keys are first. */
function crowdOf(people, seed) {
  const random = randomOf(seed);
  return Array.from({ length: people }, () => {
    const region = Math.floor(regions * random.uniform() ** 1.5);
    const minutes = Math.min(minutesMax, -(10 + 5 * region) * Math.log(1 - random.uniform()));
    const stops = 1 + Math.floor(6 * random.uniform());
    const app = Math.floor(apps.length ** random.uniform()) - 1;
    return Float64Array.of(minutes, stops, random.uniform() < 0.3 ? 1 : 0, region, app);
  });
}

/** The rows of this many liars, fitted to the columns as their client would do it. */
function liarsOf(name, count, crowd, seed, strength) {
  const attack = findAttack(name);
  const work = (label) => seededRandom(utf8(`${seed} ${label}`));
  const shared = work('agreed');
  return Array.from({ length: count }, (_, liar) => {
    const rows = attack.apply(crowd[liar % crowd.length], {
      columns, centre: [30, 3, 0, 0, 0], spread: [20, 2, 1, 1, 1], age: 0,
      strength: strength ?? attack.defaultStrength,
      names: [null, null, 2, regions, apps.length], invented: [0, 0, 0, 0, invented.length],
      rowsMax, shared, own: work(`own ${liar}`),
    });
    return rows;
  });
}

function planned(...asked) {
  const { document } = parseStudyText(studyOf(...asked), { name: 'liars.yaml' });
  return { document, plan: planStudy(document, findEstimator) };
}

/** The answers by question, from everybody's rows. The same seed gives the same noise. */
async function answersOf({ document, plan }, contributions, seed) {
  const run = new QuestionsRun(
    plan.questions, seededRandom(utf8(seed)), seededNoise(`${seed} noise`),
  );
  const reduction = new StudyReduction(document.questions, document);
  const ranks = randomOf(`${seed} ranks`);
  contributions.forEach((values, person) => {
    const rows = values.length / columns;
    const all = reduction.empty();
    reduction.add(all, {
      values, rows, texts, ranks: Float64Array.from({ length: rows }, () => ranks.uniform()),
    }, { keySecret: () => secretOf(person) });
    const hash = new Uint8Array(32);
    new DataView(hash.buffer).setFloat64(0, person);
    run.add(hash, reduction.rowsOf(all, run.tables));
  });
  const results = await run.release(inlineCompute());
  return new Map(results.map((result, i) => {
    if (result.kind === 'failed') throw result.failure;
    return [document.questions[i].name, result.outcome];
  }));
}

function secretOf(person) {
  const secret = new Uint8Array(16).fill(person >> 8);
  secret[0] = person;
  return secret;
}

/** Per region: people, minutes and stops of honest people. */
function factsOf(crowd) {
  const facts = Array.from({ length: regions }, () => ({ people: 0, minutes: 0, stops: 0 }));
  for (const [minutes, stops, , region] of crowd) {
    facts[region].people += 1;
    facts[region].minutes += minutes;
    facts[region].stops += stops;
  }
  return facts;
}

/** The most that `liars` people move the answer of a region, by question. */
export const promises = {
  count: (liars) => liars,
  histogram: (liars) => liars,
  sum: (liars) => minutesMax * liars,
  mean: (liars, { people }) => (minutesMax * liars) / (people + liars),
  share: (liars, { people }) => liars / (people + liars),
  ratio: (liars, { minutes, stops }) => Math.max(
    (minutesMax * liars) / stops, minutes / stops - minutes / (stops + stopsMax * liars),
  ),
};

/**
 * The distance by which liars moved each answer.
 * @returns for each attack, share and question: the largest move of a region, and the largest part
 *   of the promise for that region.
 */
export async function movedBy({ people, shares, seed }) {
  const study = planned(people, 8, split);
  const crowd = crowdOf(people, seed);
  const facts = factsOf(crowd);
  const before = await answersOf(study, crowd, seed);
  const lines = [];
  for (const share of shares) {
    const count = Math.round((share * people) / (1 - share));
    for (const attack of attacks) {
      const liars = liarsOf(attack, count, crowd, seed).map(fitted);
      const after = await answersOf(study, [...crowd, ...liars], seed);
      for (const [question, promise] of Object.entries(promises)) {
        const moves = movesOf(before.get(question), after.get(question));
        const parts = moves.map((move, region) => move / promise(count, facts[region]));
        const at = parts.indexOf(Math.max(...parts));
        lines.push({
          attack, share, question, moved: moves[at], promised: promise(count, facts[at]),
        });
      }
    }
  }
  return lines;
}

/** The largest move of the numbers of each region. */
function movesOf(before, after) {
  const each = before.estimate.length / regions;
  return Array.from({ length: regions }, (_, region) => Math.max(
    ...Array.from({ length: each }, (__, i) =>
      Math.abs(after.estimate[region * each + i] - before.estimate[region * each + i])),
  ));
}

/** Rows that the columns can hold. */
function fitted(rows) {
  return rows.map((value, i) => {
    const column = i % columns;
    if (column < 2) return value;
    const most = [2, regions, apps.length + invented.length][column - 2] - 1;
    return Math.min(most, Math.max(0, Math.round(value)));
  });
}

/**
 * Discovered keys: how often liars who agree on one key have it shown, beside the formula; and
 * which honest keys are missing when as many liars send new keys only.
 */
export async function forgedBy({ people, runs, seed }) {
  const study = planned(people, 2, discovered);
  const crowd = crowdOf(people, seed);
  const [event] = study.plan.questions[0].plan.events;
  const threshold = keyKeepingCount(event);
  const isForged = ([key]) => key.startsWith('forged');
  const counts = new Map();
  for (const row of crowd) counts.set(row[4], (counts.get(row[4]) ?? 0) + 1);
  const sure = [...counts].filter(([, count]) => count >= threshold + 6 * event.sigma)
    .map(([app]) => apps[app]);
  const lines = [];
  for (const part of [0.5, 0.8, 1, 1.2, 1.5]) {
    const liars = Math.round(part * threshold);
    let forged = 0;
    let lost = 0;
    for (let run = 0; run < runs; run++) {
      const own = `${seed} ${part} ${run}`;
      const shownBy = async (attack) => (await answersOf(study, [
        ...crowd, ...liarsOf(attack, liars, crowd, own).map(fitted),
      ], own)).get('apps').groups;
      forged += (await shownBy('forge-groups')).filter(isForged).length;
      const left = await shownBy('evict-groups');
      lost += sure.filter((app) => !left.some(([key]) => key === app)).length;
    }
    lines.push({
      liars, forged: forged / runs, foreseen: shownChance(event, liars), lost,
      checked: sure.length * runs,
    });
  }
  return { threshold, lines };
}
