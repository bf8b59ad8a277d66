import { writeFileSync } from 'node:fs';
import { rewriteStudyText } from '../../server/study-file/index.js';
import { KeelsonError } from '../../src/base/errors.js';
import { readStudyFiles } from '../base/study-files.js';
import { readText } from '../base/text-files.js';
import { fail, ok, warn, type Finding } from './finding.js';

/**
 * Looks for old names in a study file, and then whether it is a study that can be planned.
 * @param mayWrite writes the new names in place of the old ones; all else in the file stays.
 * @throws InvalidInputError if it cannot be read; KeelsonError('invalid-study') if it is not YAML.
 */
export function studyFileFindings(path: string, mayWrite: boolean): Finding[] {
  const before = readText(path);
  const { text, found } = rewriteStudyText(before, path);
  const names = found.map(({ line, text: said, isRewritten }): Finding => {
    const where = `line ${line}: ${said}`;
    if (!isRewritten) return fail('names', where, 'take it out by hand');
    return mayWrite ? ok('names', `${where}: rewritten`)
      : warn('names', where, 'run again with --write, which rewrites the file');
  });
  if (mayWrite && text !== before) writeFileSync(path, text);
  if (found.some(({ isRewritten }) => !(isRewritten && mayWrite))) return names;
  return [...names.length > 0 ? names : [ok('names', 'all are in force')], planned(path)];
}

function planned(file: string): Finding {
  const { studies: [study], refused: [refusal] } = readStudyFiles([file], undefined);
  if (study !== undefined) return ok('study', `${study.document.study} can be planned`);
  const { error } = refusal!;
  const path = error instanceof KeelsonError ? error.details['path'] : undefined;
  return path === 'budget.population'
    ? ok('study', 'its budget is in a populations file, which is not looked at here')
    : fail('study', error.message, 'mend the file');
}
