import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parsePopulationsText, parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { RefusedStudy } from '../../server/studies/refused-study.js';
import { fromUtf8 } from '../../src/base/bytes.js';
import { InvalidInputError, KeelsonError } from '../../src/base/errors.js';
import { asInputError } from './errors.js';

/** What the study files of a command line hold. */
export interface StudyFiles {
  readonly studies: readonly StudyDefinition[];
  /** Files of which no study can be made, each with its reason. */
  readonly refused: readonly RefusedStudy[];
}

/**
 * Studies from their files, each file by itself, for a server: two of one name are both refused; files that they name are relative to theirs.
 * @param populations - file of the budgets that studies share; undefined when there is none. When it cannot be used,
 *   the studies that name a population are refused, and no others.
 */
export function readStudyFiles(files: readonly string[], populations: string | undefined): StudyFiles {
  const { studies, refused } = readEach(files, populations);
  const names = studies.map(({ document }) => document.study);
  const filesOf = (name: string): readonly string[] =>
    studies.filter(({ document }) => document.study === name).map(({ file }) => file);
  const twice = [...new Set(names)].filter((name) => filesOf(name).length > 1);
  return {
    studies: studies.filter(({ document }) => !twice.includes(document.study)),
    refused: [...refused, ...twice.map((study) => ({ study, error: givenTwice(study, filesOf(study)) }))],
  };
}

function givenTwice(study: string, files: readonly string[]): KeelsonError {
  const where = new Set(files).size === 1
    ? `${files[0]!} is given ${files.length} times` : `${files.join(' and ')} both name it`;
  return new KeelsonError(
    'invalid-study',
    `the study ${study} is there twice: ${where}; give one file for each name`, { details: { study, files } },
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
  // Read only by a study that names a population, so that the reason is told where it matters.
  let read: ReturnType<typeof parsePopulationsText> | undefined;
  const readPopulations = (): typeof read => {
    if (populations !== undefined) read ??= parsePopulationsText(readText(populations), populations);
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
      refused.push({ study: file, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }
  return { studies, refused };
}

/**
 * Like `readStudyFiles`, where every file must hold a study, and several may hold one of the same name.
 * @throws the first reason: InvalidInputError when a file cannot be read, KeelsonError when a study in it cannot run.
 */
export function readStudies(files: readonly string[], populations: string | undefined): readonly StudyDefinition[] {
  if (populations !== undefined) parsePopulationsText(readText(populations), populations);
  const { studies, refused } = readEach(files, populations);
  if (refused.length > 0) throw refused[0]!.error;
  return studies;
}

/** A study or a certificate is smaller; a list of a million keys is as large as the other. */
const fileBytesMax = 4 * 1024 * 1024;
const keyListBytesMax = 66 * 1024 * 1024;

/**
 * The text of a small file. Pipes and devices are not read: they may have no end, or never begin.
 * @throws InvalidInputError when it cannot be read, is no regular file, is larger than `bytesMost`, or is not UTF-8.
 */
export function readText(path: string, bytesMost = fileBytesMax): string {
  const bytes = readSmallFile(path, bytesMost);
  try {
    return fromUtf8(bytes);
  } catch {
    throw new InvalidInputError(`${path} is not UTF-8 text: check the path, or save it so`, { path });
  }
}

function readSmallFile(path: string, bytesMost: number): Uint8Array {
  return withFile(path, (descriptor, size) => {
    if (size <= bytesMost) return readFileSync(descriptor);
    throw new InvalidInputError(
      `${path}: the file has ${size} bytes, and at most ${bytesMost} are read: check the path`,
      { path },
    );
  });
}

/**
 * Opens a regular file, reads from it and closes it.
 * @param read - gets the descriptor and the file's size in bytes.
 * @throws InvalidInputError when it cannot be read, or is a folder, a pipe or a device.
 */
export function withFile<Result>(
  path: string, read: (descriptor: number, size: number) => Result,
): Result {
  let descriptor: number | undefined;
  try {
    // Opening a pipe would wait for its writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isFile()) return read(descriptor, stat.size);
    const remedy = stat.isDirectory() ? 'it is a folder: name a file in it' : 'it is a pipe or a device: save it as a file';
    throw new InvalidInputError(`${path}: ${remedy}`, { path });
  } catch (error) {
    throw asInputError(error, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
