import type { Sealing } from '../../src/questions/series.js';
import { openBytes, sealBytes } from '../base/sealed-bytes.js';

/**
 * Seals the series that the running totals of one epoch hand on to the next. The text is bound to
 * the study, the question and the epoch. So it opens for the epoch just after its own and for no
 * other: if an epoch has no release, the series ends.
 * @param key 32 secret bytes. It is kept outside the database, so that a copy of the database alone
 *   reveals no exact value.
 */
export function sealingOf(key: Uint8Array, studyId: string, epoch: bigint): Sealing {
  const nameOf = (question: string, at: bigint): string =>
    `keelson running ${studyId} ${question} ${at}`;
  return {
    seal: (question, plain) => sealBytes(key, nameOf(question, epoch), plain),
    open: (question, text) => openBytes(key, nameOf(question, epoch - 1n), text),
  };
}
