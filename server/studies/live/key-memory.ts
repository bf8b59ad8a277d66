import { KeelsonError } from '../../../src/base/errors.js';
import { keyShare } from '../../base/memory.js';
import type { StudyDefinition } from '../definition.js';
import { waitingMost } from '../release/schedule.js';

/**
 * The most memory that a study's keys use, in bytes, with its incomplete contributions: of the open
 * epoch and of those that may wait for their release. It depends on the study's facts only.
 */
export function reservedFor({ keyMemory, document }: StudyDefinition): number {
  return keyMemory * (1 + waitingMost(document));
}

/**
 * Reserves memory for a study's keys before it runs. So an epoch that opens has memory for the
 * greatest number of its people, whatever they send, and nobody is refused because of what others
 * sent. Studies have no memory in common: memory for one is not given to another.
 * @param running - the studies that have memory already.
 * @param bytes - that the process may use.
 * @throws KeelsonError('invalid-study') when not enough is left. It depends on public facts only.
 */
export function reserveKeyMemory(
  running: readonly StudyDefinition[], definition: StudyDefinition, bytes: number,
): void {
  const asked = reservedFor(definition);
  if (asked === 0) return;
  const most = Math.floor(bytes * keyShare);
  const taken = running.reduce((sum, each) => sum + reservedFor(each), 0);
  if (taken + asked <= most) return;
  const left = Math.max(most - taken, 0);
  const { document: { study }, peopleMax } = definition;
  throw new KeelsonError(
    'invalid-study',
    `the study ${study} needs ${mebibytes(asked)} MiB of memory for the groups of up to ${peopleMax} `
    + `people in each of ${1 + waitingMost(definition.document)} epochs, and ${
      mebibytes(left)} MiB are left of ${mebibytes(most)} MiB, half of what `
    + 'this process may use: give a smaller peopleMax or groupsMax, or fewer bytes for the texts '
    + 'of by, or run the study on another machine',
    { details: { study, asked, left } },
  );
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
