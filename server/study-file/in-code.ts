import type { ColumnsInput } from '../../src/base/row-types.js';
import type { StudyDefinition } from '../studies/definition.js';
import { checkValue } from './check.js';
import { readStudy, type StudyTextOptions } from './parse.js';
import { studySchema } from './schema.js';
import type { StudyInput } from './study-input.js';

/**
 * A study that is written in a program: the keys of a study file, with types, so that an editor
 * completes them and a compiler knows the names of the columns.
 * @returns what `parseStudyText` returns for the same keys, with the same id.
 * @throws KeelsonError as `parseStudyText` does, without lines.
 * @example
 * import { study } from 'keelson/server';
 *
 * const commutes = study({
 *   study: 'commutes',
 *   columns: { minutes: 'number', late: 'boolean' },
 *   cohort: 3000,
 *   epoch: { every: '1d' },
 *   questions: {
 *     late: { estimator: 'count', where: { late: true } },
 *     travel: { estimator: 'mean', columns: ['minutes'], parameters: { scale: 20 } },
 *   },
 *   privacy: { epsilon: 1, delta: 1e-6 },
 *   budget: { epsilon: 8, delta: 1e-5 },
 * });
 * console.log(commutes.document.study);   // commutes
 */
export function study<const Columns extends ColumnsInput>(
  input: StudyInput<Columns>, options: Omit<StudyTextOptions, 'name'> = {},
): StudyDefinition {
  const { study: given } = input ?? {};
  const name = typeof given === 'string' && given !== '' ? given : 'the study';
  return readStudy(checkValue(studySchema, input, name), { ...options, name });
}
