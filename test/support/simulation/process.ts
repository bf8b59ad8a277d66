import { seededNoise } from '../../../src/random/insecure.js';
import type { Logger } from '../../../server/base/logger.js';
import type { EpochRunner } from '../../../server/epochs/contract.js';
import { InlineEpochRunner } from '../../../server/epochs/inline-runner.js';
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
  /** The epoch whose noise is being drawn. */
  let drawing = { studyId: '', epoch: 0n };
  const findEstimator = watchedEstimator((rows, by) => guard(() => {
    const { studyId, epoch } = drawing;
    if (by === 'nothing') model.drawn(studyId, epoch, rows, stored);
    else model.drawnByKey(studyId, epoch, rows, by, stored);
  }));
  const inner =
    new InlineEpochRunner({ findEstimator, noise: () => seededNoise(chance.bytes(32)) });
  const release = inner.release.bind(inner);
  inner.release = (studyId, epoch, before, known) => {
    // A dead process draws nothing that anybody sees.
    if (!timers.alive) return new Promise(() => undefined);
    drawing = { studyId, epoch };
    guard(() => model.knows(studyId, epoch, known, stored));
    return release(studyId, epoch, before, known);
  };
  return inner;
}
