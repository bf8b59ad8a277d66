import { readStudyFiles } from '../../cli/base/study-files.js';
import type { StudyDefinition } from '../../server/studies/definition.js';

export function readStudyFile(path: string): StudyDefinition {
  const { studies: [study], refused } = readStudyFiles([path], undefined);
  if (study === undefined) throw refused[0]!.error;
  return study;
}
