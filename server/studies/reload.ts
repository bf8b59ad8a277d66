import type { Logger } from '../base/logger.js';
import type { StudyDefinition } from './definition.js';
import type { RunningHub } from './hub-options.js';
import { isOwnFault, type RefusedStudy } from './refused-study.js';

/** What became of a reload. */
export interface Reloaded {
  /** Names of studies, or new versions of one, that run from now on. */
  readonly added: readonly string[];
  /** Names of those that are refused, or their files; what ran under these names runs on. */
  readonly refused: readonly string[];
}

/**
 * Runs what the files say now. Unchanged facts leave a study as it is; changed facts are another study, and the one
 * before ends with its open epoch, whose rows are released first. Each is taken or refused by itself, in one
 * transaction of the store that also compares budgets: a budget that would grow is refused, and nothing is spent or
 * given back by a reload. A study that is in no file any more runs on, because ending is for good: `endStudy` does that.
 * @param unreadable files of which no study could be made: they are logged and shown to the operator like the studies
 *   that the store refuses.
 * @throws what is not the study's own fault, such as a StorageError.
 */
export async function reloadStudies(
  hub: Pick<RunningHub, 'studies' | 'addStudy' | 'noteRefused'>, definitions: readonly StudyDefinition[],
  logger: Logger, unreadable: readonly RefusedStudy[] = [],
): Promise<Reloaded> {
  const added: string[] = [];
  const refused = [...unreadable];
  for (const definition of definitions) {
    const { study } = definition.document;
    const before = new Set(hub.studies().map(({ studyId }) => studyId));
    try {
      await hub.addStudy(definition);
    } catch (error) {
      if (!isOwnFault(error)) throw error;
      refused.push({ study, error });
      continue;
    }
    if (hub.studies().every(({ studyId }) => before.has(studyId))) continue;
    added.push(study);
    logger.info({ study }, 'a study was added');
  }
  for (const { study, error } of refused) {
    logger.error({ study, err: error }, 'a study is not taken; what runs under its name goes on');
  }
  hub.noteRefused(refused);
  return { added, refused: refused.map(({ study }) => study) };
}
