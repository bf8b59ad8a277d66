import { afterEach, describe, expect, it } from 'vitest';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { ledgerView } from '../../server/operator/ledger-view.js';
import type { Store } from '../../server/store/contract.js';
import type { RunningHub } from '../../server/studies/hub/hub.js';
import { decodeReleaseBody, type ShortFacts } from '../../src/wire/index.js';
import { Bench, batchOf, contribute, define, everyMs, hexKey } from '../support/hub-bench.js';
import { settle } from '../support/virtual-clock.js';

const benches: Bench[] = [];
afterEach(() => Promise.all(benches.splice(0).map((bench) => bench.close())));

const tickMs = 1_000;
/** Not among the others. */
const guestKey = 7_777;

/** What a contributor does in one epoch, and how slow the work on its rows is. */
interface Guest {
  readonly epoch: bigint;
  readonly withdraws?: boolean;
  /** Its row is far from those of the others. */
  readonly isFar?: boolean;
  /** Milliseconds that reading its rows takes longer. */
  readonly journalMs?: number;
  /** Milliseconds that the release takes longer. */
  readonly releaseMs?: number;
}

/** Slow where the guest's rows are: reading the journal of its epoch, and its release. */
function slowed(bench: Bench, store: Store, guest: Guest | null): Store {
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => { bench.clock.after(ms, resolve); });
  const journal = store.journal.bind(store);
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name !== 'journal') return Reflect.get(target, name) as unknown;
      return async (...page: Parameters<Store['journal']>) => {
        if (guest !== null && page[1] === guest.epoch) await wait(guest.journalMs ?? 0);
        return journal(...page);
      };
    },
  });
}

function slowRunner(bench: Bench, guest: Guest | null): InlineEpochRunner {
  const runner = new InlineEpochRunner();
  const release = runner.release.bind(runner);
  runner.release = async (studyId, epoch, before) => {
    if (guest !== null && epoch === guest.epoch) {
      await new Promise<void>((resolve) => { bench.clock.after(guest.releaseMs ?? 0, resolve); });
    }
    return release(studyId, epoch, before);
  };
  return runner;
}

const asText = (value: unknown): string => JSON.stringify(value, (_key, part: unknown) =>
  (typeof part === 'bigint' ? String(part) : part));

/**
 * All that anybody may ask for, but for the answers themselves. Of the releases it reads those from
 * `known.length` on, and appends them to `known`: a stored release does not change.
 */
async function publicView(hub: RunningHub, studyId: string, known: string[]): Promise<string> {
  const { state, epoch, closesAtMs, releaseCount } = hub.study(studyId)!;
  for (const { body } of await hub.releases(studyId, known.length, 99)) {
    const { ledger, closedAtMs, index } = decodeReleaseBody(body);
    known.push(asText({ index, closedAtMs, ledger }));
  }
  return asText({
    state, epoch, closesAtMs, releaseCount, bodies: known, ledger: await ledgerView(hub),
  });
}

interface Change {
  /** Milliseconds from the start. */
  readonly atMs: number;
  readonly view: string;
}

interface Run {
  readonly document: Partial<ShortFacts>;
  readonly lastsMs: number;
  /** Contributors besides the guest, in each epoch; default 6. */
  readonly people?: number;
  /** When the server stops, and how long it is away. */
  readonly restart?: { readonly atMs: number; readonly awayMs: number };
}

/** How often it is looked: every time that is planned here is a multiple of it. */
const lookMs = 100;

