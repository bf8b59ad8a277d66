// Every schedule of a few epochs on a budget, through the store that servers use. The releases that
// are allowed together are compared with the (epsilon, delta) of the budget, exactly.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { openInlineSqliteStore } from '../../dist/server/store/sqlite/open-inline.js';
import { exactEpsilonOf } from '../../dist/src/audit/exact/composed.js';
import { listsOf } from '../../dist/src/audit/exact/mechanism-cases.js';
import { costOfEvents } from '../../dist/src/privacy/accounting/composition.js';
import { capsOf } from '../../dist/src/privacy/accounting/target.js';

const windowMs = 1001;
/** Two of them are one millisecond less than a period. */
const waits = [0, 500];
const statement = { epsilon: 1, delta: 1e-6 };
/** Two of them fit into the budget, and not three. */
const event = {
  kind: 'gaussian', name: 'draw', cohort: 'rows', dimension: 1, sensitivity: 1, sigma: 7.2, grid: 1,
};
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

const stepsOf = ({ scope }) => waits.flatMap((before) => waits.flatMap((open) =>
  (scope === 'study' ? [[0, 1]] : [[0, 1], [1]]).flatMap((senders) =>
    [true, false].map((isCharged) => ({ before, open, senders, isCharged })))));

function batchOf(studyId, contributor, epoch) {
  const body = Buffer.from(`${contributor} ${epoch}`);
  return {
    studyId, contributor, sequence: epoch, epoch, last: true, rows: 1, body,
    digest: new Uint8Array(createHash('sha512').update(body).digest()),
    signature: new Uint8Array(64), peopleMax: 1_000,
  };
}

const idOf = (text) => createHash('sha256').update(text).digest('hex');

/** Runs one schedule. @returns for each person the times at which its epochs were charged. */
async function run(store, clock, schedule, { scope, renews }, studyId) {
  const { cost, caps } = charged;
  await store.registerStudy({
    studyId, name: 'study', document: '{}', nowMs: clock.nowMs(),
    budget: {
      key: `study:${studyId}`, scope, rule: caps.rule, rhoCap: caps.rhoCap,
      deltaCap: caps.deltaCap, ...statement, ...(renews && { windowMs }),
    },
  });
  const times = people.map(() => []);
  for (const [at, { before, open, senders, isCharged }] of schedule.entries()) {
    const epoch = BigInt(at + 1);
    clock.wait(before);
    const opened = await store.openEpoch({
      studyId, epoch, opensAtMs: clock.nowMs(), closesAtMs: clock.nowMs() + open,
      rho: cost.rho, delta: cost.delta, assignmentKey: new Uint8Array(32),
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
      if (verdicts[place].verdict === 'accepted') times[person].push(clock.nowMs());
    });
  }
  return times;
}

const charged = {
  cost: costOfEvents([event], { disjoint: [] }),
  caps: capsOf({ ...statement, rule: 'zcdp' }),
};

/** The most of these times that lie in a half-open period of a budget. */
const mostTogether = (times, renews) => Math.max(0, ...times.map((from) =>
  times.filter((time) => time >= from && (!renews || time < from + windowMs)).length));

export const budgetKinds = ['study', 'contributor'].flatMap((scope) =>
  [false, true].map((renews) =>
    ({ name: `${scope}, ${renews ? 'renews' : 'for ever'}`, scope, renews })));

/**
 * @param epochs - in each schedule. An epoch has a wait before it opens and one while it is open,
 *   both of nothing or about half a period. It is charged, or lapses. In a budget of each
 *   contributor one of two people takes part, or not.
 */
export async function checkBudget(kind, epochs) {
  const schedules = listsOf(stepsOf(kind), epochs);
  let most = 0;
  for (let from = 0; from < schedules.length; from += schedulesEach) {
    const some = schedules.slice(from, from + schedulesEach);
    most = Math.max(most, await mostOfSome(kind, some));
  }
  const exact = exactEpsilonOf([{ event, times: most }], statement.delta);
  const faults = exact <= statement.epsilon ? [] : [
    `${most} releases together have epsilon ${exact}, and the budget is ${statement.epsilon}`,
  ];
  const stated = statement.epsilon;
  return { name: kind.name, schedules: schedules.length, most, exact, stated, faults };
}

/** Runs schedules one after the other on a new store, each with a study and a budget of its own. */
async function mostOfSome(kind, schedules) {
  // In memory where it can be: nothing here has to survive.
  const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(place, 'keelson-budgets-'));
  const clock = new SetClock();
  const store = await openInlineSqliteStore({ directory, clock });
  try {
    let most = 0;
    for (const [at, schedule] of schedules.entries()) {
      const times = await run(store, clock, schedule, kind, idOf(String(at)));
      clock.wait(10 * windowMs);
      most = Math.max(most, ...times.map((own) => mostTogether(own, kind.renews)));
    }
    return most;
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
