import type { Clock } from '../../base/clock.js';
import { KeelsonError, StorageError } from '../../../src/base/errors.js';
import type { Store } from '../contract.js';
import type { Caller } from './caller.js';
import type { PlainMethods } from './engine.js';
import type { GroupCommit } from '../group-commit.js';
import type { PurgeProgress } from './journal.js';
import { readMethods, WhileFull } from './while-full.js';

/** Time between two checks whether a reader still prevents the truncation of the log. */
const purgeRetryMs = 100;
const purgeRetries = 50;

/**
 * The Store over a caller. With `group`, batches wait so that several share one commit. A call that
 * writes is executed after all batches that were passed in before it.
 */
export function storeOver(caller: Caller, clock: Clock, group?: GroupCommit): Store {
  let closing: Promise<void> | undefined;
  const open = (): void => {
    if (closing !== undefined) throw new KeelsonError('closed', 'the store is closed');
  };
  const full = caller instanceof WhileFull ? caller : null;
  const plain = <Name extends keyof PlainMethods>(name: Name): PlainMethods[Name] => {
    const send = async (...args: readonly unknown[]): Promise<unknown> => {
      open();
      if (!readMethods.has(name)) group?.flush();
      return caller.call(name, args);
    };
    return send as unknown as PlainMethods[Name];
  };
  return {
    registerStudy: plain('registerStudy'), study: plain('study'), studies: plain('studies'),
    setStudyState: plain('setStudyState'), openEpoch: plain('openEpoch'),
    beginClose: plain('beginClose'), turnEpoch: plain('turnEpoch'),
    chargeEpoch: plain('chargeEpoch'),
    lapseEpoch: plain('lapseEpoch'), storeRelease: plain('storeRelease'), epoch: plain('epoch'),
    unfinishedEpochs: plain('unfinishedEpochs'), unpurgedEpochs: plain('unpurgedEpochs'),
    noteRecovery: plain('noteRecovery'), noteRecovered: plain('noteRecovered'),
    balance: plain('balance'), balances: plain('balances'),
    ledgerEntries: plain('ledgerEntries'), contributorState: plain('contributorState'),
    journal: plain('journal'), contributorCount: plain('contributorCount'),
    leftOutCount: plain('leftOutCount'), peopleCount: plain('peopleCount'),
    releases: plain('releases'), series: plain('series'), withdraw: plain('withdraw'),
    newestTime: plain('newestTime'), repairTimes: plain('repairTimes'),
    acceptRollback: plain('acceptRollback'), rollbacks: plain('rollbacks'),
    rotations: plain('rotations'), addRotation: plain('addRotation'),
    quarantine: plain('quarantine'), quarantines: plain('quarantines'),
    quarantineOf: plain('quarantineOf'),
    admit: async (batches) => {
      open();
      return group === undefined ? caller.admit(batches) : group.admit(batches);
    },
    purgeEpoch: async (studyId, epoch) => {
      open();
      await purge(
        () => caller.call('purgeStep', [studyId, epoch]) as Promise<PurgeProgress>, clock,
      );
    },
    health: async () => {
      open();
      return caller.call('health', []) as ReturnType<Store['health']>;
    },
    fullBecause: () => full?.fullBecause ?? null,
    endSoon: () => full?.endSoon(),
    close: () => {
      if (closing === undefined) {
        group?.flush();
        closing = caller.close();
      }
      return closing;
    },
  };
}

/** Each step is a call of its own, so that batches are admitted between steps. */
async function purge(step: () => Promise<PurgeProgress>, clock: Clock): Promise<void> {
  let blocked = 0;
  for (let progress = await step(); progress !== 'done'; progress = await step()) {
    if (progress === 'more') continue;
    blocked += 1;
    if (blocked > purgeRetries) {
      throw new StorageError(
        'the rows are deleted but a reader of the data folder keeps the log from being truncated; '
          + 'end the reader, then purge again', 'storage-failed', { retryable: true },
      );
    }
    await new Promise<void>((resolve) => { clock.after(purgeRetryMs, resolve); });
  }
}
