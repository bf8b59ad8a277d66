import { decodeReleaseBody, type ReleaseBody } from '../../../src/wire/index.js';
import type { StudyHub, StudyView } from '../contract.js';

/** The body of the newest release of a study; null before the first. */
export async function newestRelease(
  hub: StudyHub, { studyId, releaseCount }: StudyView,
): Promise<ReleaseBody | null> {
  if (releaseCount === 0) return null;
  const [last] = await hub.releases(studyId, releaseCount - 1, 1);
  return last === undefined ? null : decodeReleaseBody(last.body);
}
