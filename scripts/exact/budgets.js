// Every schedule of a few epochs on a budget, through the store that servers use. The releases that
// are allowed together are compared with the (epsilon, delta) of the budget, exactly.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { openInlineSqliteStore } from '../../dist/server/store/sqlite/open-inline.js';
import { exactEpsilonOf } from '../../dist/src/audit/exact/composed.js';
import { listsOf } from '../../dist/src/audit/exact/mechanism-cases.js';
import { chargeUnder } from '../../dist/src/privacy/accounting/budget.js';
import { costOfEvents } from '../../dist/src/privacy/accounting/composition.js';
import { capsOf } from '../../dist/src/privacy/accounting/target.js';

/** That of an exact epsilon, which may be so much too large. */
const slack = 1e-9;
const windowMs = 1001;
/** Two of them are one millisecond less than a period. */
const halfPeriods = [0, 500];
const statement = { epsilon: 1, delta: 1e-6 };
const draw = { name: 'draw', cohort: 'rows', dimension: 1, sensitivity: 1, grid: 1 };
/** Of each kind alone two fit into the budget, and not three; of both kinds together none do. */
const events = [
  { ...draw, kind: 'gaussian', sigma: 7.2 },
  { ...draw, kind: 'laplace', scale: 2 },
];
const costs = events.map((event) => costOfEvents([event], { disjoint: [] }));
const caps = capsOf({ ...statement, rule: 'zcdp' });
const people = ['one', 'two'];
/** Some calls of a store read all of its budgets, so a store gets a part of the schedules. */
const schedulesEach = 64;

/** A clock that is set by hand, and never goes back. */
class SetClock {
  #nowMs = Date.UTC(2025, 0, 1);
  nowMs() { return this.#nowMs; }
  monotonicMs() { return this.#nowMs; }
  after() { return () => undefined; }
  wait(ms) { this.#nowMs += ms; }
}

const stepsOf = ({ scope, waits, noises }) => waits.flatMap((before) => waits.flatMap((open) =>
  (scope === 'study' ? [[0, 1]] : [[0, 1], [1]]).flatMap((senders) => noises.flatMap((noise) =>
    [true, false].map((isCharged) => ({ before, open, senders, noise, isCharged }))))));

function batchOf(studyId, contributor, epoch) {
  const body = Buffer.from(`${contributor} ${epoch}`);
  return {
    studyId, contributor, sequence: epoch, epoch, last: true, rows: 1, body,
    digest: new Uint8Array(createHash('sha512').update(body).digest()),
    signature: new Uint8Array(64), peopleMax: 1_000,
  };
}

const idOf = (text) => createHash('sha256').update(text).digest('hex');

/** Runs one schedule. @returns when the epochs of each person were charged, and their noise. */
async function run(store, clock, schedule, { scope, renews }, studyId) {
  await store.registerStudy({
    studyId, name: 'study', document: '{}', nowMs: clock.nowMs(),
    budget: {
      key: `study:${studyId}`, scope, rule: caps.rule, rhoCap: caps.rhoCap,
      deltaCap: caps.deltaCap, ...statement, ...(renews && { windowMs }),
    },
  });
  const charged = people.map(() => []);
  for (const [at, { before, open, senders, noise, isCharged }] of schedule.entries()) {
    const epoch = BigInt(at + 1);
    clock.wait(before);
    const opened = await store.openEpoch({
      studyId, epoch, opensAtMs: clock.nowMs(), closesAtMs: clock.nowMs() + open,
      ...chargeUnder(caps.rule, costs[noise]), assignmentKey: new Uint8Array(32),
      workSeed: new Uint8Array(32), rowsMax: 1, late: 'drop',
    });
    if (opened.kind !== 'opened') continue;
    const verdicts = await store.admit(senders.map((person) =>
      batchOf(studyId, idOf(people[person]), epoch)));
    clock.wait(open);
    await store.beginClose(studyId, epoch);
    if (!isCharged) {
      await store.lapseEpoch(studyId, epoch, clock.nowMs());
      continue;
    }
    await store.chargeEpoch(studyId, epoch, '[]', clock.nowMs());
    senders.forEach((person, place) => {
      if (verdicts[place].verdict === 'accepted') charged[person].push([clock.nowMs(), noise]);
    });
  }
  return charged;
}

/** How many of these charges lie in the half-open period of a budget from each on, by noise. */
const together = (charged, renews) => charged.map(([from]) => {
  const within = charged.filter(([at]) => at >= from && (!renews || at < from + windowMs));
  return events.map((_, noise) => within.filter(([, own]) => own === noise).length);
});

const oneNoise = { waits: halfPeriods, noises: [0] };
export const budgetKinds = ['study', 'contributor'].flatMap((scope) => [
  { name: `${scope}, for ever`, scope, renews: false, ...oneNoise },
  { name: `${scope}, renews`, scope, renews: true, ...oneNoise },
  { name: `${scope}, either sum`, scope, renews: false, waits: [0], noises: [0, 1] },
]);

/**
 * @param epochs - in each schedule. An epoch may wait before it opens and while it is open, for
 *   about half a period. It is charged, or lapses. In a budget of each
 *   contributor one of two people takes part, or not. Noise is Gaussian, or of either kind.
 */
export async function checkBudget(asked, epochs) {
  const schedules = listsOf(stepsOf(asked), epochs);
  /** By text, so that each is once. */
  const seen = new Map();
  for (let from = 0; from < schedules.length; from += schedulesEach) {
    for (const counts of await countsOf(asked, schedules.slice(from, from + schedulesEach))) {
      seen.set(`${counts}`, counts);
    }
  }
  const all = [...seen.values()].map((counts) => ({
    counts, most: counts.reduce((sum, count) => sum + count),
    exact: exactEpsilonOf(events.map((event, noise) => ({ event, times: counts[noise] }))
      .filter(({ times }) => times > 0), statement.delta),
  }));
  const faults = all.filter(({ exact }) => exact > statement.epsilon + slack)
    .map(({ counts: [gaussian, laplace], exact }) => `${gaussian} releases of Gaussian and `
      + `${laplace} of Laplace noise together have epsilon ${exact}, and the budget is `
      + `${statement.epsilon}`);
  const largest = (name) => Math.max(...all.map((each) => each[name]));
  return {
    name: asked.name, schedules: schedules.length, most: largest('most'), exact: largest('exact'),
    stated: statement.epsilon, faults,
  };
}

/** Runs schedules one after the other on a new store, each with a study and a budget of its own. */
async function countsOf(asked, schedules) {
  // In memory where it can be: nothing here has to survive.
  const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(place, 'keelson-budgets-'));
  const clock = new SetClock();
  const store = await openInlineSqliteStore({ directory, clock });
  try {
    const counts = [];
    for (const [at, schedule] of schedules.entries()) {
      const charged = await run(store, clock, schedule, asked, idOf(String(at)));
      clock.wait(10 * windowMs);
      counts.push(...charged.flatMap((own) => together(own, asked.renews)));
    }
    return counts;
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