/** Every change of what anybody may ask for, and when. */
async function watched(
  { document, lastsMs, people = 6, restart }: Run, guest: Guest | null,
): Promise<Change[]> {
  const bench = new Bench();
  benches.push(bench);
  bench.wrapStore = (store) => slowed(bench, store, guest);
  const startMs = bench.clock.nowMs();
  const since = (): number => bench.clock.nowMs() - startMs;
  const start = (): Promise<RunningHub> => bench.start([define(document)], {
    releaseTickMs: tickMs, runner: slowRunner(bench, guest),
  });
  const passing = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    void work.finally(() => { isDone = true; });
    for (await settle(); !isDone; await settle()) await bench.clock.advance(1);
    return work;
  };
  let hub = await passing(start());
  const { studyId } = hub.studies()[0]!;
  const changes: Change[] = [];
  const known: string[] = [];
  let fed = 0n;
  let stops = restart?.atMs ?? Infinity;
  while (since() < lastsMs) {
    if (since() >= stops) {
      stops = Infinity;
      await passing(hub.close());
      await bench.clock.advance(restart!.atMs + restart!.awayMs - since());
      hub = await passing(start());
      await bench.clock.advance(restart!.atMs + restart!.awayMs + 900 - since());
    }
    const { epoch } = hub.study(studyId)!;
    if (epoch > fed) {
      fed = epoch;
      await contribute(hub, studyId, people, epoch);
      if (guest?.epoch === epoch) await visit(hub, studyId, guest);
    }
    await bench.clock.advance(lookMs);
    const view = await publicView(hub, studyId, known);
    if (changes.at(-1)?.view !== view) changes.push({ atMs: since(), view });
  }
  expect(bench.failures).toEqual([]);
  await passing(hub.close());
  return changes;
}

async function visit(hub: RunningHub, studyId: string, guest: Guest): Promise<void> {
  const { epoch, withdraws, isFar } = guest;
  const row = isFar === true ? { values: Float64Array.of(9e5, -9e5) } : {};
  const accepted = await hub.submit(batchOf(studyId, guestKey, epoch, row));
  expect(accepted.verdict).toBe('accepted');
  if (withdraws !== true) return;
  const taken = await hub.withdraw({
    studyId, contributor: hexKey(guestKey), epoch, signature: new Uint8Array(64),
  });
  expect(taken.kind).toBe('withdrawn');
}

const renewing: Partial<ShortFacts> = {
  budget: { epsilon: 4, delta: 1e-5, rule: 'zcdp', scope: 'study', perMs: 8 * everyMs },
};
const excluding: Partial<ShortFacts> = { quarantine: { beyond: 3, automatic: true } };

describe('what everybody sees, and when', () => {
  const withdrawn: Guest = { epoch: 2n, withdraws: true, journalMs: 337, releaseMs: 161 };
  it.each<[string, Run, Guest]>([
    ['withdrew, while the budget renews', { document: renewing, lastsMs: 20 * everyMs }, withdrawn],
    ['is left out by itself', { document: excluding, lastsMs: 5 * everyMs, people: 300 }, {
      epoch: 2n, isFar: true, journalMs: 237, releaseMs: 161,
    }],
    ['was in the last epoch of a study that excludes', {
      document: { ...excluding, budget: { epsilon: 3, delta: 1e-5, rule: 'zcdp', scope: 'study' } },
      lastsMs: 4 * everyMs, people: 300,
    }, { epoch: 2n, isFar: true, journalMs: 337 }],
    ['makes releases longer than epochs', {
      document: { epoch: { everyMs: 300 } }, lastsMs: 8 * tickMs,
    }, { epoch: 2n, releaseMs: 437 }],
    ['makes exclusions longer than epochs', {
      document: { ...excluding, epoch: { everyMs: 300 } }, lastsMs: 8 * tickMs, people: 300,
    }, { epoch: 2n, journalMs: 237 }],
    ['is in the open epoch at a restart', {
      document: {}, lastsMs: 5 * everyMs, restart: { atMs: 1.5 * everyMs, awayMs: 2_350 },
    }, { epoch: 2n, journalMs: 437 }],
    ['is in the open epoch before a long absence', {
      document: {}, lastsMs: 8 * everyMs, restart: { atMs: 1.5 * everyMs, awayMs: 2.35 * everyMs },
    }, { epoch: 2n, journalMs: 437 }],
  ])('is the same with a slow contributor who '
    + '%s', { tags: ['long'] }, async (_name, run, guest) => {
    const alone = await watched(run, null);
    expect(await watched(run, guest)).toEqual(alone);
    expect(alone.length).toBeGreaterThan(4);
  });
});
