import { KeelsonError } from '../../../src/base/errors.js';
import type { StudyRecord } from '../../store/contract.js';
import type { HubContext } from '../context.js';
import type { StudyDefinition } from '../definition.js';
import type { StudyIdentity } from '../latest-view.js';
import type { LiveStudyOptions } from './live-study-options.js';
import type { LocalStudy } from '../study-list.js';

/** Makes one server's part of a sealed study (server/sealed). */
export type OpenSealed = (
  context: HubContext, definition: StudyDefinition, identity: StudyIdentity, record: StudyRecord,
  options: LiveStudyOptions,
) => LocalStudy;

/** For a process that is none of the three servers. @throws KeelsonError('invalid-study') */
export const refuseSealed: OpenSealed = (_context, { document }) => {
  const names = document.sealed!.servers.map(({ name }) => name).join(', ');
  throw new KeelsonError(
    'invalid-study', `the study ${document.study} is sealed, and three servers run it together: `
      + `say which one this is, with --as and one of ${names}`,
    { details: { study: document.study } },
  );
};

/** @throws KeelsonError('invalid-study') for a sealed study on a database of several servers. */
export function refuseSealedHere({ document }: StudyDefinition): void {
  if (document.sealed === undefined) return;
  throw new KeelsonError(
    'invalid-study', `the study ${document.study} is sealed, and each of its three servers keeps `
      + 'its part in its own data folder: leave --store out',
    { details: { study: document.study } },
  );
}
