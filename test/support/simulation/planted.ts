import type { Clock } from '../../../server/base/clock.js';
import type { EpochRunner } from '../../../server/epochs/contract.js';
import { InvariantError, KeelsonError } from '../../../src/base/errors.js';
import type { FaultRates } from './faults.js';
import type { ListenerLimits } from '../../../server/network/options.js';
import type { AdmissionRequest, ChargeResult, Store } from '../../../server/store/contract.js';

/**
 * A defect put around the real parts, to see that the simulation finds it. Made anew for each
 * process.
 */
export interface Plant {
  readonly answersEarly?: boolean;
  readonly marksFirst?: boolean;
  readonly limits?: Partial<ListenerLimits>;
  clock?(real: Clock): Clock;
  store?(real: Store): Store;
  runner?(real: EpochRunner): EpochRunner;
}

export const plantNames = [
  'ack-before-fsync', 'charge-after-draw', 'missing-dedupe', 'group-by-arrival', 'lost-wake-up',
  'noise-redrawn', 'cap-at-restart', 'one-stops-all', 'clock-unseen',
  'mark-before-commit', 'series-forgotten', 'keys-forgotten',
] as const;
export type PlantName = (typeof plantNames)[number];

/** Where to look for a fault that few worlds show: the first seed, and the steps of each. */
export const plantTrials: Readonly<
  Partial<Record<PlantName, {
    readonly from: number; readonly steps: number;
    /** What worlds that show it have more of, or less. */
    readonly rates?: Partial<FaultRates>;
  }>>
> = {
  'cap-at-restart': { from: 55, steps: 1_500 }, 'clock-unseen': { from: 566, steps: 500 },
  'series-forgotten': { from: 1, steps: 1_500, rates: { lists: 1 } },
  'keys-forgotten': { from: 1, steps: 1_500, rates: { lists: 1 } },
  // Batches are written for longer, so more timers end meanwhile, and no restart sets them again.
  'lost-wake-up': {
    from: 1, steps: 500,
    rates: {
      slowDisk: 0.3, fsyncFailed: 0, crashInSync: 0, crashEveryMs: Infinity, stopEveryMs: Infinity,
    },
  },
};

export function plantOf(name: PlantName | null): Plant {
  switch (name) {
    case null:
      return {};
    case 'ack-before-fsync':
      return { answersEarly: true };
    case 'charge-after-draw':
      return { store: chargeAfterDraw };
    case 'missing-dedupe':
      return { store: missingDedupe };
    case 'group-by-arrival':
      return { runner: groupByArrival };
    case 'lost-wake-up':
      return lostWakeUp();
    case 'noise-redrawn':
      return { store: noiseRedrawn };
    case 'cap-at-restart':
      return { store: capAtRestart };
    case 'one-stops-all':
      return { store: oneStopsAll };
    case 'clock-unseen':
      return { store: clockUnseen };
    case 'mark-before-commit':
      return { marksFirst: true };
    case 'series-forgotten':
      return { store: seriesForgotten };
    case 'keys-forgotten':
      return { runner: keysForgotten };
  }
}

function over<T extends object>(real: T, changes: Partial<T>): T {
  return new Proxy(real, {
    get: (target, name) => (changes as Record<PropertyKey, unknown>)[name]
      ?? (target as Record<PropertyKey, unknown>)[name],
  });
}

/** The charge is answered from memory and becomes durable only with the bytes of the release. */
function chargeAfterDraw(real: Store): Store {
  let owed: (() => Promise<ChargeResult>) | undefined;
  return over(real, {
    async chargeEpoch(studyId, epoch, events, nowMs) {
      owed = () => real.chargeEpoch(studyId, epoch, events, nowMs);
      return { balance: (await real.balances())[0]!, isMine: true };
    },
    async storeRelease(input) {
      await owed?.();
      return real.storeRelease(input);
    },
  });
}

/** What was accepted before is journalled once more, as if its sequence were new. */
function missingDedupe(real: Store): Store {
  return over(real, {
    async admit(batches: readonly AdmissionRequest[]) {
      const results = [...await real.admit(batches)];
      for (const [i, result] of results.entries()) {
        if (result.verdict !== 'duplicate') continue;
        const request = batches[i]!;
        const { nextSequence } = await real.contributorState(request.studyId, request.contributor);
        results[i] = (await real.admit([{ ...request, sequence: nextSequence }]))[0]!;
      }
      return results;
    },
  });
}

