import { statSync } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { assert } from '../../../src/base/assert.js';
import { StorageError } from '../../../src/base/errors.js';
import type { AdmissionRequest, AdmissionResult, Store } from '../contract.js';
import type { StoreHealth } from '../health.js';
import { verifyLedger } from '../rules/budgets.js';
import {
  changesOf, chargesOf, performed, readsOf, type StoreParts,
} from '../rules/calls.js';
import { newestTime, repairTimes } from '../rules/clock-repair.js';
import type { Steps } from '../rules/steps.js';
import { withdraw, type RefundOne } from '../rules/withdrawals.js';
import { Admission } from './admission.js';
import { databaseFile, openDataFolder, type DataFolder } from './connection.js';
import { ContributorSpending } from './contributor-spending.js';
import { epochTablesOf, readSecrets } from './epoch-tables.js';
import { unpurgedLapses } from '../rules/epochs.js';
import { asStoreError, isFatal } from './failures.js';
import { Journal, type PurgeProgress } from './journal.js';
import { Latencies } from '../latencies.js';
import { Queries } from './query.js';
import { readReleases } from './releases.js';
import { FolderMark, readRollbacks } from './rollback.js';

/** The store's methods that are one call each. `admit` and `purgeEpoch` have their own code. */
export type PlainMethods = Omit<
  Required<Store>, 'admit' | 'purgeEpoch' | 'close' | 'health' | 'fullBecause' | 'endSoon'>;

type Synchronous<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (
    ...args: infer Arguments
  ) => Promise<infer Result>
    ? (...args: Arguments) => Result : never;
};

/**
 * The store's calls on the thread that owns the file. Each is complete and durable when it returns.
 */
export interface Engine extends Synchronous<PlainMethods> {
  admit(batches: readonly AdmissionRequest[]): AdmissionResult[];
  purgeStep(studyId: string, epoch: bigint): PurgeProgress;
  health(): StoreHealth;
  close(): void;
}

/**
 * Runs calls under the rules that hold for all of them: errors are typed, nothing is written after
 * the state of the disk became unknown, and no success is reported for a write to a file that is no
 * longer the folder's.
 */
class Guard {
  #failure: StorageError | undefined;

  constructor(
    private readonly folder: DataFolder, private readonly mark: FolderMark,
    private readonly admission: Admission,
  ) {}

  read<T>(action: () => T): T {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return action();
    } catch (error) {
      const typed = asStoreError(error);
      if (isFatal(error)) {
        this.#failure = new StorageError(
          'the store stopped after the disk failed; check the disk and start again',
            'storage-failed', { cause: typed },
        );
      }
      throw typed;
    }
  }

  admit<T>(action: () => T): T {
    return this.#inPlace(() => this.#whenSettled(action));
  }

  write<T>(action: () => T): T {
    return this.repair(() => this.#whenSettled(action));
  }

  /** Runs an action that must be in the mark before the caller gets its answer. */
  charge<T>(action: () => T): T {
    return this.write(() => this.mark.advance(action));
  }

  /** Runs an action that repairs the folder. Repairs come before all other writes. */
  repair<T>(action: () => T): T {
    return this.#inPlace(() => {
      // After a failure too: the hot path must read its cached facts of studies again.
      try { return action(); } finally { this.admission.forgetStudies(); }
    });
  }

  #whenSettled<T>(action: () => T): T {
    assert(this.mark.isSettled, 'an older database is accepted before anything is written');
    return action();
  }

  #inPlace<T>(action: () => T): T {
    const result = this.read(action);
    try {
      this.folder.checkInPlace();
    } catch (error) {
      this.#failure = asStoreError(error);
      throw this.#failure;
    }
    return result;
  }
}

/**
 * Opens the data folder on this thread.
 * @param acceptsRollback whether to open a database that is older than the folder's mark
 *   (rollback.ts). Until `acceptRollback` it refuses all writes except `repairTimes`. Default: such
 *   a folder is refused.
 * @throws StorageError data-folder-in-use, data-folder-rolled-back, schema-too-new or
 *   storage-failed.
 */
