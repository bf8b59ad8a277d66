import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parsePopulationsText, parseStudyText } from '../server/study-file/index.js';
import type { StudyDefinition } from '../server/studies/definition.js';
import { asInputError } from './errors.js';

/**
 * Studies from their files; files that they name are relative to theirs.
 * @param populations - file of the budgets that studies share; undefined when there is none.
 * @throws UsageError when a file cannot be read, KeelsonError when a study in it cannot run.
 */
export function readStudies(files: readonly string[], populations: string | undefined): readonly StudyDefinition[] {
  const shared = populations === undefined ? undefined : parsePopulationsText(readText(populations), populations);
  return files.map((file) => parseStudyText(readText(file), {
    name: file,
    ...(shared !== undefined && { populations: shared }),
    readText: (path) => readText(resolve(join(dirname(file), path))),
  }));
}

/** @throws UsageError when the file cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw asInputError(error, path);
  }
}