function overRunner(real: EpochRunner, changes: Partial<EpochRunner>): EpochRunner {
  return {
    backlogBytes: real.backlogBytes,
    open: (setup) => real.open(setup),
    add: (studyId, epoch, parts) => real.add(studyId, epoch, parts),
    progress: (studyId, epoch) => real.progress(studyId, epoch),
    release: (studyId, epoch, before, known) => real.release(studyId, epoch, before, known),
    encode: (studyId, epoch) => real.encode(studyId, epoch),
    merge: (studyId, epoch, encoded) => real.merge(studyId, epoch, encoded),
    drop: (studyId, epoch) => real.drop(studyId, epoch),
    close: () => real.close(),
    ...changes,
  };
}

/** Each part is assigned by when it came, not by whose it is. */
function groupByArrival(real: EpochRunner): EpochRunner {
  let arrivals = 0;
  return overRunner(real, {
    add(studyId, epoch, parts) {
      real.add(studyId, epoch, parts.map((part) => {
        const contributor = part.contributor.slice();
        arrivals += 1;
        new DataView(contributor.buffer).setUint32(0, arrivals);
        return { ...part, contributor };
      }));
    },
  });
}

/** The keys that a study shows again are kept in memory, so a start has none. */
function keysForgotten(real: EpochRunner): EpochRunner {
  let isFirst = true;
  return overRunner(real, {
    release(studyId, epoch, before, known) {
      const own = isFirst ? known?.map((each) => ({ ...each, keys: [] })) : known;
      isFirst = false;
      return real.release(studyId, epoch, before, own);
    },
  });
}

/** A timer that ends while a batch is on its way to the journal is forgotten. */
function lostWakeUp(): Plant {
  const journal = { writing: 0 };
  return {
    clock: (real) => ({
      nowMs: () => real.nowMs(),
      monotonicMs: () => real.monotonicMs(),
      after: (delayMs, action) => real.after(delayMs, () => {
        // Short timers are the journal's own.
        if (journal.writing === 0 || delayMs < 50) action();
      }),
    }),
    store: (real) => over(real, {
      async admit(batches: readonly AdmissionRequest[]) {
        journal.writing += 1;
        try {
          return await real.admit(batches);
        } finally {
          journal.writing -= 1;
        }
      },
    }),
  };
}

/**
 * Recovery takes an epoch that was charged for one that can still be released, and a repeated
 * charge for its own.
 */
function noiseRedrawn(real: Store): Store {
  return over(real, {
    async unfinishedEpochs() {
      const records = await real.unfinishedEpochs();
      return records.map((record) =>
        (record.state === 'charged' ? { ...record, state: 'closing' as const } : record));
    },
    async chargeEpoch(...charge) {
      return { ...await real.chargeEpoch(...charge), isMine: true };
    },
  });
}

/**
 * A start compares the sum over epochs with the cap, which that sum passes by design under
 * contributor scope.
 */
function capAtRestart(real: Store): Store {
  return over(real, {
    async registerStudy(input) {
      const balance = await real.balance(input.budget.key);
      if (balance?.scope === 'contributor' && balance.rhoSpent >= balance.rhoCap) {
        throw new KeelsonError('invalid-study', 'more than the cap is already spent');
      }
      return real.registerStudy(input);
    },
  });
}

/** A study that the store refuses ends the start. */
function oneStopsAll(real: Store): Store {
  return over(real, {
    registerStudy: (input) => real.registerStudy(input).catch((error: unknown) => {
      if (!(error instanceof KeelsonError) || error.code !== 'invalid-study') throw error;
      throw new InvariantError(`the server ends: ${error.message}`);
    }),
  });
}

/** After a start, what the last release left to a running total is not read. */
function seriesForgotten(real: Store): Store {
  let isFirst = true;
  return over(real, {
    async series(studyId) {
      const found = await real.series!(studyId);
      const isForgotten = isFirst && found.length > 0;
      isFirst = false;
      return isForgotten ? [] : found;
    },
  });
}

/** A start does not look at the times that the folder holds. */
function clockUnseen(real: Store): Store {
  return over(real, { newestTime: async () => null, repairTimes: async () => 0 });
}