export function openEngine(directory: string, clock: Clock, acceptsRollback = false): Engine {
  const folder = openDataFolder(directory);
  try {
    return engineOver(directory, folder, clock, acceptsRollback);
  } catch (error) {
    folder.close();
    throw asStoreError(error);
  }
}

function engineOver(
  directory: string, folder: DataFolder, clock: Clock, acceptsRollback: boolean,
): Engine {
  const queries = new Queries(folder.database);
  queries.perform(verifyLedger());
  const spending = new ContributorSpending(queries);
  const nowMs = (): number => clock.nowMs();
  const parts: StoreParts = {
    tables: epochTablesOf(queries), refund: refundOf(spending),
    withdraw: (input) => withdraw(input, refundOneOf(spending)), nowMs, secrets: secretsOf(queries),
  };
  const mark = new FolderMark(queries, directory, acceptsRollback);
  const admission = new Admission(queries, spending, nowMs);
  const journal = new Journal(queries, admission, spending, nowMs);
  if (mark.isSettled) purgeLapses(queries, journal);
  const latencies = new Latencies();
  const guard = new Guard(folder, mark, admission);
  const reads = <T>(action: () => T): T => guard.read(action);
  const writes = <T>(action: () => T): T => guard.write(action);
  const whole = <T>(steps: Steps<T>) => () => queries.transaction(() => queries.perform(steps));
  return {
    ...performed<Shared<typeof readsOf>>(
      readsOf(parts), (steps) => reads(() => queries.perform(steps)),
    ),
    ...performed<Shared<typeof changesOf>>(changesOf(parts), (steps) => writes(whole(steps))),
    ...performed<Shared<typeof chargesOf>>(chargesOf(), (steps) => guard.charge(whole(steps))),
    newestTime: () => reads(() => queries.perform(newestTime())),
    repairTimes: (...how) => guard.repair(whole(repairTimes(...how))),
    acceptRollback: (nowMs) => guard.repair(() => {
      mark.acceptRollback({ nowMs, parts });
      purgeLapses(queries, journal);
    }),
    rollbacks: () => reads(() => readRollbacks(queries)),
    contributorState: (studyId, contributor) =>
      reads(() => admission.contributorState(studyId, contributor)),
    journal: (...page) => reads(() => journal.read(...page)),
    releases: (...which) => reads(() => readReleases(queries, ...which)),
    admit: (batches) => guard.admit(() => {
      const before = clock.monotonicMs();
      const results = admission.admit(batches);
      latencies.note((clock.monotonicMs() - before) / 1_000, batches.length);
      return results;
    }),
    purgeStep: (studyId, epoch) => writes(() => journal.purgeStep(studyId, epoch)),
    health: () => ({ ...latencies.summary(), ...fileSizes(directory) }),
    close: () => folder.close(),
  };
}

/** Methods of the engine that run shared calls. */
type Shared<Of extends (parts: StoreParts) => object> =
  Pick<Engine, keyof ReturnType<Of> & keyof Engine>;

/* eslint-disable require-yield -- These need no rows, and run at once. */
const refundOf = (spending: ContributorSpending): StoreParts['refund'] =>
  function* refund(epochKey, budget, cost) {
    spending.refund(epochKey, budget.budget_id, budget.window_ms !== null, cost);
  };

const refundOneOf = (spending: ContributorSpending): RefundOne =>
  function* refundOne(epochKey, budget, contributorId, cost) {
    spending.refundOne(budget.budget_id, budget.window_ms !== null, contributorId, epochKey, cost);
  };

const secretsOf = (queries: Queries): StoreParts['secrets'] =>
  function* secrets(studyKey, epoch) {
    return readSecrets(queries, studyKey, epoch);
  };
/* eslint-enable require-yield */

/** Deletes rows of lapsed epochs. If a reader of the file blocks it, the next start continues. */
function purgeLapses(queries: Queries, journal: Journal): void {
  for (const { studyId, epoch } of queries.perform(unpurgedLapses())) {
    let progress: PurgeProgress;
    do progress = journal.purgeStep(studyId, epoch); while (progress === 'more');
  }
}

function fileSizes(directory: string): { fileBytes: number; walBytes: number } {
  const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const path = databaseFile(directory);
  return { fileBytes: sizeOf(path), walBytes: sizeOf(`${path}-wal`) };
}
