import { AsyncLocalStorage } from 'node:async_hooks';
import { seededNoise } from '../../../src/random/insecure.js';
import type { Logger } from '../../../server/base/logger.js';
import type { EpochResult, EpochRunner, EpochSetup } from '../../../server/epochs/contract.js';
import { InlineEpochRunner, nameOf } from '../../../server/epochs/inline-runner.js';
import { addJournal } from '../../../server/studies/release/recovery.js';
import type { ListenerLimits } from '../../../server/network/options.js';
import type { Chance } from './chance.js';
import type { Model } from './model.js';
import type { ProcessTimers } from './scheduler.js';
import type { StoreReads } from './stored.js';
import { watchedEstimator } from './study.js';

/** Seconds instead of the real ones, so that a few virtual seconds meet every timeout. */
export const fastLimits: Partial<ListenerLimits> = {
  handshakeTimeoutMs: 600, heartbeatMs: 400, subscriberStallMs: 1_500, subscriberBufferBytes: 600,
  closeTimeoutMs: 200,
};

/** In a file beside the database, which crashes leave as it is. */
export const seriesKey = new Uint8Array(32).fill(55);

export const silent: Logger = {
  debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined,
};

export interface RunnerOptions {
  readonly timers: ProcessTimers;
  readonly chance: Chance;
  readonly model: Model;
  readonly stored: StoreReads;
  readonly guard: (check: () => void) => void;
}

/** The epochs of one process, which tell the model what is drawn from which rows. */
export function watchedRunner(
  { timers, chance, model, stored, guard }: RunnerOptions,
): EpochRunner {
  /** The epoch whose noise is being drawn. Releases of two studies may take turns. */
  const drawing = new AsyncLocalStorage<{ readonly studyId: string; readonly epoch: bigint }>();
  const findEstimator = watchedEstimator((rows, by) => guard(() => {
    const { studyId, epoch } = drawing.getStore()!;
    if (by === 'nothing') model.drawn(studyId, epoch, rows, stored);
    else model.drawnByKey(studyId, epoch, rows, by, stored);
  }));
  let seed: Uint8Array = new Uint8Array(0);
  const inner = new InlineEpochRunner({
    findEstimator, noise: () => seededNoise(seed = chance.bytes(32)),
  });
  const release = inner.release.bind(inner);
  const opened = readsAlone(inner, () => seed);
  inner.release = (studyId, epoch, before, known) => {
    // A dead process draws nothing that anybody sees.
    if (!timers.alive) return new Promise(() => undefined);
    guard(() => model.knows(studyId, epoch, known, stored));
    const alone = opened.aloneIfMerged(studyId, epoch, stored);
    const released = drawing.run({ studyId, epoch }, () => release(studyId, epoch, before, known));
    if (alone === null) return released;
    return Promise.all([released, alone]).then(([result, other]) => {
      guard(() => model.merged(epoch, result, other));
      return result;
    });
  };
  return inner;
}

/** Keeps what one reader of the whole journal needs to release an epoch that others summarised. */
function readsAlone(runner: InlineEpochRunner, seed: () => Uint8Array) {
  const [open, merge] = [runner.open.bind(runner), runner.merge.bind(runner)];
  const setups = new Map<string, { readonly setup: EpochSetup; readonly seed: Uint8Array }>();
  const merged = new Set<string>();
  runner.open = (setup) => {
    const opening = open(setup);
    setups.set(nameOf(setup.studyId, setup.epoch), { setup, seed: seed() });
    return opening;
  };
  runner.merge = (studyId, epoch, encoded) => {
    merged.add(nameOf(studyId, epoch));
    return merge(studyId, epoch, encoded);
  };
  return {
    /** @returns null when this epoch had one reader, or its rows may be deleted already. */
    aloneIfMerged(studyId: string, epoch: bigint, stored: StoreReads): Promise<EpochResult> | null {
      const name = nameOf(studyId, epoch);
      const found = setups.get(name);
      setups.delete(name);
      const isMerged = merged.delete(name);
      if (!isMerged || stored.epoch(studyId, epoch)?.state !== 'charged') return null;
      const reader = new InlineEpochRunner({ noise: () => seededNoise(found!.seed) });
      const entries = stored.journal(studyId, epoch, 0n, 100_000);
      async function* pages() { yield entries; }
      return addJournal(reader, found!.setup, pages())
        .then(() => reader.release(studyId, epoch));
    },
  };
}
