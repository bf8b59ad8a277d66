import { dirname, join, resolve } from 'node:path';
import { parsePopulationsText, parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { RefusedStudy } from '../../server/studies/refused-study.js';
import { KeelsonError } from '../../src/base/errors.js';
import { readText } from './text-files.js';

/** A list of a million keys is larger than any study. */
const keyListBytesMax = 66 * 1024 * 1024;

/** The contents of the study files on a command line. */
export interface StudyFiles {
  readonly studies: readonly StudyDefinition[];
  /** Files that hold no usable study, each with its reason. */
  readonly refused: readonly RefusedStudy[];
}

/**
 * Reads studies from files for a server. One bad file does not affect the others. If two studies
 * have the same name, both are refused. Paths in a file are relative to that file.
 * @param populations - file of the budgets that studies share; undefined if there is none. If it
 *   cannot be used, only the studies that name a population are refused.
 */
export function readStudyFiles(
  files: readonly string[], populations: string | undefined,
): StudyFiles {
  const { studies, refused } = readEach(files, populations);
  const names = studies.map(({ document }) => document.study);
  const filesOf = (name: string): readonly string[] =>
    studies.filter(({ document }) => document.study === name).map(({ file }) => file);
  const twice = [...new Set(names)].filter((name) => filesOf(name).length > 1);
  return {
    studies: studies.filter(({ document }) => !twice.includes(document.study)),
    refused: [
      ...refused, ...twice.map((study) => ({ study, error: givenTwice(study, filesOf(study)) })),
    ],
  };
}

function givenTwice(study: string, files: readonly string[]): KeelsonError {
  const where = new Set(files).size === 1
    ? `${files[0]!} is given ${files.length} times` : `${files.join(' and ')} both name it`;
  return new KeelsonError(
    'invalid-study',
    `the study ${study} is there twice: ${where}; give one file for each name`,
    { details: { study, files } },
  );
}

interface ReadStudy extends StudyDefinition {
  readonly file: string;
}

function readEach(
  files: readonly string[], populations: string | undefined,
): { readonly studies: readonly ReadStudy[]; readonly refused: readonly RefusedStudy[] } {
  const studies: ReadStudy[] = [];
  const refused: RefusedStudy[] = [];
  // Read only if a study names a population, so that the reason appears with that study.
  let read: ReturnType<typeof parsePopulationsText> | undefined;
  const readPopulations = (): typeof read => {
    if (populations !== undefined) {
      read ??= parsePopulationsText(readText(populations), populations);
    }
    return read;
  };
  for (const file of files) {
    try {
      studies.push({ file, ...parseStudyText(readText(file), {
        name: file,
        get populations() { return readPopulations(); },
        readText: (path) => readText(resolve(join(dirname(file), path)), keyListBytesMax),
      }) });
    } catch (error) {
      refused.push({
        study: file, error: error instanceof Error ? error : new Error(String(error)),
      });
    }
  }
  return { studies, refused };
}

/**
 * Like `readStudyFiles`, but every file must hold a study, and several may have the same name.
 * @throws the first reason: InvalidInputError if a file cannot be read, KeelsonError if its study
 *   cannot run.
 */
export function readStudies(
  files: readonly string[], populations: string | undefined,
): readonly StudyDefinition[] {
  if (populations !== undefined) parsePopulationsText(readText(populations), populations);
  const { studies, refused } = readEach(files, populations);
  if (refused.length > 0) throw refused[0]!.error;
  return studies;
}
