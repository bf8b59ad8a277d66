import type { Logger } from '../../base/logger.js';
import type { StudyDefinition } from '../definition.js';
import type { RunningHub } from './hub-options.js';
import { isOwnFault, type RefusedStudy } from '../refused-study.js';

/** The result of a reload. */
export interface Reloaded {
  /** Names of new studies, or of studies with a new version, that run from now on. */
  readonly added: readonly string[];
  /** Names of refused studies, or their files. The versions that ran under these names continue. */
  readonly refused: readonly string[];
}

/**
 * Runs the studies that the files now define. A study with unchanged facts stays as it is. Changed
 * facts are another version; the earlier one ends with its open epoch, whose rows are released
 * first. Each study is accepted or refused separately, in one transaction of the store that also
 * compares budgets. A budget that would grow is refused, and a reload neither spends nor refunds
 * anything. A study that is in no file any more continues, because an end is final: use `endStudy`
 * for that.
 * @param unreadable files that define no study. They are logged and shown to the operator like
 *   studies that the store refuses.
 * @throws errors that are not a study's own fault, for example a StorageError.
 */
export async function reloadStudies(
  hub: Pick<RunningHub, 'studies' | 'addStudy' | 'noteRefused'>,
  definitions: readonly StudyDefinition[], logger: Logger, unreadable: readonly RefusedStudy[] = [],
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
    logger.error({ study, err: error }, 'a study is refused; what runs under its name continues');
  }
  hub.noteRefused(refused);
  return { added, refused: refused.map(({ study }) => study) };
}
