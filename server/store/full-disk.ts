import type { Logger } from '../base/logger.js';
import type { AdmissionResult } from './contract.js';

/** The disk is full. Nothing was written, and the sender may try again. */
export const noRoom: AdmissionResult = {
  verdict: 'rejected', code: 'overloaded', epoch: 0n, position: 0n, complete: false,
  lacksDisk: true,
};

/**
 * Reports to the operator that the disk of the store is full, and that it has room again.
 * @param why the cause and its remedy; null when there is room again.
 */
export function reportFull(logger: Logger, why: string | null): void {
  if (why === null) logger.info({}, 'the database takes writes again');
  else logger.error({}, `${why}. Until then batches are refused, and releases wait`);
}
